"""What runs of several models say of the data, and errata beside."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checkers.multi_turn_verdict import judge
from checkers.profile import STRICT
from checkers.verdict import ExecutedTurn
from envs.calls import parse_call
from envs.errors import DataError
from envs.session import Session
from extensions.authoring.audit import audit, find_agreement, group_by_model
from runner.episodes.entry_kinds import JudgingResult
from tests.runner.commands.running import run as run_command
from trajectories.fingerprint import fingerprint
from trajectories.record_validation import to_json
from trajectories.replay_queries import ReplayQueries
from trajectories.schema import Category, Message, Trajectory, Turn

CONFIG = {
    "GorillaFileSystem": {
        "root": {
            "share": {
                "type": "directory",
                "contents": {"old": {"type": "directory", "contents": {}}},
            }
        }
    }
}
ENTRY = Trajectory(
    "base_one",
    Category.BASE,
    ("GorillaFileSystem",),
    CONFIG,
    (
        Turn((Message("user", "Make plans."),), ("mkdir(dir_name='plans')",)),
        Turn((Message("user", "And a list."),), ("touch(file_name='list')",)),
    ),
    provenance={"author": "test"},
)
TRUTH = [["mkdir(dir_name='plans')"], ["touch(file_name='list')"]]
OTHER = [["mkdir(dir_name='plan')"], ["touch(file_name='list')"]]
THIRD = [["mkdir(dir_name='p')"], ["touch(file_name='list')"]]


def outcomes(script: Sequence[Sequence[str]]) -> list[ExecutedTurn]:
    session = Session.load(ENTRY.environments, ENTRY.config)
    found = []
    for calls in script:
        made = tuple([parse_call(call) for call in calls])
        results = tuple(session.play(made))
        found.append(ExecutedTurn(results, session.snapshot(), bool(results), made))
    return found


def run(script: Sequence[Sequence[str]]) -> JudgingResult:
    truth, made = outcomes(TRUTH), outcomes(script)
    scene = ReplayQueries(ENTRY, Session.load(ENTRY.environments, ENTRY.config), truth)
    return JudgingResult(judge(truth, made, STRICT, scene), made)


def runs(**scripts: Sequence[Sequence[str]]) -> dict[str, dict[str, JudgingResult]]:
    return {model: {"base_one": run(script)} for model, script in scripts.items()}


def voices(**scripts: Sequence[Sequence[str]]) -> dict[str, dict[str, JudgingResult]]:
    return {model: {model: run(script)} for model, script in scripts.items()}


def test_an_entry_that_somebody_passes_and_nobody_agrees_on_is_no_finding() -> None:
    assert audit({"base_one": outcomes(TRUTH)}, runs(a=TRUTH, b=OTHER, c=THIRD)) == []


def test_an_entry_that_all_fail_is_a_finding() -> None:
    [finding] = audit({"base_one": outcomes(TRUTH)}, runs(a=OTHER, b=THIRD))
    assert finding.all_fail
    assert finding.agreement is None
    assert finding.reasons["a"] == "multi_turn:instance_state_mismatch in turn 1"


def test_most_against_the_ground_truth_is_a_finding_with_evidence() -> None:
    [finding] = audit({"base_one": outcomes(TRUTH)}, runs(a=OTHER, b=TRUTH, c=OTHER))
    assert not finding.all_fail
    assert finding.agreement is not None
    assert (finding.agreement.models, finding.agreement.turn) == (("a", "c"), 0)
    paths = [difference.path for difference in finding.agreement.differences]
    assert [path.split(".")[-1] for path in paths] == ["plans", "plan"]
    assert json.loads(json.dumps(finding.to_json()))["agreement"]["models"] == ["a", "c"]


@pytest.mark.parametrize(
    "scripts",
    [
        {"a": OTHER},
        {"a": OTHER, "b": OTHER, "c": TRUTH, "d": TRUTH},
        {"a": TRUTH, "b": TRUTH, "c": OTHER},
    ],
)
def test_one_or_half_of_the_models_are_not_most(scripts: dict[str, Any]) -> None:
    assert find_agreement(outcomes(TRUTH), voices(**scripts)) is None


def test_agreement_starts_where_all_who_agree_are_together() -> None:
    late = [["mkdir(dir_name='plans')"], ["touch(file_name='lists')"]]
    agreement = find_agreement(outcomes(TRUTH), voices(a=late, b=late))
    assert agreement is not None
    assert agreement.turn == 1


def test_a_run_without_a_record_agrees_with_nobody() -> None:
    empty = JudgingResult(run(OTHER).verdict, ())
    assert find_agreement(outcomes(TRUTH), {"a": {"a": empty}, "b": {"b": empty}}) is None


def test_reruns_of_one_model_are_one_voice() -> None:
    truths, tried = {"base_one": outcomes(TRUTH)}, runs(a1=OTHER, a2=OTHER, b=TRUTH)
    assert audit(truths, tried)[0].agreement is not None
    assert audit(truths, tried, {"a": ["a1", "a2"], "b": ["b"]}) == []


def test_a_model_agrees_where_more_than_half_of_its_runs_do() -> None:
    truths = {"base_one": outcomes(TRUTH)}
    models = {"a": ["a1", "a2", "a3"], "b": ["b"]}
    [found] = audit(truths, runs(a1=OTHER, a2=TRUTH, a3=OTHER, b=OTHER), models)
    assert found.agreement is not None
    assert found.agreement.models == ("a", "b")
    assert (found.models, found.runs, found.failing, found.all_fail) == (2, 4, 1, False)
    assert audit(truths, runs(a1=OTHER, a2=TRUTH, a3=THIRD, b=OTHER), models) == []


def test_what_most_speaks_against_comes_first() -> None:
    truths = {id: outcomes(TRUTH) for id in ("alone", "agreed", "half")}
    tried = {
        "a": {"alone": run(OTHER), "agreed": run(OTHER), "half": run(OTHER)},
        "b": {"alone": run(THIRD), "agreed": run(OTHER), "half": run(OTHER)},
        "c": {"agreed": run(OTHER), "half": run(TRUTH)},
    }
    assert [finding.id for finding in audit(truths, tried)] == ["agreed", "half", "alone"]


def test_runs_are_of_the_models_that_are_named() -> None:
    names = ["gpt-a", "gpt-b", "other"]
    assert group_by_model(names, []) == {name: [name] for name in names}
    assert group_by_model(names, [("gpt", ["gpt-*"])]) == {"gpt": names[:2], "other": ["other"]}
    assert group_by_model(names, [("all", ["gpt-a", "other"])]) == {
        "all": ["gpt-a", "other"],
        "gpt-b": ["gpt-b"],
    }


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([("gpt", ["llama*"])], "'llama.' matches no run"),
        ([("gpt", ["gpt-a"]), ("mine", ["gpt-*"])], "gpt-a is in two groups, gpt and mine"),
    ],
)
def test_a_group_has_to_fit(groups: list[tuple[str, list[str]]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        group_by_model(["gpt-a", "gpt-b"], groups)


# --- Commands


def written(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def erratum(**changes: Any) -> dict[str, Any]:
    return {
        "id": "base_one",
        "judgement": "mended",
        "reason": "One plan.",
        "evidence": "The words say so.",
        "published": fingerprint(ENTRY),
        "ground_truth": {"0": ["mkdir(dir_name='plan')"]},
        **changes,
    }


def command(*arguments: str | Path) -> int:
    name, *words = arguments
    return run_command(f"dataset {name}", *words)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return written(tmp_path / "data.jsonl", to_json(ENTRY))


def recorded(path: Path, script: Sequence[Sequence[str]]) -> Path:
    return written(path, {"id": "base_one", "result": [[f"[{c}]" for c in t] for t in script]})


def test_audit_shows_findings_and_both_scores(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [recorded(tmp_path / f"{name}.json", OTHER) for name in "ab"]
    errata = written(tmp_path / "e.jsonl", erratum())
    assert command("audit", *files, "--dataset", data) == 0
    shown = capsys.readouterr().out
    assert "base_one: all models fail, of 2" in shown
    assert "these models agree on a state that differs from the ground truth: a, b" in shown
    assert command("audit", *files, "--dataset", data, "--errata", errata, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["scores"]["as published"]["a"]["passed"] == 0
    assert told["scores"]["corrected"]["a"]["passed"] == 1
    assert told["findings"] == []


def test_audit_groups_filters_and_prints_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = [f"base_{number:02}" for number in range(30)]
    data = written(tmp_path / "data.jsonl", *(to_json(replace(ENTRY, id=id)) for id in ids))
    result = [[f"[{call}]" for call in turn] for turn in OTHER]
    files = [
        written(tmp_path / f"{name}.json", *({"id": id, "result": result} for id in ids))
        for name in ("m1", "m2")
    ]
    what = ["audit", *files, "--dataset", data]
    assert command(*what, "--group", "m=m?") == 0
    page = capsys.readouterr().out.splitlines()
    assert page[0] == "base_00: all models fail, of 1 (2 runs)"
    assert "18 more findings: --all prints them" in page
    assert page[-1].startswith(
        "30 entries, 1 models. All models fail 30 entries. In 0 entries, most"
    )
    assert command(*what, "--all") == 0
    every = capsys.readouterr().out
    assert "base_29: all models fail, of 2" in every
    assert "more findings" not in every
    assert command(*what, "--category", "miss_func") == 0
    assert (
        capsys.readouterr()
        .out.splitlines()[-1]
        .startswith("0 entries, 2 models. All models fail 0")
    )
    with pytest.raises(SystemExit, match="2"):
        command(*what, "--group", "m")


def test_what_was_judged_already_says_so_and_comes_last(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = written(tmp_path / "data.jsonl", to_json(ENTRY), to_json(replace(ENTRY, id="base_two")))
    result = [[f"[{call}]" for call in turn] for turn in OTHER]
    lines = [{"id": id, "result": result} for id in ("base_one", "base_two")]
    run = written(tmp_path / "m.json", *lines)
    sound = {**erratum(judgement="sound"), "ground_truth": {}}
    errata = written(tmp_path / "e.jsonl", sound)
    assert command("audit", run, "--dataset", data, "--errata", errata) == 0
    heads = [line for line in capsys.readouterr().out.splitlines() if line.startswith("base_")]
    assert heads == [
        "base_two: all models fail, of 1",
        "base_one: all models fail, of 1; judged sound",
    ]


def test_runs_are_told_apart_by_folder_where_need_be(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        files.append(recorded(tmp_path / folder / "a.json", TRUTH))
    assert command("audit", *files, "--dataset", data) == 0
    assert "two/a" in capsys.readouterr().out
    with pytest.raises(DataError, match="duplicate run name one/a"):
        command("audit", files[0], files[0], "--dataset", data)


def test_validate_counts_and_exits_by_errors(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("validate", data) == 0
    assert "1 entry checked" in capsys.readouterr().out
    bad = to_json(ENTRY)
    bad["turns"][0]["ground_truth"] = ["mkdir(dir_name='old')"]
    file = written(tmp_path / "bad.jsonl", bad)
    assert command("validate", file, "--rules", "exec,unique") == 1
    assert "turn 1: ground_truth[0]: error UNIQUE" in capsys.readouterr().out
    assert command("validate", file, "--rules", "UNIQUE", "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert [p["rule"] for p in told["problems"]] == ["UNIQUE"]
    assert told["counts"]["UNIQUE"]["errors"] == 1


def test_validate_takes_exceptions_and_names_stale_ones(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = {"rule": "EXEC", "id": "base_one", "reason": "Once it failed."}
    allow = written(tmp_path / "allow.jsonl", line)
    assert command("validate", data, "--allow", allow) == 1
    assert "error ALLOW: EXEC no longer has a finding here" in capsys.readouterr().out


def test_validate_prints_mutation_figures(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("validate", data, "--mutations") == 0
    shown = capsys.readouterr().out
    assert "one call left out" in shown
    assert "100.0%" in shown
    assert command("validate", data, "--mutations", "--json") == 0
    assert json.loads(capsys.readouterr().out)["left_out"] == 2


def test_validate_takes_one_place_to_look(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        command("validate", data, "--dataset", "bfcl")
    with pytest.raises(SystemExit, match="2"):
        command("validate", data, "bfcl")
    assert "turnwise dataset validate: unknown option --dataset" in capsys.readouterr().err
