"""What every run of a trajectory starts from: session and ground truth's outcomes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from checkers.calls.documents import CannotJudge
from checkers.profile import Profile
from checkers.scene import Scene
from checkers.verdict import TurnOutcome
from envs.errors import ConfigError
from envs.session import Session
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.scene import TrajectoryScene, truth_calls
from trajectories.schema import Trajectory

if TYPE_CHECKING:
    from trajectories.offering import Offering


class Prepared(NamedTuple):
    """A trajectory that is ready to be run any number of times."""

    trajectory: Trajectory
    template: Session
    """The session in its initial state; to be forked, never called."""
    truth: tuple[TurnOutcome, ...]
    """What the ground truth leads to, turn by turn."""
    scene: Scene
    """What else the judge may ask of it."""
    offering: Offering | None = None
    """Which functions its model is offered; None for all that it offers."""


TruthSource = Callable[[Trajectory, Session], tuple[TurnOutcome, ...]]
"""Takes a trajectory and its session in the initial state, gives what the truth leads to."""


def prepare(
    dataset: Dataset, trajectory: Trajectory, profile: Profile, truth: TruthSource | None = None
) -> Prepared:
    """Load a trajectory's session and play its ground truth, unless that comes from elsewhere.

    The ground truth meets the argument checks that the model does.

    Raises:
        DataError: The initial config does not fit the backends.
        CannotJudge: The entry is of BFCL's data, taken as it is, and contradicts itself.
    """
    rules = profile.execution
    template = load_session(
        dataset, trajectory, checks_arguments=rules.checks_arguments, keeps_all=rules.keeps_all
    )
    unknown = {*trajectory.held_out, *trajectory.excluded} - template.tools.keys()
    if unknown:
        message = f"there is no function {', '.join(sorted(unknown))} to hold out"
        if dataset.tolerant:
            raise CannotJudge(message)
        raise DataError(f"{dataset.name}: {trajectory.id}", message)
    outcomes = (truth or truth_outcomes)(trajectory, template)
    scene = TrajectoryScene(trajectory, template, outcomes)
    return Prepared(trajectory, template, outcomes, scene, dataset.offering_of(trajectory))


def load_session(
    dataset: Dataset,
    trajectory: Trajectory,
    *,
    checks_arguments: bool = False,
    keeps_all: bool = True,
) -> Session:
    """Return a trajectory's session in its initial state.

    Raises:
        DataError: The initial config does not fit the backends.
    """
    try:
        session = Session.load(
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


def truth_outcomes(trajectory: Trajectory, template: Session) -> tuple[TurnOutcome, ...]:
    """Return what the ground truth leads to, turn by turn."""
    session = template.fork()
    outcomes = []
    for turn in trajectory.turns:
        calls = tuple(truth_calls(turn))
        results = tuple(session.play(calls))
        outcomes.append(TurnOutcome(results, session.snapshot(), bool(results), calls))
    return tuple(outcomes)
