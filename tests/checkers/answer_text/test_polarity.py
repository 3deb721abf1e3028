"""Yes or no about something, through negations, opposites and short answers."""

from __future__ import annotations

import pytest

from checkers.answer_text.reader import list_unreported
from checkers.required_info import YesNo


def said(
    answer: str, *about: str, subject: str = "", opposite: tuple[str, ...] = ()
) -> bool | None:
    """Return what an answer says; None where it says nothing, or both."""
    yes, no = (
        not list_unreported([YesNo(way, about or ("locked",), opposite, subject)], answer)
        for way in (True, False)
    )
    return None if yes is no else yes


@pytest.mark.parametrize(
    "answer",
    [
        "The doors are locked.",
        "Yes, they are.",
        "Yes.",
        "All doors: locked",
        "Locked: yes",
        "Locked \N{WHITE HEAVY CHECK MARK}",
        "The doors are not unlocked.",
        "I checked whether the doors are locked, and they are.",
        "No worries, the doors are locked.",
        "The doors were unlocked, but now they are locked.",
        "Neither of us failed to get the doors locked.",
    ],
)
def test_a_yes(answer: str) -> None:
    assert said(answer) is True


@pytest.mark.parametrize(
    "answer",
    [
        "The doors are not locked.",
        "No, they aren't.",
        "No.",
        "It isn't locked",
        "The door is unlocked.",
        "Locked: no",
        "| locked | false |",
        "None of the doors is locked.",
        "Neither door is locked.",
        "It is no longer locked.",
        "It couldn't be locked.",
    ],
)
def test_a_no(answer: str) -> None:
    assert said(answer) is False


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Hello",
        "I will check whether it is locked.",
        "Would you like me to check if it's locked?",
        "I can't tell whether it is locked.",
        "Please make sure that it is locked.",
    ],
)
def test_what_only_supposes_or_asks_says_nothing(answer: str) -> None:
    assert said(answer) is None


@pytest.mark.parametrize(
    ("answer", "about", "yes"),
    [
        ("You are logged in as Jane.", "logged in", True),
        ("You're currently not logged in.", "logged in", False),
        ("You are logged out.", "logged in", False),
        ("The order was canceled.", "cancelled", True),
        ("The cancellation failed.", "cancellation", False),
        ("Nothing was changed.", "changed", False),
        ("I couldn't find anything about Greenfield.", "wrote", False),
        ("No messages found.", "messages", False),
        ("Not only was it sent, it was also read.", "sent", True),
        ("The shop is shut.", "open", False),
        ("No delivery failed.", "delivery", True),
        ("The delivery failed.", "delivery", False),
        ("No delivery was made.", "delivery", False),
    ],
)
def test_usual_wordings(answer: str, about: str, yes: bool) -> None:
    assert said(answer, about) is yes


def test_words_that_mean_the_opposite_may_be_named() -> None:
    assert said("The door is ajar.", opposite=("ajar",)) is False
    assert said("The door is not ajar.", opposite=("ajar",)) is True


@pytest.mark.parametrize(
    ("answer", "subject", "yes"),
    [
        ("The front doors are locked, the rear left is not.", "rear left", False),
        ("The front doors are locked, the rear left is not.", "front", True),
        ("Front left: locked\nRear left: unlocked", "rear left", False),
        ("Front left: locked\nRear left: unlocked", "front left", True),
        ("| Rear left | Unlocked |\n| Rear right | Locked |", "rear left", False),
        ("It's locked.", "rear left", True),
        ("It is locked, but the alarm isn't.", "rear left", True),
        ("It is locked. The alarm isn't.", "", True),
        ("I checked whether it is locked, and it is not.", "rear left", False),
        ("Is it locked? The rear left is, the front is not.", "rear left", True),
    ],
)
def test_what_is_said_of_the_subject_counts(answer: str, subject: str, yes: bool) -> None:
    assert said(answer, subject=subject) is yes


@pytest.mark.parametrize("before", range(1, 16))
def test_a_value_is_read_wherever_its_clause_begins(before: int) -> None:
    answer = f"{'x' * before}. The engine is off, but locked: no, but the light is on."
    assert said(answer) is False
