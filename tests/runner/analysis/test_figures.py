from __future__ import annotations

import json
from pathlib import Path

import pytest

from checkers.profile import STRICT
from checkers.verdict import Hallucinations, SelectionCounts, Verdict
from runner.analysis.figure_lines import csv_rows, format_figure, lines, table_lines
from runner.analysis.figure_table import beside_scores, columns, usage_list
from runner.analysis.figures import (
    ActCounts,
    GpuServerUsage,
    Latency,
    RequiredInfoFigures,
    RunFigures,
    UsageTotals,
    totals_of,
)
from runner.analysis.replayed_runs import dataset_of, replay_run
from runner.analysis.report.run_report import report
from runner.analysis.run_scores import RunScores, ScoringRules, open_scores
from runner.models.model_types import Usage
from runner.records.episode_record import InfoReport, RunSegment, UnreportedFact
from runner.records.recorded_run import open_run
from tests.runner.analysis.replayed_runs import definition, record, truth_turns, write_run
from tests.runner.analysis.report.making import request, unpacked
from tests.runner.records.made import episode, step


@pytest.fixture
def folder(tmp_path, data, folders):
    """Write a run whose five requests took one to five seconds."""
    made = record(data, "folders_0", truth_turns(folders))
    steps = [request(0, 1, tools=None, latency=float(n)) for n in range(1, 6)]
    return write_run(tmp_path / "run", definition(data), made._replace(steps=steps))


def used(totals):
    """Return the figures of a run of which only its usage is known."""
    return RunFigures([], totals=totals)


def usage_lines(totals):
    """Return the lines of ``eval`` on usage."""
    return lines(used(totals), usage=True)


def listed(usage):
    """Return the values of the report's list by their labels."""
    return {figure["label"]: figure["value"] for figure in usage}


def told_cells(tellings):
    """Return the labels and values on what an answer told that stand beside its score."""
    [one] = outcomes("base", "passed")
    runs = [RunFigures([one._replace(telling=each)]) for each in tellings]
    rows = beside_scores(runs)
    return [listed(row.cell(run) for row in rows) for run in runs]


def test_the_report_has_the_figures_of_the_table_and_of_eval(folder):
    source = open_run(folder)
    dataset = dataset_of(source, None, lambda line: None)
    shown = unpacked(report([replay_run(source, dataset, STRICT, 20)]))[0][0]["overview"]
    rules = ScoringRules(None, None, 20)
    kept = open_scores(folder, rules, lambda line: None, allow_errors=False)
    table = json.loads(json.dumps(kept.to_json()))
    evaluated = "\n".join(usage_lines(totals_of(source.records)))
    rows = {row[2]: row[3] for row in csv_rows([kept])}
    usage = listed(shown["usage"])
    p95 = usage["Latency, 95th percentile"]
    assert p95 == table["latency"]["p95"] == rows["requests/latency_p95"] == 4.8
    assert "p95 4.800 s" in evaluated
    p50 = usage["Latency, median"]
    assert p50 == table["latency"]["p50"] == rows["requests/latency_p50"] == 3.0
    assert usage["Requests"] == table["requests"] == rows["requests/requests"] == 5
    assert shown["scores"][0]["rate"] == table["table"][0]["score"] == 1.0
    assert shown["scores"][0]["interval"] == table["table"][0]["interval"]


def test_a_machine_of_ones_own_costs_by_the_clock_and_by_latencies():
    lives = [RunSegment(5400.0, 8, 3.0), RunSegment(1800.0, 4, 2.0)]
    ids = [f"base_{n}" for n in range(100)]
    totals = UsageTotals(3, 0, 0, [3600.0, 3600.0, 7200.0], None, GpuServerUsage.of(lives, ids))
    assert totals.seconds_per_entry == 72.0
    assert totals.gpu_cost == 2 * 2.0
    assert totals.gpu_cost_by_latency == 1 * 2.0
    told = totals._replace(machine=GpuServerUsage.of(lives, ids, 5.0))
    assert (told.gpu_cost, told.gpu_cost_by_latency) == (10.0, 5.0)
    shown = "\n".join(usage_lines(told))
    assert "wall clock: 7200.0 s, 72.000 s per entry with concurrency 4" in shown
    assert "$10.0000 by wall clock, $5.0000 by busy time" in shown


def test_the_table_shows_the_cost_of_a_machine_as_eval_does():
    machine = GpuServerUsage.of([RunSegment(36.0, 5, 0.25)], "a")
    figures = RunFigures([], totals=UsageTotals(1, 0, 0, [15.0], 0.0123456, machine))
    shown = {row.name: format_figure(row, figures) for row in columns([figures])}
    clock, busy = shown["requests/gpu_cost"], shown["requests/gpu_cost_by_latency"]
    assert (clock, busy) == ("0.0025", "0.0002")
    said = "\n".join(usage_lines(figures.totals))
    assert f"${clock} by wall clock, ${busy} by busy time" in said


