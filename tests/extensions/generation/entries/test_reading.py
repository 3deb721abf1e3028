"""Answers of writers are read strictly, whatever stands around them."""

from __future__ import annotations

import json

import pytest

from extensions.generation.entries.filters import (
    InstructionFilter,
    RefusedInstruction,
    read_instruction,
)

LEFT = {"turn": 1, "without": "Do it.", "answer": "At noon."}
TURN = {"words": " Please do it. ", "functions": ["cd"]}


def test_an_object_is_read_out_of_words_and_fences() -> None:
    whole = {"turns": [TURN, TURN], "left_out": None}
    found = read_instruction(f"Sure!\n```json\n{json.dumps(whole)}\n```\nAnything else?", 2)
    assert found.words == ["Please do it."] * 2
    assert found.turns[0].functions == ("cd",)
    assert found.left_out is None


def test_the_value_that_is_left_out_is_read() -> None:
    left_out = {"turn": 1, "without": "Do it.", "answer": "At noon."}
    found = read_instruction(json.dumps({"turns": [TURN, TURN], "left_out": left_out}), 2).left_out
    assert found is not None
    assert (found.turn, found.without, found.answer) == (1, "Do it.", "At noon.")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "no JSON object"),
        ("[1, 2]", "no JSON object"),
        ('{"turns": ', "no JSON object"),
        ('{"turns": ' + "[" * 100_000, "no JSON object"),
        ("{}", 'no list "turns"'),
        (json.dumps({"turns": [TURN]}), "has 1 items, but must have 2"),
        (json.dumps({"turns": [TURN, "do it"]}), "turns[1] must have"),
        (json.dumps({"turns": [TURN, {"words": "x"}]}), "turns[1] must have"),
        (json.dumps({"turns": [TURN, {"words": "x", "functions": [1]}]}), "turns[1] must have"),
        (json.dumps({"turns": [TURN, {"words": " ", "functions": []}]}), "turns[1]: is empty"),
        (json.dumps({"turns": [TURN, {"words": "\ud800", "functions": []}]}), "a lone surrogate"),
        (json.dumps({"turns": [TURN, TURN], "left_out": {"turn": 2}}), '"left_out" must be'),
        (json.dumps({"turns": [TURN, TURN], "left_out": "none"}), '"left_out" must be'),
        (json.dumps({"turns": [TURN, TURN], "left_out": {**LEFT, "turn": True}}), "must be null"),
        (json.dumps({"turns": [TURN, TURN], "left_out": {**LEFT, "answer": " "}}), "is empty"),
        (json.dumps({"turns": [TURN, {**TURN, "words": "x " * 2501}]}), "than 5000 characters"),
    ],
)
def test_what_is_not_in_form_is_refused_with_the_reason(answer: str, reason: str) -> None:
    with pytest.raises(RefusedInstruction) as caught:
        read_instruction(answer, 2)
    assert reason in str(caught.value)
    assert caught.value.by is InstructionFilter.FORM
