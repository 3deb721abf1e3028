"""The rule-based user: what it tells, when it agrees, and when it stops."""

from __future__ import annotations

from time import process_time

import pytest

from envs.calls import Call
from envs.results import Result
from extensions.users.rules import (
    CONFIRMED,
    THANKS,
    TRANSFERRED,
    RuleUser,
)
from extensions.users.scenario import DialogueScenario, UserFact, UserKnobs, UserStep, UserWish
from runner.models.dialogue_user import SAY, UserAnswer, UserExchange

SCENARIO = DialogueScenario(
    wishes=(UserWish("I want to cancel my order.", "opening"), UserWish("I also want a refund.")),
    facts=(UserFact("email", "ada@example.com"), UserFact("zip", "55802")),
    unknown=("order",),
    rejects=("newsletter",),
    steps=(UserStep("restart", "reboot_device"),),
)


def hear(user, text, *results):
    """Let a user answer a text; results are those of its own calls, in order."""
    done = []
    while True:
        acting = user.act(text, done)
        with pytest.raises(StopIteration) as end:
            next(acting)
        act = end.value.value
        if isinstance(act, UserAnswer):
            break
        done += [(call, Result(results[len(done)])) for call in act]
    said = (Call(SAY, (), {"text": text}), *[call for call, _ in done])
    user.remember(UserExchange(said, (Result(act.text), *[made for _, made in done]), act))
    return act


def opened(**knobs):
    return RuleUser.opened(SCENARIO._replace(knobs=UserKnobs(**knobs)))


def test_a_fact_is_told_when_it_is_asked_for_and_not_before():
    user = opened()
    answer = hear(user, "Sure. Could you please provide your email address?")
    assert "ada@example.com" in answer.text
    assert "55802" not in answer.text
    assert "55802" in hear(user, "And your zip code, please?").text


