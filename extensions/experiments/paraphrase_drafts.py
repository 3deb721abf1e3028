"""Drafts of paraphrased function documents, which a live model writes and people review."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from random import Random
from typing import NamedTuple

from envs.tool import Document
from extensions.experiments.arrangement import Paraphrase
from extensions.experiments.paraphrases import find_defects, parse_paraphrase
from runner.live.engine import Done, Job, JobEngine, RequestLimits
from runner.live.episode_player import Ask
from runner.models.block_api import object_within
from runner.models.model_types import Model, Request

_TRIES = 3
_MAX_REPLY_CHARS = 20_000
"""Maximum number of characters of an answer."""
_ASKED = """\
Describe this function and its parameters in other words, like a colleague who has never seen this
description. Keep every fact, number, unit, format and choice; add none; name no function.
Answer with one JSON object and nothing else: {"description": TEXT, "parameters": {NAME: TEXT}}.
Include every parameter that is described here, and use its name as the key.

"""

NOT_REACHED = "the command stopped before it sent these requests"


class ParaphraseDraft(NamedTuple):
    """Paraphrase of a function."""

    name: str
    words: Paraphrase
    problem: str | None
    """Reason why no paraphrase was accepted; None if one was accepted."""


async def collect_drafts(
    model: Model, jobs: Sequence[Job], do: Callable[[Job, Ask], Awaitable[Done]], concurrency: int
) -> tuple[list[Done], str | None]:
    """Return the finished drafts and, after an early stop, its reason."""
    done: list[Done] = []
    limits = RequestLimits(concurrency, waits_for_server=False)
    engine = JobEngine[Job, Done](model, limits, Random(0))
    try:
        await engine.run(jobs, do, done.append)
    finally:
        await model.close()
    return done, engine.stop_reason


async def draft_paraphrases(
    model: Model, documents: Sequence[Document], names: Sequence[str], concurrency: int
) -> tuple[list[ParaphraseDraft], str | None]:
    """Return the paraphrases of functions and, after an early stop, the reason of the stop.

    ``names`` lists all functions; a paraphrase must not add the name of a function. A
    function without a valid paraphrase keeps its description.
    """

    async def draft(document: Document, ask: Ask) -> ParaphraseDraft:
        return await _draft(document, names, ask)

    drafts, stop_reason = await collect_drafts(model, documents, draft, concurrency)
    done = {each.name: each for each in drafts}
    unreached = [ParaphraseDraft(each["name"], own_words(each), NOT_REACHED) for each in documents]
    return [done.get(each.name, each) for each in unreached], stop_reason


def own_words(document: Document) -> Paraphrase:
    """Return the descriptions in a function document."""
    members = document["parameters"].get("properties", {})
    known = {name: str(member.get("description", "")) for name, member in members.items()}
    words = {name: text for name, text in known.items() if text}
    return Paraphrase(str(document.get("description", "")), words)


async def _draft(document: Document, names: Sequence[str], ask: Ask) -> ParaphraseDraft:
    prompt = _ASKED + json.dumps(document, ensure_ascii=False)
    messages = [{"role": "user", "content": prompt}]
    problem = ""
    for _ in range(_TRIES):
        reply = (await ask(Request(messages, None))).reply
        answer = (reply.text or "")[:_MAX_REPLY_CHARS]
        words = parse_paraphrase(object_within(answer))
        problem = "the answer is not a JSON object with a description and parameters"
        if words is not None:
            found = next(find_defects(document, words, names), None)
            if found is None:
                return ParaphraseDraft(document["name"], words, None)
            problem = found
        again = f"That does not hold: {problem}. Answer with the whole object again."
        answered = {"role": "assistant", "content": answer}
        messages = [*messages, answered, {"role": "user", "content": again}]
    return ParaphraseDraft(document["name"], own_words(document), problem)
