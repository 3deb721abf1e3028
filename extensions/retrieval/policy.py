"""Retrieval policies, which choose the functions that each turn offers.

The query of a turn is its user message. A function that the entry adds in a later turn is not
offered before that turn.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from envs.calls import Call
from envs.errors import DataError
from envs.registry import BACKENDS, list_tools, names
from extensions.authoring.graph import graph
from extensions.experiments.function_counts import add_backends
from extensions.retrieval.corpus import Corpus, DescribedFunction
from extensions.retrieval.corpus_files import load_corpus
from extensions.retrieval.rankings import Ranking, mask_ranking
from runner.models.toolbox import Document, bfcl_documents, own_documents
from trajectories.dataset import Dataset
from trajectories.offered_functions import OfferedFunctions
from trajectories.replay_queries import read_truth_calls
from trajectories.schema import JudgingMethod, Trajectory, Turn

How = Literal["top", "backends", "search", "oracle"]
_load_graph = cache(graph.load)


class RetrievalPolicy(NamedTuple):
    """Rule that chooses the offered functions, such as ``top=5`` for the five best-ranked ones."""

    how: How
    number: int = 0
    needs: bool = False
    """Whether to add prerequisites of the found functions, as listed in the function graph."""

    @classmethod
    def named(cls, text: str) -> RetrievalPolicy:
        """Parse a policy as written on the command line.

        Raises DataError if the name is unknown, or the number is not positive.
        """
        how, equals, number = text.partition("=")
        if text == "oracle":
            return cls("oracle")
        number, plus, more = number.partition("+")
        if plus and (how, more) != ("top", "needs"):
            raise DataError("--retrieve", f"{text!r:.60}: use +needs only after top=N")
        if how in ("top", "backends", "search") and equals:
            if number.isdecimal() and len(number) < 6 and int(number) > 0:
                return cls(how, int(number), bool(plus))  # type: ignore[arg-type]
            raise DataError("--retrieve", f"{text!r:.60}: {number!r:.40} is not a positive number")
        forms = "backends=N, top=N, top=N+needs, search=N or oracle"
        raise DataError("--retrieve", f"{text!r:.60} is not one of {forms}")

    def __str__(self) -> str:
        """Return the policy as written on the command line."""
        more = "+needs" if self.needs else ""
        return f"{self.how}={self.number}{more}" if self.number else self.how


class RetrievalSettings(NamedTuple):
    """Retrieval settings in the run definition."""

    policy: str
    """Policy, such as ``backends=3``."""
    pool: str
    """Searched functions: ``own``, ``all`` or a file."""
    by: str
    """Ranking."""
    keep: bool
    """Whether functions from earlier turns stayed available."""
    pool_sha256: str
    """Hash of the pool's documents (only its first hexadecimal digits)."""


class Retrieval(NamedTuple):
    """Retrieval settings of a run."""

    policy: RetrievalPolicy
    pool: str = "own"
    """``own``, ``all``, or a file with names of functions."""
    by: str = "default"
    keep: bool = True
    """Whether functions from earlier turns stay available."""

    @classmethod
    def of(cls, reference: RetrievalSettings) -> Retrieval:
        """Return the recorded retrieval settings of a run."""
        return cls(
            RetrievalPolicy.named(reference.policy), reference.pool, reference.by, reference.keep
        )

    def narrowed(
        self, dataset: Dataset, ids: Iterable[str], folder: Path | None
    ) -> tuple[Dataset, RetrievalSettings]:
        """Return a data set that offers retrieved functions, and the settings to record.

        Single-turn entries keep their own functions. ``folder`` is BFCL's data folder if the model
        sees BFCL's function documents.

        Raises DataError if the pool or the ranking cannot be used.
        """
        pool = _load_pool(self.pool, folder)
        backends = dict.fromkeys(each.backend for each in pool.functions)
        chosen = [dataset.trajectories[id] for id in ids]
        chosen = [each for each in chosen if each.judged_by is JudgingMethod.STATE]
        wide = {t.id: add_backends(t, backends) for t in chosen}
        offering = dict(self._make_offerings(wide.values(), pool))
        trajectories = {**dataset.trajectories, **wide}
        digest = pool.sha256[:16]
        by = mask_ranking(self.by)
        reference = RetrievalSettings(str(self.policy), self.pool, by, self.keep, digest)
        return replace(dataset, trajectories=trajectories, offering=offering), reference

    def _make_offerings(
        self, chosen: Collection[Trajectory], pool: Corpus
    ) -> Iterator[tuple[str, OfferedFunctions]]:
        if self.policy.how == "oracle":
            yield from ((t.id, _offer_truth(t)) for t in chosen)
            return
        if self.policy.how == "search" and self.by.startswith("embed:"):
            message = (
                f"{self.policy} cannot use the ranking `embed`; choose another ranking with --by"
            )
            raise DataError("--retrieve", message)
        ranking = Ranking(pool, self.by)
        if self.policy.how == "search":
            finder = SearchTool(ranking, self.policy.number)
            for t in chosen:
                handed = tuple([_handed_over(t, number) for number in range(len(t.turns))])
                yield t.id, OfferedFunctions(handed, finder)
            return
        words = [turn.words for t in chosen for turn in t.turns]
        queries = list(dict.fromkeys(each for each in words if each.strip()))
        places = [[found.function.name for found in each] for each in ranking.find_all(queries)]
        ranked = dict(zip(queries, places, strict=True))
        yield from ((t.id, OfferedFunctions(self._offer_turns(t, ranked, pool))) for t in chosen)

    def _offer_turns(
        self, trajectory: Trajectory, ranked: Mapping[str, Sequence[str]], pool: Corpus
    ) -> tuple[frozenset[str], ...]:
        """Choose the functions of each turn; ``ranked`` contains the ranking for each query."""
        everything, turns = tuple(list_tools(trajectory.environments)), []
        kept: frozenset[str] = frozenset()
        for number, turn in enumerate(trajectory.turns):
            offered = trajectory.offered(everything, number)
            found = [name for name in ranked.get(turn.words, ()) if name in offered]
            new = frozenset(self._choose(found, pool))
            kept = kept | new if self.keep else new
            turns.append((kept | _handed_over(trajectory, number)) & offered)
        return tuple(turns)

    def _choose(self, found: Sequence[str], pool: Corpus) -> Iterable[str]:
        first = found[: self.policy.number]
        if self.policy.needs:
            return [*first, *_prerequisites(first, pool)]
        if self.policy.how == "top":
            return first
        backends = {pool.by_name[name].backend for name in first}
        return [name for name in found if pool.by_name[name].backend in backends]


