"""Fidelity: a simulated user is compared with a recorded user, message by message."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import get_args

import pytest

from envs.calls import Call
from envs.results import Result
from extensions.users.fidelity import OwnCalls, compare, pair_similar
from extensions.users.requests import find_requests
from extensions.users.rules import RuleUser
from extensions.users.scenario import (
    DialogueScenario,
    Persona,
    UserFact,
    UserKnobs,
    UserStep,
    UserWish,
)
from runner.cli import main
from runner.models.dialogue_user import SAY, UserAnswer, UserExchange

STEPS = (
    UserStep(r"turn off airplane", "toggle_airplane_mode", writes=True),
    UserStep(r"(?:check|see)[^.]*bar", "check_status_bar"),
    UserStep(r"send a picture", "can_send_mms", success="can send", is_test=True),
    UserStep(r"vpn status|check[^.]*vpn", "check_vpn", topic="vpn"),
    UserStep(
        r"turn (?:off the vpn|it off)",
        "disconnect_vpn",
        needs="vpn is on",
        topic="vpn",
        writes=True,
    ),
)
SCENARIO = DialogueScenario(
    wishes=(UserWish("I want to cancel my order.", "opening"),),
    facts=(UserFact("email", "ada@example.com"), UserFact("zip", "55802")),
)
ASK = "Sure. What is your email address, and what is your zip code?"
DONE = "Your order has been cancelled. Is there anything else I can help you with?"
TOLD = "My email is ada@example.com. My zip is 55802."


def exchange(text, answer, *own, stops=False):
    calls = (Call(SAY, (), {"text": text}), *[Call(name, (), {}) for name, _ in own])
    results = (Result(answer), *[Result(result) for _, result in own])
    return UserExchange(calls, results, UserAnswer(answer, stops))


def measure(recorded, scenario=SCENARIO, **knobs):
    scenario = scenario._replace(knobs=UserKnobs(**knobs))
    opening = exchange("Hi!", "I want to cancel my order.")
    return compare(RuleUser(scenario), scenario, [opening, *recorded]).to_json()


USUAL = [exchange(ASK, TOLD), exchange(DONE, "No. Thank you.", stops=True)]


def test_a_user_that_answers_as_the_recorded_one_has_full_figures():
    found = measure(USUAL)
    assert (found["facts_f1"], found["same_stops"], found["not_understood"]) == (1, 1, 0)


@pytest.mark.parametrize(
    ("persona", "figure"),
    [
        ("unhelpful", "facts_recall"),
        ("forgetful", "facts_recall"),
        ("contradictory", "facts_precision"),
        ("premature", "same_stops"),
    ],
)
def test_each_persona_lowers_its_figure(persona, figure):
    longer = [exchange("Let me look.", "All right."), exchange("Still looking.", "All right.")]
    recorded = [USUAL[0], *longer, *longer, USUAL[1]]
    assert measure(recorded)[figure] == 1
    assert measure(recorded, persona=persona)[figure] < 1


@pytest.mark.parametrize(
    ("more", "stops", "same"),
    [
        ([], True, 1),  # the same message
        ([exchange(DONE, "Thank you!", stops=True)], False, 1),  # one message early
        ([exchange(DONE, "Wait."), exchange(DONE, "Bye.", stops=True)], False, 0),  # two early
    ],
)
def test_a_stop_counts_within_one_message(more, stops, same):
    recorded = [exchange(ASK, TOLD), exchange(DONE, "Hm.", stops=stops), *more]
    assert measure(recorded)["same_stops"] == same


def test_a_stop_one_message_late_is_tested_by_repeating_the_agent_s_text():
    offer = "I cannot do that. Would you like me to transfer you to a human agent?"
    late = [exchange(ASK, TOLD), exchange(offer, "Yes, please.", stops=True)]
    assert measure(late, patience=1)["same_stops"] == 1
    # A user that would never stop here is different, however often the agent asks.
    never = [exchange(ASK, TOLD), exchange("Shall I cancel it? (yes/no)", "Bye.", stops=True)]
    assert measure(never)["same_stops"] == 0


def test_a_dialogue_without_a_recorded_stop_is_equal_only_without_a_simulated_stop():
    assert measure([exchange(ASK, TOLD)])["same_stops"] == 1
    assert measure([exchange(ASK, TOLD), exchange(DONE, "Hm.")])["same_stops"] == 0


def test_own_calls_are_compared_call_by_call_in_any_order():
    scenario = SCENARIO._replace(steps=STEPS)
    text = "Please turn off airplane mode. Please check the VPN status."
    both = [("toggle_airplane_mode", "Airplane mode is off."), ("check_vpn", "VPN is off.")]
    for own in (both, both[::-1]):
        found = measure([exchange(text, "Done.", *own)], scenario)
        assert (found["calls_precision"], found["calls_recall"]) == (1, 1)
    # Two calls of each user, one of which is the same.
    found = measure([exchange(text, "Done.", both[0], ("reboot", "Done."))], scenario)
    assert (found["calls_precision"], found["calls_recall"], found["calls_f1"]) == (0.5, 0.5, 0.5)


def test_a_call_that_no_recorded_user_makes_does_not_hide_later_calls():
    scenario = SCENARIO._replace(steps=STEPS)
    text = "Please check the VPN status. Please turn off airplane mode."
    found = measure([exchange(text, "Done.", ("toggle_airplane_mode", "It is off."))], scenario)
    assert (found["calls_precision"], found["calls_recall"]) == (0.5, 1)


def test_a_call_one_answer_later_counts_apart():
    scenario = SCENARIO._replace(steps=STEPS)
    text, own = "Please turn off airplane mode.", ("toggle_airplane_mode", "It is off.")
    asks = exchange(text, "Shall I turn it off now?")
    found = measure([asks, exchange("Yes, now.", "Done.", own)], scenario)
    assert (found["calls_precision"], found["calls_recall"]) == (0, 0)
    assert (found["near_calls_precision"], found["near_calls_recall"]) == (1, 1)
    found = measure([asks, exchange("Yes.", "A moment."), exchange("So?", "Done.", own)], scenario)
    assert (found["near_calls_precision"], found["near_calls_recall"]) == (0, 0)


def test_recorded_users_are_compared_after_similar_texts_of_other_dialogues():
    def calls(text, *theirs):
        return OwnCalls(text, frozenset(theirs), frozenset({"check()"}))

    bar = "Please check the status bar of your phone and tell me what you see"
    same = [calls(f"{bar} now.", "check()"), calls("Hello, how are you?")]
    pairs = pair_similar([same, [calls(f"{bar}.", "restart()")]])
    assert [each.text for each, _ in pairs] == [f"{bar} now.", f"{bar}."]
    assert pairs[0][1] == OwnCalls(f"{bar}.", frozenset({"check()"}), frozenset({"restart()"}))
    assert pair_similar([same]) == []


def names(text):
    return [each.step.function for each in find_requests(text, STEPS)]


def test_an_offer_to_explain_is_no_request():
    assert names("Please check the VPN status.") == ["check_vpn"]
    assert names("Would you like instructions on how to check the VPN status?") == []
    assert names("Please turn off airplane mode. Would you like me to explain more?") == []


def test_a_list_counts_unless_a_sentence_requests_a_call():
    steps = "Please follow these steps:\n1. Turn off airplane mode.\n2. Check the VPN."
    assert names(steps) == ["toggle_airplane_mode", "check_vpn"]
    later = "After you turn it off, check the status bar."
    assert names(f"{steps}\n{later}")[:2] == ["toggle_airplane_mode", "check_vpn"]


def test_a_conditional_write_waits_for_a_result_that_makes_it_necessary():
    requests = find_requests("Please check the VPN status. If it is on, turn it off.", STEPS)
    assert [(each.step.function, each.depends) for each in requests] == [
        ("check_vpn", False),
        ("disconnect_vpn", True),
    ]


def test_a_named_function_is_the_requested_one():
    assert names("Please use `check_vpn()` now, then check the status bar.") == ["check_vpn"]


def test_the_help_names_every_persona_as_a_whole_word(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["user", "evaluate", "--help"])
    words = re.findall(r"\w+", capsys.readouterr().out)
    assert {*get_args(Persona)} <= {*words}


@pytest.mark.parametrize(
    "text", ["a" * 100_000, "#1" * 50_000, "." * 100_000, "the order id is x " * 6_000]
)
def test_long_texts_take_linear_time(text: str) -> None:
    code = (
        "import resource, sys\n"
        "from extensions.users.fidelity import _count_wrong, _find\n"
        "from extensions.users.scenario import DialogueScenario, UserFact\n"
        "resource.setrlimit(resource.RLIMIT_CPU, (20, 20))\n"
        "text = sys.stdin.read()\n"
        "list(_find([text]))\n"
        "_count_wrong(DialogueScenario((UserFact('order_id', '7'),), ()), text)\n"
    )
    subprocess.run([sys.executable, "-c", code], input=text, text=True, check=True)
