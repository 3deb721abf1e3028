from __future__ import annotations

import json

import pytest

from envs.errors import DataError
from runner.analysis.figure_lines import CSV_HEADING, csv_rows, table_lines
from runner.analysis.run_scores import ScoringRules, open_scores
from runner.models.model_types import Usage
from tests.runner.analysis.replayed_runs import (
    definition,
    error_record,
    record,
    truth_turns,
    write_run,
)
from tests.runner.records.made import defining


@pytest.fixture
def opened(bfcl_folder):
    """Open a run whose result files are of made-up data."""

    def scores(path, *, allow_errors=False):
        rules = ScoringRules(f"bfcl:{bfcl_folder}", None, 20)
        return open_scores(path, rules, pytest.fail, allow_errors=allow_errors)

    return scores


@pytest.fixture
def results(write_lines):
    """Write a result file of two single-turn categories, of which one entry is right."""
    wait = [{"wait": '{"n": 5}'}]
    return write_lines(
        "model_result.json",
        {"id": "simple_python_0", "result": wait, "latency": 1.0, "input_token_count": 7},
        {"id": "irrelevance_0", "result": wait, "latency": [[1.0, 4.0]]},
    )


@pytest.fixture
def store(tmp_path, write_lines, folders):
    """Write a run folder of ours: an episode that passes, and errors."""

    def write(errors):
        data = write_lines("data.jsonl", folders)
        right = record(data, folders.id, truth_turns(folders))
        used = {"usage": Usage(3, 1), "latency": 0.5, "cost": 0.25}
        right = right._replace(steps=[step._replace(**used) for step in right.steps])
        wrong = [error_record(f"entry_{number}") for number in range(errors)]
        return write_run(tmp_path / "run", definition(data), right, *wrong)

    return write


def scores(run):
    """Return the scores of the categories of a run."""
    return {name: rate.value for name, rate in run.figures.rates.items()}


def test_result_files_are_judged(opened, results):
    run = opened(results)
    assert (run.name, run.profile) == ("model_result", "bfcl")
    assert scores(run) == {"simple_python": 1, "irrelevance": 0}


def test_result_files_may_say_what_their_requests_took(opened, results):
    run = opened(results)
    assert (
        run.figures.totals.requests,
        run.figures.totals.prompt_tokens,
        run.figures.totals.cost,
    ) == (3, 7, None)
    assert run.figures.totals.latency.mean == 2


@pytest.mark.parametrize("latency", [None, "soon", {"s": 1}, True])
def test_what_is_no_latency_is_passed_over(opened, write_lines, latency):
    line = {"id": "simple_python_0", "result": [], "latency": latency}
    run = opened(write_lines("model_result.json", line))
    totals = run.figures.totals
    assert (totals and totals.latency, run.to_json()["latency"]) == (None, None)


def test_a_latency_without_end_is_refused_with_its_place(opened, write_lines):
    line = {"id": "simple_python_0", "result": [], "latency": float("inf")}
    with pytest.raises(DataError, match=r"model_result\.json:1: \$\.latency: must be a finite num"):
        opened(write_lines("model_result.json", line))


def test_a_run_folder_is_taken_as_it_says(opened, store):
    run = opened(store(0))
    assert (run.name, run.profile, run.figures.errors) == ("org/model", "strict", 0)
    assert scores(run) == {"base": 1}
    assert run.figures.totals.cost_per_1000 == 250


def test_too_many_errors_give_no_score_unless_that_is_wanted(opened, store):
    path = store(1)
    with pytest.raises(DataError, match=r"1 of 2 episodes ended in errors.* --allow-errors"):
        opened(path)
    run = opened(path, allow_errors=True)
    assert (scores(run), run.figures.errors) == ({"base": 1}, 1)


