"""ReAct: lines with a thought, an action and its input; ``Final Answer`` ends the turn."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from envs.calls import Call, call_from_tool
from envs.errors import MalformedCall
from extensions.formats.reading import add, after_blanks, check_length, is_name, json_at
from extensions.formats.showing import answering, lines, showing
from extensions.formats.typed_texts import only_parameter
from runner.models.protocols.base import Spoken, Written
from runner.models.tools import Document

FINISH = "Finish"
_WORD = re.compile(
    r"^[ \t]*+(Thought|Action Input|Action|Observation|Final Answer|End Action)[ \t]*+(?::|$)",
    re.MULTILINE,
)


def write(calls: Sequence[Call], text: str = "", _documents: Sequence[Document] = ()) -> str:
    """Write calls, or the final answer where there are none."""
    if not calls:
        return f"Thought: I am done.\nFinal Answer: {text}"
    return written(calls, text)


def written(calls: Sequence[Call], text: str, end: str = "") -> str:
    """Write calls as actions, and a text as the thought before them."""
    thought = f"Thought: {text or 'I need this.'}"
    given = [json.dumps(dict(call.kwargs), ensure_ascii=False) for call in calls]
    each = [
        f"Action: {call.name}\nAction Input: {shown}{end}"
        for call, shown in zip(calls, given, strict=True)
    ]
    return "\n".join([thought, *each])


def read(text: str, documents: Sequence[Document]) -> list[Call]:
    """Read actions up to the first observation or answer, which follow calls only.

    Raises:
        MalformedCall: An action has no input, or none that fits it.
    """
    check_length(text)
    calls: list[Call] = []
    name, position = "", 0
    while found := _WORD.search(text, position):
        word, position = found[1], found.end()
        if word == "Action":
            _refuse_open(name)
            end = text.find("\n", position)
            shown = text[position : len(text) if end < 0 else end].strip().strip("`*")
            name = shown if is_name(shown) else ""
        elif word == "Action Input" and name:
            call, position = _call(name, text, position, documents)
            if call.name == FINISH:
                break
            add(calls, call)
            name = ""
        elif word in ("Observation", "Final Answer"):
            break
    _refuse_open(name)
    return calls


def _refuse_open(name: str) -> None:
    if name and name != FINISH:
        raise MalformedCall(f"Action: {name} must be followed by Action Input: and a JSON object.")


def _call(name: str, text: str, position: int, documents: Sequence[Document]) -> tuple[Call, int]:
    """Return the call of an action, and where its input ends."""
    begin = after_blanks(text, position)
    fence = text.startswith("```", begin)
    if fence:
        begin = text.find("{", begin, begin + 20)
        if begin < 0:
            raise MalformedCall(f"The input of {name} must be a JSON object of its arguments.")
    if text.startswith("{", begin):
        value, end = json_at(text, begin, f"The input of {name}")
        return call_from_tool(name, value), end
    following = _WORD.search(text, position)
    end = following.start() if following else len(text)
    if name == FINISH:
        return Call(name), end
    return only_parameter(name, text[position:end], documents), end


def says(text: str) -> Spoken:
    """Take the final answer, and the thought before it."""
    thought, word, answer = text.rpartition("Final Answer:")
    if not word:
        return Spoken(text)
    return Spoken(answer.strip(), thought.strip().removeprefix("Thought:").strip() or None)


REACT = Written(
    "react",
    "text",
    False,
    showing("react", write, lines, "what is to be done next, and why"),
    write,
    answering("Observation: {result}"),
    read,
    stops=("\nObservation:",),
    says=says,
)
