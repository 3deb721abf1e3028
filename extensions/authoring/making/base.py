"""A base trajectory as the makers see it: its ground truth played, calls to try, its variants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice, product
from typing import Any

from envs.calls import Call, parse_call
from envs.long_context import Pack
from envs.results import Result
from envs.schema import spec
from envs.session import Session
from envs.tool import Tool
from trajectories.packs import generate, widened
from trajectories.schema import Category, LongContext, Trajectory, Turn


def variant_id(base: Trajectory, category: Category) -> str:
    """Return the id of a base's variant."""
    return f"{category}_{base.id.removeprefix('base_')}"


def derived(base: Trajectory, category: Category, **changes: Any) -> Trajectory:
    """Return a base with changed members as a trajectory of a category, which says what it is."""
    id = variant_id(base, category)
    provenance = {"author": base.provenance.get("author", "Turnwise"), "base": base.id}
    if "worked_out" in base.provenance:
        provenance["worked_out"] = base.provenance["worked_out"]
    return replace(base, id=id, category=category, provenance=provenance, **changes)


@lru_cache(maxsize=4)
def _pack(wanted: LongContext) -> Pack:
    return generate(wanted)


def start(trajectory: Trajectory) -> Session:
    """Return a session in the trajectory's initial state, every check switched on.

    Raises:
        ConfigError: The config has a defect.
    """
    bulk, config = trajectory.long_context, trajectory.config
    if bulk is None:
        return Session.load(trajectory.environments, config, checks_arguments=True)
    wide = widened(trajectory.environments, config, bulk)
    return Session.load(trajectory.environments, wide, _pack(bulk), checks_arguments=True)


def calls(turn: Turn) -> list[Call]:
    """Return the ground truth of a turn."""
    return [parse_call(text) for text in turn.ground_truth]


def readings(session: Session, tools: Sequence[Tool], known: Sequence[Any]) -> Iterator[Result]:
    """Yield what functions that only read give for values that are known.

    The session stays as it is. Bounded: of every function the first few hundred combinations of
    values are tried.
    """
    here = session.snapshot()
    for tool in tools:
        if not tool.writes:
            for call in candidate_calls(tool, known, 300):
                # Each is a first call: a search is no episode, and has not its bounds.
                session.restore(here)
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
