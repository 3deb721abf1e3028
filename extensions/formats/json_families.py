"""Families that write a call as a JSON object of name and arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from envs.calls import Call
from envs.errors import MalformedCall
from extensions.formats.reading import (
    after_blanks,
    call_of,
    json_at,
    listed_calls,
    meant,
    objects_at,
    reading,
    reading_after,
)
from extensions.formats.showing import (
    LLAMA,
    LLAMA_STOPS,
    RESULT,
    Read,
    Write,
    answering,
    as_json,
    as_raw,
    as_text,
    chatml,
    framed,
    in_tags,
    indented,
    showing,
    writing,
)
from runner.models.tools import Document

# Hermes, Qwen 2.5 and 3: an object between tags for each call.

_OPENING, _CLOSING = "<tool_call>", "</tool_call>"


def _object(call: Call, _documents: Sequence[Document] = (), arguments: str = "arguments") -> str:
    return as_json({"name": call.name, arguments: dict(call.kwargs)})


def _read_object(text: str, begin: int, _documents: Sequence[Document]) -> tuple[list[Call], int]:
    """Read the object after a tag; the closing tag may be missing after the last.

    Raises:
        MalformedCall: It cannot be read, or there is none where a call is meant.
    """
    if text.startswith("{", after_blanks(text, begin)):
        value, end = json_at(text, begin)
        return [call_of(value)], end
    following = text.find(_OPENING, begin)
    end = text.find(_CLOSING, begin, len(text) if following < 0 else following)
    if end >= 0 and meant(text[begin:end]):
        raise MalformedCall(f"Between {_OPENING} and {_CLOSING} must stand one JSON object.")
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
    """Return what reads a list after one of some marks; words are prose."""

    @reading
    def read(text: str, _documents: Sequence[Document]) -> list[Call]:
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
def _read_first_list(text: str, _documents: Sequence[Document]) -> list[Call]:
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


def _with_parameters(call: Call, _documents: Sequence[Document]) -> str:
    return _object(call, arguments="parameters")


@reading
def _read_llama(text: str, _documents: Sequence[Document]) -> Iterator[Call]:
    """Read all objects with a name and parameters, wherever they stand; others are prose.

    Raises:
        MalformedCall: One cannot be read.
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
