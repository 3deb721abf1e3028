"""What is searched for: the user's words of one turn, and the functions that they need."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import NamedTuple

from envs.calls import Call, parse_calls
from envs.errors import MalformedCall
from extensions.retrieval.corpus import Corpus, Signature, signature, single_turns
from runner.data import choose
from runner.records.record import EpisodeRecord
from runner.records.run import is_run, open_run
from trajectories.errors import DataError
from trajectories.jsonl import read_objects
from trajectories.scene import truth_calls
from trajectories.schema import EXECUTABLE, Category, JudgedBy, Trajectory

NAMED = ("own", "exec", "bfcl", "bfcl-single")
"""Queries that have a name; others are a run folder or a file."""


class Query(NamedTuple):
    """One query."""

    id: str
    scenario: str
    """What it shares with others that are no independent samples."""
    words: str
    relevant: frozenset[Signature]
    """The functions that it needs, at least one."""


class Needed(NamedTuple):
    """A query before it is known what its functions look like."""

    id: str
    scenario: str
    words: str
    functions: frozenset[str]
    documents: Mapping[str, Signature] | None = None
    """The entry's own functions by name, where it brings documents."""


class Unseen(StrEnum):
    """What the queries held out of training have that those trained on have not."""

    INSTRUCTION = "instruction"
    """Other scenarios."""
    TOOL = "tool"
    """Functions of other backends."""
    CATEGORY = "category"
    """Functions of other groups of backends."""


class Parts(NamedTuple):
    """Queries to train on and those held out, in their order; what is of both is in neither."""

    training: tuple[Query, ...]
    held_out: tuple[Query, ...]


def needed(name: str, dataset: str | None, notify: choose.Notify) -> list[Needed]:
    """Return the queries of a name, a run folder or a file.

    Args:
        name: One of ``NAMED``, or a path.
        dataset: Where BFCL's data are, ``bfcl`` or ``bfcl:FOLDER``.
        notify: Told when a download begins.

    Raises:
        DataError: There is nothing of such a name, or it holds no query.
    """
    found = list(_needed(name, dataset or "bfcl", notify))
    if not found:
        raise DataError("--queries", f"{name} holds no turn in which something is to be called")
    return found


def _needed(name: str, bfcl: str, notify: choose.Notify) -> Iterable[Needed]:
    if name == "own":
        return _of_turns(choose.dataset(None, [Category.BASE], notify).trajectories.values())
    if name == "exec":
        return _of_turns(choose.dataset(None, EXECUTABLE, notify).trajectories.values())
    if name == "bfcl":
        return _of_turns(choose.dataset(bfcl, [Category.BASE], notify).trajectories.values())
    if name == "bfcl-single":
        return _of_answers(single_turns(choose.bfcl_folder(bfcl, notify)))
    path = Path(name)
    if is_run(path):
        return _of_run(path, notify)
    if path.is_file():
        return _of_file(path, notify)
    raise DataError("--queries", f"{name!r} is none of {', '.join(NAMED)}, nor a run or a file")


def _of_turns(trajectories: Iterable[Trajectory]) -> Iterator[Needed]:
    for trajectory in trajectories:
        for number, turn in enumerate(trajectory.turns):
            names = frozenset(c.name for c in truth_calls(turn) if isinstance(c, Call))
            if names and turn.words.strip():
                id = f"{trajectory.id}#{number}"
                yield Needed(id, trajectory.base, turn.words, names)


def _of_answers(entries: Iterable[Trajectory]) -> Iterator[Needed]:
    for entry in entries:
        names = frozenset(name for answer in entry.expects.answers for name in answer)  # type: ignore[union-attr]
        known = {str(d["name"]): signature(d) for d in entry.documents or ()}
        words = "\n".join(turn.words for turn in entry.turns)
        yield Needed(entry.id, entry.base, words, names, known)


def _of_run(path: Path, notify: choose.Notify) -> Iterator[Needed]:
    """Yield the turns of a live run that passed, with the functions that were called there."""
    run = open_run(path)
    if run.definition is None:
        raise DataError(str(path), "has no verdicts; queries come of a run of turnwise eval")
    selection = run.definition.selection
    data = choose.dataset_named(_named(run.definition.dataset.name), selection.category, notify)
    for record in run.records:
        trajectory = data.trajectories.get(record.id)
        if trajectory is None:
            raise DataError(str(path), f"is of {record.id!r}, which {data.name} does not have")
        yield from _of_record(record, trajectory)


def _named(name: str) -> str | None:
    return None if name == "turnwise" else name


