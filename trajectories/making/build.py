"""Builds the four derived files of the data set from the base trajectories and their notes.

What the record of readings says was withdrawn is left out. ``python -m trajectories.making.build``
writes them, ``--check`` only says whether they are up to date.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from trajectories.dataset import load_path
from trajectories.errors import DataError
from trajectories.making.base import Notes, derived, read_notes, variant_id
from trajectories.making.long_context import SEEDS, lengthen, seed_of
from trajectories.making.missing import (
    delay_turn,
    found_only_in_answer,
    hold_out,
    leave_out_value,
    split_turn,
)
from trajectories.schema import Category, Trajectory
from trajectories.standing import RECORD, read_record, withdrawn
from trajectories.validation import to_json


def compose(
    base: Trajectory, notes: Notes, seed: int | None = None, items: int = 200
) -> Trajectory | None:
    """Return the trajectory with all that makes it harder; None where there is no bulk to read.

    Whether something else does what the held-out functions do is for ``hold_out`` to search, in the
    world without bulk. The search for a suitable world starts at the seed, or at one that comes
    from the id. The same seed and size give the same trajectory.

    Raises:
        DataError: One of the three cannot be made, or every world tells the missing value.
    """
    first = seed_of(f"composite {base.id}") if seed is None else seed
    note = notes.missing_parameter
    for chosen in range(first, first + SEEDS):
        longer = lengthen(base, chosen, items, [note.without, note.answer])
        if longer is None:
            return None
        if found_only_in_answer(longer, notes):
            turns = delay_turn(split_turn(longer.turns, notes), notes, _moved(notes))
            made = derived(base, Category.COMPOSITE, turns=turns)
            return replace(made, long_context=longer.long_context)
    raise DataError(base.id, f"missing_parameter: told by the bulk of {SEEDS} seeds")


def _moved(notes: Notes) -> int:
    """Return where the turn of the held-out functions is after the missing value's was split."""
    turn = notes.missing_function.turn
    return turn + (turn >= notes.missing_parameter.turn)


FOLDER = Path(__file__).parents[1] / "data"
ITEMS = 200
"""How many items each kind of bulk in the embedded data has."""


def build(
    base: Sequence[Trajectory],
    notes: Mapping[str, Notes],
    seed: int | None = None,
    items: int = ITEMS,
    without: Collection[str] = (),
) -> dict[Category, list[Trajectory]]:
    """Return the derived trajectories of each category, in the order of the base.

    Without a seed for the bulk in long contexts, each trajectory has its own. Of what is to be done
    without, by id, nothing is made.

    Raises:
        DataError: There are no notes of a base, or a category cannot be made of it.
    """
    for trajectory in base:
        if trajectory.id not in notes:
            raise DataError(trajectory.id, "there are no notes; add a line to notes.jsonl")
    makers: dict[Category, Callable[[Trajectory], Trajectory | None]] = {
        Category.MISSING_PARAMETER: lambda t: leave_out_value(t, notes[t.id]),
        Category.MISSING_FUNCTION: lambda t: hold_out(t, notes[t.id]),
        Category.LONG_CONTEXT: lambda t: lengthen(t, seed, items),
        Category.COMPOSITE: lambda t: compose(t, notes[t.id], seed, items),
    }
    return {
        category: [
            made
            for t in base
            if variant_id(t, category) not in without and (made := make(t)) is not None
        ]
        for category, make in makers.items()
    }


def texts(folder: Path = FOLDER, seed: int | None = None, items: int = ITEMS) -> dict[Path, str]:
    """Return what derived files should hold in a folder with ``base.jsonl`` and ``notes.jsonl``.

    Nothing is left out where the folder has no record of readings.

    Raises:
        DataError: One of these is not as it must be, or a category cannot be made.
    """
    record = folder / RECORD.name
    without = withdrawn(read_record(record)) if record.exists() else ()
    base = list(load_path(folder / "base.jsonl", [Category.BASE]).trajectories.values())
    built = build(base, read_notes(folder / "notes.jsonl"), seed, items, without)
    return {folder / f"{category}.jsonl": lines(members) for category, members in built.items()}


def lines(trajectories: Sequence[Trajectory]) -> str:
    """Return trajectories in the form of a file."""
    return "".join(f"{json.dumps(to_json(t), ensure_ascii=False)}\n" for t in trajectories)


def main(arguments: Sequence[str], folder: Path = FOLDER) -> str | None:
    """Write the derived files, or compare them; return what is wrong."""
    if list(arguments) not in ([], ["--check"]):
        return f"usage: python -m {__package__}.build [--check]"
    try:
        wanted = texts(folder)
    except DataError as error:
        return str(error)
    if arguments:
        stale = [
            path.name
            for path, text in wanted.items()
            if not path.is_file() or path.read_text(encoding="utf-8") != text
        ]
        return (
            f"{', '.join(stale)}: out of date; run python -m {__package__}.build" if stale else None
        )
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
