"""What both sides are measured on, as one JSON file that either can read without the other.

Worlds and replies are the ground truth of BFCL's base category; recorded entries are other people's
runs or, where there are none, the ground truth played as a model's calls.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from envs.calls import parse_call
from runner.data import dataset_choice
from runner.records import bfcl_result_file
from trajectories import bfcl_reader
from trajectories.jsonl import read_objects
from trajectories.schema import MULTI_TURN, Category

SCORED = [category for category in MULTI_TURN if category is not Category.COMPOSITE]


def write(path: Path, data: Path, recorded: Path | None) -> None:
    """Write the workload.

    Args:
        path: Where to.
        data: BFCL's data folder.
        recorded: A folder of recorded runs, or None.
    """
    entries = _entries(data)
    base = [entry for entry in entries.values() if entry["category"] == Category.BASE]
    workload = {
        "data": str(data),
        "recorded": list(_recorded(entries, recorded) if recorded else _as_model(entries)),
        "worlds": [_world(entry) for entry in base],
        "replies": [f"[{', '.join(calls)}]" for entry in base for calls in entry["truth"] if calls],
    }
    path.write_text(json.dumps(workload), encoding="utf-8")


def _entries(data: Path) -> dict[str, dict[str, Any]]:
    entries = {}
    for category in SCORED:
        question, answer = (
            read_objects(data / name) for name in bfcl_reader.list_data_files(category)
        )
        for (_, entry), (_, truth) in zip(question, answer, strict=True):
            entries[entry["id"]] = {
                "category": str(category),
                "question": entry,
                "truth": truth["ground_truth"],
            }
    return entries


def _recorded(entries: Mapping[str, Any], folder: Path) -> Iterator[dict[str, Any]]:
    # BFCL keeps an entry's objects per model name, so each run needs a name of its own.
    for number, run in enumerate(sorted({path.parent for path in folder.glob("*/*_result.json")})):
        files = sorted(run.glob("*multi_turn_*_result.json"))
        for line in (line for file in files for line in bfcl_result_file.read(file)):
            if line.turns is not None:
                yield {**entries[line.id], "run": f"run_{number}", "turns": line.turns}


def _as_model(entries: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the ground truth as recorded steps; calls with positional arguments are left out."""
    for entry in entries.values():
        turns = [
            [[{name: arguments} for name, arguments in _structured(calls)]]
            for calls in entry["truth"]
        ]
        yield {**entry, "run": "truth", "turns": turns}


def _world(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return a world and its ground truth, as texts and structured; named arguments only."""
    texts = [text for calls in entry["truth"] for text in calls if _structured([text])]
    return {
        "config": entry["question"]["initial_config"],
        "environments": entry["question"]["involved_classes"],
        "calls": texts,
        "structured": _structured(texts),
    }


def _structured(texts: list[str]) -> list[tuple[str, dict[str, Any]]]:
    calls = [parse_call(text) for text in texts]
    return [(call.name, dict(call.kwargs)) for call in calls if not call.args and not call.nested]


def find_data() -> Path:
    """Return BFCL's data folder, fetching it if need be."""
    return dataset_choice.find_bfcl_folder("bfcl", print)
