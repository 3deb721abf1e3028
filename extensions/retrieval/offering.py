"""What retrieval offers a model: by turn, as data; and what that is worth to one that never errs.

The query of a turn is what its user says in it. A function that the entry hands over later is never
offered before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from envs.calls import Call
from envs.registry import BACKENDS, names, tools_of
from extensions.authoring.graph import graph
from extensions.experiments.widened import beside
from extensions.retrieval.corpus import Corpus, Described
from extensions.retrieval.rankings import Ranking
from extensions.retrieval.reading import corpus_named
from runner.models.tools import Document, bfcl_documents, own_documents
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.offering import Offering
from trajectories.scene import truth_calls
from trajectories.schema import JudgedBy, Trajectory, Turn

How = Literal["top", "backends", "search", "oracle"]


class Policy(NamedTuple):
    """How many functions are offered, and which."""

    how: How
    number: int = 0
    needs: bool = False
    """Whether what the function graph says that a function may need first is offered, too."""

    @classmethod
    def named(cls, text: str) -> Policy:
        """Return the policy that a user typed.

        Raises:
            DataError: There is none of that name, or the number is not one.
        """
        how, equals, number = text.partition("=")
        if text == "oracle":
            return cls("oracle")
        number, plus, more = number.partition("+")
        if plus and (how, more) != ("top", "needs"):
            raise DataError("--retrieve", f"{text!r:.60}: only top=N+needs adds something")
        if how in ("top", "backends", "search") and equals:
            if number.isdecimal() and len(number) < 6 and int(number) > 0:
                return cls(how, int(number), bool(plus))  # type: ignore[arg-type]
            raise DataError("--retrieve", f"{text!r:.60}: {number!r:.40} is no number from 1")
        raise DataError(
            "--retrieve",
            f"{text!r:.60} is none of backends=N, top=N, top=N+needs, search=N, oracle",
        )

    def __str__(self) -> str:
        """Return what the user types."""
        more = "+needs" if self.needs else ""
        return f"{self.how}={self.number}{more}" if self.number else self.how


class RetrieveReference(NamedTuple):
    """Which functions a model was offered, where retrieval chose them."""

    policy: str
    """Such as ``backends=3``."""
    pool: str
    """What was looked through: ``own``, ``all`` or a file."""
    by: str
    """How it was ranked."""
    keep: bool
    """Whether what an earlier turn was offered stayed."""
    pool_sha256: str
    """Beginning of the hash of the pool's documents, in hex."""


class Retrieval(NamedTuple):
    """What a run retrieves."""

    policy: Policy
    pool: str = "own"
    """``own``, ``all``, or a file of functions among ours."""
    by: str = "default"
    keep: bool = True
    """Whether what an earlier turn was offered stays."""

    @classmethod
    def of(cls, reference: RetrieveReference) -> Retrieval:
        """Return what a run retrieved."""
        return cls(Policy.named(reference.policy), reference.pool, reference.by, reference.keep)

    def narrowed(
        self, dataset: Dataset, ids: Iterable[str], folder: Path | None
    ) -> tuple[Dataset, RetrieveReference]:
        """Return a data set whose entries are offered what is retrieved, and what that was of.

        Entries of one turn keep the list of their own.

        Args:
            dataset: What there is.
            ids: The entries that are wanted.
            folder: BFCL's data folder, where the model is shown its documents; None for ours.

        Raises:
            DataError: The pool or the ranking cannot be had.
        """
        pool = _pool(self.pool, folder)
        chosen = [dataset.trajectories[id] for id in ids]
        chosen = [each for each in chosen if each.judged_by is JudgedBy.STATE]
        wide = {t.id: beside(t, _backends(pool)) for t in chosen}
        offering = dict(self._offered(wide.values(), pool))
        trajectories = {**dataset.trajectories, **wide}
        reference = RetrieveReference(
            str(self.policy), self.pool, self.by, self.keep, pool.sha256[:16]
        )
        return replace(dataset, trajectories=trajectories, offering=offering), reference

    def _offered(
        self, trajectories: Iterable[Trajectory], pool: Corpus
    ) -> Iterator[tuple[str, Offering]]:
        chosen = list(trajectories)
        if self.policy.how == "oracle":
            yield from ((t.id, _of_truth(t)) for t in chosen)
            return
        if self.policy.how == "search" and self.by.startswith("embed:"):
            message = f"{self.policy} looks while the run goes on: not by embed"
            raise DataError("--retrieve", message)
        ranking = Ranking(pool, self.by)
        if self.policy.how == "search":
            finder = Finder(ranking, self.policy.number)
            yield from ((t.id, Offering(_handed_over(t), finder)) for t in chosen)
            return
        wanted = [turn.words for t in chosen for turn in t.turns]
        said = list(dict.fromkeys(words for words in wanted if words.strip()))
        places = [[found.function.name for found in each] for each in ranking.find_all(said)]
        ranked = dict(zip(said, places, strict=True))
        yield from ((t.id, Offering(self._turns(t, ranked, pool))) for t in chosen)

    def _turns(
        self, trajectory: Trajectory, ranked: Mapping[str, Sequence[str]], pool: Corpus
    ) -> tuple[frozenset[str], ...]:
        """Return what each turn offers, given the functions of the pool in order by query."""
        everything, turns = tuple(tools_of(trajectory.environments)), []
        kept: frozenset[str] = frozenset()
        for number, turn in enumerate(trajectory.turns):
            there = trajectory.offered(everything, number)
            found = [name for name in ranked.get(turn.words, ()) if name in there]
            new = frozenset(self._chosen(found, pool))
            kept = kept | new if self.keep else new
            turns.append((kept | _handed(trajectory, number)) & there)
        return tuple(turns)

    def _chosen(self, found: Sequence[str], pool: Corpus) -> Iterable[str]:
        first = found[: self.policy.number]
        if self.policy.needs:
            return [*first, *_needs(first, pool)]
        if self.policy.how == "top":
            return first
        backends = {pool.by_name[name].backend for name in first}
        return [name for name in found if pool.by_name[name].backend in backends]


