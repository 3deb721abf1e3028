"""The door ``turnwise``: which names there are, what they are, and that opening it is cheap."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
import turnwise

import envs.calls
import runner
from checkers.profile import BFCL
from checkers.reasons import Reason
from checkers.verdict import Failure, Verdict
from envs import registry
from envs.session import Session
from runner.records.episode_record import EpisodeRecord
from runner.records.recorded_run import Run
from trajectories.dataset import Dataset

EXAMPLES = Path(__file__).parents[2] / "examples"

NAMES = """
    AccessDenied AlreadyExists BFCL Backend BackendFault Call Category ConfigError DataError
    Dataset Difference EpisodeRecord Evaluation InvalidArgument MalformedCall ModelError
    NotFound Notice Profile Reason Refused Result RolloutEnv RunDefinition RunFrames STRICT Session
    SimulatorError Snapshot StepRecord ToolError Trajectory Turn TurnLoop UnjudgeableEntry
    UnknownFunction Verdict World WriteError __version__ check evaluate irreversible judge
    load_dataset load_runs open_run parse_call reads register writes
"""


def test_these_are_the_public_names():
    assert sorted(turnwise.__all__) == sorted(NAMES.split())
    assert set(dir(turnwise)) == {*turnwise.__all__, "testing"}


@pytest.mark.parametrize("name", sorted({*NAMES.split()} - {"__version__"}))
def test_each_is_documented_and_the_very_same_everywhere(name):
    member = getattr(turnwise, name)
    assert member.__doc__
    assert not member.__doc__.startswith(f"{name}(")
    assert member is getattr(runner, name)


def test_the_type_checker_is_told_of_the_same_names():
    tree = ast.parse(Path(runner.__file__).read_text(encoding="utf-8"))
    told, at_runtime = [node for node in tree.body if isinstance(node, ast.If)]
    assert ast.unparse(at_runtime.test) == "not TYPE_CHECKING"
    names = {alias.name: node.module for node in told.body for alias in getattr(node, "names", ())}
    assert sorted(names) == sorted(NAMES.split())
    assert {name: runner._MODULES[name] for name in names} == names


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="module 'turnwise' has no attribute 'sesion'"):
        _ = turnwise.sesion


def test_opening_the_door_loads_nothing_else():
    code = "import sys, turnwise; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert {"turnwise", runner.__name__} <= loaded
    assert not {"pydantic", "asyncio", "argparse", "envs.session", "runner.cli"} & loaded


def test_a_module_has_two_names_and_is_one():
    second = importlib.import_module("turnwise.envs.calls")
    assert second is envs.calls
    assert second.Call is turnwise.Call
    assert second.__spec__.name == "envs.calls"
    assert importlib.import_module("turnwise.runner") is runner
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("turnwise.tests")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("turnwise.envs.nothing")


def test_every_public_name_has_an_example(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stderr", sys.stdout)
    monkeypatch.setattr(registry, "_REGISTERED", {})
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert [name for name in turnwise.__all__ if not re.search(rf"\b{name}\b", text)] == []
    test = doctest.DocTestParser().get_doctest(
        text, {"__name__": "examples", "folder": tmp_path / "run"}, "examples/README.md", None, 0
    )
    said = []
    examples = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    examples.run(test, out=said.append)
    assert examples.failures == 0, "".join(said)


@pytest.mark.parametrize(
    "example",
    ["first.py", "judge_my_agent.py", "rollout.py", "read_a_run.py"],
)
def test_an_example_runs(example, tmp_path):
    text = (EXAMPLES / example).read_text(encoding="utf-8")
    assert text.count("\n") <= 32
    arguments = []
    if example == "read_a_run.py":
        agent = lambda messages, tools: "No."  # noqa: E731
        arguments = [turnwise.evaluate(agent, categories="base", limit=2, run_dir=tmp_path / "r")]
        arguments = [str(arguments[0].folder)]
    command = [sys.executable, "-W", "error", EXAMPLES / example, *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") >= 2 or "Evaluation(" in done.stdout


def test_short_texts_of_large_things():
    data = turnwise.load_dataset(categories="base")
    assert (
        repr(data)
        == f"Dataset(turnwise 3: {len(data.trajectories)} trajectories, {data.sha256[:12]})"
    )
    assert (
        repr(Dataset("mine", "2", "0" * 64, {})) == "Dataset(mine 2: 0 trajectories, 000000000000)"
    )
    session = Session.load(["TicketAPI", "MathAPI"], {})
    assert repr(session) == f"Session(TicketAPI, MathAPI: {len(session.tools)} functions)"
    digest = session.snapshot().digest()
    assert repr(session.snapshot()) == f"Snapshot(TicketAPI, MathAPI: {digest[:12]})"
    assert repr(Verdict(True, None, None, 4, 4)) == "Verdict(passed: 4 turns)"
    failed = Verdict(False, Failure(Reason.EMPTY_TURN), 1, 4, 1)
    assert repr(failed) == "Verdict(failed in turn 2 of 4: multi_turn:empty_turn_model_response)"
    assert repr(Verdict(False, Failure(Reason.INFERENCE_ERROR), None, 4, 0)) == (
        "Verdict(failed of 4: multi_turn:inference_error)"
    )
    assert repr(BFCL) == "Profile('bfcl')"
    first = data.trajectories["base_files_band_setlist"]
    assert repr(first) == "Trajectory('base_files_band_setlist', base: turns 4, GorillaFileSystem)"
    assert repr(Run("mine", Path("runs/mine"), {})) == "Run('mine': 0 episodes; runs/mine)"
    raised = EpisodeRecord("a", 0, "base", "error", None, "no\x1b[31m")
    assert repr(raised) == r"EpisodeRecord(a, trial 0, error: 'no\x1b[31m')"
