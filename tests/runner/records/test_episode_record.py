"""Records of episodes: their fields, errors and lines."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from checkers.verdict import Verdict
from envs.calls import Call
from envs.errors import DataError, MalformedCall
from extensions.users.record import UserRecord
from runner.records.episode_record import (
    EpisodeRecord,
    InfoReport,
    RecordedEpisode,
    RunProgress,
    RunSegment,
    RunSpending,
    ServerRejection,
    StepRecord,
    TurnEnd,
    UnreportedFact,
    call_text,
    upgrade_record,
)
from tests.runner.records.made import step
from trajectories.dataset import load_embedded
from trajectories.schema import Category


def test_a_record_names_its_base_only_where_the_id_does_not() -> None:
    entry = next(iter(load_embedded([Category.BASE]).trajectories.values()))
    assert EpisodeRecord.of(entry, None, "lost").base is None
    other = replace(entry, provenance={**entry.provenance, "base": "another_scenario"})
    record = EpisodeRecord.of(other, None, "lost")
    assert (record.base, record.scenario) == ("another_scenario", "another_scenario")


def test_a_verdict_line_has_the_members_of_extensions() -> None:
    entry = next(iter(load_embedded([Category.BASE]).trajectories.values()))
    user = UserRecord("rules", (), stopped=True, error="silent")
    record = EpisodeRecord.of(entry, None, "lost")._replace(extensions={"users": user})
    assert record.verdict_line() == {
        "id": entry.id,
        "category": "base",
        "valid": None,
        "error": "lost",
        "user_error": "silent",
    }


STEP = step(0, ["f(a=1)"], ['{"b": 2}'])
CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
RECORD = EpisodeRecord("multi_turn_base_3", 0, "base", "failed", None, "lost")


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"trial": 0}, None),
        ({"trial": -1}, "$.trial: the trial must be at least 0, but is -1"),
        ({"messages": [{}, {"role": "user"}]}, None),
        ({"messages": [{}, 5]}, "$.messages[1]: must be an object"),
        (
            {"messages": [{}, {"role": ["x" * 99]}]},
            f"$.messages[1].role: must be a string, but is ['{'x' * 58}",
        ),
        ({"messages": [{"role": "tool", "tool_call_id": "1"}]}, None),
        ({"messages": [{"role": "user", "tool_call_id": 1}]}, None),
        ({"messages": [{"role": "tool"}]}, "$.messages[0].tool_call_id: must be a string"),
        (
            {"messages": [{"role": "tool", "tool_call_id": 1}]},
            "$.messages[0].tool_call_id: must be a string",
        ),
        ({"messages": [{"tool_calls": None}, {"tool_calls": []}]}, None),
        ({"messages": [{"tool_calls": [CALL, CALL]}]}, None),
        ({"messages": [{"tool_calls": "f()"}]}, "$.messages[0].tool_calls: must be a list"),
        (
            {"messages": [{"tool_calls": [CALL, {**CALL, "id": 1}]}]},
            "$.messages[0].tool_calls[1]: is not a function call",
        ),
        (
            {"messages": [{"tool_calls": [{**CALL, "function": {"name": "f"}}, CALL]}]},
            "$.messages[0].tool_calls[0]: is not a function call",
        ),
        ({"steps": [STEP._replace(turn=0, request_messages=0)]}, None),
        (
            {"steps": [STEP, STEP._replace(turn=-1)]},
            "$.steps[1]: turn and request_messages must be at least 0",
        ),
        (
            {"steps": [STEP._replace(request_messages=-1)]},
            "$.steps[0]: turn and request_messages must be at least 0",
        ),
        # Calls that are only compared have no results.
        ({"steps": [STEP._replace(results=[])]}, None),
        (
            {"steps": [STEP, step(0, ["f()", "g()"], ["1"])]},
            "$.steps[1].results: must have one item for each of the 2 calls",
        ),
        (
            {"steps": [step(0, [], ["1"])]},
            "$.steps[0].results: must have one item for each of the 0 calls",
        ),
    ],
)
def test_a_record_that_contradicts_itself_is_refused_with_the_path(
    changed: dict[str, Any], error: str | None
) -> None:
    record = RECORD._replace(**changed)
    line = json.loads(json.dumps(record.to_json()))
    if error is None:
        assert EpisodeRecord.from_json(line, "here").to_json() == record.to_json()
        return
    with pytest.raises(DataError) as caught:
        EpisodeRecord.from_json(line, "here")
    assert str(caught.value).startswith(f"here: {error}")


FIRST = ["id", "trial", "category", "outcome"]
COURSE = ["messages", "steps", "turn_ends", "result"]


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ({}, []),
        ({"trial": 1, "error": None}, []),
        ({"result": []}, COURSE),
        ({"steps": [STEP]}, ["steps"]),
        ({"messages": [{}], "turn_ends": [TurnEnd(0, "empty", None)]}, ["messages", "turn_ends"]),
        ({"traceback": "t", "tags": ("a",)}, ["traceback", "tags"]),
        ({"telling": InfoReport(1, 1, [], 0, 0)}, ["telling"]),
        ({"fault": ServerRejection("context_overflow", "too long")}, ["fault"]),
    ],
)
def test_a_line_has_the_fields_that_say_something(
    changed: dict[str, Any], names: list[str]
) -> None:
    record = RECORD._replace(**changed)
    assert list(record.to_json()) == [*FIRST, "verdict", "error", *names]
    # The catalog of runs reads only the first fields.
    line = record._replace(base="b").to_json()
    assert list(line) == [*FIRST, "base", "verdict", "error", *names]
    assert EpisodeRecord.from_json(line, "here").scenario == "b"


@pytest.mark.parametrize(
    ("turn", "step_index", "stop"),
    [
        (0, None, "answer"),
        (1, None, "step_limit"),
        (2, None, None),
        (None, None, None),
        # Only steps with calls are counted.
        (0, 0, "cut_off"),
        (0, 1, None),
        (0, 2, None),
        (1, 0, "refusal"),
        (1, 1, None),
        (0, -3, None),
    ],
)
def test_the_stop_reason_is_that_of_a_turn_or_of_a_step_with_calls(
    turn: int | None, step_index: int | None, stop: str | None
) -> None:
    def ended(turn: int, reason: str | None, *calls: str) -> StepRecord:
        reply = STEP.reply._replace(finish_reason=reason)
        return step(turn, calls, calls)._replace(reply=reply)

    steps = [ended(0, "refusal"), ended(0, "length", "f()"), ended(0, "stop", "g()")]
    steps += [ended(0, "length"), ended(1, "refusal", "f()")]
    ends = [TurnEnd(0, "answer", None), TurnEnd(1, "step_limit", None)]
    record = RECORD._replace(steps=steps, turn_ends=ends)
    assert record.find_stop(turn, step_index) == stop


def test_answers_are_the_messages_after_those_that_their_requests_sent() -> None:
    messages = [{"role": "user"}, {"role": "assistant", "content": "a"}, {"role": "tool"}]
    steps = [STEP._replace(request_messages=sent) for sent in (1, 2, 3, 4)]
    record = RECORD._replace(messages=messages, steps=steps, trial=2)
    assert [answer.message for answer in record.answered] == messages[1:]
    first = record.answered[0]
    assert (first.key, first.place, first.step) == (("multi_turn_base_3", 2), 1, steps[0])
    # In a search, requests are numbered.
    assert first._replace(step=STEP._replace(asked=0)).place == 0
    assert record.outline == RECORD._replace(trial=2)


def test_the_turns_of_a_record_are_those_of_its_verdict() -> None:
    verdict = Verdict(False, None, 2, 5, 2)
    assert (RECORD.turns, RECORD.turns_passed) == (0, 0)
    judged = RECORD._replace(verdict=verdict, error=None)
    assert (judged.turns, judged.turns_passed) == (5, 2)
    assert repr(RECORD) == "EpisodeRecord(multi_turn_base_3, trial 0, error: 'lost')"
    assert repr(judged) == f"EpisodeRecord(multi_turn_base_3, trial 0, {verdict!r})"
    page = RECORD._replace(steps=[STEP, step(1, ["g()"], ["3"])])._repr_html_()
    assert "<td>turn 1</td><td>f(a=1)</td>" in page
    assert "<td>turn 2</td><td>g()</td><td>3</td>" in page


def test_a_verdict_line_is_flat() -> None:
    verdict = Verdict(True, None, None, 2, 2, measures={"speed": 0.5})
    info = InfoReport(2, 1, [UnreportedFact(0, "1")], 1, 0)
    record = RECORD._replace(verdict=verdict, telling=info, base="b", tags=("x", "y"))
    line = record.verdict_line()
    assert list(line)[:4] == ["id", "category", "base", "tags"]
    assert (line["base"], line["tags"], line["speed"], line["valid"]) == (
        "b",
        ["x", "y"],
        0.5,
        True,
    )
    assert "measures" not in line
    assert line["telling"] == {
        "facts": 2,
        "turns": 1,
        "untold": [{"turn": 0, "fact": "1"}],
        "waiting": 1,
        "asked": 0,
    }


@pytest.mark.parametrize(
    ("done", "planned", "is_unfinished"),
    [(0, None, False), (1, 2, True), (2, 2, False), (3, 2, False), (0, 0, False), (0, 1, True)],
)
def test_a_run_is_unfinished_while_planned_episodes_are_missing(
    done: int, planned: int | None, is_unfinished: bool
) -> None:
    keys = [("a", trial) for trial in range(done)]
    progress = RunProgress.of(keys, planned, ())
    assert progress == (done, planned, False)
    assert progress.to_json() == {"done": done, "planned": planned, "unfinished": is_unfinished}
    assert RunProgress.of(keys, str(planned), ()) == (done, None, False)


def test_a_recorded_episode_without_steps_has_an_error() -> None:
    played = RecordedEpisode(RECORD._replace(trial=3, error=None, result=[["f()"]]), "prompt")
    assert (played.id, played.trial, played.turns) == ("multi_turn_base_3", 3, [["f()"]])
    assert played.error is None
    assert RecordedEpisode(RECORD._replace(result=[]), "fc").error is None
    assert RecordedEpisode(RECORD, "fc").error == "lost"
    assert RecordedEpisode(RECORD._replace(error=None), "fc").error == "no steps were recorded"


def test_a_search_of_an_earlier_revision_is_data_of_the_extension() -> None:
    assert upgrade_record({"id": "a", "search": {"b": 1}}) == {
        "id": "a",
        "extensions": {"search": {"b": 1}},
    }
    assert upgrade_record({"id": "a"}) == {"id": "a"}
    assert upgrade_record(["search"]) == ["search"]


def test_a_call_that_could_not_be_read_is_shown_with_the_reason() -> None:
    assert call_text(Call("f", (1,), {"a": "b"})) == "f(1, a='b')"
    assert call_text(MalformedCall("No call.")) == "(unreadable: No call.)"


def test_nothing_is_spent_at_first() -> None:
    assert RunSpending() == (0, 0, None)
    assert RunSegment(1.0, 2) == (1.0, 2, None)
