from __future__ import annotations

from random import Random
from typing import Any

import pytest

from checkers.calls.call_entry import (
    CallEntry,
    ComparisonKind,
    ExpectedCall,
    FunctionDocument,
    Language,
)
from tests.conformance.bfcl_single_turn_driver import typed, untyped
from tests.conformance.code_texts import random_replies, random_values
from tests.conformance.mutants import random_outputs
from tests.conformance.single_turn import _compare

ALLOWED = {"a": [1, ""], "b": [["x", "y"]], "c": [{"k": [True, ""]}]}
TASK = CallEntry(
    ComparisonKind.SIMPLE,
    Language.PYTHON,
    (FunctionDocument("f.g", {"a": {"type": "integer"}}, ()),),
    (ExpectedCall("f.g", ALLOWED),),
)


@pytest.mark.parametrize("language", ["java", "javascript"])
def test_a_seed_gives_the_same_texts(language: str) -> None:
    for texts in (random_replies, random_values):
        assert list(texts(language, 3, 50)) == list(texts(language, 3, 50))
        assert len(set(texts(language, 3, 50))) > 30


@pytest.mark.parametrize("language", Language)
def test_a_seed_gives_the_same_outputs(language: Language) -> None:
    task = TASK._replace(language=language)
    outputs = [list(random_outputs(task, Random(seed), 50)) for seed in (3, 3, 4)]
    assert outputs[0] == outputs[1]
    assert outputs[0] != outputs[2]
    assert len(set(map(repr, outputs[0]))) > 30


@pytest.mark.parametrize(
    "value", [None, True, "a", 1, 1.5, [1, (2, [])], {"a": [{}], None: 1}, float("inf"), 1j]
)
def test_a_value_survives_the_way_to_the_driver(value: Any) -> None:
    found = untyped(typed(value))
    assert (repr(found), type(found)) == (repr(value), type(value))


def test_a_difference_is_counted_and_shown_unless_it_is_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    texts = ["f(a=1)", "f(a=`1)", "f()"]
    assert _compare("decoding javascript", texts, ["x", "x", "x"], ["y", "y", "x"]) == 1
    shown = capsys.readouterr().out
    assert "DIFFERENT decoding javascript 'f(a=1)': expected x, got y" in shown
    assert "1 of 3 equal" in shown
    assert "known, 1 times" in shown
