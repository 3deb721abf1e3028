"""Playing a trajectory's ground truth, and calling functions with what is known at some point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, product
from typing import Any

from envs.calls import Call, parse_call
from envs.long_context import Pack
from envs.results import Result
from envs.schema import spec
from envs.session import Session
from envs.tool import Tool
from trajectories.packs import generate
from trajectories.schema import LongContext, Trajectory, Turn


@lru_cache(maxsize=4)
def _pack(wanted: LongContext) -> Pack:
    return generate(wanted.seed, wanted.items)


def start(trajectory: Trajectory) -> Session:
    """Return a session in the trajectory's initial state, every check switched on.

    Raises:
        ConfigError: The config has a defect.
    """
    pack = _pack(trajectory.long_context) if trajectory.long_context else None
    return Session.load(trajectory.environments, trajectory.config, pack, checks_arguments=True)


def calls(turn: Turn) -> list[Call]:
    """Return the ground truth of a turn."""
    return [parse_call(text) for text in turn.ground_truth]


def readings(session: Session, tools: Sequence[Tool], known: Sequence[Any]) -> Iterator[Result]:
    """Yield what functions that only read give for values that are known.

    Bounded: of every function the first few hundred combinations of values are tried.

    Args:
        session: Where to call them; it stays as it is.
        tools: Functions to call; those that write are passed over.
        known: Values to call them with.
    """
    for tool in tools:
        if not tool.writes:
            for call in candidate_calls(tool, known, 300):
                result = session.call(call)
                if result.ok:
                    yield result


def candidate_calls(tool: Tool, known: Sequence[Any], limit: int) -> Iterator[Call]:
    """Yield calls of a function with known values, those that fit its parameters' types."""
    parameters = spec(tool).parameters
    choices = [[*([] if p.required else [_ABSENT]), *_fitting(p.schema, known)] for p in parameters]
    for values in islice(product(*choices), limit):
        arguments = {
            p.name: value
            for p, value in zip(parameters, values, strict=True)
            if value is not _ABSENT
        }
        yield Call(tool.name, (), arguments)


_ABSENT = object()
_MEMBER_VALUES = 6


def _fitting(schema: Mapping[str, Any], known: Sequence[Any]) -> list[Any]:
    if "enum" in schema:
        return list(schema["enum"])
    kinds = {schema.get("type"), *(member.get("type") for member in schema.get("anyOf", ()))}
    fitting: list[Any] = [True, False] if "boolean" in kinds else []
    # Most objects that a function asks for are given one member.
    for name, member in schema.get("properties", {}).items():
        fitting += [{name: value} for value in _fitting(member, known[:_MEMBER_VALUES])]
    for value in known:
        if isinstance(value, str):
            fits = "string" in kinds
        elif isinstance(value, int):
            fits = bool(kinds & {"integer", "number"})
        elif isinstance(value, float):
            fits = "number" in kinds
        else:
            fits = ("array" if isinstance(value, list) else "object") in kinds
        if fits:
            fitting.append(value)
    return fitting
