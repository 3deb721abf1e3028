"""Single-turn entries made up for tests, and what models answer to them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from trajectories.schema import Category, ExpectedResults, ResultCheck, Trajectory

WAIT = {
    "name": "clock.wait",
    "description": "Wait.",
    "parameters": {"type": "dict", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
}
ANSWER = {"clock.wait": {"n": [5]}}


def called(name: str, **arguments: Any) -> dict[str, str]:
    """Return a call as function-calling models make it."""
    return {name: json.dumps(arguments)}


RIGHT, WRONG = ([called("clock_wait", n=n)] for n in (5, 6))


def executed_entry(folders: Trajectory) -> Trajectory:
    """Return an entry whose calls are executed: how many lines a file has, and its last one."""
    calls = ("wc(file_name='notes.txt', mode='l')", "tail(file_name='notes.txt', lines=1)")
    return replace(
        folders,
        category=Category.EXEC_PARALLEL,
        turns=(replace(folders.turns[0], ground_truth=calls),),
        expects=ExpectedResults(("wc", "tail"), (ResultCheck(), ResultCheck())),
    )


COUNT, LAST = called("wc", file_name="notes.txt"), called("tail", file_name="notes.txt", lines=1)
"""The calls that are right there."""
