"""Searches with a live model, kept as runs: a fake server answers, and processes are killed."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest

from runner.cli import main
from tests.live.run_fixtures import openings, truth
from tests.live.running import calls, comparable, end, records, start, wait_until
from tests.servers.serving import Answer, Answerer, Asked, FakeServer

__all__ = ["openings", "truth"]

ENTRIES = 6


@pytest.fixture
def errs_once(server: FakeServer, truth: Answerer, openings: Mapping[str, str]) -> FakeServer:
    """Return a server whose model looks around first in every entry, and then gives that up."""

    def answer(asked: Asked) -> Answer:
        messages = asked.body["messages"]
        offered = [tool["function"]["name"] for tool in asked.body.get("tools", ())]
        opening = next((m["content"] for m in messages if m["role"] == "user"), "")
        told = messages[-1]
        undone = told["role"] == "user" and "undone" in str(told["content"])
        if opening in openings and "give_up_branch" in offered and not undone:
            if len(messages) == 1:
                return calls("no_such_function")(asked)
            if len(messages) == 3 and "no_such_function" in str(messages[1]):
                return calls("give_up_branch", reason="That was nothing.")(asked)
        kept = messages[:-1] if undone else messages
        return truth(asked._replace(body={**asked.body, "messages": kept}))

    server.answer = answer
    return server


def asking(server: FakeServer, *more: str) -> list[str]:
    """Return a command line that searches behind a server."""
    place = ["search", "--model", "fake", "--base-url", server.base_url, "--category", "base"]
    return [*place, "--limit", str(ENTRIES), "--no-preflight", *more]


def test_what_was_undone_is_on_record_and_counts_among_the_tokens(
    errs_once: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(asking(errs_once, "--run-dir", str(tmp_path))) == 0
    assert f"The runs are in {tmp_path}" in capsys.readouterr().out
    for line in records(tmp_path / "dfsdt"):
        search = line["extensions"]["search"]
        assert line["outcome"] == "passed"
        assert [tried["became"] for tried in search["tree"]][:2] == ["undone", "given_up"]
        assert search["requests"] == len(line["steps"]) + 2
    assert main(["table", str(tmp_path / "dfsdt"), "--json"]) == 0
    asked = json.loads(capsys.readouterr().out)["runs"][0]["requests"]
    assert asked == sum(
        line["extensions"]["search"]["requests"] for line in records(tmp_path / "dfsdt")
    )


@pytest.mark.slow
@pytest.mark.parametrize("moment", [0.2, 0.6])
def test_a_search_that_is_killed_goes_on_and_asks_nothing_twice(
    errs_once: FakeServer, tmp_path: Path, moment: float, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert main(asking(errs_once, "--run-dir", str(whole))) == 0
    needed, errs_once.requests = errs_once.requests, 0
    errs_once.latency = 0.01
    process = start(asking(errs_once, "--concurrency", "2", "--run-dir", str(killed)))
    wait_until(lambda: errs_once.requests > moment * needed)
    os.kill(process.pid, signal.SIGKILL)
    end(process)
    assert main(asking(errs_once, "--concurrency", "2", "--resume", str(killed))) == 0
    assert needed <= errs_once.requests <= needed + 2
    for name in ("react", "dfsdt"):
        assert comparable(killed / name) == comparable(whole / name)
