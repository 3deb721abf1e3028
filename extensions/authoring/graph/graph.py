"""Function graph: an edge leads from a result field to a parameter of another function.

The graph is written by hand in ``data/function_graph.json``, which explains its format. This module
loads the graph. Tests check the graph, and execute the example calls of the edges.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from envs.calls import Call, parse_call
from envs.errors import DataError, MalformedCall
from envs.registry import BACKENDS
from envs.results import Result
from envs.session import Session
from envs.tool import Tool
from trajectories.dataset import DATA
from trajectories.jsonl import parse_object, read_text

TOOLS: Mapping[str, Tool] = {
    name: tool for backend in BACKENDS.values() for name, tool in backend.TOOLS.items()
}
"""All functions of all backends by name."""

_FILE = "function_graph.json"
_STEP = re.compile(r"\[\]|\{key\}|\{value\}|\.?[^.\[\]{}]+")
_PLACE = re.compile(r"\{value(?:\|(\w+))?\}")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


KINDS = frozenset(
    re.findall(
        r"\w[\w ]*",
        """
        account, airport, binding card, booking, card, cardholder, date, directory,
        distance, file, fuel, insurance, lines, money, number, numbers, order, path,
        person, place, precise, pressure, reference, side, size, speed, status, symbol,
        symbols, tag, temperature, text, ticket, time, token, travel class, tweet, user,
        year, zip code
        """,
    )
)
"""Kinds of values that one call returns and another call receives."""


@dataclass(frozen=True)
class Edge:
    """Result field of one function that can supply a parameter of another function."""

    source: str
    """Function that gives the value."""
    field: str
    """Path in the result of ``source``, such as ``message_id.new_id``, ``[].id`` or
    ``messages{key}``.
    """
    target: str
    """Function that takes the value."""
    parameter: str
    """Path in the arguments of the target, such as ``file_name`` or ``updates.priority``."""
    kind: str
    """Kind of the value."""
    call: Call
    """Example call of the source."""
    template: Call
    """Example call of the target function, with a placeholder for the passed value."""

    @cached_property
    def name(self) -> str:
        """Unique name of the edge."""
        dot = "" if self.field.startswith("[") else "."
        return f"{self.source}{dot}{self.field} -> {self.target}.{self.parameter}"

    @property
    def backends(self) -> tuple[str, str]:
        """Backends of the edge's two functions: of ``source`` and of ``target``."""
        return TOOLS[self.source].backend, TOOLS[self.target].backend


class IsolatedFunction(NamedTuple):
    """Function without an edge."""

    reason: str
    world: str | None
    """Name of the only world in which the call succeeds; None if it succeeds in every world."""
    call: Call | None
    """Successful call; None if no call succeeds."""


@dataclass(frozen=True)
class Graph:
    """Functions of all backends and the edges between them."""

    worlds: Mapping[str, Mapping[str, Mapping[str, Any]]]
    """Initial configs of all backends by world name; the examples use the first world."""
    edges: tuple[Edge, ...]
    """Edges in the order of the file."""
    alone: Mapping[str, IsolatedFunction]
    """Functions without an edge."""
    needs: Mapping[str, tuple[Call, ...]]
    """Maps the name of a function or backend to preparatory calls, such as a login."""
    empty: Mapping[str, Any]
    """Maps ``function.field`` to the field's value after a call that found nothing."""

    @cached_property
    def by_name(self) -> Mapping[str, Edge]:
        """Edges by name."""
        return {edge.name: edge for edge in self.edges}

    @cached_property
    def into(self) -> Mapping[str, Sequence[Edge]]:
        """Maps the name of a function to the edges that lead to the function."""
        found: dict[str, list[Edge]] = {}
        for edge in self.edges:
            found.setdefault(edge.target, []).append(edge)
        return found

    @cached_property
    def starts(self) -> Mapping[str, Sequence[Call]]:
        """Maps a function to example calls that need no earlier result."""
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
        """Functions that can be called successfully, in the order of the backends."""
        failing = {name for name, alone in self.alone.items() if alone.call is None}
        return tuple([name for name in TOOLS if name not in failing])

    @property
    def pairs(self) -> Mapping[tuple[str, str], int]:
        """Number of edges for each pair of source backend and target backend."""
        return Counter(edge.backends for edge in self.edges)

    @property
    def kinds(self) -> Mapping[str, int]:
        """Number of edges for each kind of value."""
        return Counter(edge.kind for edge in self.edges)

    def session(self, world: str | None = None) -> Session:
        """Return a session of all backends in a world (default: the first world)."""
        config = self.worlds[world or next(iter(self.worlds))]
        return Session.load(tuple(config), config, checks_arguments=True)

    def fruitful(self, call: Call, result: Result) -> bool:
        """Tell whether a call succeeded and either changed or found something."""
        if not result.ok or result.held == []:
            return False
        members = result.held.items() if isinstance(result.held, dict) else ()
        return not any(
            type(member) is type(empty) and member == empty
            for name, member in members
            for empty in [self.empty.get(f"{call.name}.{name}", _NONE)]
        )

    def prepared(self, session: Session, call: Call) -> tuple[list[Call], Result] | None:
        """Make a call after its preparatory calls, such as a login.

        Returns:
            The executed calls and the last result. None if ``call`` fails; the session then stays
            unchanged.
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


def load(path: Path | None = None) -> Graph:
    """Load a function graph (default: the built-in graph).

    Raises DataError if the file cannot be read or is invalid.
    """
    path = path or DATA / _FILE
    try:
        return _build_graph(parse_object(read_text(path), str(path)))
    except KeyError as error:
        raise DataError(str(path), f"{error} is missing") from None
    except (AttributeError, TypeError, ValueError, MalformedCall) as error:
        raise DataError(str(path), str(error)) from None


def _build_graph(data: Mapping[str, Any]) -> Graph:
    worlds: dict[str, dict[str, dict[str, Any]]] = {}
    for name, world in data["worlds"].items():
        worlds[name] = _build_world(world, worlds)
    inputs = {
        parameter: {_check_kind(kind): parse_call(text) for kind, text in calls.items()}
        for parameter, calls in data["inputs"].items()
    }
    alone = {
        name: IsolatedFunction(
            entry["why"], entry.get("world"), parse_call(entry["call"]) if "call" in entry else None
        )
        for name, entry in data["alone"].items()
    }
    needs = {name: tuple(map(parse_call, texts)) for name, texts in data["needs"].items()}
    return Graph(worlds, tuple(_build_edges(data["outputs"], inputs)), alone, needs, data["empty"])


def _build_world(
    world: Mapping[str, Any], earlier: Mapping[str, dict[str, dict[str, Any]]]
) -> dict[str, dict[str, Any]]:
    base = earlier[world["like"]] if "like" in world else {}
    own = {name: config for name, config in world.items() if name != "like"}
    names = [name for name in BACKENDS if name in {*base, *own}]
    return {name: {**base.get(name, {}), **own.get(name, {})} for name in names}


def _check_kind(kind: str) -> str:
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is not a kind of value; use {', '.join(sorted(KINDS))}")
    return kind


def _build_edges(
    outputs: Sequence[Mapping[str, Any]], inputs: Mapping[str, Mapping[str, Call]]
) -> Iterator[Edge]:
    for output in outputs:
        call, kind = parse_call(output["call"]), _check_kind(output["kind"])
        for name in output["to"]:
            target, _, parameter = name.partition(".")
            if kind not in inputs[name]:
                raise ValueError(f"inputs: {name} has no example call with a {kind} argument")
            template = inputs[name][kind]
            yield Edge(call.name, output["field"], target, parameter, kind, call, template)


def find_values(value: Any, path: str) -> list[Any]:
    """Return the distinct values at a path, in order.

    A path such as ``files[].name`` has names joined by dots. ``[]`` means all items of a list.
    ``{key}`` and ``{value}`` mean all keys and all values of an object.
    """
    found = [value]
    for step in _STEP.findall(path):
        found = [inner for outer in found for inner in _take_step(outer, step)]
    unique: list[Any] = []
    for member in found:
        if member not in unique:
            unique.append(member)
    return unique


def _take_step(value: Any, step: str) -> list[Any]:
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


def find_carried_values(edge: Edge, result: Any) -> list[Any]:
    """Return the values in an edge's result field, without booleans and empty values."""
    return [
        value
        for value in find_values(result, edge.field)
        if not isinstance(value, bool) and value not in ("", [], None)
    ]


