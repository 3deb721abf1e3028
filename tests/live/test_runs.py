"""Whole runs, from the command line to the files: a model that is right, part runs, resuming."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import pytest

from extensions.export.transcripts import export_bfcl
from runner.cli import main
from runner.commands import OVER_BUDGET, plan_execution
from runner.live.live_run import EpisodeJob
from runner.live.run_control import open_jobs
from runner.records.recorded_run import open_run, read_segments
from runner.records.run_files import EPISODES_FILE, TOOLS_FILE, UNDERWAY_FILE
from tests.live.running import (
    BASE,
    ENTRIES,
    Ended,
    arguments,
    calls,
    comparable,
    end,
    outcomes,
    ready_and,
    records,
    resume,
    says,
    spoiled,
    start,
    wait_until,
)
from tests.servers.answers import of_dataset
from tests.servers.faults import fault
from tests.servers.serving import Answer, Answerer, Asked, FakeServer
from trajectories.dataset import load_embedded
from trajectories.fingerprint import fingerprint
from trajectories.schema import MULTI_TURN, Category

pytest_plugins = ["tests.live.run_fixtures"]

Run = Callable[..., Ended]
KILLS = 11


# A model that is right


# A server for one category, since several ask the same and it could not always tell them apart.
@pytest.mark.parametrize(
    "category", [MULTI_TURN[0], *(pytest.param(c, marks=pytest.mark.slow) for c in MULTI_TURN[1:])]
)
# Prompting takes longer; a part of the data has to do.
@pytest.mark.parametrize(
    ("mode", "part"),
    [
        pytest.param("fc", (), marks=pytest.mark.slow),
        ("fc", ("--sample", "36")),
        ("prompt", ("--sample", "36")),
    ],
)
def test_the_ground_truth_passes_all(
    run: Run,
    server: FakeServer,
    folder: Path,
    mode: str,
    part: tuple[str, ...],
    category: Category,
) -> None:
    server.answer = ready_and(of_dataset("turnwise", category))
    done = run("--category", category, "--mode", mode, *part)
    assert done.status == 0
    count = int(part[1]) if part else len(load_embedded([category]).trajectories)
    assert [*outcomes(folder).values()] == ["passed"] * count
    assert " 100.0% " in done.out
    # One request was the one before the run; all others are on record, with what was asked.
    steps = [step for record in records(folder) for step in record["steps"]]
    assert len(steps) == server.requests - 1
    assert {step["tools"] is None for step in steps} == {mode == "prompt"}


@pytest.mark.parametrize("mode", ["fc", "prompt"])
def test_the_ground_truth_passes_through_litellm(
    server: FakeServer,
    truth: Answerer,
    folder: Path,
    mode: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server.answer = truth
    monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.base_url)
    flags = ["--model", "hosted_vllm/fake", "--run-dir", str(folder), "--mode", mode]
    assert main(["eval", *flags, *BASE, "--limit", "4"]) == 0
    assert [*outcomes(folder).values()] == ["passed"] * 4
    assert server.requests > 4


def test_openai_and_litellm_get_the_same_run(
    run: Run,
    server: FakeServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run(*BASE, "--limit", "2", folder=tmp_path / "a")
    monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.base_url)
    flags = ["--model", "hosted_vllm/fake", "--run-dir", str(tmp_path / "b")]
    main(["eval", *flags, *BASE, "--limit", "2"])
    one, other = ([_said(r) for r in records(tmp_path / name)] for name in "ab")
    assert sorted(one) == sorted(other)


def _said(record: Mapping[str, Any]) -> str:
    return json.dumps([record[name] for name in ("id", "outcome", "messages", "result")])


def test_what_a_run_recorded_can_be_served_again(
    run: Run,
    server: FakeServer,
    truth: Answerer,
    openings: Mapping[str, str],
    ids: list[str],
    tmp_path: Path,
) -> None:
    server.answer = spoiled(truth, {ids[1]: says("I give up.")}, openings)
    run(*BASE, "--limit", "4", folder=tmp_path / "first")
    export_bfcl(open_run(tmp_path / "first"), tmp_path / "recorded")
    server.answer = ready_and(of_dataset("turnwise", "base", tmp_path / "recorded"))
    run(*BASE, "--limit", "4", folder=tmp_path / "second")
    assert outcomes(tmp_path / "first") == outcomes(tmp_path / "second")
    assert outcomes(tmp_path / "second")[ids[1]] == "failed"
    first, second = (
        {r["id"]: r["result"] for r in records(tmp_path / n)} for n in ("first", "second")
    )
    assert first == second


def test_a_model_that_calls_what_is_not_offered_fails(
    run: Run, server: FakeServer, folder: Path
) -> None:
    server.answer = ready_and(calls("launch_rocket", where="up"))
    done = run(*BASE, "--limit", "2", "--step-limit", "3")
    assert done.status == 0
    assert [*outcomes(folder).values()] == ["failed"] * 2
    assert all(end["why"] == "step_limit" for r in records(folder) for end in r["turn_ends"])


# Parts of the data, trials, budgets


def test_errata_put_a_second_score_beside_and_change_no_record(
    run: Run, server: FakeServer, folder: Path, ids: list[str], tmp_path: Path
) -> None:
    (first, *_) = entries = [load_embedded([Category.BASE]).trajectories[id] for id in ids]
    said = {"judgement": "withdrawn", "reason": "It is so.", "evidence": "It was looked at."}
    errata = tmp_path / "errata.jsonl"
    line = {"id": first.id, "published": fingerprint(first), **said}
    errata.write_text(json.dumps(line) + "\n", encoding="utf-8")
    done = run("--ids", ",".join(ids), "--errata", str(errata))
    assert done.status == 0
    assert "errata errata.jsonl: 1 withdrawn; 1 have alternative answers" in done.out
    rows = [line.split() for line in done.out.splitlines() if line.endswith("+0.0")]
    assert [(row[1], row[2], row[6], row[7]) for row in rows] == [
        (str(len(entries)), "100.0%", str(len(entries) - 1), "100.0%")
    ]
    assert [*outcomes(folder).values()] == ["passed"] * len(entries)


def test_every_trial_has_a_seed_of_its_own_and_keeps_it(
    run: Run, server: FakeServer, truth: Answerer, folder: Path
) -> None:
    seeds: list[int] = []

    def answer(asked: Asked) -> Answer:
        seeds.append(asked.body["seed"])
        return truth(asked)

    flags = (*BASE, "--limit", "1", "--trials", "3", "--seed", "7", "--no-preflight")
    server.answer = answer
    run(*flags, "--concurrency", "1", "--max-requests", "2")
    done = run(*flags, *resume(folder))
    assert done.status == 0
    steps = [len(record["steps"]) for record in sorted(records(folder), key=lambda r: r["trial"])]
    assert Counter(seeds) == {7: steps[0], 8: steps[1], 9: steps[2]}


def test_a_dry_run_asks_nothing_and_writes_nothing(
    run: Run, server: FakeServer, folder: Path
) -> None:
    done = run(*BASE, "--dry-run", "--trials", "2")
    assert (done.status, server.requests, folder.exists()) == (0, 0, False)
    assert done.out.startswith(f"{ENTRIES} entries, {2 * ENTRIES} episodes, about ")


def test_a_dry_run_says_what_it_would_cost(run: Run) -> None:
    done = run(*BASE, "--dry-run", "--price", "1000000,0")
    tokens = re.search(r"and (\d+) prompt tokens", done.out)
    assert tokens is not None
    assert f"estimated cost ${tokens[1]}.00 for " in done.out

    one, two = (
        re.search(r"estimated cost \$([\d.]+) for ", run(*BASE, "--dry-run", *more).out)
        for more in (["--price", "0,1000000"], ["--price", "0,1000000", "--trials", "2"])
    )
    assert one is not None
    assert two is not None
    assert float(two[1]) == 2 * float(one[1]) > 0


def test_a_dry_run_without_a_price(run: Run) -> None:
    done = run(*BASE, "--dry-run")
    assert (done.status, "has no known price" in done.out) == (0, True)
    assert "$" not in done.out


def test_trials(run: Run, folder: Path, ids: list[str]) -> None:
    done = run(*BASE, "--limit", "3", "--trials", "2")
    assert done.status == 0
    found = sorted((record["id"], record["trial"]) for record in records(folder))
    assert found == sorted((id, trial) for id in ids[:3] for trial in (0, 1))
    assert "3 entries with all 2 trials" in done.out
    assert "pass^k: k=1 100.0%, k=2 100.0%" in done.out


def test_a_sample_says_what_it_adds(run: Run, folder: Path, openings: Mapping[str, str]) -> None:
    done = run("--category", "base", "--sample", "5", "--sample-seed", "3")
    assert done.status == 0
    assert len(records(folder)) == 5
    assert f"sample of 5 of {len(openings)}" in done.out


def test_the_first_entries_are_not_called_a_sample(run: Run) -> None:
    assert "sample" not in run(*BASE, "--limit", "5").out


def test_an_output_file_is_written_or_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    done = run(*BASE, "--limit", "1", "--output", str(path))
    assert path.exists() or (done.status == 2 and "--output" in done.err)


def test_commands_for_a_folder_with_a_space_can_be_pasted(run: Run, tmp_path: Path) -> None:
    place = tmp_path / "my run"
    done = run(*BASE, "--limit", "2", "--max-requests", "12", "--run-dir", str(place))
    suggested = re.findall(r"turnwise [^;\n]*my run[^;\n]*", done.out + done.err)
    assert [shlex.split(each)[1] for each in suggested] == ["report", "eval"]
    assert all(str(place) in shlex.split(each) for each in suggested)


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        (["--max-requests", "40"], "the budget of 40 requests is used up"),
        (["--max-cost", "0.5", "--price", "5,0"], "the budget of 0.5 US dollars is used up"),
    ],
)
def test_a_budget_stops_a_run_that_can_go_on(
    run: Run,
    server: FakeServer,
    folder: Path,
    budget: list[str],
    reason: str,
) -> None:
    done = run(*BASE, "--concurrency", "2", *budget)
    assert done.status == 5
    assert f"turnwise: {reason}; resume with turnwise eval --resume {folder}\n" in done.err
    said = "the run is unfinished; its entries ran in random order, as a sample of all entries"
    assert f"of {len(records(folder))} of {ENTRIES} episodes: {said}" in done.out
    assert 0 < len(records(folder)) < ENTRIES
    asked = server.requests
    if "--max-requests" in budget:
        assert asked <= 41
    again = run(*BASE, *resume(folder))
    assert again.status == 0
    assert [*outcomes(folder).values()] == ["passed"] * ENTRIES


def test_a_run_that_started_in_random_order_keeps_its_order(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = []

    def watched(*given: Any) -> list[EpisodeJob]:
        seeds.append(given[-1])
        return open_jobs(*given)

    monkeypatch.setattr(plan_execution, "open_jobs", watched)
    run(*BASE, "--concurrency", "2", "--seed", "7", "--max-requests", "40")
    assert run(*BASE, "--seed", "7", *resume(folder)).status == 0
    assert run(*BASE, "--seed", "7", folder=folder.with_name("whole")).status == 0
    assert seeds == [7, 7, None]


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        ((), "its entries ran without random order, so its score is biased"),
        (("--max-requests", "999"), "its entries ran in random order, as a sample of all entries"),
    ],
)
def test_every_command_tells_whether_the_score_of_an_unfinished_run_is_biased(
    run: Run, folder: Path, budget: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*BASE, *budget).status == 0
    (folder / EPISODES_FILE).write_bytes(
        b"".join((folder / EPISODES_FILE).read_bytes().splitlines(keepends=True)[:3])
    )
    note = f"of 3 of {ENTRIES} episodes: the run is unfinished; {said}"
    for command in (
        ["table", str(folder)],
        ["compare", str(folder), str(folder)],
        ["export", str(folder), "--format", "bfcl", "-o", str(folder.with_name("results"))],
        ["export", str(folder), "--format", "csv", "-o", str(folder.with_name("tables"))],
        ["export", str(folder.parent), "--format", "csv", "-o", str(folder.with_name("all"))],
    ):
        assert main(command) == 0
        assert note in "".join(capsys.readouterr())


def test_what_a_budget_leaves_unfinished_goes_on_and_the_budget_counts_the_whole_run(
    run: Run, server: FakeServer, folder: Path, tmp_path: Path
) -> None:
    flags = [*BASE, "--no-preflight", "--concurrency", "24"]
    assert run(*flags, folder=tmp_path / "whole").status == 0
    whole, server.requests = server.requests, 0
    assert run(*flags, "--max-requests", "40").status == 5
    kept = sum(len(record["steps"]) for record in records(folder))
    assert 0.75 * 40 <= kept <= server.requests == 40
    done = run(*flags, *resume(folder), "--max-requests", "40")
    assert (done.status, server.requests) == (5, 40)
    assert "the budget of 40 requests is used up" in done.err
    run(*flags, *resume(folder), "--max-requests", "55")
    assert server.requests == 55
    last = run(*flags, *resume(folder))
    assert (last.status, server.requests) == (0, whole)
    assert comparable(folder) == comparable(tmp_path / "whole")


def test_an_unfinished_run_is_never_above_a_threshold(run: Run, folder: Path) -> None:
    flags = [*BASE, "--concurrency", "2", "--fail-under", "1%"]
    done = run(*flags, "--max-requests", "40")
    assert done.status == 3
    assert "--fail-under needs a finished run; the score is of " in done.err
    assert main(["table", str(folder)]) == 0
    none = run(*flags, "--max-requests", "1", folder=folder.with_name("none"))
    assert none.status == 3
    assert "--fail-under needs a finished run; the score is of no episode" in none.err
    assert run(*flags, *resume(folder)).status == 0


def test_a_run_is_resumed_by_its_folder_alone(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, server: FakeServer, truth: Answerer
) -> None:
    server.answer = truth
    started = arguments(
        server, folder, *BASE, "--max-requests", "40", "--header", "Authorization=Bearer abcdefghi"
    )
    monkeypatch.setattr("sys.argv", ["turnwise", *started])
    assert main(started) == 5
    assert main(["eval", *resume(folder), "--max-requests", "1000"]) == 2
    more = ["--max-requests", "1000", "--header", "Authorization=Bearer abcdefghi"]
    assert main(["search", *resume(folder), *more]) == 2
    assert main(["eval", *resume(folder), *more]) == 0
    assert [*outcomes(folder).values()] == ["passed"] * ENTRIES


def test_a_budget_of_cost_needs_a_price(run: Run, server: FakeServer) -> None:
    done = run(*BASE, "--max-cost", "1")
    assert (done.status, server.requests) == (2, 0)
    assert "--price" in done.err


def test_costs_and_tokens_are_on_record(run: Run, folder: Path) -> None:
    done = run(*BASE, "--limit", "2", "--price", "1000000,0")
    steps = [step for record in records(folder) for step in record["steps"]]
    assert all(step["cost"] == step["usage"]["prompt"] > 0 for step in steps)
    assert f"cost ${sum(step['cost'] for step in steps):.4f}" in done.out


def test_a_run_keeps_how_long_it_took_and_what_its_machine_costs(run: Run, folder: Path) -> None:
    done = run(*BASE, "--limit", "2", "--concurrency", "2", "--gpu-price", "36")
    assert done.status == 0
    (life,) = read_segments(folder)
    assert (life.concurrency, life.gpu_price) == (2, 36.0)
    assert life.seconds > 0
    assert "cost of the GPU server: $" in done.out


@pytest.mark.parametrize("price", ["1", "1,2,3,4,5", "1,x"])
def test_a_price_has_two_to_four_numbers(
    run: Run, price: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(*BASE, "--price", price)
    assert ended.value.code == 2
    assert "must be IN,OUT or IN,OUT,READ or IN,OUT,READ,WRITE" in capsys.readouterr().err


def test_an_unknown_price_is_not_nothing(run: Run, folder: Path) -> None:
    assert "cost unknown" in run(*BASE, "--limit", "1").out
    assert records(folder)[0]["steps"][0]["cost"] is None


def test_latency_is_the_servers(run: Run, server: FakeServer, folder: Path) -> None:
    server.latency = 0.05
    run(*BASE, "--limit", "12", "--concurrency", "12")
    found = [step["latency"] for record in records(folder) for step in record["steps"]]
    assert min(found) > 0.04
    assert median(found) < 0.5


@pytest.mark.slow
def test_waiting_before_another_try_is_no_latency(
    run: Run, server: FakeServer, truth: Answerer, folder: Path
) -> None:
    def busy_at_first(asked: Asked) -> Answer:
        return (fault("429") if asked.number == 1 else truth)(asked)

    server.answer = busy_at_first
    assert run(*BASE, "--limit", "1").status == 0
    first = records(folder)[0]["steps"][0]
    assert first["attempts"] == 2
    assert first["latency"] < 1


# Doing episodes again


def test_only_errors_are_done_again(
    run: Run,
    server: FakeServer,
    truth: Answerer,
    openings: Mapping[str, str],
    ids: list[str],
    folder: Path,
) -> None:
    server.answer = spoiled(truth, {ids[2]: fault("422"), ids[0]: says("No.")}, openings)
    first = run(*BASE, "--limit", "6")
    assert first.status == 3
    before = server.requests
    assert outcomes(folder) == {
        **dict.fromkeys(ids[:6], "passed"),
        ids[2]: "error",
        ids[0]: "failed",
    }
    server.answer = truth
    again = run(*BASE, "--limit", "6", *resume(folder), "--only", "errors")
    assert again.status == 0
    assert "turnwise: running 1 episode (1 resumed); run folder: " in again.err
    assert server.requests - before < 20
    assert outcomes(folder) == {**dict.fromkeys(ids[:6], "passed"), ids[0]: "failed"}
    last = run(*BASE, "--limit", "6", *resume(folder), "--only", "failed")
    assert last.status == 0
    assert outcomes(folder) == dict.fromkeys(ids[:6], "passed")


def test_episodes_that_ended_in_errors_go_on_from_their_last_answer(
    run: Run,
    server: FakeServer,
    truth: Answerer,
    openings: Mapping[str, str],
    ids: list[str],
    folder: Path,
    tmp_path: Path,
) -> None:
    flags = [*BASE, "--limit", "6", "--no-preflight", "--retries", "0"]
    assert run(*flags, folder=tmp_path / "whole").status == 0
    whole, server.requests = server.requests, 0
    server.answer = spoiled(truth, dict.fromkeys(ids[:3], fault("500")), openings)
    assert run(*flags).status == 3
    server.answer, asked = truth, server.requests
    again = run(*flags, *resume(folder), "--only", "errors")
    assert (again.status, comparable(folder)) == (0, comparable(tmp_path / "whole"))
    assert "turnwise: running 3 episodes (3 resumed); run folder: " in again.err
    # Only what was refused is asked again.
    assert asked + whole - (asked - 3) == server.requests


@pytest.mark.parametrize("allowed", [False, True])
def test_too_many_errors_give_no_score(
    run: Run,
    server: FakeServer,
    truth: Answerer,
    openings: Mapping[str, str],
    ids: list[str],
    allowed: bool,
) -> None:
    server.answer = spoiled(truth, {ids[2]: fault("422")}, openings)
    done = run(*BASE, "--limit", "4", *(["--allow-errors"] if allowed else []))
    assert done.status == 3
    row = next(line for line in done.out.splitlines() if line.startswith("base"))
    # Three passed, one error, of four entries; what is scored are the three.
    assert row.split()[1:6] == ["4", "3", "0", "1", "100.0%" if allowed else "-"]
    assert "75.0% if they count as failed, and 100.0% if they count as passed" in done.out
    assert ("no score: more than" in done.out) is not allowed


def test_a_run_that_is_done_asks_nothing_more(run: Run, server: FakeServer, folder: Path) -> None:
    first = run(*BASE, "--limit", "2")
    asked, kept = server.requests, comparable(folder)
    again = run(*BASE, "--limit", "2", *resume(folder), "--no-preflight")
    assert (again.status, again.out, server.requests) == (0, first.out, asked)
    assert comparable(folder) == kept


def test_a_default_that_is_spelled_out_goes_on(run: Run, server: FakeServer, folder: Path) -> None:
    server.answer = ready_and(of_dataset("turnwise"))
    suite = ",".join(reversed(MULTI_TURN))
    assert run("--limit", "2").status == 0
    for spelled in (("--category", "multi_turn"), ("--category", suite), ()):
        assert run("--limit", "2", *resume(folder), *spelled).status == 0
    done = run("--limit", "2", *resume(folder), "--category", "base")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "selection.category was None and is now 'base'" in done.err


def test_a_tool_list_that_was_lost_is_made_anew(run: Run, folder: Path, tmp_path: Path) -> None:
    run(*BASE, "--limit", "3")
    tools = folder / TOOLS_FILE
    kept = tools.read_bytes()
    tools.write_bytes(b"".join(kept.splitlines(keepends=True)[1:]))
    assert run(*BASE, "--limit", "3", *resume(folder)).status == 0
    assert sorted(tools.read_bytes().splitlines()) == sorted(kept.splitlines())
    assert (
        main(["export", str(folder), "--format", "openai-messages", "-o", str(tmp_path / "t")]) == 0
    )


def test_a_tool_list_that_nobody_can_make_anew_is_told(run: Run, folder: Path) -> None:
    run(*BASE, "--limit", "2")
    path = folder / EPISODES_FILE
    digest = records(folder)[0]["steps"][0]["tools"]
    path.write_text(path.read_text(encoding="utf-8").replace(digest, "0" * 64), encoding="utf-8")
    done = run(*BASE, "--limit", "2", *resume(folder))
    assert done.status == 0
    assert f"warning: {folder}: tool lists are missing (1)" in done.err


@pytest.mark.parametrize(
    "command",
    [["score"], ["eval", "--model", "replay:"], ["dataset", "audit"], ["table"]],
    ids=lambda command: " ".join(command),
)
def test_a_run_folder_is_taken_wherever_a_run_is(
    run: Run, folder: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    run(*BASE, "--limit", "3")
    words = (
        [*command[:-1], command[-1] + str(folder)] if "eval" in command else [*command, str(folder)]
    )
    assert main(words) == 0
    assert "100.0%" in capsys.readouterr().out


def test_a_run_that_is_defined_otherwise_does_not_go_on(
    run: Run, server: FakeServer, folder: Path
) -> None:
    run(*BASE, "--limit", "2")
    kept, asked = comparable(folder), server.requests
    done = run(*BASE, "--limit", "2", *resume(folder), "--temperature", "0.5", "--trials", "2")
    assert done.status == 2
    assert "settings.temperature was None and is now 0.5" in done.err
    assert "selection.trials was 1 and is now 2" in done.err
    assert done.err.count("\n") == 1
    assert comparable(folder) == kept
    # The request before the run, at most.
    assert server.requests <= asked + 1


def test_a_run_does_not_go_on_at_another_server(
    server: FakeServer,
    truth: Answerer,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server.answer = truth
    flags = ["eval", "--model", "fake", *BASE, "--limit", "1"]
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    assert main([*flags, "--run-dir", str(folder)]) == 0
    with FakeServer(truth) as same_on_another_port:
        monkeypatch.setenv("OPENAI_BASE_URL", same_on_another_port.base_url)
        assert main([*flags, *resume(folder)]) == 0
    other = "http://another.invalid/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", other)
    assert main([*flags, "--no-preflight", *resume(folder)]) == 2
    assert f"base_url was {server.base_url!r} and is now {other!r}" in capsys.readouterr().err


def test_a_folder_that_holds_a_run_takes_no_other(run: Run, folder: Path) -> None:
    run(*BASE, "--limit", "1")
    done = run(*BASE, "--limit", "1")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "--resume" in done.err


@pytest.mark.slow
def test_two_processes_do_not_write_one_run(
    run: Run, server: FakeServer, truth: Answerer, folder: Path
) -> None:
    server.answer = ready_and(fault("hang"))
    first = start(arguments(server, folder, *BASE))
    try:
        wait_until(lambda: server.requests > 1)
        server.answer = truth
        second = run(*BASE, *resume(folder))
    finally:
        first.kill()
        end(first)
    assert second.status == 2
    assert f"another process is writing this run (pid {first.pid})" in second.err
    # Nobody holds it any more.
    assert run(*BASE, *resume(folder)).status == 0
    assert len(records(folder)) == ENTRIES


# Killed at any moment


def _run_alone(command: list[str]) -> None:
    """Run the command in a process made for it, which is to be killed."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os._exit(main(command))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("category", "flags", "budget"),
    [
        ("base", ["--trials", "3"], None),
        ("base", ["--trials", "2"], 60),
        ("miss_param", ["--trials", "2"], None),
    ],
    ids=["trials", "budgets", "questions"],
)
def test_killed_at_any_moment_and_resumed_a_run_is_what_it_would_have_been(
    run: Run,
    server: FakeServer,
    tmp_path: Path,
    category: str,
    flags: list[str],
    budget: int | None,
    seed: int,
) -> None:
    server.answer = ready_and(of_dataset("turnwise", category))
    chosen = ["--category", category, "--limit", str(ENTRIES)]
    flags = [*chosen, *flags, "--no-preflight", "--concurrency", "4"]
    assert run(*flags, folder=tmp_path / "whole").status == 0
    asked, server.requests = server.requests, 0
    server.latency = 0.004
    # Processes that have imported everything, so that a life does not begin with a second of it.
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(
        ["runner.commands.eval_live", "runner.cli", "runner.models.openai_model"]
    )
    folder, random = tmp_path / "run", Random(seed)
    kills = inside = 0
    while kills < KILLS:
        more = [*resume(folder)] if folder.exists() else []
        if budget is not None:
            # Raised by a step in every life; few reach its end.
            more += ["--max-requests", str(server.requests + budget)]
        inside += _is_underway(folder)
        process = processes.Process(
            target=_run_alone, args=(arguments(server, folder, *flags, *more),)
        )
        process.start()
        _live(process, server, random)
        process.kill()
        process.join()
        if process.exitcode == 0:
            break
        assert process.exitcode in (-9, OVER_BUDGET)
        kills += process.exitcode == -9
    assert kills > 0.8 * KILLS
    assert inside > 0.5 * KILLS
    server.latency = 0.0
    assert run(*flags, *resume(folder)).status == 0
    assert comparable(folder) == comparable(tmp_path / "whole")
    # A kill costs what is on its way, and no answer.
    assert server.requests <= asked + kills * 4


def _is_underway(folder: Path) -> bool:
    """Tell whether a run has episodes to go on with from their last answers."""
    path = folder / UNDERWAY_FILE
    return path.exists() and b'"step"' in path.read_bytes()


def _live(process: Any, server: FakeServer, random: Random) -> None:
    """Let a process live for a while: a few requests, or not even until the first."""
    if random.random() < 0.2:
        process.join(random.uniform(0, 0.3))
        return
    asked = server.requests + random.randrange(1, 40)
    wait_until(lambda: server.requests >= asked or not process.is_alive())
    process.join(random.uniform(0, 0.005))
