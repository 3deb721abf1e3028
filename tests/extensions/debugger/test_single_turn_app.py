"""The debugger's screen of a single turn, driven by keys."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checkers.profile import STRICT
from extensions.debugger.single_turn_app import SingleTurnDebugger, parts, tried
from runner.episodes.offline import examine_recorded
from runner.episodes.rejudged_episode import RejudgedSingleTurn
from tests.extensions.debugger.test_app import driven
from tests.runner.records.made import answered
from trajectories.prepared_trajectory import prepare

Examine = Callable[[str], RejudgedSingleTurn]


@pytest.fixture
def examine(single_turn, dataset_of) -> Examine:
    """Judge an answer to an entry of one call."""
    integer, text = {"type": "integer"}, {"type": "string"}
    properties = {"n": integer, "unit": text}
    parameters = {"type": "dict", "properties": properties, "required": ["n"]}
    document = {"name": "wait", "description": "Wait.", "parameters": parameters}
    entry = single_turn("python", document, {"wait": {"n": [5], "unit": ["s", ""]}})
    prepared = prepare(dataset_of(entry), entry, STRICT)

    def judged(answer: str) -> RejudgedSingleTurn:
        recorded = answered(entry.id, [[answer]], mode="prompt")
        found = examine_recorded(prepared, recorded, STRICT, 1)
        assert isinstance(found, RejudgedSingleTurn)
        return found

    return judged


def walk(examined: RejudgedSingleTurn, *groups: str) -> list[str]:
    """Press groups of keys, and return the screen after each."""
    return driven(SingleTurnDebugger(examined, "made-up"), groups, size=(100, 24))


def test_there_is_the_question_every_call_and_the_verdict(examine: Examine) -> None:
    rows = [part.row.text for part in parts(examine("[wait(n=5)]"))]
    assert rows == ["question", "✓ wait(n=5)", "verdict: passed"]
    rows = [part.row.text for part in parts(examine("I wait."))]
    assert rows == ["question", "✗ missing: wait(n=5, [unit='s'])", "text", "verdict: FAILED"]


def test_a_call_is_shown_beside_the_expected_one(examine: Examine) -> None:
    asked, call, verdict = walk(examine("[wait(n=7)]"), "home", "j", "end")
    assert "Wait five seconds." in asked
    assert "expected  wait(n=5, [unit='s'])" in call
    assert "n: expected 5, got 7" in call
    assert "FAILED" in verdict.splitlines()[1]
    assert "cause: wrong_argument" in verdict


def test_another_answer_is_judged_at_once_and_dropped(examine: Examine) -> None:
    keys = "e ctrl+u '[wait(n=5)]' enter"
    tried_out, back = walk(examine("[wait(n=7)]"), keys, "x")
    assert "passed" in tried_out.splitlines()[1]
    assert "FAILED" in back.splitlines()[1]
    assert "recorded answer restored" in back


def test_the_line_to_type_in_begins_with_what_was_called(examine: Examine) -> None:
    (asked,) = walk(examine("[wait(n=7)]"), "e")
    assert asked.splitlines()[-1].strip() == "[wait(n=7)]"


def test_parts_are_searched(examine: Examine) -> None:
    found, again, none = walk(
        examine("[wait(n=7)]"), "slash 'expected' enter", "n", "slash 'nowhere' enter"
    )
    assert "expected  wait" in found
    assert "expected" in again
    assert "No match for 'nowhere'." in none


def test_an_answer_to_try_may_be_anything(examine: Examine) -> None:
    for text in ("", "[", "wait(", "[__import__('os').system('true')]", "\x1b[2J"):
        assert not tried(examine("[wait(n=5)]"), text).verdict.valid


def test_the_help_lists_its_own_keys(examine: Examine) -> None:
    (page,) = walk(examine("[wait(n=5)]"), "question_mark")
    assert "edit the answer" in page
