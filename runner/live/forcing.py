"""A model that has to call: whether entries allow that it has, and offer the function."""

from __future__ import annotations

from collections.abc import Sequence

from runner.episodes.evaluate import kind_of
from runner.live.campaign import Plan
from runner.live.settings import CHOICES
from runner.models.connect import takes_choice
from runner.models.tools import legal_name
from trajectories.errors import DataError, did_you_mean
from trajectories.scene import own_functions
from trajectories.schema import Trajectory

_OPTION = "--tool-choice"


def check_forced(plan: Plan, trajectories: Sequence[Trajectory]) -> None:
    """Refuse to have a model call where its turns would never end, or what it is not offered.

    Raises:
        DataError: The entries do not or the provider do not allow what the plan asks for.
    """
    choice, forced = plan.settings.tool_choice, plan.settings.forced
    if not plan.settings.forces_calls:
        return
    if forced is not None:
        _check_known(str(choice), forced, trajectories)
    if not takes_choice(plan.model, plan.settings.request_options()):
        raise DataError(_OPTION, f"{choice} would not reach {plan.model}: litellm leaves it out")
    for trajectory in trajectories:
        if not kind_of(trajectory).is_single_turn:
            raise DataError(
                _OPTION,
                f"{choice} is for entries of one answer; the turns of {trajectory.id} would never "
                "end",
            )
    if forced is not None:
        _check_offered(str(choice), forced, plan, trajectories)


def _check_known(choice: str, forced: str, trajectories: Sequence[Trajectory]) -> None:
    """Refuse a word that is neither a choice nor the name of a function."""
    names = {name for trajectory in trajectories for name in own_functions(trajectory)}
    if forced not in map(legal_name, names):
        advice = did_you_mean(choice, [*CHOICES, *sorted(names)])
        what = f"neither one of {', '.join(CHOICES)} nor a function of these entries"
        raise DataError(_OPTION, f"{choice!r:.60} is {what}{advice}")


def _check_offered(
    choice: str, forced: str, plan: Plan, trajectories: Sequence[Trajectory]
) -> None:
    """Refuse a function that not every request offers by its name."""
    if plan.dataset.offering is not None:
        raise DataError(_OPTION, f"{choice} may not be among what --retrieve offers: leave one out")
    for trajectory in trajectories:
        names = plan.style(trajectory).toolbox.names
        if forced not in map(names.shown, own_functions(trajectory)):
            why = "does not offer it by that name; choose others with --ids"
            raise DataError(_OPTION, f"{choice}: {trajectory.id} {why}")
