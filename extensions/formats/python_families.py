"""Calling formats with Python calls such as ``[f(a=1)]``, alone, between tags or in code fences."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import partial

from envs.calls import (
    Call,
    contains_call,
    find_closing_bracket,
    make_call_from_tool,
    parse_calls,
    parse_expression,
    parse_plain_calls,
    read_call_node,
)
from envs.errors import MalformedCall
from extensions.formats.prompt_text import (
    LLAMA,
    LLAMA_STOPS,
    Documents,
    Made,
    SystemMessageWriter,
    answering,
    as_raw,
    as_text,
    chatml,
    indented,
    lines,
    showing,
    writing,
)
from extensions.formats.reply_parsing import (
    after_blanks,
    check_length,
    json_at,
    parameters_of,
    reading,
)
from runner.models.calling_formats.format_types import PromptFrame, TextFormat
from runner.models.model_types import ChatMessage
from runner.models.prompting import read_prompts, render, with_results

_MAX_PYTHON = 150_000
"""Maximum length of calls that are parsed as Python, in characters."""
_NO_WORDS = ("[", "(", "`", "{")
"""A list of calls is not read if the text before the list contains one of these characters."""


def _python_calls(text: str) -> list[Call]:
    check_length(text)
    if calls := parse_plain_calls(text) or _after_words(text):
        return calls
    _check_python(text)
    return parse_calls(text)


def _after_words(text: str) -> list[Call]:
    """Return the calls of a list such as ``[f(a=1)]`` at the end of a text.

    The result is empty if the text before the list is empty or has brackets or backticks.
    """
    begin = text.rfind("\n[") + 1
    words = text[:begin]
    if not words or any(sign in words for sign in _NO_WORDS):
        return []
    return parse_plain_calls(text[begin:])


def _check_python(text: str) -> None:
    if len(text) > _MAX_PYTHON:
        raise MalformedCall(f"At most {_MAX_PYTHON} characters of Python are read.")


def _with_names(call: Call, documents: Documents) -> Call:
    """Return a Python call with the parameter name of every argument.

    Raises MalformedCall if an argument is a call, or if its parameter is unknown or given twice.
    """
    if call.nested or any(map(contains_call, call.args)):
        raise MalformedCall(
            f"{call.name[:100]} has a call inside; make the inner call first and use its result."
        )
    if not call.args:
        return make_call_from_tool(call.name, dict(call.kwargs))
    names = list(parameters_of(call.name, documents))
    if len(call.args) > len(names):
        raise MalformedCall(f"{call.name[:100]}: name each argument.")
    positional = dict(zip(names, call.args, strict=False))
    for name in call.kwargs:
        if name in positional:
            raise MalformedCall(f"{call.name[:100]}: the argument {name} is given twice.")
    return make_call_from_tool(call.name, {**positional, **call.kwargs})


def _in_python(call: Call, _documents: Documents) -> str:
    return str(call)


# The default prompt of Turnwise.


def _answer_prompt(calls: Made, results: Sequence[str], _said: str) -> list[ChatMessage]:
    made = ["(unreadable)" if isinstance(call, MalformedCall) else str(call) for call in calls]
    return [{"role": "user", "content": with_results(read_prompts().observation, made, results)}]


@reading
def _read_list(text: str, documents: Documents) -> Iterator[Call]:
    for call in _python_calls(text):
        yield _with_names(call, documents)


_write_list = writing(_in_python, ", ", "[", "]")
PYTHON = TextFormat(
    "python",
    "text",
    parallel=True,
    show=SystemMessageWriter(partial(render, notation="json"), lambda: read_prompts().system),
    write=_write_list,
    answer=_answer_prompt,
    read=_read_list,
    identifiers=True,
)

# Llama 3.2 and 4: raw, between marks.

_START, _END = "<|python_start|>", "<|python_end|>"


def _read_llama(text: str, documents: Documents) -> list[Call]:
    """Parse a list of calls, which may have marks around it.

    Raises MalformedCall if the calls cannot be parsed.
    """
    start, listed = text.find(_START), text.find("[")
    # A mark inside the list is part of a string.
    if start >= 0 and (listed < 0 or start < listed):
        text = text[start + len(_START) :].rstrip().removesuffix(_END)
    return _read_list(text, documents)


_write_llama_raw = writing(_in_python, ", ", f"{_START}[", f"]{_END}")

PYTHONIC = as_text("pythonic", "several", _write_list, indented, _read_llama)._replace(
    identifiers=True
)
PYTHONIC_RAW = as_raw(
    PYTHONIC,
    LLAMA,
    *LLAMA_STOPS,
    show=showing("several", _write_llama_raw, indented),
    write=_write_llama_raw,
    answer=answering("{result}", "ipython"),
)

# OLMo: one call per line between tags; true, false and null are accepted, too.

_OPENING, _CLOSING = "<function_calls>", "</function_calls>"
_WORDS = {"true": True, "false": False, "null": None}


@reading
def _read_lines(text: str, documents: Documents) -> Iterator[Call]:
    _, opened, inside = text.partition(_OPENING)
    # A closing tag before the last one is part of a string.
    inside = inside[: inside.rfind(_CLOSING)] if _CLOSING in inside else inside
    if not opened or "(" not in inside:
        return
    for line in inside.split("\n"):
        if line.strip():
            yield _with_names(_call_on_line(line.strip()), documents)


def _call_on_line(line: str) -> Call:
    plain = parse_plain_calls(f"[{line}]")
    if len(plain) == 1:
        return plain[0]
    _check_python(line)
    node = parse_expression(line)
    if not isinstance(node, ast.Call):
        raise MalformedCall(f"Between {_OPENING} and {_CLOSING}, each line must be one call.")
    try:
        _Constants().visit(node)
    except RecursionError:
        raise MalformedCall("A call is nested too deep.") from None
    return read_call_node(node)


class _Constants(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in _WORDS:
            return node
        return ast.copy_location(ast.Constant(_WORDS[node.id]), node)


_write_lines = writing(_in_python, "\n", f"{_OPENING}\n", f"\n{_CLOSING}")
OLMO = TextFormat(
    "olmo",
    "raw",
    parallel=True,
    show=showing("several", _write_lines, lines),
    write=_write_lines,
    answer=answering("{result}", "environment", together=False),
    read=_read_lines,
    stops=("<|im_end|>",),
    frame=chatml("environment"),
    identifiers=True,
)

# ChatGLM3: the name alone on a line, then ``tool_call(a=1)`` in a fence.

_CALL = "tool_call"
_HEAD = re.compile(
    r"(?>(?:<\|assistant\|>)?)[ \t]*+(\w[\w.-]{0,199}+)[ \t]*+"
    r"\n[ \t]*+```(?:python)?[ \t]*+\n\s*+(?>(tool_call\()?)"
)
_TICKS = "```"
_FAR = 300
"""Maximum number of characters from a function name to the code fence with the arguments."""


def _without_metadata(text: str) -> str:
    if not text.lstrip().startswith("{"):
        return text
    try:
        message, _ = json_at(text, after_blanks(text, 0))
    except MalformedCall:
        return text
    match message:
        case {"metadata": str(name), "content": str(content)}:
            return f"{name}\n{content}"
    return text


@reading
def _read_fences(text: str, documents: Documents) -> Iterator[Call]:
    """Parse the code fences after a function name; ignore all other code fences.

    Raises MalformedCall if a code fence does not contain a call.
    """
    text, start = _without_metadata(text), 0
    while (ticks := text.find(_TICKS, start)) >= 0:
        far = max(start, ticks - _FAR)
        above = text.rfind("\n", far, ticks)
        line = text.rfind("\n", far, max(above, far)) + 1 or far
        head = _HEAD.match(text, line) if above >= 0 else None
        start = ticks + len(_TICKS)
        if head is None:
            continue
        if not head[2]:
            # A truncated call counts as a call.
            if _CALL.startswith(text[head.end() : head.end() + len(_CALL)].strip()):
                raise MalformedCall(f"The code fence after {head[1]} must contain {_CALL}(...).")
            continue
        opening = head.end() - 1
        end = find_closing_bracket(text, opening)
        if end is None:
            raise MalformedCall(f"The call of {head[1]} is not closed.")
        call = _python_calls(f"[{_CALL}{text[opening : end + 1]}]")[0]
        yield _with_names(call._replace(name=head[1]), documents)
        closing = text.find(_TICKS, end)
        start = closing + len(_TICKS) if closing >= 0 else len(text)


_write_fences = writing(
    lambda call, _: f"{call.name}\n```python\n{Call(_CALL, (), call.kwargs)}\n```"
)
CHATGLM3 = as_text("chatglm3", "one", _write_fences, indented, _read_fences)
CHATGLM3_RAW = as_raw(
    CHATGLM3,
    PromptFrame(
        {
            "system": ("<|system|>\n ", "\n"),
            "user": ("<|user|>\n ", "\n"),
            "observation": ("<|observation|>\n ", "\n"),
            # A function name may follow on the same line.
            "assistant": ("<|assistant|>", ""),
        },
        "<|assistant|>",
        "[gMASK]sop",
    ),
    "<|user|>",
    "<|observation|>",
    answer=answering("{result}", "observation", together=False),
)
