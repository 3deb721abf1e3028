"""Which members of long results are to be kept, drafted by a live model for people to review."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from extensions.compression.compression import Compression, paths_of
from extensions.experiments.drafting import NOT_REACHED
from runner.live.engine import Engine, Limits
from runner.live.loop import Ask
from runner.models.base import Model, Request
from runner.models.blocks import object_within
from runner.models.tools import Document

_EXAMPLE = Compression(1024)
"""How much of a result the model is shown."""
_MOST_REPLY = 20_000
"""Characters of an answer that are looked at."""
_ASKED = """\
Results of this function are too long to be read whole. Of these members, which will a reader need
to go on: those that later calls take as arguments, and those that say what is what? Leave out the
others. Answer with one JSON object and nothing else: {"keep": [PATH, ...]}.

"""


class Long(NamedTuple):
    """A function, and a long result of it."""

    name: str
    document: Document
    result: str


class Kept(NamedTuple):
    """Paths of members that are kept of a function's results."""

    name: str
    paths: tuple[str, ...]
    problem: str | None = None
    """Why there are none."""


async def drafted_members(
    model: Model, functions: Sequence[Long], concurrency: int
) -> tuple[list[Kept], str | None]:
    """Return what is kept of each function, in their order, and why the model stopped, if it did.

    Each is asked for once.
    """
    done: dict[str, Kept] = {}

    async def do(function: Long, ask: Ask) -> Kept:
        return await _drafted(function, ask)

    def keep(kept: Kept) -> None:
        done[kept.name] = kept

    engine = Engine[Long, Kept](model, Limits(concurrency, waits_for_server=False), Random(0))
    try:
        await engine.run(functions, do, keep)
    finally:
        await model.close()
    found = [done.get(each.name) or Kept(each.name, (), NOT_REACHED) for each in functions]
    return found, engine.stop_reason


async def _drafted(function: Long, ask: Ask) -> Kept:
    known = paths_of(function.result)
    document = json.dumps(function.document, ensure_ascii=False)
    shown = _EXAMPLE.shown(function.result)
    asked = f"{_ASKED}{document}\n\nMembers: {json.dumps(known)}\n\nA result: {shown}"
    reply = (await ask(Request([{"role": "user", "content": asked}], None))).reply
    said = (reply.text or "")[:_MOST_REPLY]
    match object_within(said):
        case {"keep": [*paths]} if paths and all(isinstance(each, str) for each in paths):
            unknown = [path for path in paths if path not in known]
            if unknown:
                members = ", ".join(known)
                return Kept(function.name, (), f"{unknown[0]!r:.80} is none of {members:.300}")
            return Kept(function.name, tuple(dict.fromkeys(paths)))
    return Kept(function.name, (), 'the answer is no {"keep": [PATH, ...]}')
