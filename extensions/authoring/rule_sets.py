"""Rules of ``dataset validate``: pure functions that return findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from envs.errors import DataError
from extensions.authoring.rules import (
    alternatives,
    duplicates_and_documents,
    empty_turns,
    execution,
    extension_data,
    generated_items,
    known_values,
    message_language,
    mutation_detection,
    requested_actions,
    required_facts,
    statements,
)
from extensions.authoring.rules.finding import Finding, Severity
from extensions.authoring.rules.replayed_entry import Entry
from trajectories.dataset import Dataset
from trajectories.schema import Trajectory


class Rule(NamedTuple):
    """Rule of ``dataset validate``; each of its functions checks one kind of data."""

    id: str
    title: str
    """Requirement, such as "the initial config is sound"."""
    reads: Callable[[Entry], Iterator[Finding]] | None = None
    """Checks a multi-turn entry without a replay."""
    replays: Callable[[Entry], Iterator[Finding]] | None = None
    """Checks a multi-turn entry after a replay of its ground truth."""
    compares: Callable[[Sequence[Entry]], Iterator[Finding]] | None = None
    """Checks all entries together."""
    documents: Callable[[Dataset], Iterator[Finding]] | None = None
    """Checks the function documents of the data set."""
    answers: Callable[[Entry], Iterator[Finding]] | None = None
    """Checks an entry whose calls are compared, not executed."""


def _check_documents(dataset: Dataset) -> Iterator[Finding]:
    if dataset.folder is None:
        return duplicates_and_documents.check_own()
    return duplicates_and_documents.check_reference(dataset.folder)


RULES = (
    Rule(
        execution.EXEC,
        "every ground-truth call succeeds",
        replays=execution.check_calls,
        answers=statements.check_executed,
    ),
    Rule(
        execution.CONFIG,
        "the initial config is sound, and requested objects exist",
        reads=execution.check_sound,
        replays=execution.check_complete,
        answers=execution.check_sound,
    ),
    Rule(
        execution.UNIQUE,
        "no call creates an object that already exists",
        replays=execution.check_unique,
    ),
    Rule(
        execution.OFFER,
        "each turn offers all functions that its ground truth calls",
        reads=execution.check_offers,
    ),
    Rule(
        empty_turns.WAITS,
        "if a turn has no ground truth, a value or a function is missing",
        replays=empty_turns.check_waiting,
    ),
    Rule(
        message_language.LANGUAGE,
        "the user messages are in English (other rules and some metrics read only English)",
        reads=message_language.check_language,
        answers=message_language.check_language,
    ),
    Rule(
        requested_actions.ASKED,
        "the ground truth does all that the user asks for, and nothing else",
        replays=requested_actions.check_asked,
    ),
    Rule(
        generated_items.BULK,
        "the ground truth reads the long context",
        replays=generated_items.check_bulk,
    ),
    Rule(
        generated_items.WHOLE,
        "no user message asks about a whole list or file that contains generated items",
        replays=generated_items.check_whole,
    ),
    Rule(
        generated_items.DATES,
        "all dates of the config fall within the years of the scenario",
        reads=generated_items.check_dates,
    ),
    Rule(
        alternatives.ACCEPTS,
        "an accepted alternative returns at least one word of the original result",
        replays=alternatives.check_alternatives,
    ),
    Rule(
        mutation_detection.BREVITY,
        "no ground-truth call is superfluous",
        replays=mutation_detection.check_brief,
    ),
    Rule(
        known_values.PROVENANCE,
        "every value is known before a call uses it",
        replays=known_values.check_provenance,
    ),
    Rule(
        required_facts.TELLS,
        "required information follows from results or the user's words",
        replays=required_facts.check_tells,
    ),
    Rule(
        execution.DETERMINISM,
        "the same calls give the same results and states",
        replays=execution.check_repeats,
    ),
    Rule(mutation_detection.NULL, "doing nothing fails", reads=mutation_detection.check_null),
    Rule(
        mutation_detection.DETECT,
        "the checker rejects a missing call or a changed argument",
        replays=mutation_detection.check_detected,
        answers=statements.check_detected,
    ),
    Rule(
        known_values.ANSWERS,
        "the expected answers follow from the question, and the checker accepts them",
        answers=known_values.check_answers,
    ),
    Rule(
        duplicates_and_documents.DUPLICATE,
        "no question is asked twice",
        compares=duplicates_and_documents.check_duplicates,
    ),
    Rule(
        duplicates_and_documents.DOCS,
        "the function documents are correct",
        documents=_check_documents,
    ),
    Rule(
        extension_data.EXTENSION,
        "the data of extensions, such as attacks, is valid",
        replays=extension_data.check_extension_data,
    ),
)
"""All rules, in the order of their application."""


def validate(
    dataset: Dataset, trajectories: Iterable[Trajectory], rules: Sequence[Rule] | None = None
) -> list[Finding]:
    """Check trajectories of a data set by rules (default: all rules); return the findings."""
    applied = RULES if rules is None else rules
    entries = [Entry(dataset, trajectory) for trajectory in trajectories]
    findings: list[Finding] = []
    for entry in entries:
        # A new object each, so that replays do not accumulate in memory.
        findings += _check_entry(Entry(dataset, entry.trajectory), applied)
    for rule in applied:
        if rule.compares:
            findings += rule.compares(entries)
        if rule.documents:
            findings += rule.documents(dataset)
    return findings


def select_rules(names: Iterable[str]) -> list[Rule]:
    """Return the rules with these ids, in the order of ``RULES``.

    Raises DataError if an id is unknown.
    """
    wanted = [name.upper() for name in names]
    known = [rule.id for rule in RULES]
    for name in wanted:
        if name not in known:
            raise DataError("--rules", f"{name!r} is not a rule; use {', '.join(known)}")
    return [rule for rule in RULES if rule.id in wanted]


def _check_entry(entry: Entry, rules: Sequence[Rule]) -> Iterator[Finding]:
    if not entry.trajectory.is_executed:
        for rule in rules:
            if rule.answers:
                yield from rule.answers(entry)
        return
    fault = entry.fault if any(rule.replays for rule in rules) else ""
    if fault:
        yield entry.finding(execution.EXEC, Severity.ERROR, None, "ground_truth", fault)
    for rule in rules:
        if rule.reads:
            yield from rule.reads(entry)
        if rule.replays and not fault:
            yield from rule.replays(entry)
