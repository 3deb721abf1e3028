"""What an author adds to a base trajectory, so that harder ones can be made of it by code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pydantic import TypeAdapter, ValidationError

from trajectories.errors import DataError
from trajectories.jsonl import read_objects
from trajectories.schema import Category, Trajectory

_STRICT: Mapping[str, str] = {"extra": "forbid"}


@dataclass(frozen=True)
class MissingParameter:
    """How a request leaves a value out, and how the user supplies it.

    Attributes:
        turn: Index of the base's turn.
        without: The request, worded so that a needed value is missing.
        answer: What the user says in the turn after.
    """

    __pydantic_config__: ClassVar[Mapping[str, str]] = _STRICT

    turn: int
    without: str
    answer: str


@dataclass(frozen=True)
class MissingFunction:
    """Which functions are held out until the turn after they are needed.

    Attributes:
        turn: Index of the base's turn that needs them.
        functions: Their names.
    """

    __pydantic_config__: ClassVar[Mapping[str, str]] = _STRICT

    turn: int
    functions: tuple[str, ...]


@dataclass(frozen=True)
class Notes:
    """All that is noted about one base trajectory.

    Attributes:
        base: Its id.
        missing_parameter: For the category of that name.
        missing_function: For the category of that name.
    """

    __pydantic_config__: ClassVar[Mapping[str, str]] = _STRICT

    base: str
    missing_parameter: MissingParameter
    missing_function: MissingFunction


_ADAPTER = TypeAdapter(Notes)


def read_notes(path: Path) -> dict[str, Notes]:
    """Return the notes of a file by the id of their base.

    Raises:
        DataError: A line is not of the expected form, or a base has two.
    """
    notes: dict[str, Notes] = {}
    for where, entry in read_objects(path):
        note = validate_notes(entry, where)
        if note.base in notes:
            raise DataError(where, f"{note.base} has notes already")
        notes[note.base] = note
    return notes


def validate_notes(entry: dict[str, Any], where: str) -> Notes:
    """Return the notes that a JSON object stands for.

    Raises:
        DataError: A member is missing, unknown or of the wrong type.
    """
    try:
        return _ADAPTER.validate_python(entry)
    except ValidationError as error:
        detail = error.errors()[0]
        path = "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in detail["loc"])
        raise DataError(where, f"${path}: {detail['msg'][0].lower()}{detail['msg'][1:]}") from None


def derived_id(base: Trajectory, category: Category) -> str:
    """Return the id that a trajectory of a category has when it is made from a base."""
    return f"{category}_{base.id.removeprefix('base_')}"


def derived_provenance(base: Trajectory) -> dict[str, str]:
    """Return where a trajectory made from a base comes from."""
    return {"author": base.provenance.get("author", "Turnwise"), "base": base.id}
