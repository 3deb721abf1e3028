"""Runs to look at: written as a live run or BFCL writes them, without asking a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from checkers.profile import PROFILES
from envs import __version__
from runner.episodes.episode import STEP_LIMIT
from runner.episodes.evaluate import judge_recorded
from runner.records.store import Record, RunStore
from trajectories.dataset import load_path
from trajectories.prepare import prepare
from trajectories.schema import Category, Trajectory

Turns = Sequence[Sequence[Any]]


def truth_turns(trajectory: Trajectory) -> list[list[Any]]:
    """Return the ground truth as a prompting model would write it, each turn in one step."""
    return [
        [f"[{', '.join(turn.ground_truth)}]", "Done."] if turn.ground_truth else ["Done."]
        for turn in trajectory.turns
    ]


def definition(data: Path, **other: Any) -> dict[str, Any]:
    """Return what defines a run of a prompting model on a data file.

    Args:
        data: The file.
        other: Members to have instead.
    """
    return {
        "model": "org/model",
        "settings": {"mode": "prompt"},
        "dataset": {
            "name": str(data),
            "version": "unknown",
            "sha256": load_path(data, list(Category)).sha256,
        },
        "profile": "strict",
        "step_limit": STEP_LIMIT,
        "selection": {"category": None, "trials": 1},
        "simulator": __version__,
        **other,
    }


def record(data: Path, id: str, turns: Turns, trial: int = 0, profile: str = "strict") -> Record:
    """Return the record of an episode in which a model said so."""
    dataset = load_path(data, list(Category))
    prepared = prepare(dataset, dataset.trajectories[id], PROFILES[profile])
    found = judge_recorded(prepared, turns, "prompt", PROFILES[profile], traced=True)
    verdict, _, trace = found
    assert trace is not None
    return {
        "id": id,
        "trial": trial,
        "category": prepared.trajectory.category.value,
        "outcome": "passed" if verdict.valid else "failed",
        "verdict": verdict.to_json(),
        "error": None,
        "messages": [],
        "steps": [
            {
                "turn": number,
                "calls": [str(call.call) for call in step],
                "results": [call.result.text for call in step],
            }
            for number, turn in enumerate(trace.turns)
            for step in turn.steps
        ],
        "turn_ends": [],
        "result": turns,
    }


def error_record(id: str, trial: int = 0) -> Record:
    """Return the record of an episode that ended in an error that is not the model's."""
    return {
        "id": id,
        "trial": trial,
        "category": "base",
        "outcome": "error",
        "verdict": None,
        "error": "the server was gone",
    }


def write_run(folder: Path, defining: Mapping[str, Any], *records: Record) -> Path:
    """Write a run folder."""
    with RunStore.create(folder, defining) as store:
        for each in records:
            store.append(each)
    return folder
