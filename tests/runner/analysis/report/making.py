"""Recorded runs made up for tests, and what a page on them holds."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from checkers.profile import BFCL, Profile
from runner.analysis.replayed_runs import ReplayedRun, replay_run
from runner.analysis.report.episode_cards import SharedValues
from runner.models.model_types import Usage
from runner.records.episode_record import EpisodeRecord, ReplyRecord, StepRecord
from runner.records.recorded_run import Run
from runner.records.run_store import RunStore
from tests.runner.records.made import answered, defining
from trajectories.dataset import Dataset

Turns = Sequence[Sequence[Any]] | None


def call(name: str, **arguments: Any) -> list[dict[str, str]]:
    """Return a step with one call, as function-calling models make it."""
    return [{name: json.dumps(arguments)}]


def source_of(
    episodes: Mapping[str | tuple[str, int], Turns],
    records: Mapping[str, Mapping[str, Any]] | None = None,
    path: Path = Path("made-up"),
) -> Run:
    """Return a run of recorded turns, by trajectory or by trajectory and trial.

    Args:
        episodes: Turns of steps; None for an error.
        records: Members of the run's own records by trajectory; None for a run without such.
        path: Where the run is.
    """
    found = {}
    for key, turns in episodes.items():
        id, trial = (key, 0) if isinstance(key, str) else key
        found[id, trial] = answered(id, turns, trial=trial, **(records or {}).get(id, {}))
    return Run("made-up", path, found, defining("made-up") if records else None)


def viewed(dataset: Dataset, source: Run, profile: Profile = BFCL) -> ReplayedRun:
    """Execute a run once more."""
    made = replay_run(source, dataset, profile, 20)
    return made._replace(episodes=[*made.episodes])


def shared_of(run: Run | None, *records: EpisodeRecord) -> SharedValues:
    """Return the values that records share."""
    values = SharedValues(run)
    for each in records:
        values.add(each)
    return values


def request(turn: int, messages: int, text: str | None = None, **more: Any) -> StepRecord:
    """Return a recorded step."""
    made = StepRecord(
        turn=turn,
        request_messages=messages,
        tools="digest",
        reply=ReplyRecord(text, [], None, "stop"),
        calls=[],
        results=[],
        changes=[],
        usage=Usage(10, 2),
        latency=0.5,
        cost=0.01,
        attempts=1,
    )
    return made._replace(**more)


def kept_tools(folder: Path, *tools: Mapping[str, Any]) -> Path:
    """Make a run folder with one tool list, and return it."""
    with RunStore.create(folder, defining("made-up")) as store:
        store.put_tools("digest", tools)
    return folder


def unpacked(page: Iterable[str]) -> list[Any]:
    """Return the packs of a page."""
    return [unpack(text) for text in re.findall(r'class="pack">([^<]*)</script>', "".join(page))]


def unpack(pack: str) -> Any:
    """Return the value of a pack."""
    return json.loads(zlib.decompress(b64decode(pack), -zlib.MAX_WBITS))
