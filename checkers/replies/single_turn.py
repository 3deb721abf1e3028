"""From a model's step to the calls that are compared, and from the texts of values to values.

Values are converted only where they are compared: in calls, those of Java and JavaScript are still
the texts of expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from checkers.calls.documents import Expected, Language, Unreadable
from checkers.profile import CallRules, Manner, Mode
from checkers.replies import values
from checkers.replies.as_bfcl import single_turn as as_bfcl
from checkers.replies.code import calls_in_code
from checkers.replies.decoding import Step, decode_text, decode_tool_calls
from envs.calls import Call
from envs.errors import MalformedCall

TextReader = Callable[[Step, Language], list[Call]]
"""Turns a prompting model's step into calls; raises Unreadable."""
FormatReader = Callable[[TextReader], TextReader]
"""Takes what reads Python, gives what reads the format that was asked for."""


def read_calls(
    step: Step,
    language: Language,
    mode: Mode,
    rules: CallRules,
    reader: FormatReader | None = None,
    named: Collection[str] = (),
) -> list[Call]:
    """Return the calls in what a model answered.

    Args:
        step: The answer.
        language: What calls in text are written in.
        mode: How the model calls functions.
        rules: How the answer is read.
        reader: How text is read, where it was asked for in another format than the usual one.
        named: Names that the question has; in Python such a one may stand bare, for a variable.

    Raises:
        Unreadable: There are none that can be read.
        MissingGrammar: The libraries that read Java and JavaScript are not installed.
    """
    if mode == "fc":
        as_is = rules.read_tool_calls is Manner.AS_BFCL
        return as_bfcl.read_tool_calls(step) if as_is else read_tool_calls(step)
    read: TextReader = partial(read_text, named=named)
    if rules.read_text is Manner.AS_BFCL:
        read = as_bfcl.read_text
    return (reader(read) if reader else read)(step, language)


def convert(text: str, expected: Expected, language: Language, rules: CallRules) -> Any:
    """Return the value that the text of a Java or JavaScript expression stands for.

    Raises:
        CannotJudge: BFCL does not implement the type, and the rules are its own.
        MissingGrammar: The libraries that read Java and JavaScript are not installed.
    """
    return _CONVERTERS[language, rules.converters](text, expected)


_CONVERTERS: Mapping[tuple[Language, Manner], Callable[[str, Expected], Any]] = {
    (Language.JAVA, Manner.AS_BFCL): as_bfcl.java_value,
    (Language.JAVA, Manner.RIGHT): values.java_value,
    (Language.JAVASCRIPT, Manner.AS_BFCL): as_bfcl.javascript_value,
    (Language.JAVASCRIPT, Manner.RIGHT): values.javascript_value,
}


def read_tool_calls(step: Step) -> list[Call]:
    """Read the tool calls of a function-calling step; text or nothing has none.

    Raises:
        Unreadable: The arguments of a call cannot be read.
    """
    return _without_malformed(decode_tool_calls(step))


def read_text(step: Step, language: Language, named: Collection[str] = ()) -> list[Call]:
    """Read the calls in a prompting model's text, in which some names may stand for variables.

    Raises:
        Unreadable: The text holds what looks like calls but cannot be read.
    """
    if language is not Language.PYTHON:
        return calls_in_code(step, language) if isinstance(step, str) else []
    try:
        return _without_malformed(decode_text(step, named))
    except MalformedCall as error:
        raise Unreadable(str(error), attempted=True) from None


def _without_malformed(calls: list[Call | MalformedCall]) -> list[Call]:
    for call in calls:
        if isinstance(call, MalformedCall):
            raise Unreadable(str(call), attempted=True)
    return [call for call in calls if isinstance(call, Call)]
