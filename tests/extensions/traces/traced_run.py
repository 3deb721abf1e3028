"""A run of an agent that knows the ground truth and errs now and then, exported as traces."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import turnwise

from runner.cli import main
from trajectories.replay_queries import read_truth_calls
from trajectories.schema import Trajectory

FORMATS = ("openai", "otel", "langsmith", "inspect")
_ERRS = 0.04
"""Share of wrong calls."""


class Agent:
    """Plays the ground truth of an entry, found by its first user message."""

    def __init__(self, entries: Mapping[str, Trajectory]) -> None:
        self._entries = {entry.turns[0].messages[0].content: entry for entry in entries.values()}

    def __call__(self, messages: list[dict[str, Any]], tools: object) -> dict[str, Any]:
        """Make all calls of a turn, one in a step, then say so."""
        roles = [None, *(each["role"] for each in messages)]
        said = [
            place
            for place, each in enumerate(messages)
            if each["role"] == "user" != roles[place]
            if not each["content"].startswith("[Notice ")
        ]
        entry = self._entries[messages[said[0]]["content"]]
        step = sum(each["role"] == "assistant" for each in messages[said[-1] :])
        turn = entry.turns[len(said) - 1]
        calls = read_truth_calls(turn)[step : step + 1] if turn.ground_truth else []
        random = Random(f"{entry.id}/{len(messages)}")
        more: dict[str, Any] = {"reasoning_content": f"Step {step}."} if step % 2 else {}
        usage = {"prompt_tokens": 10 * len(messages), "completion_tokens": step + 1}
        usage["prompt_tokens_details"] = {"cached_tokens": step}
        message = {"role": "assistant", "content": "Done.", "usage": usage, **more}
        if calls:
            [call] = calls
            given = dict(call.kwargs)
            if random.random() < _ERRS and given:
                given.popitem()
            function = {"name": call.name, "arguments": json.dumps(given)}
            if random.random() < _ERRS / 2:
                function["arguments"] = "{not JSON"
            message["content"] = None if step else "One moment."
            message["tool_calls"] = [{"id": f"c{step}", "type": "function", "function": function}]
        return message


def make_run(folder: Path, limit: int, dataset: str | None = None) -> Path:
    """Run the agent on entries of all categories of a data set."""
    data = turnwise.load_dataset(dataset)
    # The agent knows an entry by its first message.
    ids = [
        *{
            entry.turns[0].messages[0].content: id for id, entry in data.trajectories.items()
        }.values()
    ]
    some = ids[:: max(1, len(ids) // limit)][:limit]
    run = turnwise.evaluate(Agent(data.trajectories), data, ids=some, run_dir=folder, name="mine")
    assert run.errors == 0
    return run.folder


def export(run: Path, form: str) -> Path:
    """Export a run; return the file."""
    path = run.parent / (f"{form}.jsonl" if form in ("openai", "langsmith") else f"{form}.json")
    command = ["export", str(run), "--format", "openai-messages", "--traces", form]
    assert main([*command, "-o", str(path)]) == 0
    return path
