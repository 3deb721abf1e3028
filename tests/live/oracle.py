"""The oracle behind the fake server in every protocol, over real HTTP.

    python -m tests.live.oracle [PROTOCOL ...] [--sample N] [--category C,D ...]

plays all of the embedded data, in groups of categories within which no two entries look alike to
the server, and prints how many entries passed. Each protocol takes half a minute and upwards.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import lru_cache
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from extensions.formats.registry import calling_formats_named
from runner.cli import main as turnwise
from runner.models.calling_formats.format_types import CallingFormat
from tests.live.running import records
from tests.servers.answers import of_dataset
from tests.servers.faults import fault
from tests.servers.protocols import speaking
from tests.servers.serving import Answer, Answerer, Asked, FakeServer, as_json
from tests.servers.shapes import completion

GROUPS = ("base,miss_param,miss_func", "composite", "long_context", "single_turn,executable")
"""Categories that are played together; a long context says what the plain entry says."""

_truth = lru_cache(of_dataset)


class Played(NamedTuple):
    """How the entries of some categories ended in a protocol."""

    asked: int
    failed: tuple[str, ...]
    """The ids of those that did not pass."""
    said: str
    """What the command said."""


def ready(answer: Answerer) -> Answerer:
    """Return what also answers the request before a run."""

    def whole(asked: Asked) -> Answer:
        if "Are you ready?" not in json.dumps(asked.body):
            return answer(asked)
        if "input" in asked.body:
            return answer(asked)
        if "prompt" in asked.body:
            return as_json({"choices": [{"text": "Yes.", "finish_reason": "stop"}]})
        return as_json(completion({"role": "assistant", "content": "Yes."}))

    return whole


def knowing(protocol: CallingFormat, categories: str) -> Answerer:
    """Return what answers with the ground truth, by as many calls a step as a protocol has."""
    truth = _truth("turnwise", categories, None, None if protocol.parallel else 1)
    return ready(speaking(protocol, truth))


def played(server: FakeServer, protocol: CallingFormat, categories: str, *more: str) -> Played:
    """Have the oracle do entries in a protocol, as a run of the command."""
    server.answer, said = knowing(protocol, categories), StringIO()
    with TemporaryDirectory() as folder, redirect_stdout(StringIO()), redirect_stderr(said):
        run = Path(folder) / "run"
        wanted = [
            "--category",
            categories,
            "--calling-format",
            protocol.name,
            "--run-dir",
            str(run),
        ]
        turnwise(["eval", "--model", "fake", "--base-url", server.base_url, *wanted, *more])
        found = records(run) if run.exists() else []
    failed = tuple([record["id"] for record in found if record["outcome"] != "passed"])
    return Played(len(found), failed, said.getvalue())


def main(arguments: Sequence[str] | None = None) -> int:
    """Play what is asked for; the status is 1 where anything failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.live.oracle")
    parser.add_argument("protocol", nargs="*", default=["all"], help="by default all")
    parser.add_argument("--category", nargs="*", default=GROUPS, help="groups, played one by one")
    parser.add_argument("--sample", help="so many entries of each group; by default all")
    options = parser.parse_args(arguments)
    for name in [*os.environ]:
        if name.upper().endswith(("_PROXY", "_API_KEY", "_BASE_URL", "_API_BASE")):
            del os.environ[name]
    more = ["--sample", options.sample] if options.sample else []
    print(f"{'protocol':16}  passed  asked  requests  seconds")
    status = 0
    with FakeServer(fault("text")) as server:
        for protocol in calling_formats_named(options.protocol):
            begun, before = time.monotonic(), server.requests
            found = [played(server, protocol, group, *more) for group in options.category]
            asked = sum(each.asked for each in found)
            failed = [id for each in found for id in each.failed]
            figures = asked - len(failed), asked, server.requests - before
            row = "{:6}  {:5}  {:8}".format(*figures)
            print(f"{protocol.name:16}  {row}  {time.monotonic() - begun:7.1f}", flush=True)
            for line in [*failed, *(each.said for each in found if not each.asked)]:
                print(f"    {line}")
            status |= bool(failed) or not all(each.asked for each in found)
    return status


if __name__ == "__main__":
    sys.exit(main())
