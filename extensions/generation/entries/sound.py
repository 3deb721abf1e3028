"""A generated entry as a whole: what the rules say of it, and the scenario that extends it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from envs.calls import Call
from extensions.authoring.graph.graph import TOOLS
from extensions.authoring.making.build import make
from extensions.authoring.making.missing import hold_out, leave_out_value
from extensions.authoring.making.scenarios import MissingFunction, MissingParameter, Notes, Scenario
from extensions.authoring.rules.problem import Problem, Severity
from extensions.authoring.validate import RULES, validate
from extensions.generation.entries.tasks import dataset_of
from trajectories.errors import DataError
from trajectories.scene import truth_calls
from trajectories.schema import MULTI_TURN, Category, Trajectory

_RULES = [rule for rule in RULES if not rule.documents]
_BULKY = (Category.LONG_CONTEXT, Category.COMPOSITE)


def fault_of(entry: Trajectory) -> Problem | None:
    """Return what the rules find in an entry first, errors and warnings alike."""
    found = validate(dataset_of(entry), [entry], _RULES)
    return next((each for each in found if each.severity is not Severity.INFO), None)


def scenario_of(entry: Trajectory, left_out: MissingParameter | None) -> Scenario:
    """Return the scenario of which an entry is the base, and whose harder variants are sound.

    Raises:
        DataError: There is none: no value can be left out of it, or no function held out.
    """
    if left_out is None:
        raise DataError(entry.id, "the writer names no value that may be left out")
    for functions in _held_out(entry):
        notes = Notes(entry.id, left_out, functions)
        leave_out_value(entry, notes)
        try:
            hold_out(entry, notes)
        except DataError:
            continue
        return _with_variants(entry, notes)
    raise DataError(entry.id, "missing_function: whatever is held out, others do the same")


def _with_variants(entry: Trajectory, notes: Notes) -> Scenario:
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
        fault = _fault(scenario, category)
        if fault and category in _BULKY:
            return replace(scenario, not_long=fault)
        if fault:
            raise DataError(entry.id, f"{category}: {fault}")
    return scenario


def _fault(scenario: Scenario, category: Category) -> str:
    """Return why a variant cannot be made or is not sound; empty where it is."""
    try:
        variant = make(scenario, category)
    except DataError as error:
        return str(error)
    fault = fault_of(variant) if variant else None
    return fault.message if fault else ""


def _held_out(entry: Trajectory) -> Iterator[MissingFunction]:
    """Yield which functions may be held out: what changes something first, the last turn first."""
    names = [
        [call.name for call in truth_calls(turn) if isinstance(call, Call)] for turn in entry.turns
    ]
    for index in reversed(range(len(names))):
        earlier = {name for turn in names[:index] for name in turn}
        new = [name for name in dict.fromkeys(names[index]) if name not in earlier]
        for name in sorted(new, key=lambda name: not TOOLS[name].writes):
            yield MissingFunction(index, (name,))
