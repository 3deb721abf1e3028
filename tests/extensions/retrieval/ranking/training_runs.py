"""Small trainings that tests begin, break off and go on with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from extensions.retrieval import training
from tests.extensions.retrieval.ranking.conftest import described
from tests.runner.commands.running import run

WORDS = {
    "bookFlight": ("fly to Oslo", "a seat on a plane", "take me by air"),
    "cancel_booking": ("I no longer want the trip", "undo what I reserved"),
    "send_message": ("tell Bo that I am late", "write to Ada", "let my friends know"),
    "read_messages": ("what did she write", "any news from them"),
    "lock_doors": ("close the car", "make the car safe"),
    "fill_tank": ("the car needs petrol", "fuel for the road"),
}
"""What people say who need a function."""


def material(folder: Path) -> tuple[str, ...]:
    """Write queries and functions; return the options that name them."""
    homes = {"bookFlight": "Travel", "cancel_booking": "Travel", "lock_doors": "Car"}
    homes |= {"fill_tank": "Car"}
    functions = [described(n, f"This does {n}.", homes.get(n, "Chat"), id="One.") for n in WORDS]
    lines = [json.dumps({"backend": f.backend, **f.document}) + "\n" for f in functions]
    (folder / "tools.jsonl").write_text("".join(lines), encoding="utf-8")
    asked = [
        {"id": f"{name}-{number}", "scenario": f"s{number}", "query": words, "relevant": [name]}
        for name, said in WORDS.items()
        for number, words in enumerate(said)
    ]
    text = "".join(json.dumps(each) + "\n" for each in asked)
    (folder / "asked.jsonl").write_text(text, encoding="utf-8")
    return "--queries", str(folder / "asked.jsonl"), "--corpus", str(folder / "tools.jsonl")


def train(folder: Path, *words: object) -> int:
    """Train by the command."""
    return run("retrieve train", folder, *words)


def files(folder: Path) -> dict[str, bytes]:
    """Return what a folder holds, by path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


class Killed(BaseException):
    """The end of a process."""


def train_until(
    folder: Path, epoch: int, words: Sequence[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Train, and break off when an epoch has been measured but not yet written down."""
    measured = training.Training._measure_epoch

    def ending(self: training.Training, number: int) -> object:
        if number == epoch:
            raise Killed
        return measured(self, number)

    with monkeypatch.context() as patch:
        patch.setattr(training.Training, "_measure_epoch", ending)
        with pytest.raises(Killed):
            train(folder, *words)
