"""The function graph: which result field of a function can feed which argument of another.

The graph is declared by hand in ``data/function_graph.json``, whose first lines say how to read it.
Here it is loaded, checked and counted; an edge's example is proven by running it. Nothing is drawn
here, and nothing is sampled.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from envs.calls import Call, parse_call
from envs.errors import MalformedCall
from envs.registry import BACKENDS
from envs.results import Result
from envs.session import Session
from envs.tool import Tool, parameters
from trajectories.dataset import DATA
from trajectories.errors import DataError
from trajectories.jsonl import parse_object

TOOLS: Mapping[str, Tool] = {
    name: tool for backend in BACKENDS.values() for name, tool in backend.TOOLS.items()
}
"""All functions of all backends by name."""

_FILE = "function_graph.json"
_STEP = re.compile(r"\[\]|\{key\}|\{value\}|\.?[^.\[\]{}]+")
_PLACE = re.compile(r"\{value(?:\|(\w+))?\}")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


class EdgeKind(StrEnum):
    """What sort of value flows along an edge."""

    ACCOUNT = "account"
    AIRPORT = "airport"
    BINDING_CARD = "binding card"
    BOOKING = "booking"
    CARD = "card"
    CARDHOLDER = "cardholder"
    DATE = "date"
    DIRECTORY = "directory"
    DISTANCE = "distance"
    FILE = "file"
    FUEL = "fuel"
    INSURANCE = "insurance"
    LINES = "lines"
    MONEY = "money"
    NUMBER = "number"
    NUMBERS = "numbers"
    ORDER = "order"
    PATH = "path"
    PERSON = "person"
    PLACE = "place"
    PRECISE = "precise"
    PRESSURE = "pressure"
    REFERENCE = "reference"
    SIDE = "side"
    SIZE = "size"
    SPEED = "speed"
    STATUS = "status"
    SYMBOL = "symbol"
    SYMBOLS = "symbols"
    TAG = "tag"
    TEMPERATURE = "temperature"
    TEXT = "text"
    TICKET = "ticket"
    TIME = "time"
    TOKEN = "token"
    TRAVEL_CLASS = "travel class"
    TWEET = "tweet"
    USER = "user"
    YEAR = "year"
    ZIP_CODE = "zip code"


@dataclass(frozen=True)
class Edge:
    """A result field of one function that can feed a parameter of another.

    Attributes:
        source: The function that gives the value.
        field: Where in its result, such as ``message_id.new_id``, ``[].id`` or ``messages{key}``.
        target: The function that takes the value.
        parameter: Where in its arguments, such as ``file_name`` or ``updates.priority``.
        kind: What sort of value it is.
        call: The example's first call, which gives the field.
        template: The example's second call, with the place of the value marked.
    """

    source: str
    field: str
    target: str
    parameter: str
    kind: EdgeKind
    call: Call
    template: Call

    @cached_property
    def name(self) -> str:
        """The edge in one line, which no other edge has."""
        dot = "" if self.field.startswith("[") else "."
        return f"{self.source}{dot}{self.field} -> {self.target}.{self.parameter}"

    @property
    def backends(self) -> tuple[str, str]:
        """Backend of the source and backend of the target."""
        return TOOLS[self.source].backend, TOOLS[self.target].backend


class Alone(NamedTuple):
    """A function without an edge."""

    reason: str
    world: str | None
    """The world that its call belongs into; None where any will do."""
    call: Call | None
    """A call that succeeds, None where none does."""


@dataclass(frozen=True)
class Graph:
    """The functions of all backends and the edges between them.

    Attributes:
        worlds: Name to initial config of all backends; the first is that of the examples.
        edges: In the order of the file.
        alone: The functions without an edge.
        needs: Function or backend to the calls that it may need first.
        empty: Function and result field to the value that means that nothing was achieved.
    """

    worlds: Mapping[str, Mapping[str, Mapping[str, Any]]]
    edges: tuple[Edge, ...]
    alone: Mapping[str, Alone]
    needs: Mapping[str, tuple[Call, ...]]
    empty: Mapping[str, Any]

    @cached_property
    def by_name(self) -> Mapping[str, Edge]:
        """The edges by their names."""
        return {edge.name: edge for edge in self.edges}

    @cached_property
    def into(self) -> Mapping[str, Sequence[Edge]]:
        """Function to the edges that end at it."""
        found: dict[str, list[Edge]] = {}
        for edge in self.edges:
            found.setdefault(edge.target, []).append(edge)
        return found

    @cached_property
    def starts(self) -> Mapping[str, Sequence[Call]]:
        """Function to calls of it that need no earlier result."""
        found: dict[str, list[Call]] = {}
        for edge in self.edges:
            calls = found.setdefault(edge.source, [])
            if edge.call not in calls:
                calls.append(edge.call)
        for name, alone in self.alone.items():
            if alone.call is not None:
                found[name] = [alone.call]
        return found

    @cached_property
    def functions(self) -> tuple[str, ...]:
        """The functions that can succeed, in the order of the backends."""
        helpless = {name for name, alone in self.alone.items() if alone.call is None}
        return tuple([name for name in TOOLS if name not in helpless])

    @property
    def pairs(self) -> Mapping[tuple[str, str], int]:
        """Backend of the source and of the target to the number of edges."""
        return Counter(edge.backends for edge in self.edges)

    @property
    def kinds(self) -> Mapping[EdgeKind, int]:
        """What sort of value to the number of edges along which it flows."""
        return Counter(edge.kind for edge in self.edges)

    def session(self, world: str | None = None) -> Session:
        """Return a session of all backends in the state of a world, by default the first."""
        config = self.worlds[world or next(iter(self.worlds))]
        return Session.load(tuple(config), config, checks_arguments=True)

    def fruitful(self, call: Call, result: Result) -> bool:
        """Tell whether a call succeeded and achieved something."""
        if not result.ok:
            return False
        value = result.held
        if value == []:
            return False
        members = value.items() if isinstance(value, dict) else ()
        return not any(
            type(member) is type(empty) and member == empty
            for name, member in members
            for empty in [self.empty.get(f"{call.name}.{name}", _NONE)]
        )

    def prepared(self, session: Session, call: Call) -> tuple[list[Call], Result] | None:
        """Make a call, after the calls that it needs first if it fails without them.

        The session is changed only where the call succeeds.

        Returns:
            The calls made, this one last, and its result; None where it gives nothing all the same.
        """
        own = self.needs.get(call.name, ())
        login = self.needs.get(TOOLS[call.name].backend, ())
        for first in ((), own, login, (*login, *own)):
            trial = session.fork()
            made = [step for step in first if self.fruitful(step, trial.call(step))]
            result = trial.call(call)
            if self.fruitful(call, result):
                session.restore(trial.snapshot())
                return [*made, call], result
        return None


_NONE = object()


class EdgeExample(NamedTuple):
    """An edge's example as it ran."""

    calls: tuple[Call, ...]
    """Preparations, the call that gives the value, preparations, and the call that takes it."""
    value: Any
    """What flowed."""


