"""A Node program with the official MCP client plays episodes that are served."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from envs.calls import parse_call
from runner.records.recorded_run import read_records
from trajectories.dataset import load_embedded
from trajectories.schema import Category

ROOT = Path(__file__).parents[3]
NODE = Path(os.environ.get("TURNWISE_NODE", ROOT / ".venv-frameworks" / "node"))
SERVE = [sys.executable, "-m", "runner.cli", "env", "serve", "--category", "miss_func"]

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or not (NODE / "node_modules").exists(),
    reason="needs node and npm: make test-adapters",
)


def test_the_oracle_in_node_passes_20_entries(tmp_path: Path) -> None:
    known = {
        entry.id: [
            {
                "calls": [
                    {"name": call.name, "arguments": dict(call.kwargs)}
                    for call in map(parse_call, turn.ground_truth)
                ],
                "answer": "Done.",
            }
            for turn in entry.turns
        ]
        for entry in load_embedded([Category.MISSING_FUNCTION]).trajectories.values()
    }
    answers, folder = tmp_path / "answers.json", tmp_path / "run"
    answers.write_text(json.dumps(known), encoding="utf-8")
    # A program finds its packages in the folders above it.
    program = shutil.copy(ROOT / "examples" / "play_episodes.mjs", NODE)
    command = [*SERVE, "--limit", "20", "--http", "0", "--run-dir", folder]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr
        found = re.search(r"and (\S+/mcp),", line := server.stderr.readline())
        assert found, line
        played = subprocess.run(
            ["node", program, found[1], answers], capture_output=True, text=True, timeout=120
        )
        server.send_signal(signal.SIGINT)
        server.stderr.read()
    assert [line.split()[1:] for line in played.stdout.splitlines()] == [["true"]] * 20, (
        played.stderr
    )
    assert [record.outcome for record in read_records(folder)] == ["passed"] * 20
