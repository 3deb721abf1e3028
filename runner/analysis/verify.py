"""Executing a recorded run once more: are its verdicts, and the results in it, what they were?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from checkers.profile import Profile
from checkers.verdict import Verdict
from checkers.why.trace import Trace
from envs import __version__
from runner.analysis.runs import executed_again
from runner.records import result_file
from runner.records.record import EpisodeRecord, Recorded, call_text
from runner.records.result_file import Verdicts
from runner.records.run import Run
from trajectories.dataset import Dataset
from trajectories.errors import DataError


class ResultChange(NamedTuple):
    """The first result of an episode that is not what the model read when it was recorded."""

    turn: int
    step: int
    call: str
    then: str | None
    """The recorded result; None where no such call was recorded."""
    now: str | None


class Verified(NamedTuple):
    """A recorded verdict, and what comes out now."""

    then: Mapping[str, Any]
    """The recorded verdict, as far as it is known."""
    now: EpisodeRecord
    """What became of the episode now."""
    members: tuple[str, ...]
    """In which members the verdicts differ."""
    result: ResultChange | None

    @property
    def same(self) -> bool:
        """Whether all is as recorded."""
        return not self.members and self.result is None


def recorded_verdicts(run: Run, path: Path | None) -> Verdicts:
    """Return the verdicts that were recorded of the episodes of a run.

    Those that ended in an error that is not the model's have none.

    Args:
        run: The run.
        path: Where they are; by default in the run, or beside its result files.

    Raises:
        DataError: There are none.
    """
    if path is not None or run.definition is None:
        files = [path] if path is not None else _beside(run.path)
        found: Verdicts = {}
        for file in files:
            found |= result_file.read_verdicts(file, run.ids)
    else:
        judged_then = [(record.key, record.verdict) for record in run.records]
        found = {key: verdict.to_json() for key, verdict in judged_then if verdict}
    verdicts = {key: found[key] for key in run.episodes if key in found}
    judged = {key: verdict for key, verdict in verdicts.items() if verdict["valid"] is not None}
    if not judged:
        raise DataError(str(path or run.path), "has no verdict on an episode of this run")
    return judged


def _beside(path: Path) -> list[Path]:
    """Return the files of verdicts beside result files, in folders of a folder too."""
    folder = path if path.is_dir() else path.parent
    file = folder / result_file.VERDICTS_FILE
    files = sorted(path.rglob(file.name)) if path.is_dir() else [file] if file.exists() else []
    if not files:
        raise DataError("--verdicts", f"is needed to say what was recorded: there is no {file}")
    return files


def verify(
    run: Run, dataset: Dataset, profile: Profile, step_limit: int, verdicts: Verdicts
) -> Iterator[Verified]:
    """Execute the episodes of a run that have a verdict again, and compare.

    It takes and raises what ``executed_again`` does.
    """
    again = executed_again(run, verdicts, dataset, profile, step_limit)
    for then, (_, recorded, now, examined) in zip(verdicts.values(), again, strict=True):
        members = _differing(then, now.verdict) if now.verdict else ("valid",)
        change = _first_change(recorded, examined.model if examined else None)
        yield Verified(then, now, members, change)


def changes(run: Run, profile: Profile, verdicts: Verdicts) -> Iterator[str]:
    """Say what is not as it was when a run was judged; of the data, ``dataset_of`` says so."""
    if run.definition is not None and run.definition.simulator != __version__:
        yield f"the simulator is turnwise {__version__}, it was {run.definition.simulator}"
    if run.definition is not None:
        profiles = {run.definition.profile}
    else:
        profiles = {str(found["profile"]) for found in verdicts.values() if "profile" in found}
    if profiles - {profile.name}:
        yield f"the profile is {profile.name}, it was {', '.join(sorted(profiles))}"


def _differing(then: Mapping[str, Any], now: Verdict) -> tuple[str, ...]:
    """Return the members in which verdicts differ, out of those that are on record."""
    # As text, in which a value that is not a number equals itself.
    written = {member: json.dumps(_present(value)) for member, value in now.to_json().items()}
    return tuple(
        [
            name
            for name, value in written.items()
            if name in then and json.dumps(_present(then[name])) != value
        ]
    )


def _present(value: Any) -> Any:
    """Return a member of a verdict without what is absent, for which early runs have a text."""
    if isinstance(value, list):
        return [_present(member) for member in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _present(member)
        for name, member in value.items()
        if name not in ("expected", "actual") or member not in _ABSENT
    }


_ABSENT = ("nothing", "None", None)


def _first_change(recorded: Recorded, trace: Trace | None) -> ResultChange | None:
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
    """Return the first call whose result differs, with both results."""
    for old, new in zip_longest(before, after):
        if old != new:
            call = new or old
            return call[0], old and old[1], new and new[1]
    return None
