"""Builder that makes the five multi-turn data files from scenarios and omits withdrawn entries.

``python -m extensions.authoring.making.build`` writes the data files and normalizes the scenarios.
With ``--check``, the command only lists outdated files.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from envs.errors import DataError
from extensions.authoring.canary import CANARY
from extensions.authoring.making.long_context import SEEDS, derive_seed, lengthen
from extensions.authoring.making.maker_helpers import derived, variant_id
from extensions.authoring.making.missing_variants import (
    delay_turn,
    find_supplied_values,
    hold_out,
    leave_out_value,
    split_turn,
)
from extensions.authoring.making.scenarios import SCENARIOS, Scenario, read_scenarios, written
from extensions.authoring.review_status import RECORD, read_record, withdrawn
from trajectories.dataset import DATA
from trajectories.record_validation import to_json
from trajectories.schema import MULTI_TURN, Category, Trajectory

_WAIT_FOR_VALUE = (Category.MISSING_PARAMETER, Category.COMPOSITE)
_WAIT_FOR_FUNCTION = (Category.MISSING_FUNCTION, Category.COMPOSITE)


def long(
    scenario: Scenario, seed: int | None = None, chars: int | None = None, said: Sequence[str] = ()
) -> Trajectory | None:
    """Return a scenario's long-context variant, or None.

    Raises DataError if the trajectory cannot be made.
    """
    if scenario.not_long:
        return None
    return lengthen(scenario.base, seed, chars, said, scenario.by_hand, scenario.kept_whole)


def compose(
    scenario: Scenario, seed: int | None = None, chars: int | None = None
) -> Trajectory | None:
    """Return a scenario's composite trajectory; None if it has no long-context variant.

    The function tries ``seed`` (default: derived from the id) and the seeds after it. It
    does not check whether other functions can replace the held-out functions. ``hold_out`` checks
    this.

    Raises DataError if a variant cannot be made.
    """
    notes = scenario.notes
    first = derive_seed(f"composite {scenario.id}") if seed is None else seed
    note = notes.missing_parameter
    for chosen in range(first, first + SEEDS):
        longer = long(scenario, chosen, chars, [note.without, note.answer])
        if longer is None:
            return None
        if find_supplied_values(longer, notes):
            delayed = notes.missing_function.turn
            delayed += delayed >= note.turn
            turns = delay_turn(split_turn(longer.turns, notes), notes, delayed)
            return replace(
                derived(scenario.base, Category.COMPOSITE, turns=turns),
                config=longer.config,
                long_context=longer.long_context,
            )
    message = "missing_parameter: the generated items contain the omitted value; omit another value"
    raise DataError(scenario.id, message)


def make(
    scenario: Scenario, category: Category, seed: int | None = None, chars: int | None = None
) -> Trajectory | None:
    """Return a scenario's trajectory for a category; None if the scenario lacks this variant.

    Raises DataError if the trajectory cannot be made.
    """
    if not scenario.missing_parameter and category in _WAIT_FOR_VALUE:
        return None
    if not scenario.missing_function and category in _WAIT_FOR_FUNCTION:
        return None
    makers: Mapping[Category, Callable[[], Trajectory | None]] = {
        Category.BASE: lambda: scenario.base,
        Category.MISSING_PARAMETER: lambda: leave_out_value(scenario.base, scenario.notes),
        Category.MISSING_FUNCTION: lambda: hold_out(scenario.base, scenario.notes),
        Category.LONG_CONTEXT: lambda: long(scenario, seed, chars),
        Category.COMPOSITE: lambda: compose(scenario, seed, chars),
    }
    return makers[category]()


def build(
    scenarios: Sequence[Scenario],
    seed: int | None = None,
    chars: int | None = None,
    without: Collection[str] = (),
) -> dict[Category, list[Trajectory]]:
    """Return the trajectories of each category; omit the ids in ``without``.

    The provenance of each trajectory contains the canary. If no seed is given, the seed of the
    generated items differs between trajectories.

    Raises DataError if a trajectory cannot be made.
    """
    return {
        category: [
            replace(made, provenance={**made.provenance, "canary": CANARY})
            for scenario in scenarios
            if variant_id(scenario.base, category) not in without
            and (made := make(scenario, category, seed, chars)) is not None
        ]
        for category in MULTI_TURN
    }


def texts(
    scenarios: Sequence[Scenario],
    seed: int | None = None,
    chars: int | None = None,
    record: Path | None = None,
) -> dict[str, str]:
    """Map file names to the texts of a data set's files; withdrawn entries are left out.

    Raises DataError if the record of reviews is invalid, or a trajectory cannot be made.
    """
    without = withdrawn(read_record(record)) if record else ()
    built = build(scenarios, seed, chars, without)
    return {f"{category}.jsonl": lines(members) for category, members in built.items()}


def lines(trajectories: Sequence[Trajectory]) -> str:
    """Return trajectories as JSON lines."""
    return "".join(
        f"{json.dumps(to_json(t), ensure_ascii=False, allow_nan=False)}\n" for t in trajectories
    )


def main(
    arguments: Sequence[str],
    folder: Path = DATA,
    scenarios: Path = SCENARIOS,
    record: Path = RECORD,
) -> str | None:
    """Write data files and scenarios; with ``--check``, only compare. Return an error or None."""
    if list(arguments) not in ([], ["--check"]):
        return f"usage: python -m {__package__}.build [--check]"
    try:
        read = read_scenarios(scenarios)
        made = texts(read, record=record)
    except DataError as error:
        return str(error)
    wanted = {scenarios / f"{scenario.name}.json": written(scenario) for scenario in read}
    wanted |= {folder / name: text for name, text in made.items()}
    stale = []
    for path, text in wanted.items():
        if not arguments:
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale.append(path.name)
    return f"{', '.join(stale)}: out of date; run python -m {__package__}.build" if stale else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
