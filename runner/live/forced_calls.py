"""Checks of ``--tool-choice``: whether the entries and the provider allow forced calls."""

from __future__ import annotations

from collections.abc import Sequence

from envs.errors import DataError, suggest_name
from runner.episodes.judging import kind_of
from runner.live.live_run import RunInputs
from runner.live.run_settings import CHOICES
from runner.models.model_connection import takes_choice
from runner.models.toolbox import legal_name
from trajectories.replay_queries import list_own_functions
from trajectories.schema import Trajectory

_OPTION = "--tool-choice"


def check_forced(plan: RunInputs, trajectories: Sequence[Trajectory]) -> None:
    """Check that the entries and the provider allow the calls that ``--tool-choice`` forces.

    Raises DataError if the calls are not allowed. In multi-turn entries, forced calls are never
    allowed, because no turn would end.
    """
    choice, forced = plan.settings.tool_choice, plan.settings.forced
    if not plan.settings.forces_calls:
        return
    if forced is not None:
        _check_known(str(choice), forced, trajectories)
    if not takes_choice(plan.model, plan.settings.request_options()):
        raise DataError(
            _OPTION, f"litellm does not send {choice} to {plan.model}; leave the option out"
        )
    for trajectory in trajectories:
        if not kind_of(trajectory).is_single_turn:
            raise DataError(
                _OPTION,
                f"{choice} is for single-turn entries, but {trajectory.id} has several turns",
            )
    if forced is not None:
        _check_offered(str(choice), forced, plan, trajectories)


def _check_known(choice: str, forced: str, trajectories: Sequence[Trajectory]) -> None:
    names = {name for trajectory in trajectories for name in list_own_functions(trajectory)}
    if forced not in map(legal_name, names):
        advice = suggest_name(choice, [*CHOICES, *sorted(names)])
        known = f"{', '.join(CHOICES)} or the name of a function of these entries"
        raise DataError(_OPTION, f"{choice!r:.60} is not {known}{advice}")


def _check_offered(
    choice: str, forced: str, plan: RunInputs, trajectories: Sequence[Trajectory]
) -> None:
    if plan.dataset.offering is not None:
        raise DataError(
            _OPTION, f"--retrieve can leave out {choice}; use only one of the two options"
        )
    for trajectory in trajectories:
        names = plan.style(trajectory).toolbox.names
        if forced not in map(names.shown, list_own_functions(trajectory)):
            message = (
                f"{choice}: {trajectory.id} does not offer this function; choose entries by --ids"
            )
            raise DataError(_OPTION, message)
