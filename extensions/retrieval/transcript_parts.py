"""Transcripts to train on and those held out: of scenarios, backends or groups that are unseen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from envs.calls import Call, parse_calls
from envs.errors import MalformedCall
from extensions.retrieval.corpus import Described, everything
from extensions.retrieval.queries import Unseen, held_out
from runner.records.export import TuningTranscript
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.scene import truth_calls
from trajectories.schema import Trajectory


class TuningParts(NamedTuple):
    """Transcripts in their order; what is of both parts is in neither."""

    training: list[TuningTranscript]
    held_out: list[TuningTranscript]
    left_out: int
    """How many are in neither."""
    held: frozenset[str]
    """What is held out: scenarios, backends or groups."""


def tuning_parts(
    transcripts: Sequence[tuple[TuningTranscript, Dataset]],
    kind: Unseen,
    *,
    fold: int,
    folds: int,
    seed: int,
) -> TuningParts:
    """Return transcripts to train on, and one fold of the others.

    Args:
        transcripts: Each with the data that it is of.
        kind: What the two parts do not share.
        fold: Which fold is held out, from 0.
        folds: How many there are.
        seed: Of who is in which.

    Raises:
        DataError: The data lack an entry, or a part would be empty.
    """
    homes = everything().by_name
    keyed = [(each, _keys(each, data, kind, homes)) for each, data in transcripts]
    keys = {key for _, own in keyed for key in own}
    held = held_out(keys, kind, fold=fold, folds=folds, seed=seed)
    training = [each for each, own in keyed if held.isdisjoint(own)]
    out = [each for each, own in keyed if own and own <= held]
    if not training or not out:
        part = "to train on" if out else "that is held out"
        raise DataError("--split", f"{kind}: fold {fold} of {folds} leaves no episode {part}")
    return TuningParts(training, out, len(keyed) - len(training) - len(out), held)


def _keys(
    transcript: TuningTranscript, data: Dataset, kind: Unseen, homes: Mapping[str, Described]
) -> frozenset[str]:
    """Return what an episode may share with others."""
    entry = data.trajectories.get(transcript.record.id)
    if entry is None:
        raise DataError(transcript.record.id, f"{data.name} does not have this entry")
    if kind is Unseen.INSTRUCTION:
        return frozenset({entry.base})
    return frozenset(_home(name, kind, homes) for name in _functions(transcript, entry))


def _home(name: str, kind: Unseen, homes: Mapping[str, Described]) -> str:
    """Return the backend of a function, or what that is about; others are each by themselves."""
    found = homes.get(name)
    if found is None:
        return name
    return found.backend if kind is Unseen.TOOL else found.group


def _functions(transcript: TuningTranscript, entry: Trajectory) -> Iterator[str]:
    """Yield the functions that an episode calls, or that are called for."""
    for turn in entry.turns:
        yield from (call.name for call in truth_calls(turn) if isinstance(call, Call))
    for step in transcript.record.steps:
        for text in step.calls:
            try:
                yield from (call.name for call in parse_calls(text))
            except MalformedCall:
                continue
