"""The health check: every endpoint asked, those that are down listed, and nothing run then."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from envs.calls import parse_call
from envs.errors import DataError
from envs.session import Session
from extensions.retired.rest.http_sender import ask_all, sender
from runner.cli import main
from runner.data.web_services import FIXTURE_ONLY, connect, require_up
from runner.rollouts.evaluation import evaluate
from trajectories.dataset import load_embedded
from trajectories.record_validation import to_json
from trajectories.schema import Category, Trajectory


@pytest.fixture
def entries() -> list[Trajectory]:
    """The embedded REST entries."""
    return list(load_embedded([Category.REST]).trajectories.values())


@pytest.fixture
def broken_file(broken: list[Trajectory], tmp_path: Path) -> str:
    """The path of a file with these entries."""
    path = tmp_path / "rest.jsonl"
    path.write_text("".join(json.dumps(to_json(entry)) + "\n" for entry in broken))
    return str(path)


@pytest.fixture
def broken(entries: list[Trajectory]) -> list[Trajectory]:
    """Three entries, of which the second asks for what is not there, the third another machine."""
    urls = ["http://fixture.localhost/v1/books", "http://fixture.localhost/v9", "http://a.example/"]
    [turn] = entries[0].turns
    return [
        replace(entries[0], id=str(n), turns=(replace(turn, ground_truth=(f"http_get({url!r})",)),))
        for n, url in enumerate(urls)
    ]


def test_all_of_our_own_are_up(entries: list[Trajectory]) -> None:
    endpoints = ask_all(entries, sender(FIXTURE_ONLY))
    assert len(endpoints) >= len(entries)
    assert [endpoint for endpoint in endpoints if endpoint.problem] == []


@pytest.mark.parametrize("connects", [False, True], ids=["recorded", "asked"])
def test_recorded_answers_are_those_of_the_service(
    entries: list[Trajectory], connects: bool
) -> None:
    for entry in entries:
        session = Session.load(entry.environments, entry.config)
        if connects:
            connect(session, FIXTURE_ONLY)
        results = session.play([parse_call(text) for text in entry.turns[0].ground_truth])
        recorded = list(entry.config["RestClient"]["answers"].values())
        assert [result.value["body"] for result in results] == recorded


def test_those_that_are_down_are_found(broken: list[Trajectory]) -> None:
    problems = [endpoint.problem for endpoint in ask_all(broken, sender(FIXTURE_ONLY))]
    assert problems[0] is None
    assert "status 404" in str(problems[1])
    assert "--allow-network" in str(problems[2])


def test_a_run_is_stopped_with_the_list_of_those_that_are_down(broken: list[Trajectory]) -> None:
    with pytest.raises(DataError) as found:
        require_up(broken, FIXTURE_ONLY)
    message = str(found.value)
    assert message.startswith("rest: 2 endpoints are down: http://a.example/ (")
    assert "http://fixture.localhost/v9 (" in message
    assert "\n" not in message


def test_nothing_is_asked_where_there_is_no_rest_client(help_desk: Trajectory) -> None:
    require_up([help_desk], FIXTURE_ONLY)


def test_a_session_without_a_client_is_left_alone() -> None:
    session = Session.load(["TicketAPI"], {})
    before = session.snapshot()
    connect(session, FIXTURE_ONLY)
    assert session.snapshot() == before


def test_the_command_lists_all_endpoints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["env", "health"]) == 0
    output = capsys.readouterr()
    lines = output.out.splitlines()
    assert len(lines) >= 16
    assert all(line.endswith("  up") for line in lines)
    assert output.err == f"turnwise: {len(lines)} of {len(lines)} endpoints are up\n"


def test_what_a_fixture_answers_is_said(
    bfcl_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["env", "health", "--dataset", f"bfcl:{bfcl_folder}", "--category", "rest"]) == 0
    assert capsys.readouterr().out == ("rest_0  http://ip-api.com/json  answered by a fixture\n")


def test_the_command_tells_what_is_down_and_ends_with_status_3(
    broken_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["env", "health", "--dataset", broken_file]) == 3
    output = capsys.readouterr()
    assert "1  http://fixture.localhost/v9  down: The service returned status 404" in output.out
    assert output.err == "turnwise: 1 of 3 endpoints are up\n"


def test_an_agent_of_one_s_own_is_not_asked_while_endpoints_are_down(
    broken_file: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match="rest: 2 endpoints are down: "):
        evaluate(print, broken_file, run_dir=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_does_not_begin_while_endpoints_are_down(
    broken_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", "--model", "oracle", "--dataset", broken_file]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("turnwise: rest: 2 endpoints are down: ")


@pytest.mark.parametrize(
    "call", ["http_get(url=", "http_get()", "http_get(uri='x')", "http_get(url='http://[')"]
)
@pytest.mark.parametrize("command", ["eval --model oracle --category rest --dataset", "env health"])
def test_a_request_that_cannot_be_made_is_its_entrys_own_error(
    entries: list[Trajectory],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    call: str,
    command: str,
) -> None:
    [turn] = entries[0].turns
    path = tmp_path / "rest.jsonl"
    entry = replace(entries[0], turns=(replace(turn, ground_truth=(call,)),))
    path.write_text(json.dumps(to_json(entry)) + "\n")
    more = ["--dataset"] if "health" in command else []
    assert main([*command.split(), *more, str(path)]) in (0, 2, 3)
    assert capsys.readouterr().err.rstrip("\n").rpartition("\n")[2].startswith("turnwise: ")
