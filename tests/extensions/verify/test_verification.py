from __future__ import annotations

import json
from pathlib import Path

import pytest

from checkers.profile import BFCL, STRICT
from envs import __version__
from envs.errors import DataError
from extensions.verify.verification import ResultChange, changes, recorded_verdicts, verify
from runner.analysis.replayed_runs import dataset_of
from runner.records.recorded_run import Run, open_run
from tests.runner.analysis.entries import ANSWER, COUNT, LAST, RIGHT, WAIT, WRONG, executed_entry
from tests.runner.analysis.replayed_runs import (
    definition,
    error_record,
    record,
    truth_turns,
    write_run,
)
from tests.runner.records.made import answered, step


@pytest.fixture
def verified(tmp_path, data):
    """Return what becomes of a run folder of some records."""

    def run(*records, profile=STRICT):
        folder = write_run(tmp_path / "run", definition(data), *records)
        source = open_run(folder)
        dataset = dataset_of(source, None, lambda line: None)
        return list(verify(source, dataset, profile, 20, recorded_verdicts(source, None)))

    return run


def test_a_run_is_as_recorded(verified, data, folders):
    found = verified(
        record(data, "folders_0", truth_turns(folders)),
        record(data, "help_desk_0", [["[get_ticket(ticket_id=9)]", "No."], [], []]),
    )
    assert [episode.same for episode in found] == [True, True]
    assert [episode.now.verdict.valid for episode in found] == [True, False]


def test_an_episode_without_a_verdict_is_left_out(verified, data, folders):
    found = verified(
        record(data, "folders_0", truth_turns(folders)), error_record("folders_0", trial=1)
    )
    assert [episode.now.key for episode in found] == [("folders_0", 0)]


def test_another_verdict_is_named_with_what_differs(verified, data, folders):
    made = record(data, "folders_0", truth_turns(folders))
    verdict = made.verdict._replace(valid=False, turns_passed=1)
    (episode,) = verified(made._replace(verdict=verdict))
    assert not episode.same
    assert episode.members == ("valid", "turns_passed")


def test_the_first_other_result_is_named(verified, data, folders):
    made = record(data, "folders_0", truth_turns(folders))
    made.steps[1].results[1] = "something else"
    (episode,) = verified(made)
    assert not episode.same
    assert episode.members == ()
    assert episode.result == ResultChange(
        1, 0, "wc(file_name='notes.txt')", "something else", '{"count": 2, "type": "lines"}'
    )


def test_a_call_that_is_no_longer_made_is_named(verified, data, folders):
    made = record(data, "folders_0", truth_turns(folders))
    made.steps[1].calls.append("pwd()")
    made.steps[1].results.append("/")
    (episode,) = verified(made)
    assert episode.result == ResultChange(1, 0, "pwd()", "/", None)


def test_a_call_that_is_made_in_addition_is_named(verified, data, folders):
    made = record(data, "folders_0", truth_turns(folders))
    del made.steps[0]
    (episode,) = verified(made)
    assert (episode.result.turn, episode.result.step, episode.result.then) == (0, 0, None)


def test_what_has_changed_since_is_said(tmp_path, data, folders):
    made = record(data, "folders_0", truth_turns(folders))
    folder = write_run(tmp_path / "run", definition(data, simulator="0.0.1"), made)
    run = open_run(folder)
    assert list(changes(run, STRICT, {})) == [f"simulator: turnwise {__version__}, was 0.0.1"]
    assert list(changes(run, BFCL, {}))[1:] == ["profile: bfcl, was strict"]


def test_verdict_lines_say_under_which_profile(results):
    lines = {(id, 0): {"valid": True, "profile": "bfcl"} for id in IDS}
    assert list(changes(results, BFCL, lines)) == []
    assert list(changes(results, STRICT, lines)) == ["profile: strict, was bfcl"]


def test_nothing_has_changed_at_once(tmp_path, data):
    folder = write_run(tmp_path / "run", definition(data))
    assert list(changes(open_run(folder), STRICT, {})) == []


IDS = ("multi_turn_base_0", "multi_turn_base_1", "multi_turn_base_2")


@pytest.fixture
def judged(dataset_of, single_turn, folders):
    """Return what becomes of single-turn episodes: one of compared calls, one of executed ones."""
    compared, executed = single_turn("python", WAIT, ANSWER), executed_entry(folders)

    def run(*steps, records=({}, {}), profile=STRICT, **recorded):
        entries = zip((compared.id, executed.id), steps, records, strict=True)
        episodes = {(id, 0): answered(id, [[said]], **kept) for id, said, kept in entries}
        then = {key: {"valid": True, "error_type": None, **recorded} for key in episodes}
        source = Run("run", Path("run"), episodes)
        return list(verify(source, dataset_of(compared, executed), profile, 20, then))

    return run