def _of_record(record: EpisodeRecord, trajectory: Trajectory) -> Iterator[Needed]:
    for number, turn in enumerate(trajectory.turns[: record.turns_passed]):
        called = [text for s in record.steps if s.turn == number for text in s.calls]
        names = frozenset(name for text in called for name in _names_in(text))
        if names and turn.words.strip():
            id = f"{record.id}#{number}#{record.trial}"
            yield Needed(id, trajectory.base, turn.words, names)


def _names_in(text: str) -> Iterator[str]:
    try:
        yield from (call.name for call in parse_calls(text))
    except MalformedCall:
        return


def _of_file(path: Path, notify: choose.Notify) -> Iterator[Needed]:
    """Yield the queries of a file: trajectories, or objects with ``query`` and ``relevant``."""
    objects = list(read_objects(path))
    if objects and "turns" in objects[0][1]:
        entries = choose.dataset_named(str(path), "all", notify).trajectories.values()
        yield from _of_turns(t for t in entries if t.judged_by is not JudgedBy.CALLS)
        yield from _of_answers(t for t in entries if t.judged_by is JudgedBy.CALLS and t.expects)
        return
    for where, value in objects:
        match value:
            case {"query": str(words), "relevant": [*names]} if names:
                if not all(isinstance(name, str) for name in names):
                    raise DataError(where, "relevant must be a list of function names")
                id = str(value.get("id", where.rpartition(":")[2]))
                scenario = str(value.get("scenario", id))
                yield Needed(id, scenario, words, frozenset(map(str, names)))
            case _:
                raise DataError(where, 'is no {"query": TEXT, "relevant": [NAME, ...]}')


def found_in(corpus: Corpus, wanted: Sequence[Needed]) -> tuple[list[Query], list[str]]:
    """Return the queries all of whose functions a corpus has, and a line on the others."""
    there = {function.signature for function in corpus.functions}
    found = []
    for each in wanted:
        known = each.documents
        if known is None:
            known = {
                name: f.signature for name in each.functions if (f := corpus.by_name.get(name))
            }
        relevant = frozenset(known[name] for name in each.functions if name in known)
        if len(relevant) == len(each.functions) and relevant <= there:
            found.append(Query(each.id, each.scenario, each.words, relevant))
    left_out = len(wanted) - len(found)
    if not left_out:
        return found, []
    return found, [f"{left_out} queries are left out: {corpus.name} lacks functions they need"]


def parts(
    sets: Sequence[tuple[Sequence[Query], Corpus]],
    kind: Unseen,
    *,
    fold: int,
    folds: int,
    seed: int,
) -> list[Parts]:
    """Return of each set of queries those to train on, and one fold of the others.

    What one set holds out is in no set's training.

    Args:
        sets: Queries, and the corpus that says whose their functions are.
        kind: What the two parts do not share.
        fold: Which fold is held out, from 0.
        folds: How many there are.
        seed: Of who is in which.

    Raises:
        DataError: There is less to hold out than folds, or nothing is left to train on.
    """
    keyed = [[(query, key) for query, key in _keyed(*each, kind)] for each in sets]
    everything = {key for each in keyed for _, keys in each for key in keys}
    held = held_out(everything, kind, fold=fold, folds=folds, seed=seed)
    found = [
        Parts(
            tuple(query for query, keys in each if held.isdisjoint(keys)),
            tuple(query for query, keys in each if keys <= held),
        )
        for each in keyed
    ]
    if not any(each.training for each in found) or not any(each.held_out for each in found):
        raise DataError("--split", f"{kind}: fold {fold} of {folds} leaves a part without queries")
    return found


def held_out(
    keys: Collection[str], kind: Unseen, *, fold: int, folds: int, seed: int
) -> frozenset[str]:
    """Return what a fold holds out of all that is not to be shared, such as scenarios.

    Raises:
        DataError: There is less to hold out than two, or no such fold.
    """
    everything = sorted(keys)
    Random(seed).shuffle(everything)
    if len(everything) < 2:
        found = everything[0] if everything else "nothing"
        raise DataError("--split", f"{kind}: everything is of {found}; there is no other")
    folds = min(folds, len(everything))
    if fold >= folds:
        raise DataError("--fold", f"{fold}: {kind} has {folds} folds here, from 0")
    return frozenset(everything[fold::folds])


def _keyed(
    queries: Sequence[Query], corpus: Corpus, kind: Unseen
) -> Iterator[tuple[Query, frozenset[str]]]:
    """Yield queries with what each may share with others."""
    homes = {f.signature: f for f in corpus.functions}
    for query in queries:
        if kind is Unseen.INSTRUCTION:
            yield query, frozenset({query.scenario})
            continue
        owners = [homes[signature] for signature in query.relevant]
        yield query, frozenset(o.backend if kind is Unseen.TOOL else o.group for o in owners)
