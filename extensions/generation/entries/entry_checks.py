"""Check of a generated entry by all rules, and conversion of the entry to a scenario."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from envs.calls import Call
from envs.errors import DataError
from extensions.authoring.graph.graph import TOOLS
from extensions.authoring.making.build import make
from extensions.authoring.making.missing_variants import hold_out, leave_out_value
from extensions.authoring.making.scenarios import (
    MissingFunction,
    MissingParameter,
    Scenario,
    VariantNotes,
)
from extensions.authoring.rule_sets import RULES, validate
from extensions.authoring.rules.finding import Finding, Severity
from extensions.generation.entries.tasks import make_dataset
from trajectories.replay_queries import read_truth_calls
from trajectories.schema import MULTI_TURN, Category, Trajectory

_RULES = [rule for rule in RULES if not rule.documents]
_BULKY = (Category.LONG_CONTEXT, Category.COMPOSITE)


def find_first_finding(entry: Trajectory) -> Finding | None:
    """Return the first error or warning that ``validate`` reports for an entry, or None."""
    found = validate(make_dataset(entry), [entry], _RULES)
    return next((each for each in found if each.severity is not Severity.INFO), None)


def make_scenario(entry: Trajectory, left_out: MissingParameter | None) -> Scenario:
    """Make a scenario from an entry, and check the scenario's variants.

    Raises:
        DataError: The entry has no value to remove or no function to hold out, or a check of a
            variant fails.
    """
    if left_out is None:
        raise DataError(entry.id, "the writer named no value that can be omitted")
    for functions in _list_held_out(entry):
        notes = VariantNotes(entry.id, left_out, functions)
        leave_out_value(entry, notes)
        try:
            hold_out(entry, notes)
        except DataError:
            continue
        return _make_scenario(entry, notes)
    raise DataError(
        entry.id, "missing_function: other functions can replace each withheld function"
    )


def _make_scenario(entry: Trajectory, notes: VariantNotes) -> Scenario:
    scenario = Scenario(
        entry.id,
        entry.environments,
        entry.config,
        entry.turns,
        notes.missing_parameter,
        notes.missing_function,
        provenance=entry.provenance,
    )
    for category in MULTI_TURN:
        reason = _check_variant(scenario, category)
        if reason and category in _BULKY:
            return replace(scenario, not_long=reason)
        if reason:
            raise DataError(entry.id, f"{category}: {reason}")
    return scenario


def _check_variant(scenario: Scenario, category: Category) -> str:
    try:
        variant = make(scenario, category)
    except DataError as error:
        return str(error)
    finding = find_first_finding(variant) if variant else None
    return finding.message if finding else ""


def _list_held_out(entry: Trajectory) -> Iterator[MissingFunction]:
    """Yield each function that can be held out; the functions of the last turn come first."""
    names = [
        [call.name for call in read_truth_calls(turn) if isinstance(call, Call)]
        for turn in entry.turns
    ]
    for index in reversed(range(len(names))):
        earlier = {name for turn in names[:index] for name in turn}
        new = [name for name in dict.fromkeys(names[index]) if name not in earlier]
        for name in sorted(new, key=lambda name: not TOOLS[name].writes):
            yield MissingFunction(index, (name,))