@pytest.mark.parametrize("part", ["anything a hel", "would you like a transfe", "proceed a "])
def test_a_very_long_text_takes_no_longer_than_its_end(part):
    begin = process_time()
    answer = hear(opened(), part * (150_000 // len(part)) + ". Please provide your email address?")
    assert "ada@example.com" in answer.text
    assert process_time() - begin < 4


def test_an_unknown_fact_is_not_made_up():
    answer = hear(opened(), "Please provide the order number.")
    assert answer.text == "I do not remember the order number."


def test_a_proposal_is_confirmed_or_rejected():
    assert hear(opened(), "Shall I cancel the order? (yes/no)").text == CONFIRMED
    rejected = hear(opened(), "Would you like to get our newsletter?").text
    assert rejected.startswith("No")


def test_the_user_stops_after_its_last_wish_and_after_a_transfer():
    user = opened()
    more = "The order has been cancelled. Is there anything else I can help you with?"
    assert hear(user, more) == UserAnswer("I also want a refund.")
    assert hear(user, more) == UserAnswer(THANKS, stops=True)
    transferred = hear(opened(), "YOU ARE BEING TRANSFERRED TO A HUMAN AGENT. PLEASE HOLD ON.")
    assert transferred == UserAnswer(TRANSFERRED, stops=True)


OFFER = "I cannot do that. Would you like me to transfer you to a human agent?"


def test_a_transfer_is_accepted_after_an_objection():
    user = RuleUser.opened(SCENARIO._replace(wishes=SCENARIO.wishes[:1]))
    assert not hear(user, OFFER).stops
    assert hear(user, OFFER) == UserAnswer("Yes, please transfer me. Thank you.", stops=True)


@pytest.mark.parametrize(("patience", "objections"), [(0, 0), (1, 1), (2, 1), (3, 2)])
def test_a_patient_user_objects_more_often_to_a_transfer(patience, objections):
    scenario = SCENARIO._replace(wishes=SCENARIO.wishes[:1], knobs=UserKnobs(patience=patience))
    user = RuleUser.opened(scenario)
    assert [hear(user, OFFER).stops for _ in range(objections + 1)] == [False] * objections + [True]


def test_a_user_who_rejects_a_transfer_stays_as_long_as_its_patience_lasts():
    scenario = SCENARIO._replace(rejects=("transfer",), wishes=SCENARIO.wishes[:1])
    user = RuleUser.opened(scenario._replace(knobs=UserKnobs(patience=3)))
    answers = [hear(user, OFFER) for _ in range(4)]
    assert [answer.stops for answer in answers] == [False, False, False, True]
    assert answers[0].text == "No, I do not want to be transferred."


def test_a_user_gives_up_after_repeated_refusals():
    user = opened(patience=1)
    refusal = "Unfortunately, there is no seat. Do you want me to look at another day?"
    answers = [hear(user, refusal) for _ in range(3)]
    assert [answer.stops for answer in answers] == [False, False, True]


def test_a_user_tests_its_goal_before_it_ends_the_dialogue():
    test = UserStep("try it", "run_test", success="works", is_test=True)
    scenario = SCENARIO._replace(steps=(test,), wishes=SCENARIO.wishes[:1])
    user = RuleUser.opened(scenario)
    ends = "Is there anything else I can help you with?"
    assert not hear(user, ends, "It fails.").stops
    assert hear(user, ends, "It works.").text == 'It says: "It works."'
    assert hear(user, ends).stops


def test_a_name_of_another_person_is_not_the_name_of_the_user():
    scenario = SCENARIO._replace(facts=(UserFact("name", "Ada Holm"),))
    others = "Please provide the first and last name of each passenger."
    assert "Ada" not in hear(RuleUser.opened(scenario), others).text
    assert "Ada" in hear(RuleUser.opened(scenario), "Please tell me your full name.").text


def test_own_calls_are_made_when_told_to_and_reported():
    answer = hear(opened(), "Please restart your phone.", "Restarting network services.")
    assert answer.text.startswith('It says: "Restarting network services."')


def test_a_mistake_is_corrected_when_the_fact_is_asked_for_again():
    user = opened(mistakes={"zip": "55800"})
    assert "55800" in hear(user, "What is your zip code?").text
    corrected = hear(user, "I found no account. Could you check your zip code?").text
    assert corrected == "Sorry, that was a mistake. My zip code is 55802."


def test_a_brief_user_says_bare_values_and_a_bare_yes():
    asks = "What is your zip code?"
    assert hear(opened(), asks).text == "My zip code is 55802."
    user = opened(brevity="brief")
    assert hear(user, asks).text == "55802."
    assert hear(user, "Shall I cancel the order? (yes/no)").text == "Yes."


def test_later_wishes_are_said_in_the_order_of_the_knob():
    wishes = (*SCENARIO.wishes, UserWish("I also need a receipt."))
    scenario = SCENARIO._replace(wishes=wishes)
    more = "It has been cancelled. Is there anything else I can help you with?"
    assert hear(RuleUser.opened(scenario), more).text == "I also want a refund."
    reverse = scenario._replace(knobs=UserKnobs(order="reversed"))
    assert hear(RuleUser.opened(reverse), more).text == "I also need a receipt."


@pytest.mark.parametrize("patience", [0, 1, 3])
def test_a_user_objects_to_as_many_refusals_as_its_patience_allows(patience):
    scenario = SCENARIO._replace(wishes=SCENARIO.wishes[:1], knobs=UserKnobs(patience=patience))
    user = RuleUser.opened(scenario)
    refusal = "Unfortunately, the order is too old. Is there anything else I can help you with?"
    answers = [hear(user, refusal).stops for _ in range(patience + 1)]
    assert answers == [*[False] * patience, True]


def test_a_change_of_mind_is_said_once_instead_of_a_confirmation():
    user = opened(changes={"cancel": "Wait, I would rather return it."})
    assert hear(user, "Shall I cancel the order?").text == "Wait, I would rather return it."
    assert hear(user, "Shall I cancel the order?").text == CONFIRMED


@pytest.mark.parametrize("persona", ["unhelpful", "forgetful", "contradictory"])
def test_a_persona_withholds_or_spoils_facts(persona):
    user = opened(persona=persona)
    answer = hear(user, "Could you please provide your email address?")
    assert "ada@example.com" not in answer.text


def test_a_fork_is_independent():
    user = opened()
    copy = user.fork()
    hear(user, "What is your zip code?")
    assert len(user.kept().answers) == 1
    assert copy.kept().answers == []


PHONE = SCENARIO._replace(
    steps=(
        UserStep("status bar", "check_bar", success="full signal"),
        UserStep("sim", "check_sim"),
        UserStep("restart", "reboot_device", writes=True),
    )
)


def own_calls(user, text, *results):
    before = user.fork()
    hear(user, text, *results)
    made = before.fork()
    acting = made.act(text, [])
    with pytest.raises(StopIteration) as end:
        next(acting)
    act = end.value.value
    return [] if isinstance(act, UserAnswer) else [call.name for call in act]


def test_a_known_result_is_told_again_without_a_call_until_something_changes():
    user = RuleUser.opened(PHONE)
    ask = "Please check your SIM card."
    assert own_calls(user, ask, "The SIM card is active.") == ["check_sim"]
    assert own_calls(user, ask) == []
    assert hear(user, ask).text == 'It says: "The SIM card is active."'
    assert own_calls(user, "Please restart your phone.", "Restarted.") == ["reboot_device"]
    assert own_calls(user, ask, "The SIM card is missing.") == ["check_sim"]
    changed = f"Your line has been resumed. {ask}"
    assert own_calls(user, changed, "The SIM card is active.") == ["check_sim"]


def test_a_user_that_is_transferred_makes_no_call():
    user = RuleUser.opened(PHONE)
    text = "You are being transferred to a human agent. Please check your status bar."
    assert own_calls(user, text) == []


def test_a_user_tests_after_a_change_if_the_agent_asks_for_the_outcome():
    user = RuleUser.opened(PHONE)
    text = "Please restart your phone. Let me know if this resolves the issue."
    answer = hear(user, text, "Restarted.", "Status bar: full signal")
    assert answer.text == 'It says: "Restarted." Then it says: "Status bar: full signal"'
    answer = hear(RuleUser.opened(PHONE), "Please restart your phone.", "Restarted.")
    assert answer.text == 'It says: "Restarted."'


def test_facts_of_one_kind_are_told_in_one_sentence():
    facts = (UserFact("order", "#W1"), UserFact("order", "#W2"), UserFact("zip", "55802"))
    user = RuleUser.opened(SCENARIO._replace(facts=facts, unknown=()))
    answer = hear(user, "Please tell me your order numbers and your zip code.")
    assert answer.text == "The order numbers are #W1 and #W2. My zip code is 55802."


def test_a_user_leaves_out_a_test_that_the_result_before_it_decides():
    test = UserStep("send a picture", "send", success="sent", is_test=True, fails="no signal")
    steps = (UserStep("restart", "reboot_device", writes=True), test)
    text = "Please restart your phone. Then send a picture."
    for status, sends in (("No signal", False), ("Full signal", True)):
        answer = hear(RuleUser.opened(SCENARIO._replace(steps=steps)), text, status, "Sent.")
        assert ("Sent." in answer.text) is sends


def test_a_change_that_follows_a_conditional_change_is_made_only_after_it():
    steps = (
        UserStep("check your apn", "check_apn"),
        UserStep("reset", "reset_apn", needs="not set", writes=True),
        UserStep("restart", "reboot_device", writes=True),
    )
    text = "Please check your APN. If it is empty, please reset it. After that, please restart."
    for status, changes in (("Not set", True), ("Set", False)):
        user = RuleUser.opened(SCENARIO._replace(steps=steps))
        answer = hear(user, text, f"URL: {status}", "Reset.", "Restarted.")
        assert ("Reset." in answer.text, "Restarted." in answer.text) == (changes, changes)


def test_a_question_about_the_phone_itself_does_not_ask_for_its_number():
    user = RuleUser.opened(SCENARIO._replace(facts=(UserFact("phone", "555-0101"),)))
    assert "555" not in hear(user, "Is Wi-Fi Calling enabled on your phone?").text
    assert "555-0101" in hear(user, "What is your phone number?").text