@cache
def _graph() -> graph.Graph:
    return graph.load()


def _needs(found: Sequence[str], pool: Corpus) -> Iterator[str]:
    """Yield what functions, or the backends that they are of, may need to be called first."""
    needs = _graph().needs
    for name in found:
        for call in (*needs.get(name, ()), *needs.get(pool.by_name[name].backend, ())):
            yield from (call.name,) if call.name in pool.by_name else ()


class Finder:
    """Finds functions for a model that looks itself.

    Args:
        ranking: Of the pool.
        number: How many it is told of at once.
    """

    def __init__(self, ranking: Ranking, number: int) -> None:
        self._ranking = ranking
        self._number = number

    def __call__(self, query: str, there: frozenset[str]) -> list[Document]:
        """Return the documents of the nearest functions of those that there are."""
        found = self._ranking.find(query) if query.strip() else []
        documents = [f.function.document for f in found if f.function.name in there]
        return documents[: self._number]


def _handed(trajectory: Trajectory, turn: int) -> frozenset[str]:
    """Return what the user has handed over by a turn."""
    return frozenset(n for earlier in trajectory.turns[: turn + 1] for n in earlier.offers)


def _handed_over(trajectory: Trajectory) -> tuple[frozenset[str], ...]:
    return tuple([_handed(trajectory, number) for number in range(len(trajectory.turns))])


def _of_truth(trajectory: Trajectory) -> Offering:
    """Return just the functions of an entry's ground truth, in every turn that offers them."""
    needed = frozenset(name for turn in trajectory.turns for name in _needed(turn))
    everything = tuple(tools_of(trajectory.environments))
    turns = [
        (needed | _handed(trajectory, number)) & trajectory.offered(everything, number)
        for number in range(len(trajectory.turns))
    ]
    return Offering(tuple(turns))


def _needed(turn: Turn) -> frozenset[str]:
    return frozenset(call.name for call in truth_calls(turn) if isinstance(call, Call))


def _backends(pool: Corpus) -> list[str]:
    return list(dict.fromkeys(each.backend for each in pool.functions))


def _pool(name: str, folder: Path | None) -> Corpus:
    """Return the functions that are looked through, as the model is shown them.

    Raises:
        DataError: There is no such pool, or a function in it is none of ours.
    """
    if name in ("own", "all"):
        environments: Sequence[str] = [*BACKENDS] if name == "own" else names()
        return Corpus(name, tuple(_described(environments, folder)))
    if not Path(name).is_file():
        raise DataError("--pool", f"{name!r:.200} is neither own nor all, nor a file")
    wanted = [each.name for each in corpus_named(name, None, lambda _: None).functions]
    ours = tools_of(tuple(names()))
    for function in wanted:
        if function not in ours:
            raise DataError("--pool", f"{name}: {function} is no function of an environment")
    environments = list(dict.fromkeys(ours[function].backend for function in wanted))
    chosen = [each for each in _described(environments, folder) if each.name in wanted]
    return Corpus(name, tuple(chosen))


def _described(environments: Iterable[str], folder: Path | None) -> Iterator[Described]:
    for name in environments:
        documents = bfcl_documents([name], folder) if folder else own_documents([name])
        yield from (Described(name, document) for document in documents)


class Ceiling(NamedTuple):
    """What a model that never errs could do with what is offered."""

    turns: int
    """Turns in which something is to be called."""
    turns_covered: int
    """Those in which all that the ground truth calls is offered."""
    entries: int
    covered: frozenset[str]
    """The entries all of whose turns are covered."""
    offered: float
    """Functions that a turn offers on average."""

    def line(self) -> str:
        """Return it as people read it."""
        turns, entries = self.turns_covered / max(1, self.turns), len(self.covered)
        return (
            f"{turns:.1%} of {self.turns} turns and {entries / max(1, self.entries):.1%} of "
            f"{self.entries} entries are offered all that they need; {self.offered:.1f} functions "
            "a turn on average"
        )


def ceiling(dataset: Dataset, ids: Iterable[str]) -> Ceiling:
    """Return what is offered of what is needed, for entries that retrieval narrows."""
    offering: Mapping[str, Any] = dataset.offering or {}
    covered, turns, turns_covered, sizes = [], 0, 0, []
    known = [id for id in ids if id in offering]
    for id in known:
        trajectory, found = dataset.trajectories[id], []
        for turn, offered in zip(trajectory.turns, offering[id].turns, strict=True):
            sizes.append(len(offered))
            if turn.ground_truth:
                found.append(_needed(turn) <= offered)
        turns += len(found)
        turns_covered += sum(found)
        if all(found):
            covered.append(id)
    mean = sum(sizes) / max(1, len(sizes))
    return Ceiling(turns, turns_covered, len(known), frozenset(covered), mean)
