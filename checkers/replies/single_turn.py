"""Reader of the calls in a single-turn answer, and converter of Java and JavaScript values.

A parsed call contains Java and JavaScript values as source code; ``convert`` returns the values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, Any

from checkers.calls.call_entry import ExpectedType, Language, UnreadableOutput
from checkers.profile import CallRules, Mode, RuleVariant
from checkers.replies.decoding import Step, decode_text, decode_tool_calls
from envs.calls import Call
from envs.errors import MalformedCall
from envs.lazy_modules import lazy_module

if TYPE_CHECKING:
    from checkers.replies import code, code_values
    from checkers.replies.as_bfcl import single_turn as as_bfcl
else:
    # Most entries are in Python, and only one profile reads replies as BFCL does.
    code = lazy_module("checkers.replies.code")
    code_values = lazy_module("checkers.replies.code_values")
    as_bfcl = lazy_module("checkers.replies.as_bfcl.single_turn")

TextReader = Callable[[Step, Language], list[Call]]
"""Function that parses the calls in a model's text; raises UnreadableOutput."""
FormatReader = Callable[[TextReader], TextReader]


def read_calls(
    step: Step,
    language: Language,
    mode: Mode,
    rules: CallRules,
    reader: FormatReader | None = None,
    named: Collection[str] = (),
) -> list[Call]:
    """Return the calls in a model's answer to a single-turn entry.

    Args:
        step: Tool calls or text of the answer.
        language: Language of calls in text.
        mode: ``fc`` for tool calls, ``prompt`` for calls in text.
        rules: Rules for reading the answer.
        reader: Reader of text in a calling format other than BFCL's.
        named: Names in the user's message, which Python calls may use as variables.

    Raises:
        UnreadableOutput: The answer cannot be parsed.
        DataError: The libraries for Java and JavaScript are not installed.
    """
    if mode == "fc":
        as_is = rules.read_tool_calls is RuleVariant.AS_BFCL
        return as_bfcl.read_tool_calls(step) if as_is else read_tool_calls(step)
    read: TextReader = partial(read_text, named=named)
    if rules.read_text is RuleVariant.AS_BFCL:
        read = as_bfcl.read_text
    return (reader(read) if reader else read)(step, language)


def convert(text: str, expected: ExpectedType, language: Language, rules: CallRules) -> Any:
    """Return the value of a Java or JavaScript expression.

    Raises:
        UnjudgeableEntry: BFCL's rules apply, but BFCL does not support the expected type.
        DataError: The libraries for Java and JavaScript are not installed.
    """
    if rules.converters is RuleVariant.AS_BFCL:
        java, javascript = as_bfcl.java_value, as_bfcl.javascript_value
    else:
        java, javascript = code_values.java_value, code_values.javascript_value
    return (java if language is Language.JAVA else javascript)(text, expected)


def read_tool_calls(step: Step) -> list[Call]:
    """Read the tool calls of a step.

    Raises UnreadableOutput if the arguments of a call cannot be parsed.
    """
    return _reject_malformed(decode_tool_calls(step))


def read_text(step: Step, language: Language, named: Collection[str] = ()) -> list[Call]:
    """Parse the calls in a model's text; an argument may be a variable name from ``named``.

    Raises UnreadableOutput if a part of the text looks like calls but cannot be parsed.
    """
    if language is not Language.PYTHON:
        return code.read_code(step, language) if isinstance(step, str) else []
    try:
        return _reject_malformed(decode_text(step, named))
    except MalformedCall as error:
        raise UnreadableOutput(str(error), attempted=True) from None


def _reject_malformed(calls: list[Call | MalformedCall]) -> list[Call]:
    for call in calls:
        if isinstance(call, MalformedCall):
            raise UnreadableOutput(str(call), attempted=True)
    return [call for call in calls if isinstance(call, Call)]
