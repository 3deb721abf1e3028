"""Stems of words, and phrases."""

from __future__ import annotations

import pytest

from checkers.answer_text.words import FinalAnswer, find_stem, split_words


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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,50", ["1,50"]),
        ("1,000.5", ["1000.5"]),
        ("12,345,678", ["12345678"]),
        ("Room A1,000", ["room", "a1", "000"]),
        ("Ünïcode", ["unicode"]),
    ],
)
def test_only_commas_between_thousands_are_removed(text: str, words: list[str]) -> None:
    assert [word.text for word in split_words(text)] == words


@pytest.mark.parametrize(
    ("phrase", "text", "is_found"),
    [
        ("guest rooms", "rooms of guests", True),
        ("guests room", "the room of a guest", True),
        ("house doors", "door of houses", True),
        ("glass cup", "cups of glass", True),
        ("gas cup", "cup of gas", True),
        ("virus test", "test, viru", False),
        ("glass cup", "cup, glas", False),
    ],
)
def test_a_plural_is_a_word_of_four_letters_or_more(phrase: str, text: str, is_found: bool) -> None:
    assert any(FinalAnswer(text).find_reordered(phrase)) is is_found


@pytest.mark.parametrize(
    ("text", "is_negated"),
    [("it isn't open", True), ("t open", False), ("exit t open", False), ("open", False)],
)
def test_a_short_not_turns_the_next_word_down(text: str, is_negated: bool) -> None:
    assert FinalAnswer(text).turned_down(text.index("open")) is is_negated


@pytest.mark.parametrize(("count", "is_found"), [(0, True), (1, False)])
def test_a_long_answer_is_searched_up_to_its_limit(count: int, is_found: bool) -> None:
    answer = FinalAnswer("." * (20_000 - len("the end") + count) + "the end")
    assert any(answer.find("the end")) is is_found