def test_single_turns_are_judged_once_more(judged):
    assert [episode.same for episode in judged(RIGHT, [COUNT, LAST])] == [True, True]
    wrong = judged(WRONG, [LAST, LAST])
    assert [episode.now.verdict.error_type for episode in wrong] == [
        "value_error:others",
        "executable_checker:cannot_find_match",
    ]


def test_results_of_executed_answers_are_compared(judged):
    record = {"outcome": "failed", "steps": [step(0, ["wc(file_name='notes.txt')"], ["another"])]}
    _, executed = judged(RIGHT, [COUNT], records=({}, record))
    assert executed.result == ResultChange(
        0, 0, "wc(file_name='notes.txt')", "another", '{"count": 2, "type": "lines"}'
    )


def test_what_is_absent_differs_from_no_text_that_was_once_written_for_it(judged):
    evidence = {
        "error_type": "simple_function_checker:missing_required",
        "message": "required",
        "function": "clock_wait",
        "parameter": "n",
    }
    silent = [{"clock_wait": "{}"}]
    for absent, same in (({"expected": None, "actual": "None"}, True), ({"actual": "5"}, False)):
        lost, _ = judged(silent, [COUNT, LAST], calls={**evidence, **absent})
        assert ("calls" not in lost.members) is same


def test_a_single_turn_without_a_verdict_is_not_as_recorded(judged):
    lost, _ = judged("Error during inference: 500", [COUNT, LAST])
    assert (lost.members, lost.now.error) == (("valid",), "the request failed")


@pytest.fixture
def results(tmp_path):
    """Write a result file and return the run in it."""
    path = tmp_path / "results" / "BFCL_v4_multi_turn_base_result.json"
    path.parent.mkdir()
    lines = [json.dumps({"id": id, "result": [["No."]]}) for id in IDS]
    path.write_text("\n".join(lines), encoding="utf-8")
    return open_run(path)


def test_verdicts_are_looked_for_beside_result_files(results, write_lines):
    verdict = {"id": IDS[0], "valid": True, "error_type": None}
    unknown = {"id": "multi_turn_base_9", "valid": True}
    undecided = {"id": IDS[1], "valid": None, "error": "broke"}
    write_lines("results/verdicts.jsonl", verdict, unknown, undecided)
    assert recorded_verdicts(results, None) == {(IDS[0], 0): verdict}


def test_result_files_need_verdicts(results):
    with pytest.raises(DataError, match=r"--verdicts: .* does not exist; name a file"):
        recorded_verdicts(results, None)


HEAD = {"accuracy": 0.67, "correct_count": 2, "total_count": 3}
FAILED = {"id": IDS[1], "valid": False, "error": {"error_type": "multi_turn:inference_error"}}
SCORE = "BFCL_v4_multi_turn_base_score.json"


@pytest.mark.parametrize("given", [SCORE, ""])
def test_a_score_file_says_who_failed_and_thereby_who_passed(results, write_lines, given):
    path = write_lines(f"scores/{SCORE}", HEAD, FAILED)
    found = recorded_verdicts(results, path.parent / given)
    assert [(id, verdict["valid"]) for (id, _), verdict in found.items()] == [
        (IDS[0], True),
        (IDS[1], False),
        (IDS[2], True),
    ]
    assert found[IDS[1], 0]["error_type"] == "multi_turn:inference_error"


def test_a_score_file_of_single_turns_is_read(write_lines):
    failed = {"id": "live_simple_1-0-0", "valid": False, "error_type": "value_error:string"}
    lines = [
        {"id": id, "result": "no"} for id in ("live_simple_0-0-0", failed["id"], "simple_java_0")
    ]
    run = open_run(write_lines("results/some_result.json", *lines))
    path = write_lines("scores/BFCL_v4_live_simple_score.json", {**HEAD, "total_count": 2}, failed)
    found = recorded_verdicts(run, path.parent)
    assert [(id, verdict["valid"]) for (id, _), verdict in found.items()] == [
        ("live_simple_0-0-0", True),
        ("live_simple_1-0-0", False),
    ]


@pytest.mark.parametrize(
    ("name", "lines", "said"),
    [
        (SCORE, [{**HEAD, "total_count": 4}], "covers 4 entries, but the run has 3"),
        (SCORE, [HEAD, {"id": IDS[1]}], "is not a line of a score file"),
        ("score.json", [HEAD], "is named after its category"),
        ("verdicts.jsonl", [{"id": IDS[1]}], 'is not a verdict: it must have "id" and "valid"'),
        ("verdicts.jsonl", [], "has no verdicts for episodes of this run"),
        ("verdicts.jsonl", [{"id": "other", "valid": True}], "has no verdicts for episodes"),
    ],
)
def test_what_holds_no_verdicts_is_refused(results, write_lines, name, lines, said):
    with pytest.raises(DataError, match=said):
        recorded_verdicts(results, write_lines(name, *lines))


def test_a_folder_without_score_files_is_refused(results, tmp_path):
    with pytest.raises(DataError, match=r"holds no \*_score\.json file"):
        recorded_verdicts(results, tmp_path)
