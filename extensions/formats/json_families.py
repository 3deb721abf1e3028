"""Calling formats with JSON arguments. The function name is before or inside the JSON object."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from envs.calls import Call, make_call_from_tool
from envs.errors import MalformedCall
from extensions.formats.prompt_text import (
    LLAMA,
    LLAMA_STOPS,
    RESULT,
    Documents,
    Made,
    Read,
    Write,
    answering,
    arguments_json,
    as_json,
    as_raw,
    as_text,
    before,
    chatml,
    declaring,
    framed,
    in_tags,
    indented,
    name_of,
    showing,
    writing,
)
from extensions.formats.reply_parsing import (
    ReadOne,
    after_blanks,
    call_of,
    json_at,
    listed_calls,
    meant,
    objects_at,
    reading,
    reading_after,
)
from runner.models.calling_formats.format_types import PromptFrame, TextFormat
from runner.models.model_types import ChatMessage

# Hermes, Qwen 2.5 and 3: one object between tags per call.

_OPENING, _CLOSING = "<tool_call>", "</tool_call>"


def _object(call: Call, _documents: Documents = (), arguments: str = "arguments") -> str:
    return as_json({"name": call.name, arguments: dict(call.kwargs)})


def _read_object(text: str, begin: int, _documents: Documents) -> tuple[list[Call], int]:
    """Read the object after a tag; the last closing tag can be missing.

    Raises MalformedCall if the object cannot be parsed or is missing.
    """
    if text.startswith("{", after_blanks(text, begin)):
        value, end = json_at(text, begin)
        return [call_of(value)], end
    following = text.find(_OPENING, begin)
    end = text.find(_CLOSING, begin, len(text) if following < 0 else following)
    if end >= 0 and meant(text[begin:end]):
        raise MalformedCall(
            f"Between {_OPENING} and {_CLOSING}, exactly one JSON object is required."
        )
    return [], begin


HERMES = as_text(
    "hermes",
    "several",
    writing(lambda call, _: f"{_OPENING}\n{_object(call)}\n{_CLOSING}"),
    in_tags,
    reading_after(_OPENING, _read_object),
    "<tool_response>\n{result}\n</tool_response>",
)
HERMES_RAW = as_raw(HERMES, chatml(), "<|im_end|>")

# Granite, Phi and xLAM: a list of objects.


def _writing_list(mark: str) -> Write:
    return writing(_object, ", ", f"{mark}[", "]")


def _reading_list(*openings: str) -> Read:
    @reading
    def read(text: str, _documents: Documents) -> list[Call]:
        places = [(text.find(opening), len(opening)) for opening in openings if opening in text]
        begin = sum(min(places, default=(len(text), 0)))
        if text.startswith(("[", "{"), after_blanks(text, begin)):
            return listed_calls(json_at(text, begin)[0])
        return []

    return read


GRANITE = as_text(
    "granite",
    "several",
    _writing_list("<|tool_call|>"),
    indented,
    _reading_list("<|tool_call|>", "<tool_call>"),
)
GRANITE_RAW = as_raw(
    GRANITE,
    framed("<|start_of_role|>{role}<|end_of_role|>", "<|end_of_text|>\n", RESULT),
    "<|end_of_text|>",
    answer=answering("{result}", RESULT, together=False),
)

PHI = as_text(
    "phi",
    "several",
    _writing_list("functools"),
    indented,
    _reading_list("functools", "<|tool_call|>"),
)
PHI_RAW = as_raw(
    PHI,
    framed("<|{role}|>", "<|end|>", f"{RESULT}=tool"),
    "<|end|>",
    answer=answering("{result}", RESULT, together=False),
)

_LIST = re.compile(r"\[\s*+\{\s*+\"(?:name|arguments)\"\s*+:")


@reading
def _read_first_list(text: str, _documents: Documents) -> list[Call]:
    found = _LIST.search(text)
    return listed_calls(json_at(text, found.start())[0]) if found else []


XLAM = as_text("xlam", "several", _writing_list(""), indented, _read_first_list)
XLAM_RAW = as_raw(
    XLAM,
    chatml(f"{RESULT}=tool"),
    "<|im_end|>",
    answer=answering("{result}", RESULT, together=False),
)

# Llama 3.1: objects of name and parameters.

_LLAMA_OBJECT = re.compile(r"\{\s*+\"(?:name|type)\"\s*+:")


def _with_parameters(call: Call, _documents: Documents) -> str:
    return _object(call, arguments="parameters")


@reading
def _read_llama(text: str, _documents: Documents) -> Iterator[Call]:
    """Read all objects with a name and parameters; ignore all other text.

    Raises MalformedCall if an object cannot be parsed.
    """
    for value in objects_at(_LLAMA_OBJECT, text):
        for arguments in ("parameters", "arguments"):
            if isinstance(value.get(arguments), (dict, str)):
                yield call_of(value, arguments)
                break


_write_llama_raw = writing(_with_parameters, "; ", "<|python_tag|>")

LLAMA_JSON = as_text("llama_json", "one", writing(_with_parameters, "; "), indented, _read_llama)
LLAMA_JSON_RAW = as_raw(
    LLAMA_JSON,
    LLAMA,
    *LLAMA_STOPS,
    show=showing("one", _write_llama_raw, indented),
    write=_write_llama_raw,
    answer=answering("{result}", "ipython", together=False),
)

# Name and arguments separate, between marks.


def _one_behind(head: re.Pattern[str], form: str) -> ReadOne:
    """Return a function that parses the call after a start tag.

    ``head`` matches the text between the tag and the JSON, including the function's name.
    """

    def one(text: str, begin: int, _documents: Documents) -> tuple[list[Call], int]:
        found = head.match(text, begin)
        if found is None:
            raise MalformedCall(form)
        value, end = json_at(text, found.end(), f"What follows {found['name']}")
        return [make_call_from_tool(found["name"], value)], end

    return one


# Mistral: a JSON list after a mark or, since v11, a mark per call.

_CALLS, _ARGS = "[TOOL_CALLS]", "[ARGS]"
_MISTRAL_HEAD = re.compile(
    r"\s*+([\w.-]{1,200}+)(?>(?:\[CALL_ID\][A-Za-z0-9]{1,40}+)?)(?>(\[ARGS\])?)"
)
_CALL_ID = re.compile(r"\[CALL_ID\]([A-Za-z0-9]{1,40}+)")


def _answer_mistral(calls: Made, results: Sequence[str], said: str) -> list[ChatMessage]:
    """Write each result with the id of its call."""
    ids = _CALL_ID.findall(said)
    if len(ids) == len(calls):
        results = [f"{id}[TOOL_CONTENT]{text}" for id, text in zip(ids, results, strict=True)]
    elif (named := _listed(said)) and len(named) == len(calls):
        results = [
            as_json({"content": text, **name}) for text, name in zip(results, named, strict=True)
        ]
    return [{"role": RESULT, "content": text} for text in results]


def _listed(said: str) -> list[dict[str, str]]:
    """Return ``{"call_id": ID}`` for each call in a JSON list; ``{}`` for a call without id."""
    begin = said.find(_CALLS) + len(_CALLS)
    if not said.startswith("[", after_blanks(said, begin)):
        return []
    try:
        value, _ = json_at(said, begin)
    except MalformedCall:
        return []
    given = [member.get("id") if isinstance(member, dict) else None for member in value]
    return [{"call_id": id} if isinstance(id, str) else {} for id in given]


def _read_mistral(text: str, begin: int, _documents: Documents) -> tuple[list[Call], int]:
    """Read the calls after a control token. Ignore all other text.

    Raises MalformedCall if a call cannot be parsed.
    """
    if text.startswith(("[", "{"), after_blanks(text, begin)):
        value, end = json_at(text, begin)
        return listed_calls(value), end
    head = _MISTRAL_HEAD.match(text, begin)
    if head is None:
        return [], begin
    place = after_blanks(text, head.end())
    if text.startswith(("{", '"') if head[2] else "{", place):
        value, end = json_at(text, place, f"What follows {head[1]}")
        return [make_call_from_tool(head[1], value)], end
    if head[2] or head.start(1) == begin:
        raise MalformedCall(f"{head[1]} must be followed by a JSON object with the arguments.")
    return [], head.end()


MISTRAL = TextFormat(
    "mistral",
    "raw",
    parallel=True,
    show=declaring("tools"),
    write=writing(lambda call, _: f"{_CALLS}{call.name}{_ARGS}{arguments_json(call)}", ""),
    answer=_answer_mistral,
    read=reading_after(_CALLS, _read_mistral),
    stops=("</s>",),
    frame=PromptFrame(
        {
            "system": ("[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"),
            "tools": ("[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
            "user": ("[INST]", "[/INST]"),
            "assistant": ("", "</s>"),
            RESULT: ("[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
        },
        "",
        "<s>",
    ),
)

# Kimi K2: a section of calls, each with an id (function and number).

_SECTION, _END_SECTION = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
_CALL, _ARGUMENTS, _END = (
    "<|tool_call_begin|>",
    "<|tool_call_argument_begin|>",
    "<|tool_call_end|>",
)
_KIMI_HEAD = re.compile(
    r"\s*+(?P<id>(?>(?:functions\.)?)(?P<name>[\w.-]{1,200}+)(?>(?::[0-9]{1,9}+)?))"
    r"\s*+<\|tool_call_argument_begin\|>"
)
_KIMI_FORM = "A call must consist of functions.NAME:NUMBER and JSON arguments between the marks."


def _write_kimi(calls: Sequence[Call], text: str, _documents: Documents) -> str:
    each = [
        f"{_CALL}functions.{call.name}:{number}{_ARGUMENTS}{arguments_json(call)}{_END}"
        for number, call in enumerate(calls)
    ]
    return before(text, "".join([_SECTION, *each, _END_SECTION]) if each else "")


def _answer_kimi(calls: Made, results: Sequence[str], said: str) -> list[ChatMessage]:
    ids = [head["id"] for part in said.split(_CALL)[1:] if (head := _KIMI_HEAD.match(part))]
    if len(ids) != len(calls):
        ids = [f"functions.{name_of(call)}:{number}" for number, call in enumerate(calls)]
    shown = zip(ids, results, strict=True)
    return [{"role": RESULT, "content": f"## Return of {id}\n{result}"} for id, result in shown]


def _kimi_marks(role: str, name: str) -> tuple[str, str]:
    return f"<|im_{role}|>{name}<|im_middle|>", "<|im_end|>"


KIMI = TextFormat(
    "kimi",
    "raw",
    parallel=True,
    show=declaring("tool_declare"),
    write=_write_kimi,
    answer=_answer_kimi,
    read=reading_after(_CALL, _one_behind(_KIMI_HEAD, _KIMI_FORM)),
    stops=("<|im_end|>",),
    frame=PromptFrame(
        {
            "system": _kimi_marks("system", "system"),
            "tool_declare": _kimi_marks("system", "tool_declare"),
            RESULT: _kimi_marks("system", "tool"),
            "user": _kimi_marks("user", "user"),
            "assistant": _kimi_marks("assistant", "assistant"),
        },
        "<|im_assistant|>assistant<|im_middle|>",
    ),
)

# DeepSeek V3 and V3.1: the arguments fenced or bare.

BAR = "\uff5c"
"""Full-width bar, which is part of every control token of DeepSeek."""


def _mark(name: str) -> str:
    return f"<{BAR}{name}{BAR}>"


_ONE, _SEPARATOR, _END_ONE = _mark("tool▁call▁begin"), _mark("tool▁sep"), _mark("tool▁call▁end")
_OUTPUT, _END_OUTPUT = _mark("tool▁output▁begin"), _mark("tool▁output▁end")
_ASSISTANT, _END_OF_TEXT = _mark("Assistant"), _mark("end▁of▁sentence")
_DEEPSEEK_HEAD = re.compile(
    rf"\s*+(?P<typed>function{_SEPARATOR})?(?P<name>[\w.-]{{1,200}}+)"
    rf"(?(typed)\s*+```(?>(?:json)?)|{_SEPARATOR})"
)
"""Start of a call. DeepSeek V3 puts the arguments into a code fence; V3.1 does not."""
_DEEPSEEK_FORM = f"A call must consist of the name, {_SEPARATOR} and the arguments in JSON."

DEEPSEEK_FRAME = PromptFrame(
    {
        "system": ("", ""),
        "user": (_mark("User"), ""),
        "assistant": (_ASSISTANT, _END_OF_TEXT),
        RESULT: (_mark("tool▁outputs▁begin"), _mark("tool▁outputs▁end")),
    },
    _ASSISTANT,
    _mark("begin▁of▁sentence"),
    joins=frozenset([RESULT]),
)
_write_deepseek = writing(
    lambda call, _: f"{_ONE}{call.name}{_SEPARATOR}{arguments_json(call)}{_END_ONE}",
    "",
    _mark("tool▁calls▁begin"),
    _mark("tool▁calls▁end"),
)
DEEPSEEK_V3 = TextFormat(
    "deepseek_v3",
    "raw",
    parallel=True,
    show=showing("several", _write_deepseek, indented),
    write=_write_deepseek,
    answer=answering(f"{_OUTPUT}{{result}}{_END_OUTPUT}", RESULT),
    read=reading_after(_ONE, _one_behind(_DEEPSEEK_HEAD, _DEEPSEEK_FORM)),
    stops=(_END_OF_TEXT,),
    frame=DEEPSEEK_FRAME,
)
