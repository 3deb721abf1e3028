"""The composite action and the workflow of the page, run step by step in GitHub's shell."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.extensions.ci.test_company import CHECKS, ENTRIES, POLICY, SHOP, run

yaml = pytest.importorskip("yaml")

FOLDER = Path(__file__).parents[3] / "docs" / "ci"
ACTION = yaml.safe_load((FOLDER / "action.yml").read_text(encoding="utf-8"))
WORKFLOW = yaml.safe_load((FOLDER / "workflow.yml").read_text(encoding="utf-8"))
SHELL = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


@pytest.fixture
def company(tmp_path: Path) -> Path:
    """A folder with an agent, entries and checks."""
    for name, text in (("shop.py", SHOP), ("policy.md", POLICY), ("checks.json", CHECKS)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    entries = run("-c", ENTRIES, folder=tmp_path)
    (tmp_path / "entries.jsonl").write_text(entries.stdout, encoding="utf-8")
    return tmp_path


def play(folder: Path, **given: str) -> tuple[list[int], str, str]:
    """Run the steps of the action; return the statuses, the output and the step summary."""
    declared = ACTION["inputs"].items()
    inputs = {
        name: given.get(name.replace("-", "_"), each.get("default")) for name, each in declared
    }
    summary = folder / "summary.md"
    summary.write_text("", encoding="utf-8")
    statuses, output = [], ""
    for step in ACTION["runs"]["steps"]:
        assert step.get("if") in (None, "inputs.baseline != '' && !cancelled()")
        if "if" in step and not inputs["baseline"]:
            continue
        own = {
            name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], value)
            for name, value in step["env"].items()
        }
        env = {**os.environ, "PATH": PATH, "GITHUB_STEP_SUMMARY": str(summary), **own}
        command = [*SHELL, step["run"]]
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
        statuses.append(done.returncode)
        output += done.stdout + done.stderr
    return statuses, output, summary.read_text(encoding="utf-8")


def test_the_workflow_gives_inputs_that_the_action_declares() -> None:
    [step] = [
        each
        for each in WORKFLOW["jobs"]["evaluate"]["steps"]
        if "with" in each and "model" in each["with"]
    ]
    assert step["uses"] == "./.github/actions/turnwise"
    required = {name for name, each in ACTION["inputs"].items() if each.get("required")}
    assert required <= step["with"].keys() <= ACTION["inputs"].keys()


def test_the_action_fails_below_a_score_and_passes_beside_its_baseline(company: Path) -> None:
    given = {"model": "python:shop:agent", "dataset": "entries.jsonl"}
    checks = {"arguments": "--policy policy.md --checks checks.json"}
    statuses, output, summary = play(
        company, **given, **checks, fail_under="90%", run_dir="baseline"
    )
    assert statuses == [4]
    assert re.search("^::error title=refund_4 failed::", output, re.MULTILINE), output
    assert "| all | 4 | 1 | 0 |" in summary
    assert r"refund\_4" in summary
    statuses, output, _ = play(company, **given, **checks, fail_under="0.8", baseline="baseline")
    assert statuses == [0, 0], output
    assert (company / "turnwise.xml").exists()


def test_an_input_of_the_action_is_no_code(company: Path) -> None:
    statuses, output, _ = play(company, model="python:shop:agent; touch harm; $(touch harm)")
    assert statuses == [2], output
    assert not (company / "harm").exists()
