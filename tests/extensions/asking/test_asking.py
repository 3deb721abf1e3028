"""Requests without a required value: a question is right, a call or an empty answer is wrong."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import turnwise

from checkers.known_values import contains_value
from checkers.profile import STRICT
from envs.registry import backend_class
from extensions.asking.asking_kind import ASKING
from runner.data.dataset_choice import load_dataset
from runner.episodes.single_turn import oracle_step
from tests.runner.commands.running import run as run_command

QUESTIONS = {
    "bank_transfer": [
        "How much should I transfer from A1 to A7?",
        "I need the amount in order to prepare this payment.",
    ],
    "daily_limit": [
        "What should the new daily limit be?",
        "To which amount would you like me to set it?",
    ],
    "move_meeting": [
        "When should meeting M4 start instead?",
        "Sure. What day and time would suit you?",
    ],
    "retro": ["How long will the meeting be?", "Please tell me the duration of the meeting."],
    "extend_stay": ["Until which date does the guest want to stay?", "When will the guest leave?"],
    "waiting_list": ["What kind of room would Mr Okafor like?", "Could you tell me the room type?"],
    "cart_markers": ["How many of T4 would you like?", "Please specify the quantity."],
    "return_lamp": ["Could you give me the order number?", "Which order is it?"],
    "new_price": ["What should the new price of P9 be?", "By how much should it be lowered?"],
    "cancel_trip": ["Please provide the booking ID.", "Which booking do you want to cancel?"],
    "budget": [
        "What budget limit would you like, in dollars?",
        "How much do you want to spend at most?",
    ],
    "passport": [
        "What is the traveler's passport number?",
        "I still need the passport number of Ines Moreau.",
    ],
    "close_ticket": ["Which ticket should I close?", "Please share the ID of the ticket."],
    "resolve_ticket": ["How did you solve it?", "What resolution should I note?"],
    "buy_shares": [
        "How many shares would you like to buy?",
        "Please specify the number of shares.",
    ],
    "pay_in": ["How much would you like to pay in?", "Which amount should I add to the account?"],
    "car_heating": ["Which temperature would you like?", "How many degrees should I set?"],
    "navigate": ["What is the address of your sister's new flat?", "Where does she live?"],
    "late_train": [
        "Who should receive the message?",
        "Please give me the user ID of the recipient.",
    ],
    "comment": [
        "What would you like the comment to say?",
        "Please provide the text of your comment.",
    ],
    "more_data": ["How many gigabytes should I add?", "How much data would you like?"],
    "checked_bags": ["How many checked bags should there be?", "What is the new number of bags?"],
}
"""Two questions for the missing value of each pair."""

OTHER_ANSWERS = (
    "",
    "Done!",
    "I have done this for you.",
    "Is there anything else I can help you with?",
    "Shall I go ahead?",
    "I'm sorry, I can't help with that.",
    "Of course, one moment.",
)


@pytest.fixture(scope="module")
def pairs():
    """The pairs of entries by name: without the value, and with the value."""
    found = load_dataset("asking").trajectories
    names = [id.removesuffix("_given") for id in found if id.endswith("_given")]
    return {
        name.removeprefix("asking_"): (found[f"{name}_missing"], found[f"{name}_given"])
        for name in names
    }


def judge(entry, answer, profile="strict"):
    """Judge one answer."""
    return turnwise.judge(entry, turns=[[answer]], profile=profile)


def test_the_entries_of_a_pair_differ_only_in_the_value(pairs):
    assert pairs.keys() == QUESTIONS.keys()
    environments = set()
    for missing, given in pairs.values():
        assert missing.expects.functions == given.expects.functions
        asked = missing.extensions["asking"]
        [[function, allowed]] = given.expects.answers[0].items()
        assert function == asked["function"]
        environment = missing.tags[0]
        environments.add(environment)
        assert function in backend_class(environment).TOOLS
        said = missing.turns[0].words
        assert not any(contains_value(value, said) for value in allowed[asked["parameter"]])
    assert len(environments) == 13


def test_each_question_for_the_value_is_right(pairs):
    for name, questions in QUESTIONS.items():
        for question in questions:
            found = judge(pairs[name][0], question)
            assert found.valid, (name, question)
            assert found.measures == {"asking.asked": True}


def test_other_answers_fail_under_strict_only(pairs):
    for name, (missing, _) in pairs.items():
        for answer in OTHER_ANSWERS:
            found = judge(missing, answer)
            assert not found.valid, (name, answer)
            parameter = missing.extensions["asking"]["parameter"]
            assert found.failure.evidence.message.startswith(
                f"the answer does not ask for {parameter} of "
            )
            assert judge(missing, answer, "bfcl").valid


def test_every_call_is_wrong_without_the_value(pairs):
    for missing, given in pairs.values():
        right = oracle_step(given, STRICT)
        assert judge(given, right).valid
        for profile in ("strict", "bfcl"):
            found = judge(missing, right, profile)
            assert found.error_type == "irrelevance_error:decoder_success"
            assert not found.measures["asking.asked"]
            assert not found.hallucinated.needless


def test_a_question_is_wrong_where_the_request_states_the_value(pairs):
    for name, (_, given) in pairs.items():
        assert not judge(given, QUESTIONS[name][0]).valid


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parameter": "colour"}, "set_price does not require 'colour'"),
        ({"function": "paint"}, "'paint' is not offered"),
        ({"names": []}, "must be a list of at least 1 word"),
        ({"names": [" "]}, "must be a list of at least 1 word"),
        ({"extra": 1}, "must be an object with function, parameter, names"),
    ],
)
def test_invalid_data_are_named(pairs, change, message):
    entry = pairs["new_price"][0]
    assert not [*ASKING.find_problems(None, entry)]
    wrong = replace(entry, extensions={"asking": {**entry.extensions["asking"], **change}})
    [problem] = ASKING.find_problems(None, wrong)
    assert message in problem
    assert "$.extensions.asking" in problem
    with pytest.raises(turnwise.DataError):
        judge(wrong, "")


def test_causes_of_failed_entries(pairs, tmp_path, capsys):
    missing, given = pairs["pay_in"]
    answers = {
        missing.id: [{"fund_account": json.dumps({"amount": 100.0})}],
        given.id: [{"fund_account": json.dumps({"amount": 500.0})}],
        pairs["budget"][0].id: "Done!",
        pairs["comment"][0].id: [{"paint": "{}"}],
    }
    file = tmp_path / "results.jsonl"
    lines = [json.dumps({"id": id, "result": [[answer]]}) for id, answer in answers.items()]
    file.write_text("\n".join(lines), encoding="utf-8")
    assert run_command("episodes", str(file), "--dataset", "asking") == 0
    said = capsys.readouterr().out
    assert "failed: acted_instead_of_asking" in said
    assert "failed: failed_check" in said
    assert "failed: not_offered" in said


@pytest.mark.parametrize(
    ("model", "profile", "lines"),
    [
        ("oracle", "strict", ["asked for missing values: 100.0% of 22 requests"]),
        ("null", "strict", ["asked for missing values: 0.0% of 22 requests"]),
        ("null", "bfcl", ["irrelevance       22      22       0"]),
    ],
)
def test_eval_shows_the_share_of_questions(capsys, model, profile, lines):
    args = ("--model", model, "--dataset", "asking", "--profile", profile)
    assert run_command("eval", *args) == 0
    said = capsys.readouterr().out
    for line in lines:
        assert line in said
