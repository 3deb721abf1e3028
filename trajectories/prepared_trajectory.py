"""Trajectories prepared for episodes, with a loaded session and a replayed ground truth."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from checkers.calls.call_entry import UnjudgeableEntry
from checkers.profile import Profile
from checkers.verdict import ExecutedTurn
from envs.errors import ConfigError, DataError
from envs.session import Session
from trajectories.dataset import Dataset
from trajectories.replay_queries import PlayedTruths, ReplayQueries, play_alone
from trajectories.schema import Trajectory

if TYPE_CHECKING:
    from checkers.entry_queries import EntryQueries
    from trajectories.offered_functions import OfferedFunctions


class PreparedTrajectory(NamedTuple):
    """A trajectory that is ready for any number of runs."""

    trajectory: Trajectory
    template: Session
    """Session in its initial state. Fork the session before any call."""
    truth: tuple[ExecutedTurn, ...]
    """Outcome of each turn when the ground truth is played."""
    scene: EntryQueries
    offering: OfferedFunctions | None = None
    """Offered functions; None for all functions."""


def prepare(
    dataset: Dataset, trajectory: Trajectory, profile: Profile, truths: PlayedTruths | None = None
) -> PreparedTrajectory:
    """Load the session and replay the ground truth, or take both from the cache ``truths``.

    Raises:
        DataError: The initial config does not fit the backends.
        UnjudgeableEntry: An entry of BFCL holds out functions that no backend has.
    """
    rules = profile.execution
    options = {"checks_arguments": rules.checks_arguments, "keeps_all": rules.keeps_all}
    load = partial(load_session, dataset, trajectory, **options)
    template, outcomes = (truths.play if truths else play_alone)(trajectory, load)
    if not dataset.tolerant:
        results = (result.ok for turn in outcomes for result in turn.results)
        dataset.truths[trajectory.id] = all(results)
    held_back = trajectory.held_out + trajectory.excluded
    if held_back and (unknown := {*held_back} - template.tools.keys()):
        message = f"holds out unknown functions: {', '.join(sorted(unknown))}"
        if dataset.tolerant:
            raise UnjudgeableEntry(message)
        raise DataError(f"{dataset.name}: {trajectory.id}", message)
    scene = ReplayQueries(trajectory, template, outcomes)
    offering = dataset.offering_of(trajectory)
    return PreparedTrajectory(trajectory, template, outcomes, scene, offering)


def load_session(
    dataset: Dataset,
    trajectory: Trajectory,
    *,
    checks_arguments: bool | None = None,
    keeps_all: bool = True,
) -> Session:
    """Return a trajectory's session in its initial state.

    Raises DataError if the initial config does not fit the backends.
    """
    try:
        session = dataset.session.load(
            trajectory.environments,
            dataset.config(trajectory),
            dataset.pack(trajectory),
            tolerant=dataset.tolerant,
            checks_arguments=checks_arguments,
            behaviour=dataset.behaviour(keeps_all=keeps_all),
        )
    except ConfigError as error:
        raise DataError(f"{dataset.name}: {trajectory.id}", str(error)) from None
    if dataset.connect is not None:
        dataset.connect(session)
    return session