def _prerequisites(found: Sequence[str], pool: Corpus) -> Iterator[str]:
    """Yield the prerequisites of the found functions, such as a login for sending messages."""
    needs = _load_graph().needs
    for name in found:
        for call in (*needs.get(name, ()), *needs.get(pool.by_name[name].backend, ())):
            yield from (call.name,) if call.name in pool.by_name else ()


class SearchTool:
    """A search tool of a model; ``number`` is the maximum number of results."""

    def __init__(self, ranking: Ranking, number: int) -> None:
        self._ranking = ranking
        self._number = number

    def __call__(self, query: str, offered: frozenset[str]) -> list[Document]:
        """Return the documents of the functions that are most similar to the query."""
        found = self._ranking.find(query) if query.strip() else []
        documents = [f.function.document for f in found if f.function.name in offered]
        return documents[: self._number]


def _handed_over(trajectory: Trajectory, turn: int) -> frozenset[str]:
    return frozenset(n for earlier in trajectory.turns[: turn + 1] for n in earlier.offers)


def _offer_truth(trajectory: Trajectory) -> OfferedFunctions:
    """Return an offer that contains only the ground truth's functions."""
    needed = frozenset(name for turn in trajectory.turns for name in _needed_functions(turn))
    everything = tuple(list_tools(trajectory.environments))
    turns = [
        (needed | _handed_over(trajectory, number)) & trajectory.offered(everything, number)
        for number in range(len(trajectory.turns))
    ]
    return OfferedFunctions(tuple(turns))


def _needed_functions(turn: Turn) -> frozenset[str]:
    return frozenset(call.name for call in read_truth_calls(turn) if isinstance(call, Call))


def _load_pool(name: str, folder: Path | None) -> Corpus:
    """Return the pool: the functions that retrieval can choose, and their documents.

    Raises DataError if the pool or one of its functions is unknown.
    """
    if name in ("own", "all"):
        environments: Sequence[str] = [*BACKENDS] if name == "own" else names()
        return Corpus(name, tuple(_describe(environments, folder)))
    if not Path(name).is_file():
        raise DataError("--pool", f"{name!r:.200} must be `own`, `all` or a file")
    named = [each.name for each in load_corpus(name, None, lambda _: None).functions]
    tools = list_tools(tuple(names()))
    for function in named:
        if function not in tools:
            raise DataError("--pool", f"{name}: no environment has the function {function}")
    environments = list(dict.fromkeys(tools[function].backend for function in named))
    chosen = [each for each in _describe(environments, folder) if each.name in named]
    return Corpus(name, tuple(chosen))


def _describe(environments: Iterable[str], folder: Path | None) -> Iterator[DescribedFunction]:
    for name in environments:
        documents = bfcl_documents([name], folder) if folder else own_documents([name])
        yield from (DescribedFunction(name, document) for document in documents)


class ScoreCeiling(NamedTuple):
    """Numbers of the turns and entries that offer all needed functions."""

    turns: int
    """Number of turns with calls in the ground truth."""
    turns_covered: int
    """Number of turns that offer all functions of their ground truth."""
    entries: int
    covered: frozenset[str]
    """Ids of the entries that always offer all needed functions."""
    offered: float
    """Mean number of offered functions per turn."""

    def line(self) -> str:
        """Return the metrics as one line of text."""
        turns = self.turns_covered / max(1, self.turns)
        entries = len(self.covered) / max(1, self.entries)
        return (
            f"turns with all needed functions: {turns:.1%} of {self.turns}; "
            f"entries with all needed functions: {entries:.1%} of {self.entries}; "
            f"mean number of functions per turn: {self.offered:.1f}"
        )


def measure_ceiling(dataset: Dataset, ids: Iterable[str]) -> ScoreCeiling:
    """Count the turns and entries that offer all needed functions."""
    offering: Mapping[str, Any] = dataset.offering or {}
    covered, turns, turns_covered, sizes = [], 0, 0, []
    known = [id for id in ids if id in offering]
    for id in known:
        trajectory, found = dataset.trajectories[id], []
        for turn, offered in zip(trajectory.turns, offering[id].turns, strict=True):
            sizes.append(len(offered))
            if turn.ground_truth:
                found.append(_needed_functions(turn) <= offered)
        turns += len(found)
        turns_covered += sum(found)
        if all(found):
            covered.append(id)
    mean = sum(sizes) / max(1, len(sizes))
    return ScoreCeiling(turns, turns_covered, len(known), frozenset(covered), mean)
