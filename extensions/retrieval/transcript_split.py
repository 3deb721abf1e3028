"""Split of transcripts into training and held-out transcripts, by scenario, backend or group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from envs.calls import Call
from extensions.export.transcripts import TuningTranscript
from extensions.retrieval.corpus import Corpus, load_full_corpus
from extensions.retrieval.queries import SplitKind, called_functions, held_out
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.replay_queries import read_truth_calls
from trajectories.schema import Trajectory


class TranscriptSplit(NamedTuple):
    """Training and held-out transcripts in order."""

    training: list[TuningTranscript]
    held_out: list[TuningTranscript]
    left_out: int
    """Number of transcripts that would belong to both parts and are therefore in neither."""
    held: frozenset[str]
    """Held-out scenarios, backends or groups."""


def split_transcripts(
    transcripts: Sequence[tuple[TuningTranscript, Dataset]],
    kind: SplitKind,
    *,
    fold: int,
    folds: int,
    seed: int,
) -> TranscriptSplit:
    """Split transcripts; each transcript is given with its data set.

    ``fold`` is the index of the held-out fold among ``folds``; ``seed`` draws the folds.

    Raises DataError if the data lack an entry, or a part would be empty.
    """
    corpus = load_full_corpus()
    keyed = [(each, _find_keys(each, data, kind, corpus)) for each, data in transcripts]
    keys = {key for _, own in keyed for key in own}
    held = held_out(keys, kind, fold=fold, folds=folds, seed=seed)
    training = [each for each, own in keyed if held.isdisjoint(own)]
    out = [each for each, own in keyed if own and own <= held]
    if not training or not out:
        part = "to train on" if out else "to hold out"
        raise DataError("--split", f"{kind}: fold {fold} of {folds} leaves no episode {part}")
    return TranscriptSplit(training, out, len(keyed) - len(training) - len(out), held)


def _find_keys(
    transcript: TuningTranscript, data: Dataset, kind: SplitKind, corpus: Corpus
) -> frozenset[str]:
    entry = data.trajectories.get(transcript.record.id)
    if entry is None:
        raise DataError(transcript.record.id, f"{data.name} does not have this entry")
    if kind is SplitKind.INSTRUCTION:
        return frozenset({entry.base})
    return frozenset(_find_key(name, kind, corpus) for name in _find_functions(transcript, entry))


def _find_key(name: str, kind: SplitKind, corpus: Corpus) -> str:
    found = corpus.by_name.get(name)
    if found is None:
        return name
    return found.backend if kind is SplitKind.TOOL else found.group


def _find_functions(transcript: TuningTranscript, entry: Trajectory) -> Iterator[str]:
    for turn in entry.turns:
        yield from (call.name for call in read_truth_calls(turn) if isinstance(call, Call))
    for step in transcript.record.steps:
        for text in step.calls:
            yield from called_functions(text)
