"""Calling formats that put arguments between tags: ``qwen_xml``, ``glm``, ``invoke``, ``dsml``.

Strings are written unchanged, and other values as JSON. An end tag inside a value is escaped. Tags
are found with ``find``, without an XML parser.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from envs.calls import Call, make_call_from_tool
from envs.errors import MalformedCall
from extensions.formats.json_families import BAR, DEEPSEEK_FRAME, DEEPSEEK_V3
from extensions.formats.prompt_text import (
    RESULT,
    Documents,
    Read,
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
from extensions.formats.reply_parsing import (
    MAX_NAME_CHARS,
    EndMarkEscaping,
    after_blanks,
    is_name,
    json_at,
    meant,
    parameters_of,
    reading_after,
    text_of,
    value_of,
    wrapped,
)

_OPENING, _CLOSING = "<tool_call>", "</tool_call>"
_RESPONSE = "<tool_response>\n{result}\n</tool_response>"


@dataclass(frozen=True, kw_only=True)
class _Tags:
    function: str
    """Text before the function name."""
    after_name: str = '">'
    end: str
    parameter: str
    """Text before an argument's name."""
    after_parameter: str = '">'
    end_parameter: str
    text_of: Callable[[Any, Mapping[str, Any] | None], str] = lambda value, schema: wrapped(
        text_of(value, schema)
    )
    """Function that converts a value of the given schema to text."""
    value_of: Callable[[str, Mapping[str, Any] | None], Any] = value_of
    """Function that parses a value of the given schema; may raise MalformedCall."""

    def call(self, call: Call, documents: Documents) -> str:
        schemas, quoting = parameters_of(call.name, documents), EndMarkEscaping(self.end_parameter)
        arguments = [
            f"{self.parameter}{name}{self.after_parameter}"
            f"{quoting.quoted(self.text_of(value, schemas.get(name)))}{self.end_parameter}\n"
            for name, value in call.kwargs.items()
        ]
        return f"{self.function}{call.name}{self.after_name}\n{''.join(arguments)}{self.end}"

    def reader(self) -> Read:
        return reading_after(self.function, self._read_one)

    def _read_one(self, text: str, begin: int, documents: Documents) -> tuple[list[Call], int]:
        """Read the call after an opening tag; an opening tag without a name starts no call.

        Raises MalformedCall if a tag is misplaced or not closed.
        """
        end = text.find(self.after_name, begin, begin + MAX_NAME_CHARS + 2)
        name = text[begin:end].strip() if end >= 0 else ""
        if not is_name(name):
            return [], begin
        arguments, end = self._arguments(text, end + len(self.after_name), name, documents)
        return [make_call_from_tool(name, arguments)], end

    def _arguments(
        self, text: str, position: int, name: str, documents: Documents
    ) -> tuple[dict[str, Any], int]:
        schemas, quoting = parameters_of(name, documents), EndMarkEscaping(self.end_parameter)
        arguments: dict[str, Any] = {}
        while True:
            position = after_blanks(text, position)
            if text.startswith(self.end, position):
                return arguments, position + len(self.end)
            if not text.startswith(self.parameter, position):
                raise MalformedCall(f"The call of {name} is not closed by {self.end}.")
            begin = position + len(self.parameter)
            named = text.find(self.after_parameter, begin)
            end = text.find(self.end_parameter, named)
            if named < 0 or end < 0:
                raise MalformedCall(f"An argument of {name} is not closed by {self.end_parameter}.")
            parameter = text[begin:named].strip()
            if parameter in arguments:
                raise MalformedCall(f"{name}: the argument {parameter[:100]} is given twice.")
            value = quoting.unquoted(text[named + len(self.after_parameter) : end])
            arguments[parameter] = self.value_of(value, schemas.get(parameter))
            position = end + len(self.end_parameter)


# Qwen3-Coder, MiMo: values on separate lines.

_QWEN = _Tags(
    function="<function=",
    after_name=">",
    end="</function>",
    parameter="<parameter=",
    after_parameter=">",
    end_parameter="</parameter>",
    text_of=lambda value, schema: f"\n{text_of(value, schema)}\n",
)
QWEN_XML = as_text(
    "qwen_xml",
    "several",
    writing(lambda call, documents: f"{_OPENING}\n{_QWEN.call(call, documents)}\n{_CLOSING}"),
    in_tags,
    _QWEN.reader(),
    _RESPONSE,
)
QWEN_XML_RAW = as_raw(QWEN_XML, chatml(), "<|im_end|>")

# MiniMax M2 and others: ``invoke`` elements with ``parameter`` elements, the wrapper optional.

_INVOKE = _Tags(
    function='<invoke name="',
    end="</invoke>",
    parameter='<parameter name="',
    end_parameter="</parameter>",
)
INVOKE = as_text(
    "invoke",
    "several",
    writing(_INVOKE.call, "\n", "<minimax:tool_call>\n", "\n</minimax:tool_call>"),
    in_tags,
    _INVOKE.reader(),
    "<response>{result}</response>",
)
INVOKE_RAW = as_raw(
    INVOKE,
    framed("]~b]{role}\n", "[e~[\n", "assistant=ai", f"{RESULT}=tool", begin="]~!b["),
    "[e~[",
    answer=answering("<response>{result}</response>", RESULT),
)

