"""Verification of a recorded run: execute it again, and compare verdicts and results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from checkers.causes.trace import Trace
from checkers.profile import Profile
from checkers.verdict import Verdict
from envs import __version__
from envs.errors import DataError
from runner.analysis.replayed_runs import replay_episodes
from runner.records import bfcl_result_file
from runner.records.bfcl_result_file import Verdicts
from runner.records.episode_record import EpisodeRecord, RecordedEpisode, call_text
from runner.records.recorded_run import Run
from trajectories.dataset import Dataset


class ResultChange(NamedTuple):
    """The first difference in an episode: a call, its recorded result and its new result."""

    turn: int
    step: int
    call: str
    then: str | None
    """The recorded result; None if the recorded episode lacks the call."""
    now: str | None


class VerifiedEpisode(NamedTuple):
    """A recorded verdict and the verdict of the new execution."""

    then: Mapping[str, Any]
    """The recorded fields of the verdict."""
    now: EpisodeRecord
    members: tuple[str, ...]
    """Fields that differ between the verdicts."""
    result: ResultChange | None

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not self.members and self.result is None


def recorded_verdicts(run: Run, path: Path | None) -> Verdicts:
    """Return a run's recorded verdicts, without the episodes that ended in an error.

    Raises DataError if the run has no verdicts.

    Args:
        run: A run folder, or BFCL's result files.
        path: File of the verdicts (default: in the run, or beside its result files).
    """
    if path is not None or run.definition is None:
        files = [path] if path is not None else _beside(run.path)
        found: Verdicts = {}
        for file in files:
            found |= bfcl_result_file.read_verdicts(file, run.ids)
    else:
        judged_then = [(record.key, record.verdict) for record in run.records]
        found = {key: verdict.to_json() for key, verdict in judged_then if verdict}
    verdicts = {key: found[key] for key in run.episodes if key in found}
    judged = {key: verdict for key, verdict in verdicts.items() if verdict["valid"] is not None}
    if not judged:
        raise DataError(str(path or run.path), "has no verdicts for episodes of this run")
    return judged


def _beside(path: Path) -> list[Path]:
    folder = path if path.is_dir() else path.parent
    file = folder / bfcl_result_file.VERDICTS_FILE
    files = sorted(path.rglob(file.name)) if path.is_dir() else [file] if file.exists() else []
    if not files:
        raise DataError("--verdicts", f"{file} does not exist; name a file with verdicts")
    return files


def verify(
    run: Run, dataset: Dataset, profile: Profile, step_limit: int, verdicts: Verdicts
) -> Iterator[VerifiedEpisode]:
    """Replay recorded episodes, and compare verdicts and results.

    Raises the same exceptions as ``replay_episodes``.
    """
    again = replay_episodes(run, verdicts, dataset, profile, step_limit)
    for then, (_, recorded, now, examined) in zip(verdicts.values(), again, strict=True):
        members = _differing(then, now.verdict) if now.verdict else ("valid",)
        change = _first_change(recorded, examined.model if examined else None)
        yield VerifiedEpisode(then, now, members, change)


def changes(run: Run, profile: Profile, verdicts: Verdicts) -> Iterator[str]:
    """Yield a line if Turnwise's version or the profile has changed since the run was judged."""
    if run.definition is not None and run.definition.simulator != __version__:
        yield f"simulator: turnwise {__version__}, was {run.definition.simulator}"
    if run.definition is not None:
        profiles = {run.definition.profile}
    else:
        profiles = {str(found["profile"]) for found in verdicts.values() if "profile" in found}
    if profiles - {profile.name}:
        yield f"profile: {profile.name}, was {', '.join(sorted(profiles))}"


def _differing(then: Mapping[str, Any], now: Verdict) -> tuple[str, ...]:
    written = {member: json.dumps(_present(value)) for member, value in now.to_json().items()}
    return tuple(
        [
            name
            for name, value in written.items()
            if name in then and json.dumps(_present(then[name])) != value
        ]
    )


def _present(value: Any) -> Any:
    if isinstance(value, list):
        return [_present(member) for member in value]
    if isinstance(value, float) and not isfinite(value):
        return str(value)  # as a record has it
    if not isinstance(value, dict):
        return value
    return {
        name: _present(member)
        for name, member in value.items()
        if name != "message" and (name not in ("expected", "actual") or member not in _ABSENT)
    }


_ABSENT = ("nothing", "None", None)


def _first_change(recorded: RecordedEpisode, trace: Trace | None) -> ResultChange | None:
    if recorded.record.outcome is None or trace is None:
        return None
    made = [step for step in recorded.record.steps if step.results]
    for number, turn in enumerate(trace.turns):
        then = [step for step in made if step.turn == number]
        for step, (old, new) in enumerate(zip_longest(then, turn.steps)):
            before = list(zip(old.calls, old.results, strict=True)) if old else []
            after = [(call_text(traced.call), traced.result.text) for traced in new or ()]
            change = _change(before, after)
            if change is not None:
                return ResultChange(number, step, *change)
    return None


def _change(
    before: Sequence[tuple[str, str]], after: Sequence[tuple[str, str]]
) -> tuple[str, str | None, str | None] | None:
    """Find the first difference in calls or results; return the call and both results."""
    for old, new in zip_longest(before, after):
        if old != new:
            call = new or old
            return call[0], old and old[1], new and new[1]
    return None
