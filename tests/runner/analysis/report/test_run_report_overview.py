from __future__ import annotations

from dataclasses import replace

import pytest

from checkers.statistics import wilson
from runner.analysis.report.run_report import about_run, outline, row
from tests.runner.analysis.report.making import call, request, source_of, viewed
from tests.runner.analysis.test_runs_executed_again import RIGHT, WRONG, record


@pytest.fixture
def episodes(dataset_of, help_desk):
    """View several runs of the same trajectory, as trials of one or as independent ones."""

    def view(*turns, trials=False, records=None):
        names = [help_desk.id if trials else f"desk_{index}" for index in range(len(turns))]
        keys = [(name, index if trials else 0) for index, name in enumerate(names)]
        dataset = dataset_of(*[replace(help_desk, id=name) for name in dict.fromkeys(names)])
        run = source_of(dict(zip(keys, turns, strict=True)), records)
        return viewed(dataset, run)

    return view


def about(run):
    """Return the data of the page of a run."""
    return about_run(run, map(outline, run.episodes), ())


def overview(run):
    """Return the metrics on the page of a run."""
    return about(run)["overview"]


def test_a_score_has_the_interval_of_independent_entries(episodes):
    [score] = overview(episodes(RIGHT, RIGHT, WRONG))["scores"]
    assert score["name"] == "miss_func"
    assert (score["passed"], score["failed"], score["errors"]) == (2, 1, 0)
    assert score["rate"] == pytest.approx(2 / 3)
    assert score["interval"] == wilson(2, 3)
    assert (score["turns_passed"], score["turns"]) == (6, 9)


def test_several_categories_are_summed_up(dataset_of, help_desk, folders):
    run = viewed(
        dataset_of(help_desk, folders), source_of({help_desk.id: RIGHT, folders.id: [[], []]})
    )
    scores = overview(run)["scores"]
    assert [score["name"] for score in scores] == ["base", "miss_func", "all"]
    assert [score["entries"] for score in scores] == [1, 1, 2]


def test_a_few_errors_are_no_failures(episodes):
    records = {"desk_49": record("error", "down")}
    [score] = overview(episodes(*[RIGHT] * 49, None, records=records))["scores"]
    assert (score["passed"], score["failed"], score["errors"], score["rate"]) == (49, 0, 1, 1.0)


def test_with_many_errors_there_is_no_score(episodes):
    found = overview(episodes(RIGHT, None, records={"desk_1": record("error", "down")}))
    [score] = found["scores"]
    assert (score["passed"], score["errors"]) == (1, 1)
    assert score["rate"] is score["interval"] is None


def test_a_run_of_errors_has_no_turns(episodes):
    found = overview(episodes(None, records={"desk_0": record("error", "down")}))
    assert found["turns_passed"] == [{"turns": 0, "failed": 0, "passed": 0}]


def test_causes_and_outcomes_are_counted(episodes):
    found = overview(episodes(WRONG, WRONG, RIGHT))
    assert found["causes"] == [("wrong_argument", 2)]
    assert found["sub_reasons"] == []
    assert overview(episodes([[], *RIGHT[1:]]))["sub_reasons"] == [
        (("missing_call", "whole_turn"), 1)
    ]
    assert found["outcomes"] == {"failed": 2, "passed": 1}


def test_passed_turns_are_counted_by_outcome(episodes):
    late = [*RIGHT[:2], [call("close_ticket", ticket_id=1)]]
    bins = overview(episodes(RIGHT, WRONG, late))["turns_passed"]
    assert [(bin["failed"], bin["passed"]) for bin in bins] == [(1, 0), (0, 0), (1, 0), (0, 1)]


def test_trials_give_pass_at_k_and_pass_hat_k(episodes):
    trials = overview(episodes(RIGHT, WRONG, trials=True))["trials"]
    assert trials == [{"k": 1, "any": 0.5, "all": 0.5}, {"k": 2, "any": 1.0, "all": 0.0}]


def test_one_trial_has_no_table_of_trials(episodes):
    assert overview(episodes(RIGHT, WRONG))["trials"] == []


def test_what_requests_took_is_added_up(episodes):
    steps = [request(0, 1, latency=latency) for latency in (1.0, 2.0, 3.0)]
    usage = overview(episodes(RIGHT, records={"desk_0": record(steps=steps)}))["usage"]
    shown = {figure["label"]: (figure["form"], figure["value"]) for figure in usage}
    assert shown["Requests"] == ("count", 3)
    assert shown["Input tokens"] == ("count", 30)
    assert shown["Output tokens"] == ("count", 6)
    assert shown["Cost"] == ("dollars", pytest.approx(0.03))
    assert shown["Latency, median"] == ("seconds", 2.0)


def test_a_result_file_says_nothing_of_what_it_took(episodes):
    assert overview(episodes(RIGHT))["usage"] is None


def test_another_outcome_than_the_recorded_one_is_told(episodes):
    found = episodes(WRONG, records={"desk_0": record("passed")})
    assert overview(found)["disagreeing"] == 1
    assert row(found.episodes[0])["recorded"] == "passed"


def test_the_row_of_an_error_has_no_reason_of_failing(episodes):
    [episode] = episodes(None, records={"desk_0": record("error", "down")}).episodes
    shown = row(episode)
    assert (shown["reason"], shown["cause"], shown["detail"]) == (None, None, "down")


def test_a_row_says_what_the_list_shows(episodes):
    [episode] = episodes(WRONG, records={"desk_0": record("failed")}).episodes
    assert row(episode) == {
        "id": "desk_0",
        "trial": 0,
        "category": "miss_func",
        "opening": "My screen is dark.",
        "sub_reason": None,
        "outcome": "failed",
        "recorded": None,
        "reason": "multi_turn:instance_state_mismatch",
        "meaning": "the final state of the turn differs from the ground truth's",
        "failed_turn": 0,
        "cause": "wrong_argument",
        "sentence": episode.examined.diagnosis.sentence,
        "detail": episode.examined.diagnosis.detail,
        "told": None,
        "turns": 3,
        "turns_passed": 0,
        "place": [0, 0, 0],
        "data_error": None,
        "where": "turn 1, step 1, call 1",
        "steps": 3,
        "calls": 3,
        "cost": 0.01,
        "latency": 0.5,
    }


def test_the_table_of_groups_is_of_runs_with_single_turns(dataset_of, help_desk, single_turn):
    parameters = {"type": "dict", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    wait = {"name": "wait", "description": "Wait.", "parameters": parameters}
    entry = single_turn("python", wait, {"wait": {"n": [5]}})
    dataset = dataset_of(help_desk, entry)
    right = {entry.id: [[[{"wait": '{"n": 5}'}]]], help_desk.id: WRONG}
    shown = about(viewed(dataset, source_of(right)))["groups"]
    rates = {row["name"]: row["rates"][0] for row in shown["rows"]}
    assert (rates["simple_python"]["value"], rates["miss_func"]["value"]) == (1, 0)
    assert about(viewed(dataset, source_of({help_desk.id: RIGHT})))["groups"] is None


def test_with_many_errors_there_is_no_table_of_groups(dataset_of, single_turn):
    entry = single_turn("python", {"name": "wait"}, {"wait": {}})
    source = source_of({entry.id: None}, {entry.id: record("error", "down")})
    assert about(viewed(dataset_of(entry), source))["groups"] is None
