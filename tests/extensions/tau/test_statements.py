"""Compiled assertions: checks of calls and texts that decide or abstain."""

from __future__ import annotations

import pytest

from extensions.tau import statements
from extensions.tau.simulations import DialogueMessage, MessageCall, Simulation

CANCEL = MessageCall("1", "cancel_reservation", {"reservation_id": "AB12CD"}, "assistant")


def simulation(*messages):
    return Simulation("s", "0", 0, "user_stop", messages, None, "here")


MADE = simulation(
    DialogueMessage("assistant", "I will cancel it for $1,628."),
    DialogueMessage("assistant", None, (CANCEL,)),
    DialogueMessage("tool", "{}", (), "assistant"),
)
SILENT = simulation(DialogueMessage("assistant", "No."))


@pytest.fixture(autouse=True)
def checks(monkeypatch):
    cancel = {"functions": ["cancel_reservation"], "values": ["AB12CD"], "called": True}
    known = {
        statements.key_of("it is cancelled"): cancel,
        statements.key_of("it is not cancelled"): {**cancel, "called": False},
        statements.key_of("the total is reported"): {"said": ["1628"]},
    }
    monkeypatch.setattr(statements, "_checks", lambda: known)


@pytest.mark.parametrize(
    ("text", "made", "silent"),
    [
        ("it is cancelled", True, False),
        ("it is not cancelled", False, True),
        ("the total is reported", True, False),
        ("the agent was polite", None, None),
    ],
)
def test_a_check_decides_or_abstains(text, made, silent):
    assert statements.decide(text, MADE) is made
    assert statements.decide(text, SILENT) is silent
