"""Calling formats with actions and inputs: ``react``, ``toolllama`` and ``json_action``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from envs.calls import Call, make_call_from_tool
from envs.errors import MalformedCall
from extensions.formats.prompt_text import (
    Documents,
    answering,
    arguments_json,
    as_json,
    as_raw,
    before,
    lines,
    showing,
)
from extensions.formats.reply_parsing import (
    after_blanks,
    check_length,
    is_name,
    json_at,
    objects_at,
    parameters_of,
    reading,
    value_of,
)
from runner.models.calling_formats.format_types import (
    FinishFunction,
    PromptFrame,
    ReplyContent,
    TextFormat,
)
from runner.models.toolbox import LANGCHAIN_ARGUMENT

_THOUGHT = "what is to be done next, and why"


def _only_parameter(name: str, text: str, documents: Documents) -> Call:
    parameters = parameters_of(name, documents)
    if not parameters and not text.strip():
        return Call(name, (), {})
    if len(parameters) != 1 or not text.strip():
        raise MalformedCall(f"The input of {name[:100]} must be a JSON object of its arguments.")
    [(parameter, schema)] = parameters.items()
    return make_call_from_tool(name, {parameter: value_of(text.strip(), schema)})


# ReAct: lines with a thought, an action and its input.

_FINISH = "Finish"
_LINE = re.compile(
    r"^[ \t]*+(Thought|Action Input|Action|Observation|Final Answer|End Action)[ \t]*+(?::|$)",
    re.MULTILINE,
)


def _write_react(calls: Sequence[Call], text: str, _documents: Documents) -> str:
    if not calls:
        return f"Thought: I am done.\nFinal Answer: {text}"
    return _actions(calls, text)


def _actions(calls: Sequence[Call], text: str, end: str = "") -> str:
    thought = f"Thought: {text or 'I need this.'}"
    each = [f"Action: {call.name}\nAction Input: {arguments_json(call)}{end}" for call in calls]
    return "\n".join([thought, *each])


@reading
def _read_react(text: str, documents: Documents) -> Iterator[Call]:
    """Read the actions before the first observation or final answer.

    Raises MalformedCall if an action has no input or an invalid input.
    """
    name, position = "", 0
    while found := _LINE.search(text, position):
        word, position = found[1], found.end()
        if word == "Action":
            _refuse_open(name)
            end = text.find("\n", position)
            shown = text[position : len(text) if end < 0 else end].strip().strip("`*")
            name = shown if is_name(shown) else ""
        elif word == "Action Input" and name:
            call, position = _call(name, text, position, documents)
            if call.name == _FINISH:
                break
            yield call
            name = ""
        elif word in ("Observation", "Final Answer"):
            break
    _refuse_open(name)


def _refuse_open(name: str) -> None:
    if name and name != _FINISH:
        raise MalformedCall(f"Action: {name} must be followed by Action Input: and a JSON object.")


def _call(name: str, text: str, position: int, documents: Documents) -> tuple[Call, int]:
    begin = after_blanks(text, position)
    fence = text.startswith("```", begin)
    if fence:
        begin = text.find("{", begin, begin + 20)
        if begin < 0:
            raise MalformedCall(f"The input of {name} must be a JSON object of its arguments.")
    if text.startswith("{", begin):
        value, end = json_at(text, begin, f"The input of {name}")
        return make_call_from_tool(name, value), end
    following = _LINE.search(text, position)
    end = following.start() if following else len(text)
    if name == _FINISH:
        return Call(name), end
    return _only_parameter(name, text[position:end], documents), end


def _react_says(text: str) -> ReplyContent:
    thought, word, answer = text.rpartition("Final Answer:")
    if not word:
        return ReplyContent(text)
    return ReplyContent(answer.strip(), thought.strip().removeprefix("Thought:").strip() or None)


REACT = TextFormat(
    "react",
    "text",
    parallel=False,
    show=showing("react", _write_react, lines, _THOUGHT),
    write=_write_react,
    answer=answering("Observation: {result}"),
    read=_read_react,
    stops=("\nObservation:",),
    says=_react_says,
)

# ToolLLaMA: ReAct with an end mark after each action; the function ``Finish`` ends the turn.

_END = "\nEnd Action"
_INPUT = "Action Input:"


def _write_toolllama(calls: Sequence[Call], text: str, _documents: Documents) -> str:
    if calls:
        return _actions(calls, text, _END)
    finish = Call(_FINISH, (), {"return_type": "give_answer", "final_answer": text})
    return _actions([finish], "I am done.", _END)


def _finish_arguments(text: str) -> Mapping[str, Any] | None:
    _, finished, rest = text.rpartition(f"Action: {_FINISH}")
    if not finished or _INPUT not in rest:
        return None
    try:
        given, _ = json_at(rest, rest.index(_INPUT) + len(_INPUT))
    except MalformedCall:
        return {}
    return given if isinstance(given, dict) else {}


def _toolllama_says(text: str) -> ReplyContent:
    """Split a reply into the answer of ``Finish`` and the thought."""
    given = _finish_arguments(text)
    if given is None:
        return ReplyContent(text)
    thought, _, rest = text.rpartition(f"Action: {_FINISH}")
    answer = given.get("final_answer") if given else rest
    before = thought.strip().removeprefix("Thought:").strip()
    if answer is None:
        return ReplyContent(before)
    shown = answer if isinstance(answer, str) else as_json(answer)
    return ReplyContent(shown, before or None)


TOOLLLAMA = REACT._replace(
    name="toolllama",
    show=showing("toolllama", _write_toolllama, lines, _THOUGHT),
    write=_write_toolllama,
    says=_toolllama_says,
    finish=FinishFunction(_FINISH, _finish_arguments),
)
TOOLLLAMA_RAW = as_raw(
    TOOLLLAMA,
    PromptFrame(
        {
            "system": ("System: ", "\n"),
            "user": ("User: ", "\n"),
            "assistant": ("Assistant: ", "</s>\n"),
            "function": ("Function: ", "\n"),
        },
        "Assistant: ",
    ),
    "\nObservation:",
    "</s>",
    answer=answering("{result}", "function"),
)

# LangChain's structured chat: fenced objects of action and input, the final answer included.

_LAST = "Final Answer"
_BEGINNING = re.compile(r"\{\s*+\"action(?:_input)?\"\s*+:")


def _write_objects(calls: Sequence[Call], text: str, _documents: Documents) -> str:
    if not calls:
        return _fenced(_LAST, text)
    return before(text, "\n".join([_fenced(call.name, dict(call.kwargs)) for call in calls]))


def _fenced(action: str, given: object) -> str:
    return f"```json\n{as_json({'action': action, 'action_input': given})}\n```"


@reading
def _read_objects(text: str, documents: Documents) -> Iterator[Call]:
    """Read all actions before the final answer, inside and outside of code fences.

    Raises MalformedCall if an action cannot be parsed.
    """
    for value in _objects(text):
        name, given = value["action"], value.get("action_input")
        if name == _LAST:
            break
        if isinstance(given, dict) and given.keys() == {LANGCHAIN_ARGUMENT}:
            given = str(given[LANGCHAIN_ARGUMENT])
        if isinstance(given, str) and not given.lstrip().startswith("{"):
            yield _only_parameter(name, given, documents)
        else:
            yield make_call_from_tool(name, given)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    check_length(text)
    for value in objects_at(_BEGINNING, text, "The action"):
        if isinstance(value.get("action"), str):
            yield value


def _object_says(text: str) -> ReplyContent:
    try:
        for value in _objects(text):
            if value["action"] == _LAST and isinstance(value.get("action_input"), str):
                return ReplyContent(value["action_input"])
    except MalformedCall:
        pass
    return ReplyContent(text)


JSON_ACTION = TextFormat(
    "json_action",
    "text",
    parallel=False,
    show=showing("json_action", _write_objects, lines),
    write=_write_objects,
    answer=answering("Result: {result}"),
    read=_read_objects,
    says=_object_says,
)
