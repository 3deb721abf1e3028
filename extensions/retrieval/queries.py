"""Queries of a retrieval evaluation: the user messages of a turn, and the functions to find."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import NamedTuple

from envs.calls import Call, parse_calls
from envs.errors import DataError, MalformedCall
from extensions.retrieval.corpus import Corpus, Signature, load_single_turns, signature
from runner.data import dataset_choice
from runner.records.episode_record import EpisodeRecord
from runner.records.recorded_run import is_run, open_run
from trajectories.jsonl import read_objects
from trajectories.replay_queries import read_truth_calls
from trajectories.schema import EXECUTABLE, Category, JudgingMethod, Trajectory

NAMED = ("own", "exec", "bfcl", "bfcl-single")
"""Names of built-in queries. Any other name is a run folder or a file."""


class Query(NamedTuple):
    """A query with the functions that it needs."""

    id: str
    scenario: str
    """Scenario of the query. Queries of the same scenario are not independent samples."""
    words: str
    relevant: frozenset[Signature]
    """Needed functions, at least one."""


class PendingQuery(NamedTuple):
    """Query before its functions are looked up in a corpus."""

    id: str
    scenario: str
    words: str
    functions: frozenset[str]
    documents: Mapping[str, Signature] | None = None
    """Signatures of the entry's own functions, by name; None if backends define the functions."""


class SplitKind(StrEnum):
    """Property by which queries are split, such as the scenario.

    Each scenario, for example, belongs either to training queries or to held-out queries.
    """

    INSTRUCTION = "instruction"
    """Scenario."""
    TOOL = "tool"
    """Backend of a needed function."""
    CATEGORY = "category"
    """Group of backends."""


class QuerySplit(NamedTuple):
    """Training and held-out queries. A query that belongs to both parts is dropped."""

    training: tuple[Query, ...]
    held_out: tuple[Query, ...]


def load_queries(
    name: str, dataset: str | None, notify: dataset_choice.Notify
) -> list[PendingQuery]:
    """Return the queries of a source: a run folder, a file, or a name in ``NAMED``.

    Raises DataError if the name is unknown, or there is no query.
    """
    found = list(_read_queries(name, dataset or "bfcl", notify))
    if not found:
        raise DataError("--queries", f"{name} contains no turn with calls in its ground truth")
    return found


def _read_queries(name: str, bfcl: str, notify: dataset_choice.Notify) -> Iterable[PendingQuery]:
    base = [Category.BASE]
    built_in = {"own": (None, base), "exec": (None, EXECUTABLE), "bfcl": (bfcl, base)}
    if name in built_in:
        dataset, categories = built_in[name]
        data = dataset_choice.open_dataset(dataset, categories, notify)
        return _read_turns(data.trajectories.values())
    if name == "bfcl-single":
        return _read_answers(load_single_turns(dataset_choice.find_bfcl_folder(bfcl, notify)))
    path = Path(name)
    if is_run(path):
        return _read_run(path, notify)
    if path.is_file():
        return _read_file(path, notify)
    known = ", ".join(NAMED)
    raise DataError(
        "--queries", f"{name!r} does not exist; use a run folder, a file or one of {known}"
    )


def _read_turns(trajectories: Iterable[Trajectory]) -> Iterator[PendingQuery]:
    for trajectory in trajectories:
        for number, turn in enumerate(trajectory.turns):
            names = frozenset(c.name for c in read_truth_calls(turn) if isinstance(c, Call))
            if names and turn.words.strip():
                id = f"{trajectory.id}#{number}"
                yield PendingQuery(id, trajectory.base, turn.words, names)


def _read_answers(entries: Iterable[Trajectory]) -> Iterator[PendingQuery]:
    for entry in entries:
        names = frozenset(name for answer in entry.expects.answers for name in answer)  # type: ignore[union-attr]
        known = {str(d["name"]): signature(d) for d in entry.documents or ()}
        words = "\n".join(turn.words for turn in entry.turns)
        yield PendingQuery(entry.id, entry.base, words, names, known)


def _read_run(path: Path, notify: dataset_choice.Notify) -> Iterator[PendingQuery]:
    """Yield a query for each passed turn of a live run, with the called functions."""
    run = open_run(path)
    if run.definition is None:
        raise DataError(str(path), "has no verdicts; use a run of turnwise eval")
    name, category = run.definition.dataset.name, run.definition.selection.category
    data = dataset_choice.load_named(None if name == "turnwise" else name, category, notify)
    for record in run.records:
        trajectory = data.trajectories.get(record.id)
        if trajectory is None:
            raise DataError(str(path), f"has {record.id!r}, which is not in {data.name}")
        yield from _read_record(record, trajectory)


