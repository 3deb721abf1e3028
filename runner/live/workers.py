"""Where a command does its work: in this process, in several, or with an extension."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from checkers.profile import Profile
from envs.lazy import lazily
from runner import extension
from runner.data.cache import truth_cache
from runner.episodes.allowance import ALLOWANCE, Allowance, limited_memory
from runner.episodes.evaluate import evaluate
from runner.records.record import EpisodeRecord
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.schema import Trajectory

if TYPE_CHECKING:
    from runner.episodes import processes, spread
    from runner.live import conduct
    from runner.live.campaign import Job, Plan
    from runner.live.conduct import Connect, Ending, Watches
    from runner.live.settings import Settings
    from runner.records.store import RunStore
else:
    # Most commands judge in this process, which needs none of them.
    processes = lazily("..episodes.processes", __package__)
    conduct = lazily(".conduct", __package__)


class Workers(Protocol):
    """Those who judge trajectories, or do the episodes of a live run."""

    def judge(
        self,
        dataset: Dataset,
        trajectories: Sequence[Trajectory],
        profile: Profile,
        run: spread.Run,
    ) -> Iterator[EpisodeRecord]:
        """Do what ``evaluate`` does; the outcomes are the same wherever, in its order.

        Raises:
            DataError: The user's input is wrong, or the workers cannot be had.
        """
        ...

    def check(self, settings: Settings, connect: Connect) -> None:
        """Refuse, before anything is written, what they cannot do in a live run.

        Raises:
            DataError: They cannot do it.
        """
        ...

    def conduct(
        self, plan: Plan, store: RunStore, jobs: Sequence[Job], connect: Connect, watch: Watches
    ) -> Ending:
        """Do the jobs of a live run; only this process writes to the store."""
        ...


class Here(NamedTuple):
    """This machine."""

    number: int | None = None
    """How many processes judge; None for this one alone."""
    allowance: Allowance = ALLOWANCE

    def judge(
        self,
        dataset: Dataset,
        trajectories: Sequence[Trajectory],
        profile: Profile,
        run: spread.Run,
    ) -> Iterator[EpisodeRecord]:
        """Judge in this process, which keeps what it works out, or in others."""
        what = dataset, trajectories, profile, run
        if self.number is not None:
            yield from processes.evaluate_in_processes(
                *what, workers=self.number, allowance=self.allowance
            )
            return
        with limited_memory(self.allowance.megabytes), truth_cache(dataset, profile) as cache:
            yield from evaluate(*what, cache.outcomes)

    def check(self, settings: Settings, connect: Connect) -> None:
        """Refuse several processes: a model waits for its server, not for a processor."""
        if self.number is not None:
            raise DataError("--workers", "a live model is asked by one process, or by --engine ray")

    def conduct(
        self, plan: Plan, store: RunStore, jobs: Sequence[Job], connect: Connect, watch: Watches
    ) -> Ending:
        """Ask the model from this process."""
        with limited_memory(self.allowance.megabytes):
            return conduct.conduct_here(plan, store, jobs, connect, watch)


def workers_of(
    engine: str, address: str | None, workers: int | None, allowance: Allowance = ALLOWANCE
) -> Workers:
    """Return the workers of an engine: ``local``, or the extension that has it.

    Without an address, a cluster is started on this machine for the time of the command.

    Raises:
        DataError: The options contradict each other, or the engine is not installed.
    """
    if engine != "local":
        return extension.named(engine).engine(address, workers, allowance)
    if address:
        raise DataError("--address", "is that of a Ray cluster, and needs --engine ray")
    return Here(workers, allowance)
