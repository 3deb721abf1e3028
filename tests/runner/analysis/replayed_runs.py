"""Runs to look at: written as a live run or BFCL writes them, without asking a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from checkers.profile import PROFILES
from envs import __version__
from runner.episodes.judging import judge_recorded
from runner.episodes.turn_loop import STEP_LIMIT
from runner.records.episode_record import EpisodeRecord
from runner.records.run_definition import DatasetReference, RunDefinition
from runner.records.run_store import RunStore
from tests.runner.records.made import ASKED, EVERYTHING, step
from trajectories.dataset import load_path
from trajectories.prepared_trajectory import prepare
from trajectories.replay_queries import read_retried_calls
from trajectories.schema import Category, Trajectory

Turns = Sequence[Sequence[Any]]


def truth_turns(trajectory: Trajectory) -> list[list[Any]]:
    """Return the ground truth as a prompting model would write it, each turn in one step."""
    turns = []
    for turn in trajectory.turns:
        texts = map(str, read_retried_calls(turn)) if turn.outages else turn.ground_truth
        turns.append([f"[{', '.join(texts)}]", "Done."] if turn.ground_truth else ["Done."])
    return turns


def definition(data: Path, **other: Any) -> RunDefinition:
    """Return what defines a run of a prompting model on a data file.

    Args:
        data: The file.
        other: Members to have instead.
    """
    sha256 = load_path(data, list(Category)).sha256
    made = RunDefinition(
        model="org/model",
        settings=ASKED,
        prompts_sha256="0" * 64,
        dataset=DatasetReference(str(data), "unknown", sha256),
        profile="strict",
        step_limit=STEP_LIMIT,
        selection=EVERYTHING,
        simulator=__version__,
    )
    return made._replace(**other)


def record(
    data: Path, id: str, turns: Turns, trial: int = 0, profile: str = "strict"
) -> EpisodeRecord:
    """Return the record of an episode in which a model said so."""
    dataset = load_path(data, list(Category))
    prepared = prepare(dataset, dataset.trajectories[id], PROFILES[profile])
    found = judge_recorded(prepared, turns, "prompt", PROFILES[profile], traced=True)
    verdict, _, trace = found
    assert trace is not None
    return EpisodeRecord(
        id,
        trial,
        prepared.trajectory.category.value,
        "passed" if verdict.valid else "failed",
        verdict,
        None,
        steps=[
            step(number, [str(c.call) for c in calls], [c.result.text for c in calls])
            for number, turn in enumerate(trace.turns)
            for calls in turn.steps
        ],
        result=turns,
    )


def error_record(id: str, trial: int = 0) -> EpisodeRecord:
    """Return the record of an episode that ended in an error that is not the model's."""
    return EpisodeRecord(id, trial, "base", "error", None, "the server was gone")


def write_run(folder: Path, defining: RunDefinition, *records: EpisodeRecord) -> Path:
    """Write a run folder."""
    with RunStore.create(folder, defining) as store:
        for each in records:
            store.append(each)
    return folder
