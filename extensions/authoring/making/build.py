"""Builds the five files of the data set from its scenarios: the base, and what is made of it.

What the record of readings says was withdrawn is left out.
``python -m extensions.authoring.making.build`` writes them, and the scenarios in their one form;
``--check`` only says what is out of date.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from extensions.authoring.canary import CANARY
from extensions.authoring.making.base import derived, variant_id
from extensions.authoring.making.long_context import SEEDS, lengthen, seed_of
from extensions.authoring.making.missing import (
    delay_turn,
    found_only_in_answer,
    hold_out,
    leave_out_value,
    split_turn,
)
from extensions.authoring.making.scenarios import (
    SCENARIOS,
    Notes,
    Scenario,
    read_scenarios,
    written,
)
from extensions.authoring.standing import RECORD, read_record, withdrawn
from trajectories.dataset import DATA
from trajectories.errors import DataError
from trajectories.schema import MULTI_TURN, Category, Trajectory
from trajectories.validation import to_json

ITEMS = 200
"""How many items each kind of bulk in the embedded data has."""


def long(
    scenario: Scenario, seed: int | None = None, items: int = ITEMS, said: Sequence[str] = ()
) -> Trajectory | None:
    """Return a scenario's base with so many more items of each kind; None where that adds nothing.

    Raises:
        DataError: It cannot be made.
    """
    if scenario.not_long:
        return None
    around = scenario.world.items if scenario.world else 0
    return lengthen(scenario.base, seed, items + around, said, scenario.by_hand)


def compose(scenario: Scenario, seed: int | None = None, items: int = ITEMS) -> Trajectory | None:
    """Return the trajectory with all that makes it harder; None where there is no bulk to read.

    Whether something else does what the held-out functions do is for ``hold_out`` to search, in the
    world without bulk. The search for a suitable world starts at the seed, or at one that comes
    from the id. The same seed and size give the same trajectory.

    Raises:
        DataError: One of the three cannot be made, or every world tells the missing value.
    """
    notes = scenario.notes
    first = seed_of(f"composite {scenario.id}") if seed is None else seed
    note = notes.missing_parameter
    for chosen in range(first, first + SEEDS):
        longer = long(scenario, chosen, items, [note.without, note.answer])
        if longer is None:
            return None
        if found_only_in_answer(longer, notes):
            turns = delay_turn(split_turn(longer.turns, notes), notes, _moved(notes))
            return replace(
                derived(scenario.base, Category.COMPOSITE, turns=turns),
                config=longer.config,
                long_context=longer.long_context,
            )
    raise DataError(scenario.id, f"missing_parameter: told by the bulk of {SEEDS} seeds")


def _moved(notes: Notes) -> int:
    """Return where the turn of the held-out functions is after the missing value's was split."""
    turn = notes.missing_function.turn
    return turn + (turn >= notes.missing_parameter.turn)


def make(
    scenario: Scenario, category: Category, seed: int | None = None, items: int = ITEMS
) -> Trajectory | None:
    """Return a scenario as a trajectory of a category; None where it has none.

    Raises:
        DataError: It cannot be made.
    """
    makers: Mapping[Category, Callable[[], Trajectory | None]] = {
        Category.BASE: lambda: scenario.base,
        Category.MISSING_PARAMETER: lambda: leave_out_value(scenario.base, scenario.notes),
        Category.MISSING_FUNCTION: lambda: hold_out(scenario.base, scenario.notes),
        Category.LONG_CONTEXT: lambda: long(scenario, seed, items),
        Category.COMPOSITE: lambda: compose(scenario, seed, items),
    }
    return makers[category]()


def build(
    scenarios: Sequence[Scenario],
    seed: int | None = None,
    items: int = ITEMS,
    without: Collection[str] = (),
) -> dict[Category, list[Trajectory]]:
    """Return the trajectories of each category, in the order of the scenarios, with the canary.

    Without a seed for the bulk in long contexts, each trajectory has its own. Of what is to be done
    without, by id, nothing is made.

    Raises:
        DataError: A category cannot be made of a scenario.
    """
    return {
        category: [
            replace(made, provenance={**made.provenance, "canary": CANARY})
            for scenario in scenarios
            if variant_id(scenario.base, category) not in without
            and (made := make(scenario, category, seed, items)) is not None
        ]
        for category in MULTI_TURN
    }


def texts(
    scenarios: Sequence[Scenario],
    seed: int | None = None,
    items: int = ITEMS,
    record: Path | None = None,
) -> dict[str, str]:
    """Return what the files of a data set made of scenarios should hold, by name.

    What a record of readings says was withdrawn is left out.

    Raises:
        DataError: The record is not as it must be, or a category cannot be made.
    """
    without = withdrawn(read_record(record)) if record else ()
    built = build(scenarios, seed, items, without)
    return {f"{category}.jsonl": lines(members) for category, members in built.items()}


def lines(trajectories: Sequence[Trajectory]) -> str:
    """Return trajectories in the form of a file."""
    return "".join(
        f"{json.dumps(to_json(t), ensure_ascii=False, allow_nan=False)}\n" for t in trajectories
    )


def main(
    arguments: Sequence[str],
    folder: Path = DATA,
    scenarios: Path = SCENARIOS,
    record: Path = RECORD,
) -> str | None:
    """Write the files, scenarios too in their one form, or compare them; return what is wrong."""
    if list(arguments) not in ([], ["--check"]):
        return f"usage: python -m {__package__}.build [--check]"
    try:
        read = read_scenarios(scenarios)
        made = texts(read, record=record)
    except DataError as error:
        return str(error)
    wanted = {scenarios / f"{scenario.name}.json": written(scenario) for scenario in read}
    wanted |= {folder / name: text for name, text in made.items()}
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