def fill(template: Call, value: Any) -> Call | None:
    """Replace the placeholder of a template by a value; return None if the value does not fit."""
    try:
        arguments = {name: _fill_argument(inner, value) for name, inner in template.kwargs.items()}
    except ValueError:
        return None
    return Call(template.name, (), arguments)


def blank_argument(argument: Any, blank: str) -> Any:
    """Replace the placeholder in a template's argument by the string ``blank``."""
    if isinstance(argument, list):
        return [blank_argument(member, blank) for member in argument]
    if isinstance(argument, dict):
        return {name: blank_argument(member, blank) for name, member in argument.items()}
    return _PLACE.sub(lambda _: blank, argument) if isinstance(argument, str) else argument


def _fill_argument(argument: Any, value: Any) -> Any:
    if isinstance(argument, list):
        return [_fill_argument(member, value) for member in argument]
    if isinstance(argument, dict):
        return {name: _fill_argument(member, value) for name, member in argument.items()}
    if not isinstance(argument, str):
        return argument
    alone = _PLACE.fullmatch(argument)
    if alone:
        return _convert(value, alone[1])
    return _PLACE.sub(lambda place: str(_convert(value, place[1])), argument)


def _convert(value: Any, form: str | None) -> Any:
    """Convert a value to the type of an argument.

    Raises ValueError if the value cannot be converted.
    """
    match form:
        case None:
            return value
        case "text":
            return str(value)
        case "name":
            return str(value).rstrip("/").rsplit("/", 1)[-1]
        case "number":
            if number := _NUMBER.search(str(value)):
                return int(number[0]) if number[0].lstrip("-").isdigit() else float(number[0])
        case "whole" if isinstance(value, (int, float)):
            return int(value)
    raise ValueError(f"{value!r} cannot be converted to {form!r}")


def flows(edge: Edge, result: Any, arguments: Mapping[str, Any]) -> bool:
    """Tell whether an argument contains a value from the source field of a graph edge."""
    given = find_values(arguments, edge.parameter)
    return any(
        _carries(argument, value)
        for value in find_carried_values(edge, result)
        for argument in given
    )


def _carries(argument: Any, value: Any) -> bool:
    if isinstance(argument, bool):
        return False
    if argument == value:
        return True
    if isinstance(argument, str):
        text = re.escape(str(value))
        return re.search(rf"(?<![^\W_]|\.){text}(?![^\W_]|\.\d)", argument) is not None or (
            isinstance(value, str) and argument == _convert(value, "name")
        )
    if not isinstance(argument, (int, float)):
        return False
    if isinstance(value, (int, float)):
        return argument == int(value)
    # Texts, and the calculator's numbers that JSON cannot express.
    number = None if isinstance(value, (list, tuple, Mapping)) else _NUMBER.search(str(value))
    return number is not None and float(number[0]) == argument