def load(path: Path | None = None) -> Graph:
    """Load the function graph, by default the one that comes with the package.

    Raises:
        DataError: The file cannot be read or is not of the expected form.
    """
    path = path or DATA / _FILE
    try:
        data = parse_object(path.read_text(encoding="utf-8"), str(path))
        return _graph(data)
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror}") from None
    except KeyError as error:
        raise DataError(str(path), f"{error} is missing, or named and not there") from None
    except (AttributeError, TypeError, ValueError, MalformedCall) as error:
        raise DataError(str(path), str(error)) from None


def _graph(data: Mapping[str, Any]) -> Graph:
    worlds: dict[str, dict[str, dict[str, Any]]] = {}
    for name, world in data["worlds"].items():
        worlds[name] = _world(world, worlds)
    inputs = {
        parameter: {EdgeKind(kind): parse_call(text) for kind, text in calls.items()}
        for parameter, calls in data["inputs"].items()
    }
    alone = {
        name: Alone(
            entry["why"], entry.get("world"), parse_call(entry["call"]) if "call" in entry else None
        )
        for name, entry in data["alone"].items()
    }
    needs = {name: tuple(map(parse_call, texts)) for name, texts in data["needs"].items()}
    return Graph(worlds, tuple(_edges(data["outputs"], inputs)), alone, needs, data["empty"])


