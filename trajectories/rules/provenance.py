"""PROVENANCE: every value in a ground-truth argument has been told or shown before it is used.

Sources are what the user has said so far, the initial config but for its secrets, the function's
own document (a default, a closed choice), and earlier results. What is left over is flagged, for a
person to say how it comes about.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from envs.calls import Call
from envs.registry import backend_class
from envs.schema import spec
from envs.state import to_json
from envs.tool import Tool
from trajectories.rules.entry import Entry, TruthStep
from trajectories.rules.problem import Problem, Severity
from trajectories.told import Doubt, Told, literals, readable, shown

PROVENANCE = "PROVENANCE"


def check(entry: Entry) -> Iterator[Problem]:
    """Yield values of the ground truth that nothing before them has told or shown."""
    for step, name, literal, told in _used(entry):
        document = _documents(entry.template.tools[_name(step)]).get(name, "")
        if doubt := told.doubt(literal, document):
            field = f"{step.field}.{name}"
            yield entry.problem(PROVENANCE, weight(doubt), step.turn, field, doubt.why)


def weight(doubt: Doubt) -> Severity:
    """Return how bad it is that a value's origin is not plain."""
    return Severity.WARNING if doubt.serious else Severity.INFO


def _used(entry: Entry) -> Iterator[tuple[TruthStep, str, str | float, Told]]:
    """Yield call, parameter and literal, with what is known at that point."""
    pack = entry.dataset.pack(entry.trajectory)
    files = "\n".join(pack.extra_files) if pack else ""
    told = Told(f"{_known_at_first(entry)}\n{files}")
    for turn, steps in zip(entry.trajectory.turns, entry.turns, strict=True):
        for message in turn.messages:
            told.hear(message.content)
        for step in steps:
            for name, value in entry.arguments(step.call).items():
                for literal in literals(value):
                    yield step, name, literal, told
            if step.result.ok:
                told.see(step.result.text)


def _name(step: TruthStep) -> str:
    assert isinstance(step.call, Call)
    return step.call.name


@lru_cache(maxsize=256)
def _documents(tool: Tool) -> Mapping[str, str]:
    """Return what the function's document says of each parameter: choices, default, advice."""
    return {p.name: json.dumps(dict(p.schema), ensure_ascii=False) for p in spec(tool).parameters}


def _known_at_first(entry: Entry) -> str:
    """Return what can be looked up in the initial state, as text."""
    known: dict[str, Any] = {}
    for environment in entry.trajectory.environments:
        backend = backend_class(environment)
        config = entry.trajectory.config.get(environment, {})
        defaults = {
            key: to_json(backend.FIELDS[field])
            for key, field in backend.KEYS.items()
            if key not in config
        }
        known[environment] = shown({**defaults, **config})
    return readable(json.dumps(known, ensure_ascii=False))
