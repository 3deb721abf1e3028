"""Shared helpers of the makers: sessions, candidate calls and variants of a base trajectory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice, product
from typing import Any

from envs.calls import Call, parse_call
from envs.long_context import LongContextPack
from envs.results import Result
from envs.schema import make_spec
from envs.session import Session
from envs.tool import Tool
from trajectories.long_context_generator import generate_pack, widen_config
from trajectories.schema import Category, LongContextSettings, Trajectory, Turn


def variant_id(base: Trajectory, category: Category) -> str:
    """Return the id of the variant of a base trajectory."""
    return f"{category}_{base.id.removeprefix('base_')}"


def derived(base: Trajectory, category: Category, **changes: Any) -> Trajectory:
    """Return a variant of a base trajectory in a category, with some fields changed."""
    id = variant_id(base, category)
    provenance = {"author": base.provenance.get("author", "Turnwise"), "base": base.id}
    if "worked_out" in base.provenance:
        provenance["worked_out"] = base.provenance["worked_out"]
    return replace(base, id=id, category=category, provenance=provenance, **changes)


@lru_cache(maxsize=4)
def _pack(wanted: LongContextSettings) -> LongContextPack:
    return generate_pack(wanted)


def start(trajectory: Trajectory) -> Session:
    """Return a session in the trajectory's initial state, with all checks.

    Raises ConfigError if the config is invalid.
    """
    bulk, config = trajectory.long_context, trajectory.config
    if bulk is None:
        return Session.load(trajectory.environments, config, checks_arguments=True)
    wide = widen_config(trajectory.environments, config, bulk)
    return Session.load(trajectory.environments, wide, _pack(bulk), checks_arguments=True)


def calls(turn: Turn) -> list[Call]:
    """Return the ground-truth calls of a turn."""
    return [parse_call(text) for text in turn.ground_truth]


def successful_calls(
    session: Session, tools: Sequence[Tool], known: Sequence[Any], limit: int
) -> Iterator[tuple[Call, Result]]:
    """Try calls with known arguments; yield each successful call with its result.

    ``limit`` is the maximum number of calls per function. All calls start from the same state.
    """
    here = session.snapshot()
    for tool in tools:
        for call in candidate_calls(tool, known, limit):
            # Restored for each call, so that the call limit of an episode does not apply.
            session.restore(here)
            result = session.call(call)
            if result.ok:
                yield call, result


def candidate_calls(tool: Tool, known: Sequence[Any], limit: int) -> Iterator[Call]:
    """Yield calls of a function; take arguments of the right types from ``known``."""
    parameters = make_spec(tool).parameters
    names = [parameter.name for parameter in parameters]
    choices = [
        [*([] if p.required else [_ABSENT]), *_filter_fitting(p.schema, known)] for p in parameters
    ]
    for values in islice(product(*choices), limit):
        pairs = zip(names, values, strict=True)
        yield Call(tool.name, (), {name: v for name, v in pairs if v is not _ABSENT})


_ABSENT = object()
_MEMBER_VALUES = 6


def _filter_fitting(schema: Mapping[str, Any], known: Sequence[Any]) -> list[Any]:
    if "enum" in schema:
        return list(schema["enum"])
    kinds = {schema.get("type"), *(member.get("type") for member in schema.get("anyOf", ()))}
    fitting: list[Any] = [True, False] if "boolean" in kinds else []
    # Most calls give an object one member.
    for name, member in schema.get("properties", {}).items():
        fitting += [{name: value} for value in _filter_fitting(member, known[:_MEMBER_VALUES])]
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
