"""The command as a user runs it, against a fake server: in this process, or in one of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from runner.records.episode_record import TIMING_FIELDS
from runner.records.run_files import EPISODES_FILE
from tests.servers.serving import Answer, Answerer, Asked, FakeServer, as_json
from tests.servers.shapes import completion

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0
"""Seconds after which a process that should have ended is taken to hang."""

ENTRIES = 24
BASE = ("--category", "base", "--limit", str(ENTRIES))
"""Flags that choose as many entries of those that the server of the fixtures knows."""


class Ended(NamedTuple):
    """What a finished command left."""

    status: int
    out: str
    err: str


def arguments(server: FakeServer | str, folder: Path, *more: str) -> list[str]:
    """Return a command line that runs a live model behind a server and keeps it in a folder."""
    url = server if isinstance(server, str) else server.base_url
    place = [] if "--resume" in more else ["--run-dir", str(folder)]
    return ["eval", "--model", "fake", "--base-url", url, *place, *more]


def start(command: Sequence[str], **environment: str) -> subprocess.Popen[str]:
    """Start the command as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "runner.cli", *command],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end(process: subprocess.Popen[str]) -> Ended:
    """Wait for a process, for a while, and return what it left."""
    try:
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    return Ended(process.returncode, out, err)


def records(folder: Path) -> list[dict[str, Any]]:
    """Return the records of a run, in the order in which they were written."""
    text = (folder / EPISODES_FILE).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def comparable(folder: Path) -> list[str]:
    """Return the lines of a run's episodes, sorted and without what differs from run to run."""
    found = sorted(records(folder), key=lambda record: (record["id"], record["trial"]))
    return [json.dumps(_without_timing(record)) for record in found]


def outcomes(folder: Path) -> dict[str, str]:
    """Return what became of each episode of a run with one trial."""
    return {record["id"]: record["outcome"] for record in records(folder)}


def _without_timing(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _without_timing(v) for k, v in value.items() if k not in TIMING_FIELDS}
    return [_without_timing(member) for member in value] if isinstance(value, list) else value


def is_preflight(asked: Asked) -> bool:
    """Tell whether a request is the one before a run."""
    return bool(asked.body["messages"][-1]["content"] == "Are you ready?")


def ready_and(answer: Answerer) -> Answerer:
    """Return what answers the request before a run, and any other as it is told.

    The ids of calls depend on the request alone, so that two runs can be compared.
    """

    def whole(asked: Asked) -> Answer:
        if is_preflight(asked):
            return as_json(completion({"role": "assistant", "content": "Yes."}, "stop"))
        given = answer(asked)
        place = len(asked.body["messages"])
        numbers = iter(range(1000))
        body = re.sub(
            rb'"call_\d+"', lambda _: b'"call_%d_%d"' % (place, next(numbers)), given.body
        )
        return given._replace(body=body)

    return whole


def spoiled(
    answer: Answerer, spoil: Mapping[str, Answerer], openings: Mapping[str, str]
) -> Answerer:
    """Return what answers some episodes otherwise, from their second step on.

    Args:
        answer: Answers the other requests.
        spoil: What answers instead, by the trajectory's id.
        openings: Id by what the user says first.
    """

    def whole(asked: Asked) -> Answer:
        messages = asked.body["messages"]
        opening = next(m["content"] for m in messages if m["role"] == "user")
        begun = any(m["role"] == "assistant" for m in messages)
        other = spoil.get(openings.get(opening, "")) if begun else None
        return (other or answer)(asked)

    return whole


def says(text: str) -> Answerer:
    """Return what answers with a text and calls nothing."""
    message = {"role": "assistant", "content": text}
    return lambda _: as_json(completion(message))


def calls(name: str, **given: object) -> Answerer:
    """Return what answers with one call."""
    function = {"name": name, "arguments": json.dumps(given)}
    call = {"id": "call_1", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return lambda _: as_json(completion(message, "tool_calls"))


def resume(folder: Path) -> tuple[str, str]:
    """Return the flags that go on with a run."""
    return "--resume", str(folder)


def wait_until(ready: Callable[[], bool]) -> None:
    """Wait until something is so, for a while."""
    give_up = time.monotonic() + PATIENCE
    while not ready():
        assert time.monotonic() < give_up, "this takes too long"
        time.sleep(0.001)
