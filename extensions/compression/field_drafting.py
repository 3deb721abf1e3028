"""A live model drafts the lists of fields that compression keeps; a person reviews the drafts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from extensions.compression.compression import Compression, list_paths
from extensions.experiments.paraphrase_drafts import NOT_REACHED, collect_drafts
from runner.live.episode_player import Ask
from runner.models.block_api import object_within
from runner.models.model_types import Model, Request
from runner.models.toolbox import Document

_EXAMPLE = Compression(1024)
"""Shortens the example result that the prompt contains."""
_MAX_REPLY_CHARS = 20_000
"""Maximum number of characters of an answer that the parser reads."""
_ASKED = """\
Results of this function are too long to be read whole. Of these members, which will a reader need
to go on: those that later calls take as arguments, and those that say what is what? Leave out the
others. Answer with one JSON object and nothing else: {"keep": [PATH, ...]}.

"""


class LongResult(NamedTuple):
    """Function with a long result."""

    name: str
    document: Document
    result: str


class KeptFields(NamedTuple):
    """Fields to keep in a function's results."""

    name: str
    paths: tuple[str, ...]
    problem: str | None = None
    """Reason why the draft has no fields."""


async def draft_members(
    model: Model, functions: Sequence[LongResult], concurrency: int
) -> tuple[list[KeptFields], str | None]:
    """Let a model draft the fields to keep; return the drafts and the reason for an early stop."""
    drafts, stop_reason = await collect_drafts(model, functions, _draft, concurrency)
    done = {each.name: each for each in drafts}
    unreached = [KeptFields(each.name, (), NOT_REACHED) for each in functions]
    return [done.get(each.name, each) for each in unreached], stop_reason


async def _draft(function: LongResult, ask: Ask) -> KeptFields:
    known = list_paths(function.result)
    document = json.dumps(function.document, ensure_ascii=False)
    shown = _EXAMPLE.shown(function.result)
    prompt = f"{_ASKED}{document}\n\nMembers: {json.dumps(known)}\n\nA result: {shown}"
    reply = (await ask(Request([{"role": "user", "content": prompt}], None))).reply
    answer = (reply.text or "")[:_MAX_REPLY_CHARS]
    match object_within(answer):
        case {"keep": [*paths]} if paths and all(isinstance(each, str) for each in paths):
            unknown = [path for path in paths if path not in known]
            if unknown:
                problem = f"{unknown[0]!r:.80} is not one of {', '.join(known):.300}"
                return KeptFields(function.name, (), problem)
            return KeptFields(function.name, tuple(dict.fromkeys(paths)))
    return KeptFields(function.name, (), 'the answer must have the form {"keep": [PATH, ...]}')
