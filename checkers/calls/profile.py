"""The named profiles of single-turn entries: all that differs between agreeing and being right.

Each field is one named rule. Taken over from the other profile one at a time, with ``_replace``,
they tell which rule makes a verdict differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from checkers.calls.documents import Language
from checkers.calls.normalise import normalise, normalise_but_numbers
from checkers.calls.type_words import Expected
from checkers.replies import java, javascript
from checkers.replies.as_bfcl import java as java_as_bfcl
from checkers.replies.as_bfcl import javascript as javascript_as_bfcl
from checkers.replies.single_turn import (
    TextReader,
    ToolCallReader,
    read_text,
    read_text_as_bfcl,
    read_tool_calls,
    read_tool_calls_as_bfcl,
)


class SingleTurnProfile(NamedTuple):
    """How the calls of a single-turn entry are read and judged."""

    name: str
    read_tool_calls: ToolCallReader
    """How the step of a function-calling model becomes calls."""
    read_text: TextReader
    """How the step of a prompting model becomes calls."""
    converters: Mapping[Language, Callable[[str, Expected], Any]]
    """How the text of a Java or JavaScript expression becomes a value."""
    normalise: Callable[[str], str]
    """What of a text counts when texts are compared."""
    compares_deeply: bool
    """Whether inside of lists and objects the rules are those outside: texts are normalised, an
    integer does for a float, a truth value is no number. Where not, an integer does for a float
    in Python and outside only."""
    variables_by_any_answer: bool
    """Whether any of the right values, not just the first, may show that a variable is meant."""
    maximum_matching: bool
    """Whether parallel calls are matched in the best way, not first come, first served."""
    only_offered: bool
    """Whether a call only counts as one, where any will do, when its function was offered."""
    counts_broken_calls: bool
    """Whether a call whose arguments cannot be read is a call where none should be made."""
    judges_inference_errors: bool
    """Whether a failed request counts as a model's output without calls."""


BFCL = SingleTurnProfile(
    name="bfcl",
    read_tool_calls=read_tool_calls_as_bfcl,
    read_text=read_text_as_bfcl,
    converters={
        Language.JAVA: java_as_bfcl.convert,
        Language.JAVASCRIPT: javascript_as_bfcl.convert,
    },
    normalise=normalise,
    compares_deeply=False,
    variables_by_any_answer=False,
    maximum_matching=False,
    only_offered=False,
    counts_broken_calls=False,
    judges_inference_errors=True,
)
"""Agrees with BFCL error type for error type."""

STRICT = SingleTurnProfile(
    name="strict",
    read_tool_calls=read_tool_calls,
    read_text=read_text,
    converters={Language.JAVA: java.convert, Language.JAVASCRIPT: javascript.convert},
    normalise=normalise_but_numbers,
    compares_deeply=True,
    variables_by_any_answer=True,
    maximum_matching=True,
    only_offered=True,
    counts_broken_calls=True,
    judges_inference_errors=False,
)
"""What a careful engineer expects."""

PROFILES: Mapping[str, SingleTurnProfile] = {profile.name: profile for profile in (BFCL, STRICT)}
