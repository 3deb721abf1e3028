"""Validation of JSON objects against records, with the JSON path of errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails
from pydantic_core import from_json as from_json

from checkers.calls.call_entry import find_document_errors
from envs.bounds import BOUNDS
from envs.calls import read_call
from envs.errors import DataError, MalformedCall
from trajectories.schema import Trajectory, Turn

Checked = TypeVar("Checked")

_MAX_ITEMS = 100_000
_MAX_TURNS = 100
"""Maximum number of turns; limited because all pairs of turns are compared."""
_MAX_FAILING = 5
"""Maximum number of failing calls per function and turn; more calls could use up all steps."""

_ADAPTER = TypeAdapter(Trajectory)


def validate_record(adapter: TypeAdapter[Checked], entry: dict[str, Any], where: str) -> Checked:
    """Return the record of a JSON object.

    Raises DataError if a field is missing, unknown or of the wrong type.
    """
    try:
        return adapter.validate_python(entry)
    except ValidationError as error:
        detail = _select_error(error.errors())
        path = "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in detail["loc"])
        why = detail["msg"].replace("Unexpected keyword argument", "Unknown field")
        why = why.replace("valid tuple", "valid list")  # a list in JSON
        raise DataError(where, f"${path}: {why[0].lower()}{why[1:]}") from None


def _select_error(errors: Sequence[ErrorDetails]) -> ErrorDetails:
    form = ("missing", "unexpected_keyword_argument")
    misfits = Counter([error["loc"][:-1] for error in errors if error["type"] in form])

    def misfit(error: ErrorDetails) -> int:
        return sum(misfits[error["loc"][:end]] for end in range(len(error["loc"])))

    return min(errors, key=misfit)


def validate(entry: dict[str, Any], where: str) -> Trajectory:
    """Return the trajectory of a JSON object.

    Raises DataError if a field is missing, unknown or of the wrong type.
    """
    trajectory = validate_record(_ADAPTER, entry, where)
    check_turns(trajectory, where)
    if any("\ud800" <= sign <= "\udfff" for sign in trajectory.id):
        raise DataError(where, f"$.id: {trajectory.id!r:.60} has a lone surrogate")
    for index, tag in enumerate(trajectory.tags):
        if not tag.isprintable() or tag != tag.strip() or "," in tag or not tag:
            raise DataError(where, f"$.tags[{index}]: {tag!r:.60} must be a string without commas")
    for path, misfit in find_document_errors(trajectory.documents or ()):
        raise DataError(where, f"$.expects.functions{path}: {misfit}")
    bulk = trajectory.long_context
    if bulk is not None and not 0 <= bulk.items <= _MAX_ITEMS:
        raise DataError(where, f"$.long_context.items: must be from 0 to {_MAX_ITEMS}")
    return trajectory


def check_turns(trajectory: Trajectory, where: str) -> None:
    """Check the numbers of turns and calls, the alternatives, the orders and the prohibitions.

    Raises DataError if a check fails.
    """
    if not trajectory.turns:
        raise DataError(where, "$.turns: must have at least one turn")
    if len(trajectory.turns) > _MAX_TURNS:
        raise DataError(where, f"$.turns: must have at most {_MAX_TURNS} turns")
    answers = trajectory.expects.answers if trajectory.expects else ()
    for index, turn in enumerate(trajectory.turns):
        if max(len(turn.ground_truth), len(answers)) > BOUNDS.calls_in_step:
            raise DataError(where, f"$.turns[{index}]: has more than {BOUNDS.calls_in_step} calls")
        for position, accepted in enumerate(turn.accepts):
            call, instead = accepted.call, accepted.instead
            place = f"$.turns[{index}].accepts[{position}]"
            if call not in turn.ground_truth:
                raise DataError(where, f"{place}.call: is not a ground-truth call of this turn")
            if not instead:
                raise DataError(where, f"{place}.instead: must have at least one call")
            for number, text in enumerate(instead):
                if isinstance(fault := read_call(text), MalformedCall):
                    raise DataError(where, f"{place}.instead[{number}]: {fault}")

        _check_trace_rules(turn, f"{where}: $.turns[{index}]")
        _check_outages(turn, f"{where}: $.turns[{index}].outages")


def _check_outages(turn: Turn, where: str) -> None:
    for name, failing in turn.outages.items():
        if not 0 <= failing <= _MAX_FAILING:
            message = f"must be 0 to {_MAX_FAILING} calls, but is {failing}"
            raise DataError(f"{where}.{name}", message)
        if not failing and any(text.startswith(f"{name}(") for text in turn.ground_truth):
            raise DataError(f"{where}.{name}", f"{name} always fails, but the ground truth uses it")


def _check_trace_rules(turn: Turn, where: str) -> None:
    for position, group in enumerate(turn.ordered):
        place = f"{where}.ordered[{position}]"
        if not group:
            raise DataError(place, "must have at least one call")
        for text in group:
            if text not in turn.ground_truth:
                raise DataError(place, f"{text} is not a ground-truth call of this turn")
    for position, text in enumerate(turn.never):
        if isinstance(call := read_call(text), MalformedCall):
            raise DataError(f"{where}.never[{position}]", str(call))
        if call.args:
            raise DataError(f"{where}.never[{position}]", "give arguments by name")


def to_json(trajectory: Trajectory) -> dict[str, Any]:
    """Return the JSON object of a trajectory, without defaults.

    Raises DataError if a value is nested too deep.
    """
    try:
        shown: dict[str, Any] = _ADAPTER.dump_python(trajectory, mode="json", exclude_defaults=True)
    except ValueError:
        raise DataError(f"entry {trajectory.id}", "has a value that is nested too deep") from None
    return shown
