"""Workers that judge trajectories or run episodes: local processes or an engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from checkers.profile import Profile
from envs.errors import DataError
from envs.lazy_modules import lazy_module
from runner import extension
from runner.episodes.judging import ALLOWANCE, Run, TimeAndMemoryLimits, evaluate, limited_memory
from runner.records.episode_record import EpisodeRecord
from trajectories.dataset import Dataset
from trajectories.schema import Trajectory

if TYPE_CHECKING:
    from runner.episodes import forked_judging
    from runner.live import run_control
    from runner.live.live_run import EpisodeJob, RunInputs
    from runner.live.run_control import Connect, RunEnding, RunObserver
    from runner.live.run_settings import Settings
    from runner.records.run_store import RunStore
else:
    # Most commands judge in this process and need none of these modules.
    forked_judging = lazy_module("..episodes.forked_judging", __package__)
    run_control = lazy_module(".run_control", __package__)


_MANY = 200
"""Minimum number of executed entries for several processes; other entries take too little time."""


class Workers(Protocol):
    """Workers that judge trajectories or run the episodes of a live run."""

    def judge(
        self, dataset: Dataset, trajectories: Sequence[Trajectory], profile: Profile, run: Run
    ) -> Iterator[EpisodeRecord]:
        """Judge trajectories; the outcomes and their order are the same as in ``evaluate``.

        Raises DataError if the user's input is wrong, or the workers are not available.
        """

    def check(self, settings: Settings, connect: Connect) -> None:
        """Refuse settings that the workers do not support, before any file is written.

        Raises DataError if a setting is not supported.
        """

    def conduct(
        self,
        plan: RunInputs,
        store: RunStore,
        jobs: Sequence[EpisodeJob],
        connect: Connect,
        watch: RunObserver,
    ) -> RunEnding:
        """Execute the jobs of a live run. Only the calling process writes to the store."""


class LocalWorkers(NamedTuple):
    """This process; it judges many entries together with its forks."""

    allowance: TimeAndMemoryLimits = ALLOWANCE

    def judge(
        self, dataset: Dataset, trajectories: Sequence[Trajectory], profile: Profile, run: Run
    ) -> Iterator[EpisodeRecord]:
        """Judge in this process, and in forks of it."""
        task = dataset, trajectories, profile, run
        with limited_memory(self.allowance.megabytes):
            entries = sum(trajectory.is_executed for trajectory in trajectories)
            processes = forked_judging.count_processes(entries) if entries >= _MANY else 1
            if processes > 1:
                yield from forked_judging.evaluate_in_forks(*task, processes)
            else:
                yield from evaluate(*task)

    def check(self, settings: Settings, connect: Connect) -> None:
        """Accept all settings."""

    def conduct(
        self,
        plan: RunInputs,
        store: RunStore,
        jobs: Sequence[EpisodeJob],
        connect: Connect,
        watch: RunObserver,
    ) -> RunEnding:
        """Run the episodes in this process."""
        with limited_memory(self.allowance.megabytes):
            return run_control.conduct_here(plan, store, jobs, connect, watch)


def workers_of(
    engine: str,
    address: str | None,
    workers: int | None,
    allowance: TimeAndMemoryLimits = ALLOWANCE,
) -> Workers:
    """Return the workers of an engine: ``local``, or the name of an extension such as ``ray``.

    If ``address`` is None, the extension starts its own cluster on this machine.

    Raises DataError if the options contradict each other, or the engine is not installed.
    """
    if engine != "local":
        return extension.load_extension(engine).engine(address, workers, allowance)
    if address:
        raise DataError("--address", "is for Ray clusters; add --engine ray")
    if workers is not None:
        return extension.load_extension("pools").engine(None, workers, allowance)
    return LocalWorkers(allowance)
