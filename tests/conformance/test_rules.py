from __future__ import annotations

from typing import Any

import pytest

from checkers.calls.call_entry import (
    CallEntry,
    ComparisonKind,
    ExpectedCall,
    FunctionDocument,
    Language,
)
from tests.conformance.rules import RULES, deciding_rules

SHARES = {"type": "array", "items": {"type": "float"}}


def task(schema: dict[str, Any], allowed: list[Any], language: Language) -> CallEntry:
    """Return an entry with one function of one parameter."""
    document = FunctionDocument("f", {"a": schema}, ())
    return CallEntry(
        ComparisonKind.SIMPLE, language, (document,), (ExpectedCall("f", {"a": allowed}),)
    )


@pytest.mark.parametrize(
    ("schema", "allowed", "language", "arguments", "rules"),
    [
        (SHARES, [[1.0]], Language.PYTHON, '{"a": [1]}', ("compares_deeply",)),
        (SHARES, [[1.0]], Language.PYTHON, '{"a": [1.0]}', ()),
        ({"type": "string"}, ["-5"], Language.PYTHON, '{"a": "5"}', ("normalise",)),
        (
            {"type": "integer"},
            [5, "n"],
            Language.PYTHON,
            '{"a": "n"}',
            ("variables_by_any_answer",),
        ),
        ({"type": "long"}, [5], Language.JAVA, '{"a": "5"}', ("converters",)),
        ({"type": "Set"}, [[5]], Language.JAVA, '{"a": "Set.of(5)"}', ("converters",)),
        ({"type": "string"}, ["a"], Language.PYTHON, "", ("read_tool_calls",)),
    ],
)
def test_the_rule_that_decides(
    schema: dict[str, Any],
    allowed: list[Any],
    language: Language,
    arguments: str,
    rules: tuple[str, ...],
) -> None:
    step = [{"f": arguments}]
    assert deciding_rules(task(schema, allowed, language), step, "fc") == rules


def test_a_broken_call_where_none_fits_takes_two_rules() -> None:
    entry = CallEntry(ComparisonKind.IRRELEVANCE, Language.PYTHON, ())
    rules = deciding_rules(entry, [{"f": "{"}], "fc")
    assert rules == ("read_tool_calls", "counts_broken_calls")
    assert set(rules) < set(RULES)
