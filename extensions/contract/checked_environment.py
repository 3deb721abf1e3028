"""Checked environment: its class, example config and initial states."""

from __future__ import annotations

import inspect
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple, TypeVar

import envs
from envs.backend import OWN, Backend
from envs.calls import Call
from envs.errors import ConfigError, DataError, InvalidArgument
from envs.long_context import LongContextPack
from envs.registry import backend_class, get_example_file, get_file_folder, with_worlds
from envs.schema import ToolSpec, check_value, make_spec
from envs.state import Snapshot, copy_json, cut_repr, to_json
from envs.tool import Tool, place, shorten_path
from extensions.contract import source_places
from extensions.contract.global_values import SETTINGS, list_shared
from extensions.contract.timed_session import CallTimeout, TimedSession, in_time
from trajectories.jsonl import parse_value

_ROOT = Path(envs.__file__).resolve().parents[1]

_MAX_CONFIGS = 10
"""Maximum number of given configs from which random playthroughs start."""

PACK = LongContextPack(
    file_suffix="\nmore text",
    untouched_files=["plain.txt"],
    extra_files=["extra_1.txt", "extra_2.txt"],
    car_status="more status",
    parking_brake="more brake",
    weather={"humidity": 40, "wind": [1, 2]},
    cities=["Hilltown", "Laketown"],
    watch_list=["AAA", {"BBB": [1.5]}],
    transactions=[{"type": "deposit", "amount": 5.0}],
    moving_average_5=(1.0, 2.0),
    moving_average_20=(3.0, 4.0),
    sector_stocks={"Technology": ["CCC"], "Automobile": ["DDD"]},
    order_metadata={"note": "about {symbol}"},
    credit_cards={"card_1": {"card_number": "4000", "balance": 100.0}},
    bookings={"booking_1": {"travel_cost": 10.0, "transaction_id": "1"}},
    lists_fares=True,
)  # fmt: skip
"""A small amount of long-context material."""


EXCEPTIONS: Mapping[tuple[str, str], str] = {
    ("results", "MathAPI"): (
        "as in BFCL, some functions return infinity, which is not a JSON number"
    ),
    ("results", "VehicleControlAPI.get_outside_temperature_from_google"): (
        "the function returns additional fields in a long context, as in BFCL"
    ),
    ("results", "TravelAPI.verify_traveler_information"): (
        "the function returns an undeclared key, as in BFCL"
    ),
    ("outcomes", "VehicleControlAPI.get_outside_temperature_from_weather_com"): (
        "the function never succeeds, as in BFCL"
    ),
    ("key order", "GorillaFileSystem"): "the first directory is the root, as in BFCL's backend",
    ("reached states", "GorillaFileSystem"): (
        "the functions accept file names that a config may not contain, as in BFCL"
    ),
    ("reached states", "TwitterAPI.comment"): "new comments have integer keys, as in BFCL",
    ("memory", "GorillaFileSystem._path"): "no config of BFCL sets the working directory",
    ("memory", "TravelAPI.insurances"): "no config of BFCL sets this field",
    ("memory", "TravelAPI.support_messages"): "no config of BFCL sets this field",
    ("memory", "VehicleControlAPI.cruiseSpeed"): "no config of BFCL sets this field",
}
"""Exemptions from checks, with reasons.

The decorator ``@writes_even_refused`` marks functions whose refused calls can change the state.
"""


_MAX_SMALL = 4
"""Maximum number of config values in the error message about an endless call."""
Value = TypeVar("Value")
Of = Literal["result", "state", "values", "again"] | Callable[[Mapping[str, Any]], object]
"""Kind of the source line that a finding names.

- ``result``: This line returns the result.
- ``state``: This line changes the state.
- ``values``: This line changes a value in place.
- ``again``: After this line, a session and its fork execute different lines.
- A function of the state: This line changes the function's return value.
"""


class ContractViolation(AssertionError):
    """Finding of a check: file and line, the error, and a fix.

    Args:
        of: Kind of the last call's violation, used to find its line.
    """

    def __init__(self, place: str, message: str, of: Of | None = None) -> None:
        super().__init__(f"{place}: {message}")
        self.place = place
        self.message = message
        self.of = of