def test_verdict_lines(opened, write_lines):
    head = {"profile": "bfcl", "error_type": None}
    path = write_lines(
        "verdicts.jsonl",
        {"id": "multi_turn_base_0", "valid": True, **head},
        {"id": "multi_turn_base_1", "valid": False, **head},
        {"id": "mine", "category": "rest", "valid": True, **head},
    )
    run = opened(path)
    assert (run.name, run.profile, run.figures.totals) == ("verdicts", "bfcl", None)
    assert scores(run) == {"base": 0.5, "rest": 1}


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ({"id": "mine", "valid": True}, "the line of mine has no category"),
        ({"id": "mine", "valid": None, "category": "rest"}, "no judged episode"),
        ({"id": "mine", "valid": "yes"}, "is not a verdict"),
        ({"id": "multi_turn_base_7", "result": []}, "'multi_turn_base_7' is not"),
        ("no JSON", "is not valid JSON"),
    ],
)
def test_bad_input_is_refused(opened, write_lines, line, complaint):
    with pytest.raises(DataError, match=complaint):
        opened(write_lines("bad.jsonl", line))


def test_a_run_folder_without_episodes_is_refused(opened, tmp_path):
    path = write_run(tmp_path / "run", defining())
    with pytest.raises(DataError, match="has no judged episode"):
        opened(path)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"model": None}, "model: must be a string, but is None"),
        ({"profile": 1}, "profile: must be a string, but is 1"),
        ({"profile": "fair"}, "profile: must be bfcl or strict or tau2, but is 'fair'"),
        ({"dataset": {"name": "d", "version": "1"}}, r"dataset\.sha256: is missing"),
    ],
)
def test_a_run_that_does_not_say_what_it_is(opened, store, change, complaint):
    path = store(0)
    run = json.loads((path / "run.json").read_text(encoding="utf-8"))
    run["definition"].update(change)
    (path / "run.json").write_text(json.dumps(run), encoding="utf-8")
    with pytest.raises(DataError, match=rf"run\.json: \$\.definition\.{complaint}"):
        opened(path)


def test_a_record_that_is_none(opened, store):
    path = store(0)
    file = path / "episodes.jsonl"
    record = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**record, "steps": [{"turn": 0}]}) + "\n", encoding="utf-8")
    complaint = r"episodes\.jsonl:1: \$\.steps\[0\]\.request_messages: is missing"
    with pytest.raises(DataError, match=complaint):
        opened(path)


def test_the_lines_of_one_run(opened, results):
    found = "\n".join(table_lines([opened(results)]))
    assert found.startswith("1  model_result: 2 episodes, profile bfcl\n   score 50.0% (95%")
    assert "\n1           3      unknown      2.000" in found


def test_the_lines_of_several_say_where_they_differ_in_size(opened, write_lines):
    one = {"id": "multi_turn_base_0", "valid": True}
    both = [opened(write_lines("a.jsonl", one))]
    both.append(opened(write_lines("b.jsonl", one, {"id": "multi_turn_base_1", "valid": True})))
    found = "\n".join(table_lines(both))
    assert "base: the runs have different numbers of entries, 1 to 2" in found


def test_a_name_cannot_steer_the_terminal(opened, tmp_path, store):
    path = store(0)
    run = json.loads((path / "run.json").read_text(encoding="utf-8"))
    run["definition"]["model"] = "\x1b[2J\u202e" + "x" * 200
    (path / "run.json").write_text(json.dumps(run), encoding="utf-8")
    found = list(table_lines([opened(path)]))
    assert all(line.isprintable() for text in found for line in text.splitlines())
    assert max(len(line) for text in found for line in text.splitlines()) <= 100


def test_rows_of_csv(opened, store):
    found = list(csv_rows([opened(store(0))]))
    assert found[0] == CSV_HEADING
    assert (1, "org/model", "overall/multi-turn/base", 1.0) in [row[:4] for row in found]
    assert (1, "org/model", "overall/live", "", "", "", 0, 0.0) in found
    assert found[-5][:4] == (1, "org/model", "requests/cost_per_1000", 250)
