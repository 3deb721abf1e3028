"""Composite: a value is missing, functions are held out, and the world is full, all at once."""

from __future__ import annotations

from dataclasses import replace

from trajectories.errors import DataError
from trajectories.making.long_context import lengthen, seed_of
from trajectories.making.missing_function import delay_turn
from trajectories.making.missing_parameter import found_only_in_answer, split_turn
from trajectories.making.notes import Notes, derived_id
from trajectories.schema import Category, Trajectory

_SEEDS = 20
"""How many worlds are tried for one whose bulk does not happen to tell the missing value."""


def compose(
    base: Trajectory, notes: Notes, seed: int | None = None, items: int = 200
) -> Trajectory:
    """Return the trajectory with all that makes it harder.

    Whether something else does what the held-out functions do is for ``hold_out`` to search, in the
    world without bulk.

    Args:
        base: The trajectory to make harder.
        notes: What its author noted.
        seed: Where to start looking for a suitable world; without one, at one that comes from the
            id. The same seed and size give the same trajectory.
        items: How many items each kind of bulk has.

    Raises:
        DataError: One of the three cannot be made, or every world tells the missing value.
    """
    first = seed_of(f"composite {base.id}") if seed is None else seed
    for chosen in range(first, first + _SEEDS):
        longer = lengthen(base, chosen, items)
        if found_only_in_answer(longer, notes):
            return replace(
                longer,
                id=derived_id(base, Category.COMPOSITE),
                category=Category.COMPOSITE,
                turns=delay_turn(split_turn(longer.turns, notes), notes, _moved(notes)),
            )
    raise DataError(base.id, f"missing_parameter: told by the bulk of {_SEEDS} seeds")


def _moved(notes: Notes) -> int:
    """Return where the turn of the held-out functions is after the missing value's was split."""
    turn = notes.missing_function.turn
    return turn + (turn >= notes.missing_parameter.turn)
