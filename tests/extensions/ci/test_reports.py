"""Reports for CI, rules of compare, tags of entries, and the plugin of pytest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from checkers.verdict import Verdict
from envs.errors import DataError
from extensions.ci.reports import junit, make_annotations, step_summary
from runner.cli import main
from runner.records.episode_record import EpisodeRecord
from trajectories.record_validation import validate

ENTRY: dict[str, Any] = {
    "id": "desk_0",
    "category": "base",
    "environments": ["TicketAPI"],
    "config": {"TicketAPI": {"current_user": "ann"}},
    "turns": [
        {
            "messages": [{"role": "user", "content": "No light."}],
            "ground_truth": ["create_ticket(title='No light')"],
        }
    ],
    "tags": ["light", "refunds"],
    "comment": "from a real call",
}
HOSTILE = "a\n::error::x|<b>`\x00\x1b[0m\r%0A::set-output"
ERROR = EpisodeRecord("x_0", 0, "base", "error", None, HOSTILE)
PASSED = EpisodeRecord("x_1", 2, "base", "passed", Verdict(True, None, None, 1, 1), None)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two entries, in which the test runs."""
    other = {**ENTRY, "id": "desk_1", "tags": ["refunds"], "comment": ""}
    path = tmp_path / "desk.jsonl"
    path.write_text(f"{json.dumps(ENTRY)}\n{json.dumps(other)}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def evaluate(model: str, *more: str) -> int:
    """Run a model on the entries."""
    return main(["eval", "--model", model, "--dataset", "desk.jsonl", *more])


def test_junit_has_a_case_per_episode_with_tags(desk: Path) -> None:
    assert evaluate("null", "--junit", "junit.xml") == 0
    root = ElementTree.parse("junit.xml").getroot()
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("2", "2", "0")
    first, second = root.iter("testcase")
    found = [(each.get("name"), each.get("value")) for each in first.iter("property")]
    assert found == [("tag", "light"), ("tag", "refunds"), ("comment", "from a real call")]
    failure = second.find("failure")
    assert failure is not None
    assert failure.get("type") == "multi_turn:empty_turn_model_response"
    assert (failure.get("message") or "").startswith("turn 1: multi_turn:empty_turn")


def test_a_report_that_cannot_be_written_is_told_before_the_run(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("oracle", "--junit", "nowhere/report.xml") == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("turnwise: nowhere/report.xml: cannot be written: the folder ")


def test_hostile_text_stays_text_in_every_report() -> None:
    root = ElementTree.fromstring(junit([ERROR, PASSED], {}))
    assert [each.get("name") for each in root.iter("testcase")] == ["x_0", "x_1 (trial 2)"]
    assert root.find(".//error") is not None
    [line] = make_annotations([ERROR, PASSED])
    assert line.startswith("::error title=x_0 error::a%0A::error")
    assert "\n" not in line
    assert "%250A" in line
    summary = step_summary([ERROR, PASSED])
    assert "| all | 1 | 0 | 1 |" in summary
    assert "<b>" not in summary
    assert "\n::error" not in summary


def test_many_failures_are_counted() -> None:
    lines = [*make_annotations([ERROR] * 12)]
    assert len(lines) == 11
    assert lines[-1] == "::notice::2 more episodes did not pass"


def test_github_gets_annotations_and_a_summary(
    desk: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(desk / "summary.md"))
    (desk / "summary.md").write_text("earlier\n", encoding="utf-8")
    assert evaluate("null", "--github", "--fail-under", "0.9") == 4
    assert capsys.readouterr().out.count("::error title=desk_") == 2
    assert (desk / "summary.md").read_text(encoding="utf-8").startswith("earlier\n## Turnwise")


def test_reports_on_an_unfinished_run_say_so(
    desk: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    monkeypatch.syspath_prepend(str(desk))
    (desk / "silent.py").write_text("def agent(messages, tools):\n    return 'No.'\n")
    assert evaluate("python:silent:agent", "--run-dir", "run") == 0
    episodes = desk / "run" / "episodes.jsonl"
    episodes.write_text(episodes.read_text().splitlines(keepends=True)[0])
    capsys.readouterr()
    assert evaluate("replay:run", "--junit", "junit.xml", "--github") == 0
    said = "of 1 of 2 episodes: the run is unfinished; "
    assert f"::warning title=unfinished run::results {said}" in capsys.readouterr().out
    summary = Path("summary.md").read_text()
    assert summary.startswith(f"## Turnwise: unfinished run\n\nResults {said}")
    root = ElementTree.parse("junit.xml").getroot()
    [suite] = root
    names = [each.get("name") for each in (root, suite, suite[0][0])]
    assert names == ["turnwise (unfinished run)", "base (unfinished run)", "unfinished"]
    assert (suite[0][0].get("value") or "").startswith(said)


def test_tags_select_entries_and_have_rows(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate("oracle", "-o", "verdicts.jsonl") == 0
    assert "refunds       2       0       0  100.0%" in capsys.readouterr().out
    assert evaluate("oracle", "--tag", "light") == 0
    assert "mean over 1 entry" in capsys.readouterr().out
    assert main(["table", "verdicts.jsonl", "--tag", "light"]) == 0
    assert "1 episode" in capsys.readouterr().out
    assert main(["table", "verdicts.jsonl", "--tag", "x"]) == 2
    assert evaluate("oracle", "--tag", "ligt") == 2
    assert "did you mean light?" in capsys.readouterr().err
    with pytest.raises(DataError, match=r"\$\.tags\[0\]: 'a,b' must be a string without commas"):
        validate({**ENTRY, "tags": ["a,b"]}, "desk.jsonl:1")


def steps(path: str, *passing: bool) -> str:
    """Write result files of BFCL's form for both entries."""
    Path(path).mkdir()
    right = [[{"create_ticket": '{"title": "No light"}'}]]
    lines = [{"id": f"desk_{n}", "result": [right if ok else []]} for n, ok in enumerate(passing)]
    text = "\n".join(map(json.dumps, lines))
    (Path(path) / "BFCL_v4_multi_turn_base_result.json").write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("rules", "status", "words"),
    [
        ("flips", 4, "flips: 1 entry got worse: desk_0"),
        ("drop=40%", 4, "drop: the score falls by 50.0%, limit 40.0%"),
        ("drop=0.5", 0, ""),
        ("significant", 0, ""),
        ("drop=60%,significant,flips", 4, "flips"),
        ("drop", 2, "must be `flips`, `drop=2%` or `significant`"),
        ("drop=1", 2, "'1' is ambiguous; write 1% or 100%"),
    ],
)
def test_compare_fails_by_rules(
    desk: Path, capsys: pytest.CaptureFixture[str], rules: str, status: int, words: str
) -> None:
    runs = [steps("baseline", True, True), steps("run", False, True)]
    command = ["compare", *runs, "--dataset", "desk.jsonl", "--fail-on", rules]
    if status == 2:
        with pytest.raises(SystemExit, match="2"):
            main(command)
    else:
        assert main(command) == status
    assert words in capsys.readouterr().err


def test_compare_passes_a_run_without_flips(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [steps("baseline", False, True), steps("run", True, True)]
    assert main(["compare", *runs, "--dataset", "desk.jsonl", "--fail-on", "flips"]) == 0
    assert capsys.readouterr().err == ""


def test_compare_does_not_pass_a_run_that_lacks_entries(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [steps("baseline", True, True), steps("run", True)]
    assert main(["compare", *runs, "--dataset", "desk.jsonl", "--fail-on", "flips"]) == 3
    assert "--fail-on: one of the runs has no verdict for 1 entry" in capsys.readouterr().err


STORY = """
import json, pytest

def agent(messages, tools):
    if messages[-1]["role"] == "tool":
        return "Done."
    call = {"name": "create_ticket", "arguments": json.dumps({"title": "No light"})}
    return {"tool_calls": [{"id": "1", "type": "function", "function": call}], "content": None}

@pytest.mark.turnwise("desk.jsonl")
def test_tickets(turnwise, entry):
    turnwise.require_pass(agent, entry)

@pytest.mark.turnwise("desk.jsonl", tag="light")
def test_silence(turnwise, entry):
    turnwise.require_pass(lambda messages, tools: "No.", entry)

def test_score(turnwise):
    assert turnwise.evaluate(agent, "desk.jsonl").score == 1
"""
FORGOTTEN = """
import pytest

@pytest.mark.turnwise("desk.jsonl")
def test_forgotten():
    pass
"""


def test_the_plugin_makes_a_test_of_every_entry(desk: Path) -> None:
    Path("test_agent.py").write_text(STORY, encoding="utf-8")
    # In the usual folder it would delete what earlier runs of the suite left there.
    plugin = ["-p", "turnwise.extensions.ci.pytest_plugin", "-p", "no:cacheprovider"]
    plugin += ["--basetemp", "inner"]
    Path("test_forgotten.py").write_text(FORGOTTEN, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-v", *plugin, "--continue-on-collection-errors"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    for line in ("tickets[desk_0] PASSED", "tickets[desk_1] PASSED", "test_score PASSED"):
        assert line in done.stdout, done.stdout + done.stderr
    assert "test_silence[desk_0] FAILED" in done.stdout
    assert "multi_turn:empty_turn_model_response" in done.stdout
    assert "add a parameter named `entry` to the test function" in done.stdout
    assert "1 failed, 3 passed, 1 error" in done.stdout