def test_without_a_price_or_a_time_a_machine_costs_what_nobody_knows():
    totals = UsageTotals(2, 0, 0, [1.0, 3.0], None, GpuServerUsage.of([RunSegment(8.0, 2)], "abcd"))
    assert totals.seconds_per_entry == 2
    assert totals.gpu_cost is totals.gpu_cost_by_latency is None
    assert GpuServerUsage.of([], "abcd", 5.0) is None
    assert not any("clock" in line for line in usage_lines(totals._replace(machine=None)))


def test_the_segments_of_a_run_are_in_its_table_and_report(folder):
    (folder / "lives.jsonl").write_text('{"seconds":36.0,"concurrency":5,"gpu_price":null}\n')
    source = open_run(folder)
    rules = ScoringRules(None, None, 20, gpu_price=100.0)
    kept = open_scores(folder, rules, print, allow_errors=False)
    rows = {row[2]: row[3] for row in csv_rows([kept])}
    assert rows["requests/seconds_per_entry"] == 36.0
    assert rows["requests/gpu_cost"] == kept.to_json()["gpu_cost"] == 1.0
    by_latency = 100 * 15 / 5 / 3600
    assert kept.to_json()["gpu_cost_by_latency"] == pytest.approx(by_latency)
    assert any("GPU $ by wall clock" in line for line in table_lines([kept]))
    viewed = replay_run(source, dataset_of(source, None, print), STRICT, 20)
    usage = listed(unpacked(report([viewed], 100.0))[0][0]["overview"]["usage"])
    assert (usage["GPU cost by wall clock"], usage["Wall clock per entry"]) == (1.0, 36.0)


def test_the_time_of_a_run_is_per_entry_and_not_per_trial(tmp_path, data, folders):
    made = record(data, "folders_0", truth_turns(folders))
    steps = [request(0, 1, tools=None, latency=1.0)]
    trials = [made._replace(steps=steps, trial=trial) for trial in range(3)]
    folder = write_run(tmp_path / "run", definition(data), *trials)
    (folder / "lives.jsonl").write_text('{"seconds":36.0,"concurrency":5,"gpu_price":null}\n')
    kept = open_scores(folder, ScoringRules(None, None, 20), print, allow_errors=False)
    assert kept.to_json()["seconds_per_entry"] == 36.0
    source = open_run(folder)
    viewed = replay_run(source, dataset_of(source, None, print), STRICT, 20)
    usage = listed(unpacked(report([viewed]))[0][0]["overview"]["usage"])
    assert usage["Wall clock per entry"] == 36.0


def test_what_was_made_up_is_counted_over_all_judged_entries():
    def judged(*made_up):
        return [
            each._replace(verdict=Verdict(True, None, None, 1, 1, (), Hallucinations(*found)))
            for each, found in zip(
                outcomes("simple_python", *["passed"] * len(made_up)), made_up, strict=True
            )
        ]

    some = judged((("a", "b"),), ((), ("f.x",), ("f",)), (("a",),), ())
    figures = RunFigures([*some, *outcomes("rest", "error")])
    assert figures.hallucinations == {
        "invented_functions": ActCounts(3, 2, 4),
        "invented_parameters": ActCounts(1, 1, 4),
        "calls_where_none_fits": ActCounts(1, 1, 4),
    }
    assert list(lines(figures)) == [
        "hallucinations (calls, and share of 4 episodes): invented functions 3 (50.0%), "
        "invented parameters 1 (25.0%), unneeded calls 1 (25.0%)"
    ]
    scores = RunScores("a", Path("a"), "strict", figures)
    rows = {row[2]: row[3] for row in csv_rows([scores])}
    assert rows["hallucinations/invented_functions"] == 0.5
    assert scores.to_json()["hallucinations"]["invented_functions"]["acts"] == 3
    assert any("invented functions" in line for line in table_lines([scores]))
    assert RunFigures(outcomes("rest", "error")).hallucinations == {}


def outcomes(category, *results, trials=1):
    """Return outcomes of entries, as many trials of each as there are results."""
    return [
        episode(f"{category}_{number // trials}", number % trials, category, result, 1, 0)
        for number, result in enumerate(results)
    ]


def test_scores_by_category():
    found = RunFigures([*outcomes("base", "passed", "failed"), *outcomes("rest", "passed")]).rates
    assert {name: (rate.value, rate.entries) for name, rate in found.items()} == {
        "base": (0.5, 2),
        "rest": (1, 1),
    }


def test_errors_are_not_counted_as_failures():
    found = RunFigures([*outcomes("base", "passed", "error"), *outcomes("rest", "error")]).rates
    assert {name: (rate.value, rate.entries) for name, rate in found.items()} == {"base": (1, 1)}