def _world(
    world: Mapping[str, Any], earlier: Mapping[str, dict[str, dict[str, Any]]]
) -> dict[str, dict[str, Any]]:
    base = earlier[world["like"]] if "like" in world else {}
    own = {name: config for name, config in world.items() if name != "like"}
    names = [name for name in BACKENDS if name in {*base, *own}]
    return {name: {**base.get(name, {}), **own.get(name, {})} for name in names}


def _edges(
    outputs: Sequence[Mapping[str, Any]], inputs: Mapping[str, Mapping[EdgeKind, Call]]
) -> Iterator[Edge]:
    for output in outputs:
        call, kind = parse_call(output["call"]), EdgeKind(output["kind"])
        for name in output["to"]:
            target, _, parameter = name.partition(".")
            if kind not in inputs[name]:
                raise ValueError(f"inputs: {name} has no call that takes the kind {kind}")
            template = inputs[name][kind]
            yield Edge(
                call.name,
                output["field"],
                target=target,
                parameter=parameter,
                kind=kind,
                call=call,
                template=template,
            )


def check(graph: Graph) -> list[str]:
    """Return what is wrong with a graph as it is written; whether it runs is for ``example``."""
    problems = [f"{edge.name}: {problem}" for edge in graph.edges for problem in _problems(edge)]
    counted = Counter(edge.name for edge in graph.edges)
    problems += [f"{name}: is there {times} times" for name, times in counted.items() if times > 1]
    linked = {name for edge in graph.edges for name in (edge.source, edge.target)}
    for name in TOOLS:
        if name not in linked and name not in graph.alone:
            problems.append(f"{name}: has no edge, and no reason why")
    for name in graph.alone:
        if name in linked or name not in TOOLS:
            problems.append(f"{name}: has edges, or is no function, and is listed as alone")
    return problems


def _problems(edge: Edge) -> Iterator[str]:
    for call in (edge.call, edge.template):
        if call.name not in TOOLS:
            yield f"there is no function {call.name}"
            return
        known = [parameter.name for parameter in parameters(TOOLS[call.name])]
        if call.args or not {*call.kwargs} <= {*known}:
            yield f"{call} does not name its arguments by those of the function"
    if edge.template.name != edge.target:
        yield f"{edge.template} is a call of another function"
    if places(edge.template) != [edge.parameter]:
        yield f"{edge.template} takes the value at {places(edge.template)}"


def places(template: Call) -> list[str]:
    """Return the parameters of a call at which the place of a value is marked."""
    return [path for path, leaf in _leaves(dict(template.kwargs)) if _PLACE.search(str(leaf))]


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _leaves(member, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list):
        for member in value:
            yield from _leaves(member, f"{path}[]")
    else:
        yield path, value


def values_at(value: Any, path: str) -> list[Any]:
    """Return the values that stand at a path, without repetition, in their order.

    A path is names joined by dots; ``[]`` is any member of a list, ``{key}`` and ``{value}`` are
    any key and any value of an object.
    """
    found = [value]
    for step in _STEP.findall(path):
        found = [inner for outer in found for inner in _inside(outer, step)]
    unique: list[Any] = []
    for member in found:
        if member not in unique:
            unique.append(member)
    return unique


def _inside(value: Any, step: str) -> list[Any]:
    if step == "[]":
        return list(value) if isinstance(value, (list, tuple)) else []
    if not isinstance(value, Mapping):
        return []
    if step == "{key}":
        return list(value)
    if step == "{value}":
        return list(value.values())
    name = step.removeprefix(".")
    return [value[name]] if name in value else []


