"""Stems of words."""

from __future__ import annotations

import pytest

from checkers.answer_text.words import find_stem


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        *(("all", "all"), ("bell", "bell"), ("install", "instal"), ("installed", "instal")),
        *(("cancelled", "cancel"), ("cancel", "cancel"), ("stopped", "stop"), ("note", "not")),
    ],
)
def test_forms_of_a_word_have_one_stem(word: str, expected: str) -> None:
    assert find_stem(word) == expected