# DeepSeek V3.2 and V4: each parameter declares whether its value is a string.

_MARK = f"{BAR}DSML{BAR}"
_IS_TEXT, _IS_JSON = 'true">', 'false">'


def _typed_text(value: Any, _schema: Mapping[str, Any] | None) -> str:
    return f"{_IS_TEXT}{value}" if isinstance(value, str) else f"{_IS_JSON}{as_json(value)}"


def _typed_value(text: str, _schema: Mapping[str, Any] | None) -> Any:
    if text.startswith(_IS_TEXT):
        return text.removeprefix(_IS_TEXT)
    if not text.startswith(_IS_JSON):
        raise MalformedCall('A parameter must say string="true" or string="false".')
    value, end = json_at(text, len(_IS_JSON), "A parameter")
    if text[end:].strip():
        raise MalformedCall('A parameter with string="false" must be one JSON value.')
    return value


_DSML = _Tags(
    function=f'<{_MARK}invoke name="',
    end=f"</{_MARK}invoke>",
    parameter=f'<{_MARK}parameter name="',
    after_parameter='" string="',
    end_parameter=f"</{_MARK}parameter>",
    text_of=_typed_text,
    value_of=_typed_value,
)
_write_dsml = writing(_DSML.call, "\n", f"<{_MARK}function_calls>\n", f"\n</{_MARK}function_calls>")
_RESULT_MARKS = ("\n\n<function_results>\n", "\n</function_results>\n\n")
DSML = DEEPSEEK_V3._replace(
    name="dsml",
    show=showing("several", _write_dsml, indented),
    write=_write_dsml,
    answer=answering("<result>{result}</result>", RESULT),
    read=_DSML.reader(),
    frame=DEEPSEEK_FRAME._replace(roles={**DEEPSEEK_FRAME.roles, RESULT: _RESULT_MARKS}),
)

# GLM 4.5 to 4.7: the name, then pairs of key and value.

_KEY, _END_KEY = "<arg_key>", "</arg_key>"
_VALUE, _END_VALUE = "<arg_value>", "</arg_value>"
_GLM_QUOTING = EndMarkEscaping(_END_VALUE)


def _glm_call(call: Call, documents: Documents) -> str:
    schemas = parameters_of(call.name, documents)
    lines = [f"{_OPENING}{call.name}"]
    for name, value in call.kwargs.items():
        shown = _GLM_QUOTING.quoted(wrapped(text_of(value, schemas.get(name))))
        lines += [f"{_KEY}{name}{_END_KEY}", f"{_VALUE}{shown}{_END_VALUE}"]
    return "\n".join([*lines, _CLOSING])


def _read_glm(text: str, begin: int, documents: Documents) -> tuple[list[Call], int]:
    """Read the call after an opening tag; an opening tag without a name starts no call.

    Raises MalformedCall if a tag is misplaced or not closed.
    """
    tag = text.find("<", begin, begin + MAX_NAME_CHARS + 2)
    name = text[begin:tag].lstrip("\r\n").rstrip() if tag >= 0 else ""
    if is_name(name):
        arguments, end = _glm_arguments(text, tag, name, documents)
        return [make_call_from_tool(name, arguments)], end
    if tag >= 0 and meant(name) and text.startswith(_CLOSING, tag):
        raise MalformedCall(f"{_OPENING} must be followed by the name of a function.")
    return [], begin


def _glm_arguments(
    text: str, position: int, name: str, documents: Documents
) -> tuple[dict[str, Any], int]:
    schemas = parameters_of(name, documents)
    arguments: dict[str, Any] = {}
    while not text.startswith(_CLOSING, position):
        key, position = _between(text, position, _KEY, _END_KEY, name)
        shown, position = _between(text, position, _VALUE, _END_VALUE, name)
        if key in arguments:
            raise MalformedCall(f"{name}: the argument {key[:100]} is given twice.")
        arguments[key] = value_of(_GLM_QUOTING.unquoted(shown), schemas.get(key))
        position = after_blanks(text, position)
    return arguments, position + len(_CLOSING)


def _between(text: str, position: int, opening: str, closing: str, name: str) -> tuple[str, int]:
    begin = after_blanks(text, position)
    end = text.find(closing, begin)
    if end < 0 or not text.startswith(opening, begin):
        missing = f"{opening}...{closing} or the final {_CLOSING}"
        raise MalformedCall(f"The call of {name} lacks {missing}.")
    return text[begin + len(opening) : end], end + len(closing)


GLM = as_text(
    "glm", "several", writing(_glm_call), in_tags, reading_after(_OPENING, _read_glm), _RESPONSE
)
GLM_RAW = as_raw(
    GLM,
    framed("<|{role}|>\n", "", "observation", begin="[gMASK]<sop>"),
    "<|user|>",
    "<|observation|>",
    "<|endoftext|>",
    answer=answering(_RESPONSE, "observation"),
)
