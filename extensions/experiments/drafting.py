"""Other words for functions, drafted by a live model and checked; people review what is left."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from envs.tool import Document
from extensions.experiments.arranging import Paraphrase
from extensions.experiments.paraphrases import defects
from runner.live.engine import Engine, Limits
from runner.live.loop import Ask
from runner.models.base import Model, Request
from runner.models.blocks import object_within

_TRIES = 3
_MOST_REPLY = 20_000
"""Characters of an answer that are looked at."""
_ASKED = """\
Say what this function and its parameters are in other words, as a colleague would who has never
seen them. Keep every fact, number, unit, format and choice; add none; name no function.
Answer with one JSON object and nothing else: {"description": TEXT, "parameters": {NAME: TEXT}},
with the parameters that have a description here, under their names.

"""


NOT_REACHED = "the model stopped before"
"""Why a function keeps its own words that was not asked about."""


class Draft(NamedTuple):
    """Other words for a function."""

    name: str
    words: Paraphrase
    problem: str | None
    """Why they are its own words; None where they are others."""


async def drafted(
    model: Model, documents: Sequence[Document], names: Sequence[str], concurrency: int
) -> tuple[list[Draft], str | None]:
    """Return other words for functions in their order, and why the model stopped, if it did.

    What does not hold after a few tries keeps its own words, and so does what was not reached.

    Args:
        model: Who drafts.
        documents: Of the functions.
        names: Of all functions, none of which may be named.
        concurrency: Requests at once.
    """
    done: dict[str, Draft] = {}

    async def do(document: Document, ask: Ask) -> Draft:
        return await _draft(document, names, ask)

    def keep(draft: Draft) -> None:
        done[draft.name] = draft

    engine = Engine[Document, Draft](model, Limits(concurrency, waits_for_server=False), Random(0))
    try:
        await engine.run(documents, do, keep)
    finally:
        await model.close()
    found = [
        done.get(each["name"]) or Draft(each["name"], own_words(each), NOT_REACHED)
        for each in documents
    ]
    return found, engine.stop_reason


def own_words(document: Document) -> Paraphrase:
    """Return the words that a document has."""
    members = document["parameters"].get("properties", {})
    told = {name: str(member.get("description", "")) for name, member in members.items()}
    return Paraphrase(
        str(document.get("description", "")), {name: text for name, text in told.items() if text}
    )


async def _draft(document: Document, names: Sequence[str], ask: Ask) -> Draft:
    asked = _ASKED + json.dumps(document, ensure_ascii=False)
    messages = [{"role": "user", "content": asked}]
    problem = ""
    for _ in range(_TRIES):
        reply = (await ask(Request(messages, None))).reply
        said = (reply.text or "")[:_MOST_REPLY]
        words = _read(said)
        problem = "the answer is no such JSON object"
        if words is not None:
            found = next(defects(document, words, names), None)
            if found is None:
                return Draft(document["name"], words, None)
            problem = found
        again = f"That does not hold: {problem}. Answer with the whole object again."
        answered = {"role": "assistant", "content": said}
        messages = [*messages, answered, {"role": "user", "content": again}]
    return Draft(document["name"], own_words(document), problem)


def _read(text: str) -> Paraphrase | None:
    """Return the words in an answer, which may stand in a fence; None where there are none."""
    match object_within(text):
        case {"description": str(described), "parameters": dict(members)} if all(
            isinstance(each, str) for each in members.values()
        ):
            return Paraphrase(described, members)
    return None