class StartState(NamedTuple):
    """Initial config and long-context material of a session."""

    config: Mapping[str, Any]
    pack: LongContextPack | None = None
    worlds: Mapping[str, Mapping[str, Any]] = {}
    """Configs by world. A world that is not in this mapping has the config of the example file."""

    def to_json(self) -> list[Any]:
        """Return a JSON value that ``from_json`` converts back to the object."""
        return [self.config, self.pack is not None, self.worlds]

    @classmethod
    def from_json(cls, given: Sequence[Any]) -> StartState:
        """Restore the object from the JSON value that ``to_json`` returned."""
        config, has_pack, worlds = given
        return cls(config, PACK if has_pack else None, worlds)


def list_leaves(value: Any, field: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each scalar in a JSON value, with the name of the field that contains the scalar."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from list_leaves(member, key)
    elif isinstance(value, list):
        for member in value:
            yield from list_leaves(member, field)
    else:
        yield field, value


class CheckedEnvironment:
    """One registered environment.

    Raises ConfigError if the environment does not exist or cannot be imported.
    """

    def __init__(self, name: str, configs: Sequence[Mapping[str, Any]] = ()) -> None:
        self.name = name
        self._configs = configs
        self.backend: type[Backend] = backend_class(name)
        self.tools: Sequence[Tool] = tuple(self.backend.TOOLS.values())
        self.worlds: Mapping[str, type[Backend]] = {
            world: backend_class(world) for world in with_worlds((name,))[1:]
        }
        """Worlds that the environment uses, by name."""
        self.shared_at_start = list_shared(self.modules)
        self.settings_at_start = {name: each.read() for name, each in SETTINGS.items()}
        self.failed: list[str] = []
        """Names of the checks that found a violation."""
        self.endless: CallTimeout | None = None
        """The first timeout. Each later call of ``in_time`` raises it again."""

    @cached_property
    def source(self) -> str:
        """Common prefix of all source paths: the package's folder, or the module."""
        file = inspect.getfile(self.backend)
        return str(Path(file).parent) + os.sep if "." in self.backend.__module__ else file

    @cached_property
    def modules(self) -> Sequence[ModuleType]:
        """Loaded modules of the environment's package."""
        found = [
            each
            for each in [*sys.modules.values()]
            if str(getattr(each, "__file__", None)).startswith(self.source)
        ]
        return found or [sys.modules[self.backend.__module__]]

    @cached_property
    def own_names(self) -> Sequence[str]:
        """Names of the environment and of the worlds in its package."""
        worlds = self.worlds.items()
        return [
            self.name,
            *[w for w, kind in worlds if inspect.getfile(kind).startswith(self.source)],
        ]

    @cached_property
    def all_tools(self) -> Mapping[str, Tool]:
        """Functions of the environment and its worlds, by name."""
        kinds = {self.name: self.backend, **self.worlds}
        # The class names itself, but a session may know it as module:Class.
        return {
            tool.name: tool._replace(backend=name)
            for name, kind in kinds.items()
            for tool in kind.TOOLS.values()
        }

    @property
    def world_tools(self) -> Sequence[Tool]:
        """State-changing functions of the worlds, such as ``wait``."""
        return [
            tool for kind in self.worlds.values() for tool in kind.TOOLS.values() if tool.writes
        ]

    @property
    def reading_tools(self) -> Sequence[str]:
        """Names of the functions that only read."""
        return [name for name, tool in self.all_tools.items() if not tool.writes]

    @property
    def played_tools(self) -> Sequence[Tool]:
        """All functions of the environment, and the state-changing functions of its worlds."""
        return [*self.tools, *self.world_tools]

    @property
    def example_file(self) -> Path:
        """File of the example config.

        The file is in ``configs/`` for built-in environments, else beside the module.
        """
        return get_example_file(self.backend)

    @property
    def golden_file(self) -> Path:
        """File with the expected function documents.

        The file is in ``tests/`` for built-in environments, else beside the module.
        """
        folder = get_file_folder(self.backend, _ROOT / "tests" / "golden")
        return folder / f"{self.backend.__name__}.functions.json"

    @property
    def has_tests(self) -> bool:
        """Whether the folder of the test files exists.

        The package contains no test files of the built-in backends.
        """
        return self.golden_file.parent.is_dir()

    @cached_property
    def example(self) -> Mapping[str, Any]:
        """Example initial config. Raises ContractViolation if the file is missing or invalid."""
        return self._example_file_configs[self.name]

    @cached_property
    def _example_file_configs(self) -> Mapping[str, Mapping[str, Any]]:
        try:
            config = parse_value(self.example_file.read_text("utf-8"), f"{self.example_file}:1")
        except OSError:
            message = f"{self.name} has no example config {self.example_file}"
            advice = f'write {{"{self.name}": {{...}}}} into this file'
            raise ContractViolation(place(self.backend), f"{message}; {advice}") from None
        except DataError as error:
            raise ContractViolation(*error.args) from None
        session = with_worlds((self.name,))
        if not isinstance(config, dict) or self.name not in config or not {*session} >= {*config}:
            worlds = "".join(f', "{world}": {{...}}' for world in session[1:])
            wanted = f'must be {{"{self.name}": {{...}}{worlds}}}'
            raise ContractViolation(f"{self.example_file}:1", wanted)
        return config

    @cached_property
    def starts(self) -> Sequence[StartState]:
        """Initial states, such as the example config and the empty config."""
        valid = [each for each in self._configs if not self.backend.check_config(each)]
        # The largest ones have the most to play with.
        others = sorted(valid, key=lambda config: -len(repr(config)))[:_MAX_CONFIGS]
        own = StartState(self.example), StartState(self.example, PACK), StartState({})
        return *own, *map(StartState, others)

    def excepts(self, check: str, tool: Tool) -> bool:
        """Tell whether a check skips a function."""
        return not {(check, self.name), (check, f"{self.name}.{tool.name}")}.isdisjoint(EXCEPTIONS)

    def exceptions(self) -> list[str]:
        """Return one line for each exemption from a check, with the reason."""
        return [
            *(
                f"{what}, {check}: {reason}"
                for (check, what), reason in EXCEPTIONS.items()
                if what.split(".")[0] == self.name
            ),
            *(
                f"{self.name}.{tool.name}, refusals: {tool.keeps_on_refusal}"
                for tool in self.tools
                if tool.keeps_on_refusal is not None
            ),
        ]

    def session(self, start: StartState | None = None, **options: bool) -> TimedSession:
        """Return a new session in an initial state (default: the example's state).

        Raises:
            ContractViolation: The config cannot be loaded.
            CallTimeout: Loading exceeds the time limit.
        """
        start = start or self.starts[0]
        pack, given = start.pack, self.configs_of(start)

        def load() -> TimedSession:
            rules = {"checks_arguments": False, **options}
            return TimedSession.load([self.name], given, pack, behaviour=OWN, **rules)

        try:
            session = self.in_time("loading a config", load)
        except ConfigError as error:
            if error.__cause__ is not None and (line := self.line_of(error.__cause__)):
                raise ContractViolation(
                    line, f"{self.name}: a valid config cannot be loaded: {error}"
                ) from error
            raise self.broken(f"cannot load a valid config: {error}") from error
        session.source, session.configs = self.source, given
        return session

    def configs_of(self, start: StartState) -> dict[str, Any]:
        """Return copies of the configs of a start state, by name of the environment or world.

        A world without a config gets an empty config.
        """
        configs: dict[str, Mapping[str, Any]] = {name: {} for name in self.worlds}
        configs |= {**self._example_file_configs, **start.worlds, self.name: start.config}
        return {name: copy_json(config) for name, config in configs.items()}

    def get_class(self, name: str) -> type[Backend]:
        """Return the class of the environment or of one of its worlds."""
        return self.worlds.get(name, self.backend)

    def start_of(self, snapshot: Snapshot, pack: LongContextPack | None = None) -> StartState:
        """Convert a state to configs.

        Raises ContractViolation if the state is not JSON.
        """
        written = {}
        for name, kind in {self.name: self.backend, **self.worlds}.items():
            state = to_json(snapshot.states[name])
            config = {key: state[field] for key, field in kind.KEYS.items() if field in state}
            try:
                written[name] = json.loads(json.dumps(config, allow_nan=False))
            except ValueError:
                raise self.broken(f"the state is not JSON: {cut_repr(config)}") from None
        return StartState(written.pop(self.name), pack, written)

    def find_problems(self, start: StartState) -> bool:
        """Tell whether configs have errors."""
        worlds = start.worlds.items()
        return bool(
            self.backend.check_config(start.config)
            or any(self.worlds[name].check_config(config) for name, config in worlds)
        )

    def in_time(self, what: str, run: Callable[[], Value]) -> Value:
        """Run a function with a time limit. After a timeout, later calls raise the same error."""
        if self.endless is not None:
            raise self.endless
        try:
            return in_time(self.source, what, run)
        except CallTimeout as error:
            self.endless = error
            raise

    def broken(
        self,
        message: str,
        at: Tool | Call | str | None = None,
        of: Of | None = None,
        part: str | None = None,
    ) -> ContractViolation:
        """Return a finding about a function, a call, the class or an attribute of the class.

        ``part`` is the name of a parameter, or the first words of a docstring line.
        """
        if isinstance(at, (Tool, Call)):
            tool = self.all_tools[at.name]
            is_own = tool.name in self.backend.TOOLS
            line = source_places.function(tool.function, part) if is_own else place(self.backend)
            return ContractViolation(line, f"{self.name}.{tool.name}: {message}", of)
        return ContractViolation(
            source_places.member(self.backend, at), f"{self.name}: {message}", of
        )

    def raised(self, error: BaseException) -> BaseException:
        """Convert an error from the environment's code to a finding; return other errors."""
        if isinstance(error, CallTimeout):
            tool = self.backend.TOOLS.get(getattr(error.what, "name", ""))
            line = error.line or (
                source_places.function(tool.function) if tool else place(self.backend)
            )
            owner = f"{self.name}.{tool.name}" if tool else self.name
            advice = f"check that this code ends{self._say_small(error.configs)}"
            return ContractViolation(line, f"{owner}: {error}; {advice}")
        at = self.line_of(error.__cause__ or error)
        if at is None:
            return error
        said = f"{type(error).__name__}: {error}".removesuffix(": ")
        return ContractViolation(at, f"{self.name} raises {said}")

    def _say_small(self, configs: Mapping[str, Any]) -> str:
        """Return zeros and negative numbers of the config, which often cause endless loops."""
        own = {name: configs[name] for name in self.own_names if name in configs}
        small = dict.fromkeys(
            f"{field} = {number!r}"
            for field, number in list_leaves(own)
            if type(number) in (int, float) and number <= 0
        )
        shown = ", ".join([*small][:_MAX_SMALL])
        return f" (with {shown} in the config)" if shown else ""

    def line_of(self, error: BaseException) -> str | None:
        """Return the place of the last traceback line that belongs to the environment."""
        frame = self._last_frame(error)
        return f"{shorten_path(frame.filename)}:{frame.lineno}" if frame else None

    def code_of(self, error: BaseException) -> str | None:
        """Return the code of the last traceback line that belongs to the environment."""
        frame = self._last_frame(error)
        return frame.line if frame else None

    def _last_frame(self, error: BaseException) -> traceback.FrameSummary | None:
        frames = traceback.extract_tb(error.__traceback__)
        own = (each for each in reversed(frames) if each.filename.startswith(self.source))
        return next(own, None)

    def spec(self, tool: Tool) -> ToolSpec:
        """Return the interface of a function.

        Raises ContractViolation if the function's docstring or types cannot be used.
        """
        try:
            return make_spec(tool)
        except DataError as error:
            raise self.broken(f"cannot be described: {error}", tool) from None

    def fits(self, tool: Tool, given: Mapping[str, Any]) -> bool:
        """Tell whether each value fits the parameter of the same name."""
        try:
            for name, value in given.items():
                check_value(tool, name, value)
        except InvalidArgument:
            return False
        return True

    def at_load(self, name: str, field: str, message: str) -> ContractViolation:
        """Return a finding at the line of ``_load`` that handles the field.

        If the class has no ``_load`` method, the finding names the first line of the class.
        """
        members = vars(self.get_class(name))
        method = next((each for each in ("_load", "load") if each in members), None)
        if method is None:
            return self.broken(message)
        line = source_places.assigned(members[method], field)
        return ContractViolation(line, f"{name}: {message}")

    def config_broken(self, key: str, message: str) -> ContractViolation:
        """Return a finding about a key of ``Config``."""
        return ContractViolation(
            source_places.member(self.backend.Config, key), f"{self.name}.Config: {message}"
        )
