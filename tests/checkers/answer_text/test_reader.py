"""Texts, lists, and hostile answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.answer_text.reader import list_unreported
from checkers.answer_text.words import MAX_CHARS
from checkers.required_info import Date, Fact, Items, Number, Text, YesNo


def tells(fact: Fact, answer: str) -> bool:
    return not list_unreported([fact], answer)


@pytest.mark.parametrize(
    ("text", "answer", "told"),
    [
        ("Parts ordered", "Its status is now **parts  ordered**.", True),
        ("Parts ordered", "parts were ordered", False),
        ("q3_summary.txt", "`q3_summary.txt`", True),
        ("cat", "category", False),
        ("Café Noir", "the cafe noir", True),
        ("tempo 72, brushes\nstop after", "> tempo 72, brushes\n> stop after", True),
        (
            "don't stop",
            "\N{LEFT DOUBLE QUOTATION MARK}don\N{RIGHT SINGLE QUOTATION MARK}t stop",
            True,
        ),
        ("revenue 1,234", "revenue 1234", True),
        ("Open", "It is not open.", False),
        ("Open", "It isn't open any more.", False),
        ("Open", "It is no longer 'Open'.", False),
        ("Open", "It is not closed: open.", True),
        ("12:00", "It leaves at 12 pm.", True),
        ("00:00", "It leaves at 12 am.", True),
        ("11:00", "It leaves at 12 am.", False),
        ("00:30", "It leaves at 12:30 a.m.", True),
    ],
)
def test_a_text_is_found_by_its_words(text: str, answer: str, told: bool) -> None:
    assert tells(Text(text), answer) is told


def test_another_wording_will_do() -> None:
    assert tells(Text("BOS", ("Boston",)), "It leaves from Boston.")


@pytest.mark.parametrize(
    ("fact", "answer", "told"),
    [
        (Items(("F", "GM")), "- F\n- GM", True),
        (Items(("F", "GM")), "GM and F", True),
        (Items(("F", "GM")), "| F |\n| GM |", True),
        (Items(("F", "GM")), "Only F.", False),
        (Items(("F", "GM")), "F, but not GM", False),
        (Items(("east", "west"), ordered=True), "1. East\n2. West", True),
        (Items(("east", "west"), ordered=True), "west, east", False),
        (Items(("Anna", "Anna Lee")), "Anna Lee", False),
        (Items(("Anna", "Anna Lee")), "Anna Lee and Anna", True),
        (Items((12, 2.5)), "2.5 and twelve", True),
        (Items((32, 32)), "32 everywhere", True),
    ],
)
def test_a_list_is_found_in_any_layout(fact: Items, answer: str, told: bool) -> None:
    assert tells(fact, answer) is told


def test_what_is_not_told_is_named_in_its_order() -> None:
    facts = (Number(5), Text("Open"), Date("2024-06-01"))
    assert list_unreported(facts, "It is open.") == (Number(5), Date("2024-06-01"))
    assert list_unreported((), "") == ()


def test_a_long_answer_is_cut() -> None:
    padding = "x" * MAX_CHARS
    assert tells(Number(5), f"5 {padding}")
    assert not tells(Number(5), f"{padding} 5")


FACTS = (
    Number(5),
    Number(-5.25, "USD", 1, 0.5),
    Number(0, "messages"),
    Text("a a"),
    Items(("a", "a a", 5), ordered=True),
    Items(("a", "a a", 5)),
    YesNo(True, ("a", "locked"), subject="b"),
    Date("2024-06-01"),
)


@given(st.text(max_size=300))
def test_whatever_a_model_says_can_be_read_and_is_read_alike(answer: str) -> None:
    assert list_unreported(FACTS, answer) == list_unreported(FACTS, answer)


@pytest.mark.parametrize(
    "piece",
    ["a", "a ", "5", "5 ", "5,", "111 ", "1/2", "$", "-", "not ", "no a ", ".5", ":5", "a, ", "\n",
     "june 1 ", "and a is ", "one hundred ", "messages 5 ", "(", "5 messages", "1-", "a is not "],
)  # fmt: skip
@pytest.mark.parametrize(
    "length",
    [
        MAX_CHARS // 8,
        pytest.param(MAX_CHARS // 2, marks=pytest.mark.slow),
        pytest.param(MAX_CHARS, marks=pytest.mark.slow),
    ],
)
def test_hostile_answers_are_read(piece: str, length: int) -> None:
    list_unreported(FACTS, piece * (length // len(piece)))


@pytest.mark.parametrize("digits", ["9" * 1000, "0." + "0" * 1000 + "1", "1" + ",000" * 500])
def test_endless_numbers_are_read(digits: str) -> None:
    assert list_unreported(FACTS, digits)
