"""Sentences of a scenario, as the user says them."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import pytest

from extensions.tau.first_person import describes_user, to_first_person
from extensions.tau.scenarios import split

SAID = {
    "You want to cancel your trip.": "I want to cancel my trip.",
    "You want someone to help you return it,": "I want someone to help me return it.",
    "contact customer service because you are upset.": "I am upset.",
    "cancel the order.": "Please cancel the order.",
    "to exchange the lamp.": "I want to exchange the lamp.",
    "for a discount.": "I ask for a discount.",
    "For the trip, you want a window seat.": "For the trip, I want a window seat.",
    "You want the agent to look it up.": "I want you to look it up.",
    "You own two lamps (you do not want to reveal the price).": "I own two lamps.",
    "You live in Bonn, but you do not want to reveal it.": "I live in Bonn.",
    "You want a lamp {'color': 'red', 'size': 'big'}.": "I want a lamp color red, size big.",
    "You can also ask for a 20% refund or try to get 10%.": "I also want a 20% refund.",
}


@pytest.mark.parametrize(("sentence", "said"), SAID.items())
def test_a_sentence_is_said_in_the_first_person(sentence, said):
    assert to_first_person(sentence) == said


@pytest.mark.parametrize(
    "sentence",
    ["You are calm.", "You are shy, but also a very curious person.", "Be adamant about it."],
)
def test_a_description_of_the_user_is_not_said(sentence):
    assert describes_user(sentence)


@pytest.mark.parametrize(
    "sentence", ["You are willing to pay $5.", "You are in Bonn.", "You want a calm seat."]
)
def test_a_wish_is_said(sentence):
    assert not describes_user(sentence)


@pytest.mark.parametrize(
    ("read", "part"),
    [
        (describes_user, ", an a person"),
        (describes_user, ", but also kind"),
        (to_first_person, " "),
        (split, " \n "),
    ],
)
def test_long_sentences_are_read_in_linear_time(read: Callable[[str], object], part: str) -> None:
    begin = process_time()
    read(f"you are an a person{part * (8_000 // len(part))}\0")
    assert process_time() - begin < 2
