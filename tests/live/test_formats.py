"""Single-turn entries in several prompt formats, from the command line over real HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runner.cli import main
from runner.models.prompting import ALL, DEFAULT
from runner.records.recorded_run import open_run
from tests.live.running import ready_and, records
from tests.servers.answers import of_dataset
from tests.servers.serving import Answer, Asked, FakeServer
from tests.servers.shapes import completion

PYTHON = "simple_python,multiple,parallel,parallel_multiple,irrelevance,live_relevance,chat"
THREE = "python-bare-json-plain,json-tagged-python-markdown,xml-bare-xml-plain"


def run(server: FakeServer, folder: Path, *more: str) -> int:
    place = [] if "--resume" in more else ["--run-dir", str(folder)]
    asked = ["eval", "--model", "fake", "--base-url", server.base_url, "--mode", "prompt"]
    return main([*asked, *place, *more])


@pytest.fixture
def right(server: FakeServer) -> FakeServer:
    """Return a server that does as the prompt tells it."""
    server.answer = ready_and(of_dataset("turnwise", "single_turn"))
    return server


@pytest.mark.parametrize("entries", [4, pytest.param(14, marks=pytest.mark.slow)])
def test_a_model_that_does_as_it_is_told_passes_in_every_format(
    right: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], entries: int
) -> None:
    limits = ("--category", PYTHON, "--sample", str(entries))
    assert run(right, tmp_path / "runs", *limits, "--formats", "all") == 0
    said = capsys.readouterr().out
    assert "spread 0.0% (100.0% to 100.0%), population standard deviation 0.0%" in said
    assert "36 formats: spread" in said
    assert right.requests == 1 + 36 * entries, "the model is tried once, not once a format"
    for each in ALL:
        folder = tmp_path / "runs" / each.name
        definition = open_run(folder).definition
        named = {"name": each.name, "sha256": each.sha256}
        assert definition.extensions == {"formats": {"prompt_format": named}}
        assert {record["outcome"] for record in records(folder)} == {"passed"}
        assert {record["messages"][0]["role"] for record in records(folder)} == {"system"}


def test_a_model_that_knows_one_format_only_is_told_from_one_that_knows_all(
    right: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    truth = right.answer

    def python_only(asked: Asked) -> Answer:
        messages = [{**m, "content": "Python."} for m in asked.body["messages"][:1]]
        body = {**asked.body, "messages": [*messages, *asked.body["messages"][1:]]}
        return truth(asked._replace(body=body))

    right.answer = python_only
    wanted = ("--category", "parallel", "--limit", "4", "--formats", THREE)
    assert run(right, tmp_path, *wanted, "--no-preflight") == 0
    said = capsys.readouterr().out
    assert "spread 100.0% (0.0% to 100.0%), population standard deviation 47.1%, mean 33.3%" in said
    assert "mean by calls: python 100.0%, json 0.0%, xml 0.0%" in said


def test_it_goes_on_where_it_was_stopped(
    right: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = ("--category", "multiple", "--limit", "5", "--formats", THREE)
    assert run(right, tmp_path, *wanted, "--max-requests", "8") == 5
    stopped = capsys.readouterr()
    assert f"resume with --resume {tmp_path}" in stopped.err
    assert "json-tagged-python-markdown: the budget of 3 requests is used up" in stopped.err
    assert "2 of 3 formats have no score (unfinished, or too many errors)" in stopped.out
    assert run(right, tmp_path, *wanted, "--resume", str(tmp_path)) == 0
    assert "3 formats: spread" in capsys.readouterr().out
    for name in THREE.split(","):
        assert [r["outcome"] for r in records(tmp_path / name)] == ["passed"] * 5


def test_only_one_turn_in_python_is_asked(
    right: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = ("--category", "base,simple_java,chat", "--formats", "xml-bare-xml-plain")
    assert run(right, tmp_path, *wanted) == 0
    said = capsys.readouterr()
    assert "entries: --formats runs single-turn Python entries only" in said.err
    assert {r["category"] for r in records(tmp_path / "xml-bare-xml-plain")} == {"chat"}


def test_a_dry_run_counts_all_formats_and_asks_nothing(
    right: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = ("--category", "chat", "--limit", "5", "--formats", "all", "--dry-run")
    assert run(right, tmp_path / "none", *wanted) == 0
    assert "5 entries in 36 formats; expect 180 requests" in capsys.readouterr().out
    assert (right.requests, (tmp_path / "none").exists()) == (0, False)


def test_broken_calls_are_failures_of_the_model_with_the_reason(
    server: FakeServer, tmp_path: Path
) -> None:
    broken = json.dumps(completion({"role": "assistant", "content": '<call name="f">'}, "stop"))
    server.answer = lambda _: Answer(broken.encode())
    wanted = ("--category", "multiple,irrelevance", "--formats", "xml-bare-json-plain")
    assert run(server, tmp_path, *wanted, "--no-preflight") == 0
    found = records(tmp_path / "xml-bare-json-plain")
    assert {r["outcome"] for r in found} == {"failed"}, "a broken call is one where none should be"
    assert all("is not closed" in json.dumps(r["verdict"]) for r in found)


def test_a_run_in_a_format_is_judged_once_more_as_it_was(
    right: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = ("--category", "parallel", "--limit", "4", "--formats", THREE)
    assert run(right, tmp_path, *wanted) == 0
    for name in THREE.split(","):
        capsys.readouterr()
        assert main(["verify", str(tmp_path / name)]) == 0
        assert "4 of 4 verdicts are as recorded" in capsys.readouterr().out


def test_formats_stand_beside_the_first_with_what_chance_makes_of_the_difference(
    right: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = ("--category", "parallel", "--limit", "4", "--formats", THREE)
    assert run(right, tmp_path, *wanted) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].split()[-5:] == ["difference", "95%", "p", "p,", "Holm"]
    assert said[3].split()[-6:] == ["+0.0", "-46.2", "to", "+46.2", "1.0000", "1.0000"]
    assert said[5].startswith("differences from python-bare-json-plain cover the same entries")


def test_what_is_one_run_does_not_go_on_as_several(
    right: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = ("--category", "chat", "--limit", "1")
    assert run(right, tmp_path, *wanted) == 0
    capsys.readouterr()
    assert run(right, tmp_path, *wanted, "--resume", str(tmp_path), "--formats", THREE) == 2
    said = capsys.readouterr().err.splitlines()
    assert said == [f"turnwise: {tmp_path}: contains a single run; --formats needs another folder"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--formats", "yaml"), "--formats: unknown format 'yaml'; did you mean"),
        (("--formats", "all", "--mode", "fc"), "--formats: requires --mode prompt"),
        (("--formats", "all", "--prompts", str(DEFAULT)), "--formats: cannot be combined with"),
        (("--formats", "all", "--output", "x.jsonl"), "--output: needs a single run"),
        (("--formats", "all", "--errata", "bfcl"), "--errata: needs a single run"),
        (("--formats", "all", "--category", "base"), "--formats: requires single-turn Python"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_one_line(
    right: FakeServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    more: tuple[str, ...],
    message: str,
) -> None:
    status = run(right, tmp_path / "none", "--category", "chat", *more)
    said = capsys.readouterr().err.splitlines()
    assert (status, len(said)) == (2, 1)
    assert message in said[0]
    assert (right.requests, (tmp_path / "none").exists()) == (0, False)