def test_trials_of_an_entry_are_no_independent_entries():
    found = RunFigures(outcomes("base", "passed", "failed", "passed", "passed", trials=2)).rates
    assert (found["base"].value, found["base"].entries) == (0.75, 2)


@pytest.mark.parametrize(("errors", "too_many"), [(0, False), (2, False), (3, True)])
def test_more_than_two_percent_are_too_many_errors(errors, too_many):
    results = ["error"] * errors + ["passed"] * (100 - errors)
    assert RunFigures(outcomes("base", *results)).scored is not too_many


def test_latency_as_the_field_has_it():
    found = Latency.of([1.0, 1.0, 3.0, 8.0])
    assert found.mean == 3.25
    assert found.deviation == pytest.approx(3.304, abs=0.001)
    assert (found.p50, found.p95) == (2.0, pytest.approx(7.25))


@pytest.mark.parametrize("latencies", [[], [1.0]])
def test_one_request_has_no_spread(latencies):
    assert Latency.of(latencies) is None


def test_what_requests_used():
    totals = UsageTotals(4, 1000, 100, [1.0, 1.0, 3.0, 8.0], 0.02)
    assert list(usage_lines(totals)) == [
        "4 answered requests, 1000 input tokens, 100 output tokens, cost $0.0200, "
        "$5.0000 per 1,000 requests",
        "latency per request: mean 3.250 s, standard deviation 3.304 s, p50 2.000 s, p95 7.250 s",
    ]


def test_what_went_through_caches_is_shown_where_servers_said_so():
    usages = [Usage(100, 10, 60, None, 30), Usage(50, 5), Usage(50, 5, 0)]
    steps = [request(0, 1, tools=None)._replace(usage=usage, cost=0.0) for usage in usages]
    made = episode("base_0", 0, "base", "passed", 1, 0)._replace(steps=steps)
    totals = totals_of([made])
    assert (totals.cached_tokens, totals.written_tokens) == (60, 30)
    assert next(usage_lines(totals)).startswith(
        "3 answered requests, 200 input tokens (60 read from a cache, 30 written to a cache), "
        "20 output tokens, cost "
    )
    shown = listed(usage_list(used(totals)))
    assert (shown["Cached input tokens"], shown["Input tokens written to a cache"]) == (60, 30)


def test_tokens_are_unknown_where_the_usage_of_a_request_is():
    steps = [request(0, 1, tools=None)._replace(usage=each) for each in (Usage(9, 1), Usage())]
    made = episode("base_0", 0, "base", "passed", 1, 0)._replace(steps=steps)
    totals = totals_of([made])
    assert totals.prompt_tokens is totals.completion_tokens is None
    assert next(usage_lines(totals)).startswith("2 answered requests, input tokens unknown, cost ")


def test_a_price_that_is_unknown():
    assert list(usage_lines(UsageTotals(0, 0, 0, [], None))) == [
        "0 answered requests, 0 input tokens, 0 output tokens, cost unknown"
    ]


def test_shares_of_facts_turns_and_questions_are_of_all_episodes_with_words():
    tellings = [
        InfoReport(3, 2, [UnreportedFact(0, "a"), UnreportedFact(0, "b")], 1, 1),
        None,
        InfoReport(1, 1, [], 1, 0),
    ]
    told = RequiredInfoFigures.of(tellings)
    assert told == RequiredInfoFigures(4, 2, 3, 2, 2, 1)
    assert told.shares == {"facts told": 0.5, "turns told": 2 / 3, "asked": 0.5}


def test_where_nothing_was_to_be_told_there_is_no_share_and_no_column():
    assert RequiredInfoFigures.of([None, None]) is None
    assert told_cells([None]) == [{}]
    assert told_cells([None, InfoReport(0, 0, [], 2, 1)]) == [{"asked": None}, {"asked": 0.5}]


def test_errors_told_nothing():
    passed, error = outcomes("base", "passed", "error")
    some = InfoReport(1, 1, [], 0, 0)
    found = RunFigures([passed._replace(telling=some), error._replace(telling=some)])
    assert found.told == RequiredInfoFigures(1, 1, 1, 1, 0, 0)


def test_redundant_calls_are_those_of_passed_episodes_beyond_the_ground_truth():
    def made(outcome, needed, *calls):
        verdict = Verdict(outcome == "passed", None, None, 1, 1, selected=SelectionCounts(needed))
        record = episode("a", 0, "base", outcome, 1, 1)._replace(verdict=verdict)
        return record._replace(steps=[step(0, ["f()"] * count) for count in calls])

    found = RunFigures([made("passed", 2, 1, 2), made("passed", 2, 1), made("failed", 1, 9)])
    assert found.redundancy == (1, 4)
    assert found.redundancy.share == 0.25
    assert RunFigures([made("failed", 1, 9), made("passed", 3)]).redundancy is None
