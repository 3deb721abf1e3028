"""What a person writes of a base scenario: one file each, from which all its trajectories are made.

The files are in ``trajectories/scenarios``, named after the scenario, pretty-printed, and no part
of the package that is installed.
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
from envs.errors import MalformedCall
from envs.registry import check_config
from extensions.authoring.making.worlds import surrounded
from trajectories.dataset import DATA
from trajectories.errors import DataError
from trajectories.jsonl import parse_object, read_text
from trajectories.schema import Category, Label, Strict, Trajectory, Turn
from trajectories.validation import check_turns, validated

SCENARIOS = DATA.with_name("scenarios")
"""Where the scenarios are that the embedded data is built from."""
_PREFIX = f"{Category.BASE}_"


@dataclass(frozen=True)
class MissingParameter(Strict):
    """How a request leaves a value out, and how the user supplies it.

    Attributes:
        turn: Index of the base's turn.
        without: The request, worded so that a needed value is missing.
        answer: What the user says in the turn after.
    """

    turn: int
    without: str
    answer: str


@dataclass(frozen=True)
class MissingFunction(Strict):
    """Which functions are held out until the turn after they are needed.

    Attributes:
        turn: Index of the base's turn that needs them.
        functions: Their names.
        stand_ins: Others by which an obliging model would do half of it; held out with them.
    """

    turn: int
    functions: tuple[str, ...]
    stand_ins: tuple[str, ...] = ()

    @property
    def held_out(self) -> tuple[str, ...]:
        """All that is handed over one turn later."""
        return (*self.functions, *self.stand_ins)


@dataclass(frozen=True)
class Notes:
    """What is noted about a base trajectory: how variants are made of it."""

    base: str
    missing_parameter: MissingParameter
    missing_function: MissingFunction


@dataclass(frozen=True)
class Surroundings(Strict):
    """Generated items that an initial config is filled up with.

    Attributes:
        seed: The same seed and size give the same items for the same words.
        items: How many of each kind.
    """

    seed: int
    items: Annotated[int, Field(gt=0)]


@dataclass(frozen=True)
class Scenario(Strict):
    """A base scenario as its author wrote it.

    Attributes:
        id: That of the base trajectory; the file is named after it, without ``base_``.
        environments: Names of the backends.
        config: Backend name to the part of its initial config that is written by hand.
        turns: At least one.
        missing_parameter: How a value is left out.
        missing_function: What is held out.
        labels: What of it needs thought; none for a plain one.
        world: What stands around what is written by hand, or None.
        not_long: Why it has no variant with a long context; empty where one is to be made.
        provenance: Where the scenario comes from, as short texts by keyword.
    """

    id: str
    environments: tuple[str, ...]
    config: Mapping[str, Mapping[str, Any]]
    turns: tuple[Turn, ...]
    missing_parameter: MissingParameter
    missing_function: MissingFunction
    labels: tuple[Label, ...] = ()
    world: Surroundings | None = None
    not_long: str = ""
    provenance: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its id without the category; what its file is called."""
        return self.id.removeprefix(_PREFIX)

    @property
    def notes(self) -> Notes:
        """How its variants are made."""
        return Notes(self.id, self.missing_parameter, self.missing_function)

    @cached_property
    def by_hand(self) -> Trajectory:
        """The base trajectory without its world."""
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

        Raises:
            DataError: There is a world, and the config has a defect.
        """
        if self.world is None:
            return self.by_hand
        said = [self.missing_parameter.without, self.missing_parameter.answer]
        return surrounded(self.by_hand, self.world.seed, self.world.items, said)


_ADAPTER = TypeAdapter(Scenario)


def read_scenario(path: Path) -> Scenario:
    """Read the scenario of a file.

    Raises:
        DataError: The file is not of the expected form, or is named after another scenario.
    """
    where = str(path)
    scenario = validated(_ADAPTER, parse_object(read_text(path), where), where)
    if scenario.id != f"{_PREFIX}{path.stem}":
        raise DataError(where, f"$.id: must be {_PREFIX}{path.stem}, as the file is named")
    if len({*scenario.labels}) < len(scenario.labels):
        raise DataError(where, "$.labels: names one twice")
    check_turns(scenario.by_hand, where)
    for problem in check_config(scenario.environments, scenario.config):
        raise DataError(where, f"$.config{str(problem).removeprefix('$')}")
    for index, turn in enumerate(scenario.turns):
        for position, text in enumerate(turn.ground_truth):
            call = read_call(text)
            if str(call) != text:
                place = f"$.turns[{index}].ground_truth[{position}]"
                raise DataError(
                    where,
                    f"{place}: {call if isinstance(call, MalformedCall) else f'write {call}'}",
                )
    return scenario


def read_scenarios(folder: Path = SCENARIOS) -> list[Scenario]:
    """Read all scenarios of a folder, in the order of their names.

    Raises:
        DataError: There are none, or one is not as it must be.
    """
    if folder.is_file():
        advice = "name a folder of scenarios, such as turnwise generate --scenarios writes"
        raise DataError(str(folder), f"is a file; {advice}")
    paths = sorted(folder.glob("*.json"))
    if not paths:
        ours = "; ours are in the repository, and are not installed" if folder == SCENARIOS else ""
        raise DataError(str(folder), f"holds no scenario, NAME.json{ours}")
    return [read_scenario(path) for path in paths]


def written(scenario: Scenario) -> str:
    """Return a scenario in the form of its file, without members at their default."""
    members = _ADAPTER.dump_python(scenario, mode="json", exclude_defaults=True)
    return f"{json.dumps(members, ensure_ascii=False, indent=1, allow_nan=False)}\n"