def carried(edge: Edge, result: Any) -> list[Any]:
    """Return the values of a result that an edge can carry: none that is empty, or a yes or no."""
    return [
        value
        for value in values_at(result, edge.field)
        if not isinstance(value, bool) and value not in ("", [], None)
    ]


def fill(template: Call, value: Any) -> Call | None:
    """Return a call with a value at its marked place, or None where the value does not fit."""
    try:
        arguments = {name: _filled(inner, value) for name, inner in template.kwargs.items()}
    except ValueError:
        return None
    return Call(template.name, (), arguments)


def blanked(argument: Any, blank: str) -> Any:
    """Return an argument of a template with a text in the place of its value."""
    if isinstance(argument, list):
        return [blanked(member, blank) for member in argument]
    if isinstance(argument, dict):
        return {name: blanked(member, blank) for name, member in argument.items()}
    return _PLACE.sub(lambda _: blank, argument) if isinstance(argument, str) else argument


def _filled(argument: Any, value: Any) -> Any:
    if isinstance(argument, list):
        return [_filled(member, value) for member in argument]
    if isinstance(argument, dict):
        return {name: _filled(member, value) for name, member in argument.items()}
    if not isinstance(argument, str):
        return argument
    alone = _PLACE.fullmatch(argument)
    if alone:
        return _in_form(value, alone[1])
    return _PLACE.sub(lambda place: str(_in_form(value, place[1])), argument)


def _in_form(value: Any, form: str | None) -> Any:
    """Return what is made of a value on its way into an argument.

    Raises:
        ValueError: It cannot be had in this form.
    """
    match form:
        case None:
            return value
        case "text":
            return str(value)
        case "name":
            return str(value).rstrip("/").rsplit("/", 1)[-1]
        case "number":
            return _number_in(str(value))
        case "whole" if isinstance(value, (int, float)):
            return int(value)
    raise ValueError(f"{value!r} cannot be had as {form!r}")


def _number_in(text: str) -> float:
    number = _NUMBER.search(text)
    if number is None:
        raise ValueError(f"there is no number in {text!r}")
    return int(number[0]) if number[0].lstrip("-").isdigit() else float(number[0])


def flows(edge: Edge, result: Any, arguments: Mapping[str, Any]) -> bool:
    """Tell whether an argument has a value of the field, as it is, in a form, or within a text."""
    given = values_at(arguments, edge.parameter)
    return any(_carries(argument, value) for value in carried(edge, result) for argument in given)


def _carries(argument: Any, value: Any) -> bool:
    if isinstance(argument, bool):
        return False
    if argument == value:
        return True
    if isinstance(argument, str):
        text = re.escape(str(value))
        return re.search(rf"(?<![^\W_]|\.){text}(?![^\W_]|\.\d)", argument) is not None or (
            isinstance(value, str) and argument == _in_form(value, "name")
        )
    if not isinstance(argument, (int, float)):
        return False
    if isinstance(value, (int, float)):
        return argument == int(value)
    numbers = _NUMBER.findall(str(value)) if isinstance(value, str) or _is_precise(value) else []
    return any(float(number) == argument for number in numbers[:1])


def _is_precise(value: Any) -> bool:
    """Tell whether a value is one of the calculator's numbers that JSON cannot express."""
    return not isinstance(value, (list, tuple, Mapping))


def example(graph: Graph, edge: Edge) -> EdgeExample:
    """Run an edge's example in the first world.

    Raises:
        DataError: One of its calls fails, or no value of the field is taken by the second.
    """
    session = graph.session()
    first = graph.prepared(session, edge.call)
    if first is None:
        raise DataError(edge.name, f"{edge.call} fails")
    calls, result = first
    found = carried(edge, result.held)
    for value in found:
        call = fill(edge.template, value)
        second = graph.prepared(session, call) if call else None
        if call and second and flows(edge, result.held, call.kwargs):
            return EdgeExample((*calls, *second[0]), value)
    raise DataError(edge.name, f"{edge.template} succeeds with none of {found}")
