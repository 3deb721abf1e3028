"""Stems of words, and phrases."""

from __future__ import annotations

import pytest

from checkers.answer_text.words import FinalAnswer, find_stem


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        *(("all", "all"), ("bell", "bell"), ("install", "instal"), ("installed", "instal")),
        *(("cancelled", "cancel"), ("cancel", "cancel"), ("stopped", "stop"), ("note", "not")),
        *(("digging", "dig"), ("digs", "dig"), ("added", "add")),
        *(("focusing", "focus"), ("focused", "focus"), ("focuses", "focus")),
        *(("needs", "need"), ("goes", "goe"), ("ring", "ring"), ("bee", "bee")),
    ],
)
def test_forms_of_a_word_have_one_stem(word: str, expected: str) -> None:
    assert find_stem(word) == expected


def test_a_phrase_is_found_from_its_first_to_its_last_word() -> None:
    assert [*FinalAnswer("I saw the big red dog there.").find("big red dog")] == [(10, 21)]


def test_a_letter_alone_is_no_plural() -> None:
    answer = FinalAnswer("Size s: a tart made with rhubarb.")
    assert [*answer.find_reordered("rhubarb tart")] == [(10, 32)]
