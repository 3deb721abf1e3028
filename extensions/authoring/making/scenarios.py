"""Scenario files: the handwritten sources of all trajectories.

The files are in ``trajectories/scenarios`` of the repository and are not installed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from envs.calls import read_call
from envs.errors import DataError, MalformedCall
from envs.registry import check_config
from extensions.authoring.making.scenario_worlds import surround
from trajectories.dataset import DATA
from trajectories.jsonl import parse_object, read_text
from trajectories.record_validation import check_turns, validate_record
from trajectories.schema import Category, DifficultyLabel, StrictRecord, Trajectory, Turn

SCENARIOS = DATA.with_name("scenarios")
"""Folder of the scenarios from which the embedded data is built."""
_PREFIX = f"{Category.BASE}_"


@dataclass(frozen=True)
class MissingParameter(StrictRecord):
    """A request without a needed value, and the next message, which gives the value."""

    turn: int
    """Index of the turn in the base trajectory."""
    without: str
    """The request without the value."""
    answer: str
    """The user's message in the next turn."""
    ordered: tuple[tuple[int, ...], ...] | None = None
    """Groups of calls (positions in the ground truth); the calls of a group must keep their order.
    None keeps the groups of the base trajectory.
    """


@dataclass(frozen=True)
class MissingFunction(StrictRecord):
    """Functions that are missing in one turn and offered in the next turn."""

    turn: int
    """Index of the turn that needs the functions, counted in the base trajectory."""
    functions: tuple[str, ...]
    """Names of the needed functions."""
    stand_ins: tuple[str, ...] = ()
    """Further functions that are held out, because they could do part of the task."""

    @property
    def held_out(self) -> tuple[str, ...]:
        """All functions that are missing in ``turn`` and are offered one turn later."""
        return (*self.functions, *self.stand_ins)


@dataclass(frozen=True)
class VariantNotes:
    """Author's notes on the variants of a base trajectory."""

    base: str
    missing_parameter: MissingParameter
    missing_function: MissingFunction


@dataclass(frozen=True)
class GeneratedItems(StrictRecord):
    """Seed of the generated items in an initial config, and the number of items per kind."""

    seed: int
    items: Annotated[int, Field(gt=0)]


@dataclass(frozen=True)
class Scenario(StrictRecord):
    """A base scenario as its author wrote it."""

    id: str
    environments: tuple[str, ...]
    config: Mapping[str, Mapping[str, Any]]
    """Handwritten part of each backend's initial config."""
    turns: tuple[Turn, ...]
    missing_parameter: MissingParameter | None = None
    """Note on the variant ``miss_param``; None if the scenario lacks this variant."""
    missing_function: MissingFunction | None = None
    """Note on the variant ``miss_func``; None if the scenario lacks this variant."""
    labels: tuple[DifficultyLabel, ...] = ()
    """Difficulties of the scenario; empty for a plain scenario."""
    world: GeneratedItems | None = None
    """Generated items that are added to the handwritten items, if any."""
    not_long: str = ""
    """Reason why the scenario has no long-context variant; empty if the variant exists."""
    kept_whole: tuple[str, ...] = ()
    """Names of files, folders, stock sectors (``technology``), tickets (``ticket 614``) and lists
    (``watchlist``, ``followed``). No items are added to these files, folders and lists, because
    the user asks for their whole content.
    """
    provenance: Mapping[str, str] = field(default_factory=dict)
    """Notes on the origin of the scenario, as keywords with short strings."""

    @property
    def name(self) -> str:
        """Name of the scenario's file: the id without the category."""
        return self.id.removeprefix(_PREFIX)

    @property
    def notes(self) -> VariantNotes:
        """Notes on the variants; the turn of a note is -1 if the scenario lacks the variant."""
        nothing = MissingParameter(-1, "", ""), MissingFunction(-1, ())
        return VariantNotes(
            self.id, self.missing_parameter or nothing[0], self.missing_function or nothing[1]
        )

    @cached_property
    def by_hand(self) -> Trajectory:
        """The base trajectory without generated items."""
        return Trajectory(
            self.id,
            Category.BASE,
            self.environments,
            self.config,
            self.turns,
            provenance=self.provenance,
            labels=self.labels,
        )

    @cached_property
    def base(self) -> Trajectory:
        """The base trajectory.

        Raises DataError if the config is invalid.
        """
        if self.world is None:
            return self.by_hand
        note = self.missing_parameter
        said = [note.without, note.answer] if note else []
        return surround(self.by_hand, self.world.seed, self.world.items, said)


_ADAPTER = TypeAdapter(Scenario)


def read_scenario(path: Path) -> Scenario:
    """Read a scenario file.

    Raises DataError if the file is invalid, or has the name of another scenario.
    """
    where = str(path)
    scenario = validate_record(_ADAPTER, parse_object(read_text(path), where), where)
    if scenario.id != f"{_PREFIX}{path.stem}":
        raise DataError(where, f"$.id: must be {_PREFIX}{path.stem}, like the file name")
    if len({*scenario.labels}) < len(scenario.labels):
        raise DataError(where, "$.labels: contains duplicates")
    check_turns(scenario.by_hand, where)
    for error in check_config(scenario.environments, scenario.config):
        raise DataError(where, f"$.config{str(error).removeprefix('$')}")
    for index, turn in enumerate(scenario.turns):
        for position, text in enumerate(turn.ground_truth):
            call = read_call(text)
            if str(call) != text:
                place = f"$.turns[{index}].ground_truth[{position}]"
                reason = call if isinstance(call, MalformedCall) else f"write {call}"
                raise DataError(where, f"{place}: {reason}")
    return scenario


def read_scenarios(folder: Path = SCENARIOS) -> list[Scenario]:
    """Read all scenarios of a folder in the order of their names; the expert tier comes last.

    Raises DataError if the folder has no scenario, or has an invalid scenario.
    """
    if folder.is_file():
        advice = "name a folder of scenarios (turnwise generate --scenarios writes one)"
        raise DataError(str(folder), f"is a file; {advice}")
    paths = sorted(folder.glob("*.json"))
    if not paths:
        ours = "; the built-in ones are only in the repository" if folder == SCENARIOS else ""
        raise DataError(str(folder), f"contains no scenario, NAME.json{ours}")
    scenarios = [read_scenario(path) for path in paths]
    return sorted(scenarios, key=lambda scenario: DifficultyLabel.TRACKING in scenario.labels)


def written(scenario: Scenario) -> str:
    """Serialize a scenario as the text of its file. Fields with default values are omitted."""
    members = _ADAPTER.dump_python(scenario, mode="json", exclude_defaults=True)
    return f"{json.dumps(members, ensure_ascii=False, indent=1, allow_nan=False)}\n"
