from __future__ import annotations

from checkers.profile import BFCL, STRICT
from extensions.debugger.stepper import StepText, said
from runner.episodes.offline import examine_recorded
from runner.episodes.turn_loop import STEP_LIMIT
from runner.records.episode_record import ReplyRecord
from tests.extensions.debugger.episodes import NOTES, examined, prepared
from tests.runner.records.made import answered
from tests.runner.records.made import step as request


def test_a_prompting_models_words_come_with_the_calls_they_are_around():
    turns = [["I look.\n[ls()]", "[ls()]", "Done."], ["Hm."], []]
    assert said(examined(turns, profile=STRICT)) == {
        (0, 0): StepText("I look.\n[ls()]"),
        (0, 1): StepText(""),
    }


def test_the_record_of_a_run_has_words_and_thoughts():
    def step(turn, text, reasoning, *calls):
        reply = ReplyRecord(text, [], reasoning, "stop")
        return request(turn, calls)._replace(reply=reply)

    turns = [[[{"ls": "{}"}], "Nothing."], [[{"cd": '{"folder": "old"}'}]], []]
    recorded = answered(NOTES.id, turns)
    steps = [
        step(0, "I look.", "Where?", "ls()"),
        step(0, "Nothing.", None),
        step(1, None, None, "cd('old')"),
        # Another number of steps than there are: not to be told apart.
        step(2, "What?", None, "ls()"),
    ]
    record = recorded.record._replace(outcome="failed", steps=steps)
    recorded, ready = recorded._replace(record=record), prepared()
    found = said(examine_recorded(ready, recorded, BFCL, STEP_LIMIT))
    assert found == {(0, 0): StepText("I look.", "Where?"), (1, 0): StepText("")}


def test_of_tool_calls_in_a_result_file_nothing_is_known():
    recorded = answered(NOTES.id, [[[{"ls": "{}"}]], [], []])
    assert said(examine_recorded(prepared(), recorded, BFCL, STEP_LIMIT)) == {}


def test_the_ground_truth_says_nothing():
    assert said(examined(None)) == {}
