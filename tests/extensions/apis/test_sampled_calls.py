"""Entries over registered environments: sampled calls succeed, and every entry is proven."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs.calls import Call, parse_call
from envs.registry import names
from envs.session import Session
from extensions.apis.sampled_calls import load_example, sample_calls
from runner.cli import main
from runner.data.dataset_choice import load_dataset
from runner.rollouts.evaluation import judge


@pytest.mark.parametrize("name", ["FinanceTools", "TicketAPI", "BankTeller"])
def test_sampled_calls_succeed_and_are_the_same_each_time(name: str) -> None:
    config = load_example(name)
    found = sample_calls(name, config, 1)
    assert found == sample_calls(name, config, 1)
    assert found != sample_calls(name, config, 2)
    assert len({answer.function for answer in found.answers}) > 3
    for answer in found.answers:
        session = Session.load([*config], config)
        assert session.call(Call(answer.function, (), answer.arguments)).text == answer.body


@pytest.mark.parametrize("name", ["FinanceTools", "TicketAPI", "BankTeller"])
def test_each_entry_passes_only_with_its_calls(name: str, tmp_path: Path, capsys) -> None:
    path = tmp_path / "new.jsonl"
    assert main(["env", "generate", name, "-o", str(path), "--number", "10"]) == 0
    assert f"10 entries in {path}" in capsys.readouterr().out
    entries = load_dataset(path).trajectories.values()
    assert len(entries) == 10
    for entry in entries:
        idle = [["Done."]] * len(entry.turns)
        assert not judge(entry, turns=idle).valid
        session = Session.load(entry.environments, entry.config)
        assert all(
            result.ok
            for turn in entry.turns
            for result in session.play([parse_call(text) for text in turn.ground_truth])
        )


def test_an_unknown_environment_is_refused(tmp_path: Path, capsys) -> None:
    assert main(["env", "generate", "FinanceTool", "-o", str(tmp_path / "new.jsonl")]) == 2
    assert "FinanceTool: is neither a file nor an environment" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_all_environments_with_a_call_that_succeeds(name: str, tmp_path: Path) -> None:
    config = load_example(name)
    if not sample_calls(name, config, 0).answers:
        pytest.skip("no sampled call succeeds on the example config")
    path = tmp_path / "new.jsonl"
    main(["env", "generate", name, "-o", str(path), "--number", "3"])
    assert load_dataset(path).trajectories