def _read_record(record: EpisodeRecord, trajectory: Trajectory) -> Iterator[PendingQuery]:
    for number, turn in enumerate(trajectory.turns[: record.turns_passed]):
        called = [text for s in record.steps if s.turn == number for text in s.calls]
        names = frozenset(name for text in called for name in called_functions(text))
        if names and turn.words.strip():
            id = f"{record.id}#{number}#{record.trial}"
            yield PendingQuery(id, trajectory.base, turn.words, names)


def called_functions(text: str) -> Iterator[str]:
    """Yield the function names in a call; a malformed call gives no name."""
    try:
        yield from (call.name for call in parse_calls(text))
    except MalformedCall:
        return


def _read_file(path: Path, notify: dataset_choice.Notify) -> Iterator[PendingQuery]:
    """Yield the queries of a file, which contains either trajectories or queries."""
    objects = list(read_objects(path))
    if objects and "turns" in objects[0][1]:
        entries = dataset_choice.load_named(str(path), "all", notify).trajectories.values()
        yield from _read_turns(t for t in entries if t.judged_by is not JudgingMethod.CALLS)
        yield from _read_answers(
            t for t in entries if t.judged_by is JudgingMethod.CALLS and t.expects
        )
        return
    for where, value in objects:
        match value:
            case {"query": str(words), "relevant": [*names]} if names:
                if not all(isinstance(name, str) for name in names):
                    raise DataError(where, '"relevant" must be a list of function names')
                id = str(value.get("id", where.rpartition(":")[2]))
                scenario = str(value.get("scenario", id))
                yield PendingQuery(id, scenario, words, frozenset(map(str, names)))
            case _:
                raise DataError(
                    where, 'must have the form {"query": TEXT, "relevant": [NAME, ...]}'
                )


def match_queries(corpus: Corpus, pending: Sequence[PendingQuery]) -> tuple[list[Query], list[str]]:
    """Return the queries that a corpus can answer, and a note about the other queries."""
    available = {function.signature for function in corpus.functions}
    found = []
    for each in pending:
        known = each.documents
        if known is None:
            found_functions = {name: corpus.by_name.get(name) for name in each.functions}
            known = {name: f.signature for name, f in found_functions.items() if f}
        relevant = frozenset(known[name] for name in each.functions if name in known)
        if len(relevant) == len(each.functions) and relevant <= available:
            found.append(Query(each.id, each.scenario, each.words, relevant))
    left_out = len(pending) - len(found)
    note = f"{left_out} queries are omitted: their functions are missing in {corpus.name}"
    return found, [note] if left_out else []


def parts(
    sets: Sequence[tuple[Sequence[Query], Corpus]],
    kind: SplitKind,
    *,
    fold: int,
    folds: int,
    seed: int,
) -> list[QuerySplit]:
    """Split all query sets by the same keys.

    The keys are shuffled with ``seed``, and divided into folds. The fold with the index ``fold`` is
    held out.

    Raises DataError if the fold does not exist, or a part would be empty.
    """
    keyed = [[(query, key) for query, key in _add_keys(*each, kind)] for each in sets]
    everything = {key for each in keyed for _, keys in each for key in keys}
    held = held_out(everything, kind, fold=fold, folds=folds, seed=seed)
    found = [
        QuerySplit(
            tuple(query for query, keys in each if held.isdisjoint(keys)),
            tuple(query for query, keys in each if keys <= held),
        )
        for each in keyed
    ]
    if not any(each.training for each in found) or not any(each.held_out for each in found):
        raise DataError(
            "--split", f"{kind}: one part of fold {fold} of {folds} is empty; choose another --fold"
        )
    return found


def held_out(
    keys: Collection[str], kind: SplitKind, *, fold: int, folds: int, seed: int
) -> frozenset[str]:
    """Return the keys of the held-out fold, such as scenarios.

    Raises DataError if there are fewer than two keys, or the fold does not exist.
    """
    everything = sorted(keys)
    Random(seed).shuffle(everything)
    if len(everything) < 2:
        found = everything[0] if everything else "nothing"
        raise DataError(
            "--split", f"{kind}: all queries belong to {found}, so no query can be held out"
        )
    folds = min(folds, len(everything))
    if fold >= folds:
        why = f"the last fold of the split {kind} has the number {folds - 1}; {fold} is too large"
        raise DataError("--fold", why)
    return frozenset(everything[fold::folds])


def _add_keys(
    queries: Sequence[Query], corpus: Corpus, kind: SplitKind
) -> Iterator[tuple[Query, frozenset[str]]]:
    """Yield each query with its keys, such as the scenario. A fold is a set of keys."""
    homes = {f.signature: f for f in corpus.functions}
    for query in queries:
        if kind is SplitKind.INSTRUCTION:
            yield query, frozenset({query.scenario})
            continue
        owners = [homes[signature] for signature in query.relevant]
        yield query, frozenset(o.backend if kind is SplitKind.TOOL else o.group for o in owners)
