"""The check that a JSON object is a record of ours, with the JSON path of what is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from checkers.calls.documents import misfits
from envs.calls import read_call
from envs.errors import MalformedCall
from trajectories.errors import DataError
from trajectories.schema import Trajectory

Checked = TypeVar("Checked")

_MOST_ITEMS = 100_000
"""Of each kind that may be generated for an entry."""
_MOST_TURNS = 100
"""Turns are compared with each other; none that we know of has more than ten."""

_ADAPTER = TypeAdapter(Trajectory)


def validated(adapter: TypeAdapter[Checked], entry: dict[str, Any], where: str) -> Checked:
    """Return the record that a JSON object describes.

    Raises:
        DataError: A member is missing, unknown or of the wrong type.
    """
    try:
        return adapter.validate_python(entry)
    except ValidationError as error:
        detail = _nearest(error.errors())
        path = "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in detail["loc"])
        raise DataError(where, f"${path}: {detail['msg'][0].lower()}{detail['msg'][1:]}") from None


def _nearest(errors: Sequence[ErrorDetails]) -> ErrorDetails:
    """Return the first error of the record, of all that could stand in a place, that fits best."""
    form = ("missing", "unexpected_keyword_argument")
    misfits = Counter([error["loc"][:-1] for error in errors if error["type"] in form])

    def misfit(error: ErrorDetails) -> int:
        return sum(misfits[error["loc"][:end]] for end in range(len(error["loc"])))

    return min(errors, key=misfit)


def validate(entry: dict[str, Any], where: str) -> Trajectory:
    """Return the trajectory that the JSON object of a line, at this place, describes.

    Raises:
        DataError: A member is missing, unknown or of the wrong type.
    """
    trajectory = validated(_ADAPTER, entry, where)
    check_turns(trajectory, where)
    if any("\ud800" <= sign <= "\udfff" for sign in trajectory.id):
        raise DataError(where, f"$.id: {trajectory.id!r:.60} has half a character")
    for path, misfit in misfits(trajectory.documents or ()):
        raise DataError(where, f"$.expects.functions{path}: {misfit}")
    bulk = trajectory.long_context
    if bulk is not None and not 0 <= bulk.items <= _MOST_ITEMS:
        raise DataError(where, f"$.long_context.items: must be from 0 to {_MOST_ITEMS}")
    return trajectory


def check_turns(trajectory: Trajectory, where: str) -> None:
    """Check that there are turns, not too many, and that what they accept stands for their calls.

    Raises:
        DataError: It is not so.
    """
    if not trajectory.turns:
        raise DataError(where, "$.turns: a trajectory needs at least one turn")
    if len(trajectory.turns) > _MOST_TURNS:
        raise DataError(where, f"$.turns: a trajectory has at most {_MOST_TURNS} turns")
    for index, turn in enumerate(trajectory.turns):
        for position, (call, instead) in enumerate(map(astuple, turn.accepts)):
            place = f"$.turns[{index}].accepts[{position}]"
            if call not in turn.ground_truth:
                raise DataError(where, f"{place}.call: is no ground-truth call of this turn")
            if not instead:
                raise DataError(where, f"{place}.instead: names no call")
            for number, text in enumerate(instead):
                if isinstance(fault := read_call(text), MalformedCall):
                    raise DataError(where, f"{place}.instead[{number}]: {fault}")


def to_json(trajectory: Trajectory) -> dict[str, Any]:
    """Return the JSON object that stands for a trajectory, without members at their default."""
    shown: dict[str, Any] = _ADAPTER.dump_python(trajectory, mode="json", exclude_defaults=True)
    return shown
