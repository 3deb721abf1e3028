"""The rules that a data set is checked by: pure functions that find problems and print nothing.

Each rule is a module of ``rules``. A rule looks at one entry with its ground truth replayed, or at
all entries side by side, or at the function documents that go with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from extensions.authoring.rules import (
    answers,
    asking,
    bulk,
    detection,
    playing,
    statements,
    telling,
    texts,
    waiting,
)
from extensions.authoring.rules.entry import Entry
from extensions.authoring.rules.problem import Problem, Severity
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.schema import Trajectory


class Rule(NamedTuple):
    """One rule and how it is applied."""

    id: str
    title: str
    """What holds where the rule finds nothing."""
    reads: Callable[[Entry], Iterator[Problem]] | None = None
    """Looks at an entry as it is written."""
    replays: Callable[[Entry], Iterator[Problem]] | None = None
    """Looks at an entry with its ground truth replayed."""
    compares: Callable[[Sequence[Entry]], Iterator[Problem]] | None = None
    """Looks at all entries."""
    documents: Callable[[Dataset], Iterator[Problem]] | None = None
    """Looks at what goes with the data set."""
    answers: Callable[[Entry], Iterator[Problem]] | None = None
    """Looks at an entry whose calls are compared; those above pass it over, as it has no truth to
    replay but for SQL statements, unless they look at all entries."""


def _documents(dataset: Dataset) -> Iterator[Problem]:
    if dataset.folder is None:
        return texts.check_own()
    return texts.check_reference(dataset.folder)


RULES = (
    Rule(
        playing.EXEC,
        "every ground-truth call succeeds",
        replays=playing.check_calls,
        answers=statements.check_executed,
    ),
    Rule(
        playing.CONFIG,
        "the initial config is sound, and what is asked for exists",
        reads=playing.check_sound,
        replays=playing.check_complete,
        answers=playing.check_sound,
    ),
    Rule(playing.UNIQUE, "nothing is made that is there already", replays=playing.check_unique),
    Rule(playing.OFFER, "what is needed is offered when it is needed", reads=playing.check_offers),
    Rule(
        waiting.WAITS,
        "a turn without ground truth waits for what alone comes later",
        replays=waiting.check_waiting,
    ),
    Rule(
        asking.ASKED,
        "the ground truth does what the words ask for, all of it and nothing else",
        replays=asking.check_asked,
    ),
    Rule(bulk.BULK, "a long context has to be read", replays=bulk.check_bulk),
    Rule(detection.BREVITY, "no ground-truth call is superfluous", replays=detection.check_brief),
    Rule(
        answers.PROVENANCE,
        "every value has been told or shown before it is used",
        replays=answers.check_provenance,
    ),
    Rule(
        telling.TELLS,
        "what the user is to be told has been shown or said",
        replays=telling.check_tells,
    ),
    Rule(
        playing.DETERMINISM,
        "the same calls give the same results and states",
        replays=playing.check_repeats,
    ),
    Rule(detection.NULL, "doing nothing fails", reads=detection.check_null),
    Rule(
        detection.DETECT,
        "a call left out or an argument changed is noticed",
        replays=detection.check_detected,
        answers=statements.check_detected,
    ),
    Rule(answers.ANSWERS, "the answers can be given, and are right", answers=answers.check_answers),
    Rule(texts.DUPLICATE, "no question is asked twice", compares=texts.check_duplicates),
    Rule(texts.DOCS, "the function documents say what is so", documents=_documents),
)
"""All rules, in the order in which they are applied."""


def validate(
    dataset: Dataset, trajectories: Iterable[Trajectory], rules: Sequence[Rule] | None = None
) -> list[Problem]:
    """Return what rules, by default all, find in trajectories of a data set, in their order."""
    applied = RULES if rules is None else rules
    entries = [Entry(dataset, trajectory) for trajectory in trajectories]
    problems: list[Problem] = []
    for entry in entries:
        # What is replayed is let go of after each entry: a thousand of them would fill the memory.
        problems += _entry_problems(Entry(dataset, entry.trajectory), applied)
    for rule in applied:
        if rule.compares:
            problems += rule.compares(entries)
        if rule.documents:
            problems += rule.documents(dataset)
    return problems


def rules_named(names: Iterable[str]) -> list[Rule]:
    """Return the rules of some ids, in their own order.

    Raises:
        DataError: There is none of an id.
    """
    wanted = [name.upper() for name in names]
    known = [rule.id for rule in RULES]
    for name in wanted:
        if name not in known:
            raise DataError("--rules", f"{name!r} is no rule; there are {', '.join(known)}")
    return [rule for rule in RULES if rule.id in wanted]


def _entry_problems(entry: Entry, rules: Sequence[Rule]) -> Iterator[Problem]:
    if not entry.trajectory.is_executed:
        for rule in rules:
            if rule.answers:
                yield from rule.answers(entry)
        return
    fault = entry.fault if any(rule.replays for rule in rules) else ""
    if fault:
        yield entry.problem(playing.EXEC, Severity.ERROR, None, "ground_truth", fault)
    for rule in rules:
        if rule.reads:
            yield from rule.reads(entry)
        if rule.replays and not fault:
            yield from rule.replays(entry)
