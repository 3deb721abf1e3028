"""Calls of all functions with hostile values, and functions of any protocol."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from hypothesis import strategies as st

from envs import registry
from envs.calls import Call
from extensions.formats.registry import PROTOCOLS
from runner.models.calling_formats.format_types import CallingFormat, NativeFormat
from runner.models.model_types import ToolCall
from runner.models.toolbox import FunctionNameMapping, as_tool, own_documents

WRITTEN = {name: each for name, each in PROTOCOLS.items() if not isinstance(each, NativeFormat)}
NATIVE = {name: each for name, each in PROTOCOLS.items() if isinstance(each, NativeFormat)}

PIECES = (
    *('"', "'", "\\", "\n", "\r", "\t", " ", "\0", "\u2028", "é", "😀", "\ud800", "&", "<", ">"),
    *("{", "}", "[", "]", "(", ")", ",", ":", ";", "=", "#", "`", "```", "```json\n", "%s", "{0}"),
    *("5", "-1.5", "true", "True", "null", "None", "NaN", "Infinity", "[1]", '{"a": 1}', '"x"'),
    *("<tool_call>", "</tool_call>", "<tool_response>", "<function=f>", "</function>", "</think>"),
    *("<parameter=a>", "</parameter>", "&lt;/parameter>", "&amp;lt;/parameter>", "&lt;", "&amp;"),
    *("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "&lt;/arg_value>", "<invoke "),
    *("[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "functools[", "<|tool_call|>", "<function_calls>"),
    *("</function_calls>", "<|python_tag|>", "<|python_start|>", "<|python_end|>", "<|eot_id|>"),
    *("\nThought: a", "\nAction: f", "\nAction Input: {}", "\nObservation: x", "Final Answer:"),
    *("\nEnd Action", "f\n```python\ntool_call(a=1)\n```", '{"action": "f"}', '{"name": "f"}'),
    *('<|"|>', "&lt;|\"|>", "<escape>", "call:f{", "<tool_call|>", "<|call|>", "<|end|>"),
    *("<|message|>", "<|channel|>", "<|start|>", " to=functions.f", "<|tool_call_begin|>"),
    *("<|tool_call_argument_begin|>", "<\uff5ctool\u2581sep\uff5c>", "</\uff5cDSML\uff5cinvoke>"),
    *("</\uff5cDSML\uff5cparameter>", "&lt;/\uff5cDSML\uff5cparameter>"),
)  # fmt: skip
"""What texts are made of: quotes, tags of all families, line breaks, numbers as texts."""

TEXTS = st.one_of(st.lists(st.sampled_from(PIECES), max_size=5).map("".join), st.text(max_size=20))
_SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "string": TEXTS,
    "integer": st.integers(-(10**20), 10**20),
    "number": st.one_of(st.integers(-9, 9), st.floats(allow_nan=False, allow_infinity=False)),
    "boolean": st.booleans(),
    "null": st.none(),
}


@cache
def documents() -> list[dict[str, Any]]:
    """Return the documents of all functions, as a protocol is shown them."""
    own = own_documents(registry.names())
    names = FunctionNameMapping(document["name"] for document in own)
    return [as_tool(document, names)["function"] for document in own]


def values(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return values of a schema."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "anyOf" in schema:
        return st.one_of([values(each) for each in schema["anyOf"]])
    kind = schema.get("type")
    if kind == "array":
        return st.lists(values(schema.get("items") or {"type": "string"}), max_size=3)
    if kind == "object":
        members = schema.get("properties")
        if members:
            return st.fixed_dictionaries({name: values(each) for name, each in members.items()})
        return st.dictionaries(TEXTS, TEXTS, max_size=2)
    return _SCALARS[str(kind)]


@cache
def _calls_of(place: int) -> st.SearchStrategy[Call]:
    schema = documents()[place]["parameters"]
    required = schema.get("required", ())
    given = {name: values(each) for name, each in schema["properties"].items()}
    arguments = st.fixed_dictionaries(
        {name: each for name, each in given.items() if name in required},
        optional={name: each for name, each in given.items() if name not in required},
    )
    return arguments.map(lambda made: Call(documents()[place]["name"], (), made))


def calls() -> st.SearchStrategy[Call]:
    """Return calls of any function."""
    return st.integers(0, len(documents()) - 1).flatmap(_calls_of)


def plain(made: Sequence[Call]) -> str:
    """Return calls in a form that tells 1 from 1.0 and from true."""
    return repr([(call.name, call.args, dict(call.kwargs)) for call in made])


def through(protocol: CallingFormat, made: Sequence[Call], text: str = "") -> list[Call]:
    """Return what is read of calls that were written."""
    if not isinstance(protocol, NativeFormat):
        written = protocol.write(made, text, documents())
        return protocol.read(written, documents())
    message = protocol.write(made, text)
    entries = message.get("tool_calls") or [
        {"id": "1", "function": call} for call in [message.get("function_call")] if call
    ]
    sent = [
        ToolCall(each["id"], each["function"]["name"], each["function"]["arguments"])
        for each in entries
    ]
    return [
        Call(
            each.name,
            (),
            json.loads(each.arguments) if isinstance(each.arguments, str) else each.arguments,
        )
        for each in protocol.read(sent)
    ]
