"""ToolLLaMA: as ReAct with an end of each action; the function ``Finish`` ends the turn."""

from __future__ import annotations

import json
from collections.abc import Sequence

from envs.calls import Call
from envs.errors import MalformedCall
from extensions.formats import react
from extensions.formats.reading import json_at
from extensions.formats.showing import answering, lines, showing
from runner.models.protocols.base import Frame, Spoken, Written
from runner.models.tools import Document

_END = "\nEnd Action"
_FINISH = "Action: Finish"
_INPUT = "Action Input:"


def write(calls: Sequence[Call], text: str = "", _documents: Sequence[Document] = ()) -> str:
    """Write calls, or the one that ends the turn where there are none."""
    if calls:
        return react.written(calls, text, _END)
    finish = Call(react.FINISH, (), {"return_type": "give_answer", "final_answer": text})
    return react.written([finish], "I am done.", _END)


def says(text: str) -> Spoken:
    """Take the final answer of ``Finish``; a model that gives up says why before."""
    thought, finished, rest = text.rpartition(_FINISH)
    if not finished or _INPUT not in rest:
        return Spoken(text)
    try:
        given, _ = json_at(rest, rest.index(_INPUT) + len(_INPUT))
    except MalformedCall:
        given = None
    answer = given.get("final_answer") if isinstance(given, dict) else rest
    before = thought.strip().removeprefix("Thought:").strip()
    if answer is None:
        return Spoken(before)
    shown = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return Spoken(shown, before or None)


TOOLLLAMA = Written(
    "toolllama",
    "text",
    False,
    showing("toolllama", write, lines, "what is to be done next, and why"),
    write,
    answering("Observation: {result}"),
    react.read,
    stops=("\nObservation:",),
    says=says,
)
TOOLLLAMA_RAW = TOOLLLAMA._replace(
    name="toolllama-raw",
    kind="raw",
    answer=answering("{result}", "function"),
    frame=Frame(
        {
            "system": ("System: ", "\n"),
            "user": ("User: ", "\n"),
            "assistant": ("Assistant: ", "</s>\n"),
            "function": ("Function: ", "\n"),
        },
        "Assistant: ",
    ),
    stops=("\nObservation:", "</s>"),
)
