"""The check that a JSON object is a trajectory, with the JSON path of what is wrong."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter, ValidationError

from trajectories.errors import DataError
from trajectories.schema import Trajectory

_ADAPTER = TypeAdapter(Trajectory)


def validate(entry: dict[str, Any], where: str) -> Trajectory:
    """Return the trajectory that a JSON object describes.

    Args:
        entry: The object of one line.
        where: File and line, for the complaint.

    Raises:
        DataError: A member is missing, unknown or of the wrong type.
    """
    try:
        trajectory = _ADAPTER.validate_python(entry)
    except ValidationError as error:
        detail = error.errors()[0]
        path = "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in detail["loc"])
        raise DataError(where, f"${path}: {detail['msg'][0].lower()}{detail['msg'][1:]}") from None
    if not trajectory.turns:
        raise DataError(where, "$.turns: a trajectory needs at least one turn")
    return trajectory


def to_json(trajectory: Trajectory) -> dict[str, Any]:
    """Return the JSON object that stands for a trajectory, without members at their default."""
    shown: dict[str, Any] = _ADAPTER.dump_python(trajectory, mode="json", exclude_defaults=True)
    return shown
