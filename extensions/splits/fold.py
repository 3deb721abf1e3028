"""Division of entries and transcripts into a training part and a test part, in folds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

from envs.calls import Call
from extensions.retrieval.corpus import Corpus, load_full_corpus
from extensions.retrieval.queries import SplitKind, called_functions, held_out
from runner.commands.common_options import note
from runner.commands.options import index, option, positive
from runner.data import dataset_choice
from runner.records.episode_record import EpisodeRecord
from trajectories.dataset import EMBEDDED, Dataset
from trajectories.replay_queries import read_truth_calls
from trajectories.schema import MULTI_TURN, Trajectory

KindName = Literal["instruction", "tool", "category"]
"""Value of a ``SplitKind``."""
Keys = frozenset[str]
"""Keys that assign an entry to a part of a split: scenarios for the split kind ``instruction``,
backends for ``tool``, and groups of backends for ``category``."""


class Fold(NamedTuple):
    """One fold of a split."""

    kind: KindName
    fold: int = 0
    """Number of the held-out fold."""
    folds: int = 5
    seed: int = 0

    def held_out(self, datasets: Iterable[Dataset]) -> Keys:
        """Return the held-out keys, such as scenarios.

        The keys are chosen from all multi-turn categories, even if the run uses only some of them.
        If the run has an entry that is not multi-turn, the keys are chosen from all categories.

        Raises DataError if the fold does not exist, or if there are fewer than two keys.
        """
        keys: set[str] = set()
        for data in datasets:
            other = any(each.category not in MULTI_TURN for each in data.trajectories.values())
            keys |= _list_keys(data.name, "all" if other else None, self.kind)
        return held_out(
            keys, SplitKind(self.kind), fold=self.fold, folds=self.folds, seed=self.seed
        )

    def keys(self, entry: Trajectory, record: EpisodeRecord | None = None) -> Keys:
        """Return the keys of an entry; with ``record``, also the keys of the called functions."""
        if self.kind == "instruction":
            return frozenset({entry.base})
        called = _list_called(record) if record else ()
        return frozenset(_find_key(name, self.kind) for name in (*_list_needed(entry), *called))


def is_in_part(keys: Keys, held: Collection[str], *, training: bool) -> bool:
    """Tell whether an entry with these keys is in the training part or in the held-out part.

    Training entries have no held-out keys. Held-out entries have no other keys.
    """
    return keys.isdisjoint(held) if training else bool(keys) and keys.issubset(held)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FoldOptions:
    """Fold of a split."""

    fold: int | None = option(
        "with --split: number of the held-out fold (default: 0)", "N", read=index, needs="--split"
    )
    folds: int | None = option(
        "with --split: number of folds (default: 5)", "N", read=positive, needs="--split"
    )
    split_seed: int | None = option(
        "with --split: seed of the folds (default: 0)", "S", read=index, needs="--split"
    )

    def fold_of(self, kind: KindName) -> Fold:
        """Return the fold that ``--fold``, ``--folds`` and ``--split-seed`` select."""
        return Fold(kind, self.fold or 0, self.folds or 5, self.split_seed or 0)


@cache
def _list_keys(name: str, categories: str | None, kind: KindName) -> Keys:
    whole = dataset_choice.load_named(None if name == EMBEDDED else name, categories, note)
    fold = Fold(kind)
    return frozenset(key for each in whole.trajectories.values() for key in fold.keys(each))


def _find_key(name: str, kind: KindName) -> str:
    found = _load_corpus().by_name.get(name)
    if found is None:
        return name
    return found.backend if kind == "tool" else found.group


@cache
def _load_corpus() -> Corpus:
    return load_full_corpus()


def _list_needed(entry: Trajectory) -> Iterator[str]:
    for turn in entry.turns:
        yield from (call.name for call in read_truth_calls(turn) if isinstance(call, Call))
    for answer in entry.expects.answers or () if entry.expects else ():
        yield from answer


def _list_called(record: EpisodeRecord) -> Iterator[str]:
    for step in record.steps:
        for text in step.calls:
            yield from called_functions(text)
