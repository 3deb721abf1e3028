"""Runs that are repeated: what was asked before is not asked again, and nothing else is spared."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.cli import main
from tests.live.running import BASE, Ended, comparable, records
from tests.servers.serving import FakeServer

pytest_plugins = ["tests.live.run_fixtures"]

Run = Callable[..., Ended]
FEW = (*BASE, "--limit", "3", "--no-preflight", "--price", "1000000,0")


@pytest.fixture
def kept(tmp_path: Path) -> tuple[str, str]:
    """Return the flags that keep answers in a folder."""
    return "--reply-cache", str(tmp_path / "replies")


def test_a_run_that_is_repeated_asks_nothing(
    run: Run, server: FakeServer, tmp_path: Path, kept: tuple[str, str]
) -> None:
    first = run(*FEW, *kept, folder=tmp_path / "first")
    asked = server.requests
    again = run(*FEW, *kept, "--max-requests", "1", folder=tmp_path / "again")
    assert (first.status, again.status, server.requests) == (0, 0, asked)
    steps = [step for record in records(tmp_path / "again") for step in record["steps"]]
    assert len(steps) == asked > 0
    assert {(step["attempts"], step["cost"]) for step in steps} == {(0, 0.0)}
    assert f"answers from the reply cache: {asked}, without requests and cost" in again.out
    assert "\n0 answered requests, 0 input tokens, 0 output tokens" in again.out
    whole = [re.sub(r'"cost": [^,]+', "", line) for line in comparable(tmp_path / "first")]
    assert whole == [re.sub(r'"cost": [^,]+', "", line) for line in comparable(tmp_path / "again")]


def test_without_it_all_is_asked_again(
    run: Run, server: FakeServer, tmp_path: Path, kept: tuple[str, str]
) -> None:
    run(*FEW, *kept, folder=tmp_path / "first")
    asked = server.requests
    run(*FEW, folder=tmp_path / "again")
    assert server.requests == 2 * asked


def test_trials_never_mix(
    run: Run, server: FakeServer, tmp_path: Path, kept: tuple[str, str]
) -> None:
    run(*FEW, *kept, folder=tmp_path / "first")
    asked = server.requests
    run(*FEW, *kept, "--trials", "3", folder=tmp_path / "more")
    assert server.requests == 3 * asked


@pytest.mark.parametrize(
    "flags", [["--temperature", "0.5"], ["--seed", "1"], ["--body", '{"a":1}']]
)
def test_another_question_is_asked(
    run: Run, server: FakeServer, tmp_path: Path, kept: tuple[str, str], flags: list[str]
) -> None:
    run(*FEW, *kept, folder=tmp_path / "first")
    asked = server.requests
    run(*FEW, *kept, *flags, folder=tmp_path / "other")
    assert server.requests == 2 * asked


def test_what_is_damaged_is_asked_anew(
    run: Run, server: FakeServer, tmp_path: Path, kept: tuple[str, str]
) -> None:
    run(*FEW, *kept, folder=tmp_path / "first")
    asked = server.requests
    path = next(path for path in sorted((tmp_path / "replies").rglob("*.json")))
    path.write_bytes(path.read_bytes()[:-9])
    done = run(*FEW, *kept, folder=tmp_path / "again")
    assert (done.status, server.requests) == (0, asked + 1)


def test_no_secret_is_kept(run: Run, tmp_path: Path, kept: tuple[str, str]) -> None:
    secret = "sk-abcdef0123456789"
    header = ("--header", f"Authorization=Bearer {secret}")
    run(*FEW, *kept, *header, "--body", f'{{"api_key": "{secret}"}}')
    files = [path for path in (tmp_path / "replies").rglob("*") if path.is_file()]
    assert files
    assert not any(secret.encode() in path.read_bytes() for path in files)


def test_without_a_folder_there_is_one_of_ours(
    run: Run, server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNWISE_CACHE", str(tmp_path / "ours"))
    assert run(*FEW, "--reply-cache").status == 0
    assert [*(tmp_path / "ours" / "replies").iterdir()]


def test_it_is_not_for_agents(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "--model", "python:json:loads", "--reply-cache"]) == 2
    assert "--reply-cache: cannot be used with an agent" in capsys.readouterr().err


def test_the_same_answers_mend_no_failures(run: Run, folder: Path, kept: tuple[str, str]) -> None:
    run(*FEW, *kept)
    done = run(*FEW, *kept, "--resume", str(folder), "--only", "failed")
    assert done.status == 2
    assert "--only failed" in done.err
