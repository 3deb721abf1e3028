"""An environment under test: its class, its example config, and the worlds to play in."""

from __future__ import annotations

import inspect
import json
import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import envs
from envs.backend import OWN, Backend, copy_json
from envs.calls import Call
from envs.errors import ConfigError
from envs.long_context import Pack
from envs.registry import backend_class, example_file, file_folder
from envs.schema import ToolSpec, spec
from envs.tool import Tool, near, place
from extensions.contract import places
from extensions.contract.watched import TooLong, Watched, in_time

_ROOT = Path(envs.__file__).resolve().parents[1]

PACK = Pack(
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
"""Long-context material, little of it."""


EXCEPTIONS: Mapping[tuple[str, str], str] = {
    ("results", "MathAPI"): (
        "gives numbers that JSON does not have, such as infinity, because BFCL does"
    ),
    ("outcomes", "VehicleControlAPI.get_outside_temperature_from_weather_com"): (
        "never succeeds, because BFCL's does not"
    ),
}
"""Check and environment or function to the reason why it need not keep the promise.

Refusals that leave a change are marked where they are, by ``@writes_even_refused``.
"""


Value = TypeVar("Value")
Of = Literal["result", "state", "values", "again"] | Callable[[Mapping[str, Any]], object]
"""What a call did wrong: its result, that it set a field, that it changed a value in place, that it
does something else in another fork, or what it made of the state, as a function of that."""


class Broken(AssertionError):
    """A check's finding: file and line to mend, what is wrong there, and what would do.

    Args:
        of: What the last call of a play did wrong; the line of that is looked for then.
    """

    def __init__(self, place: str, message: str, of: Of | None = None) -> None:
        super().__init__(f"{place}: {message}")
        self.place = place
        self.message = message
        self.of = of


class World(NamedTuple):
    """What a session starts from."""

    config: Mapping[str, Any]
    pack: Pack | None = None


class Subject:
    """One registered environment.

    Raises:
        ConfigError: There is no such environment, or it cannot be imported.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.backend: type[Backend] = backend_class(name)
        self.tools: Sequence[Tool] = tuple(self.backend.TOOLS.values())
        self.failed: list[str] = []
        """Names of the checks that have found something."""
        self.endless: TooLong | None = None
        """That loading does not end, once that is known: it is not waited for again."""

    @cached_property
    def source(self) -> str:
        """What the paths of its source files begin with: its package's folder, or its module."""
        file = inspect.getfile(self.backend)
        return str(Path(file).parent) + os.sep if "." in self.backend.__module__ else file

    @property
    def example_file(self) -> Path:
        """Where the example initial config is: beside the module, for ours in ``configs/``."""
        return example_file(self.backend)

    @property
    def golden_file(self) -> Path:
        """Where the frozen function documents are: beside the module, for ours in ``tests/``."""
        folder = file_folder(self.backend, _ROOT / "tests" / "golden")
        return folder / f"{self.name}.functions.json"

    @property
    def has_tests(self) -> bool:
        """Whether the files that only tests read can be there: ours are not installed."""
        return self.golden_file.parent.is_dir()

    @cached_property
    def example(self) -> Mapping[str, Any]:
        """The example initial config of this backend.

        Raises:
            Broken: There is none.
        """
        try:
            config: Mapping[str, Any] = json.loads(self.example_file.read_text(encoding="utf-8"))
        except OSError:
            raise Broken(
                place(self.backend), f"{self.name} has no example config {self.example_file}"
            ) from None
        except ValueError as error:
            raise Broken(f"{self.example_file}:1", f"is no JSON: {error}") from None
        if not isinstance(config, dict) or list(config) != [self.name]:
            raise Broken(f"{self.example_file}:1", f'must be {{"{self.name}": {{...}}}}')
        return config[self.name]  # type: ignore[no-any-return]

    @cached_property
    def worlds(self) -> Sequence[World]:
        """The example, the example with bulky material, and what an empty config gives."""
        return World(self.example), World(self.example, PACK), World({})

    def excepts(self, check: str, tool: Tool) -> bool:
        """Tell whether a function need not keep the promise of a check."""
        return not {(check, self.name), (check, f"{self.name}.{tool.name}")}.isdisjoint(EXCEPTIONS)

    def exceptions(self) -> list[str]:
        """Return one line per function that need not keep a promise, with the reason."""
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

    def session(self, world: World | None = None, **options: bool) -> Watched:
        """Return a fresh session from a copy of a world; from the example by default.

        Raises:
            Broken: It does not load.
            TooLong: Loading does not end.
        """
        config, pack = world or self.worlds[0]
        given = {self.name: copy_json(config)}

        def load() -> Watched:
            return Watched.load([self.name], given, pack, behaviour=OWN, **options)

        try:
            session = self.in_time("loading a config", load)
        except ConfigError as error:
            if error.__cause__ is not None and (line := self.line_of(error.__cause__)):
                raise Broken(line, f"{self.name}: a config that fits: {error}") from error
            raise self.broken(f"does not load a config that fits: {error}") from error
        session.source, session.config = self.source, given[self.name]
        return session

    def in_time(self, what: str, run: Callable[[], Value]) -> Value:
        """Run what is not yet known not to end.

        Raises:
            TooLong: It does not end.
        """
        if self.endless is not None:
            raise self.endless
        try:
            return in_time(self.source, what, run)
        except TooLong as error:
            self.endless = error
            raise

    def broken(
        self,
        message: str,
        at: Tool | Call | str | None = None,
        of: Of | None = None,
        part: str | None = None,
    ) -> Broken:
        """Return a finding about a function, a call's, a member of the class, or the class.

        Of a function, a ``part`` is one that ``places.function`` knows.
        """
        if isinstance(at, (Tool, Call)):
            tool = self.backend.TOOLS[at.name]
            line = places.function(tool.function, part)
            return Broken(line, f"{self.name}.{tool.name}: {message}", of)
        return Broken(places.member(self.backend, at), f"{self.name}: {message}", of)

    def raised(self, error: BaseException) -> BaseException:
        """Return a finding about an error of the environment's module; any other error as it is."""
        if isinstance(error, TooLong):
            tool = self.backend.TOOLS.get(getattr(error.what, "name", ""))
            line = error.line or (places.function(tool.function) if tool else place(self.backend))
            owner = f"{self.name}.{tool.name}" if tool else self.name
            return Broken(line, f"{owner}: {error}; has it an end?")
        at = self.line_of(error.__cause__ or error)
        if at is None:
            return error
        said = f"{type(error).__name__}: {error}".removesuffix(": ")
        return Broken(at, f"{self.name} raises {said}")

    def line_of(self, error: BaseException) -> str | None:
        """Return the last line of the environment's source on the way to an error."""
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame for frame in frames if frame.filename.startswith(self.source)]
        return f"{near(lines[-1].filename)}:{lines[-1].lineno}" if lines else None

    def spec(self, tool: Tool) -> ToolSpec:
        """Return the interface of a function.

        Raises:
            Broken: Its docstring or types cannot be used.
        """
        try:
            return spec(tool)
        except TypeError as error:
            raise self.broken(f"cannot be described: {error}", tool) from None

    def at_line(self, method: str, word: str, message: str) -> Broken:
        """Return a finding about the line of a method that sets a field or names a key."""
        line = places.assigned(self.backend.__dict__[method], word)
        return Broken(line, f"{self.name}: {message}")

    def config_broken(self, key: str, message: str) -> Broken:
        """Return a finding about a key of the config's type."""
        return Broken(places.member(self.backend.Config, key), f"{self.name}.Config: {message}")
