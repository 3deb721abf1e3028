"""Rules PROVENANCE and ANSWERS: the model must be able to know every required value.

An argument may come from the user's messages, a simulated user's answers, the function document (a
default or enum) or an earlier result. An argument may also come from the result of a read function
that the model could call. A value that is only in the initial config has no source. PROVENANCE
reports every value without a source, so that the author explains where the value comes from.
ANSWERS checks single-turn entries. The documents must be sound, and each answer must fit its
document. The right calls must pass under both profiles, and every value must be known.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import isclose
from typing import Any, Protocol, runtime_checkable

from checkers.calls.call_entry import (
    CallEntry,
    ComparisonKind,
    Language,
    UnjudgeableEntry,
    read_expected_type,
)
from checkers.calls.single_turn_verdict import judge
from checkers.known_values import (
    KnownValues,
    UnclearOrigin,
    contains_value,
    list_literals,
    list_spoken_numbers,
)
from checkers.profile import PROFILES
from envs.results import Result
from envs.tool import Tool
from extensions.authoring.rules import statements
from extensions.authoring.rules.finding import Finding, Severity, brief
from extensions.authoring.rules.lookups import (
    ReadingCall,
    lookups,
    render_document,
    render_parameters,
    render_values,
)
from extensions.authoring.rules.replayed_entry import Entry, TruthStep
from runner.episodes.judging import kind_of
from trajectories.call_checker_tasks import make_call_entry
from trajectories.example_steps import make_expected_step, make_expected_value

PROVENANCE = "PROVENANCE"

MIN_BOUND = 10
"""Smaller limits are not used in calculations."""
_ROUNDING = re.compile(r"\b(?:round|nearest|integer|whole|decimal|digit|precision)", re.IGNORECASE)


def check_provenance(entry: Entry) -> Iterator[Finding]:
    """Yield a finding for each ground-truth value that no earlier message or result contains.

    The provenance field ``worked_out`` of an entry can explain how a value was calculated.
    """
    worked_out = entry.trajectory.provenance.get("worked_out", "")
    for step, name, literal, known in _literals_used(entry):
        document = render_parameters(entry.template.tools[step.function]).get(name, "")
        doubt = known.told.doubt(literal, document)
        if doubt and doubt.serious:
            doubt = known.look_up(entry, step, name, literal, doubt)
        if doubt and doubt.serious and contains_value(literal, worked_out):
            doubt = UnclearOrigin(
                False, f"the provenance explains how {brief(literal)} is calculated"
            )
        if doubt:
            field = f"{step.field}.{name}"
            yield entry.finding(PROVENANCE, weight(doubt), step.turn, field, doubt.why)


def weight(doubt: UnclearOrigin) -> Severity:
    """Return WARNING if the doubt about a value's origin is serious, else INFO."""
    return Severity.WARNING if doubt.serious else Severity.INFO


@runtime_checkable
class HasWords(Protocol):
    """Interface of a simulated user that can answer questions of the agent."""

    def words(self) -> str:
        """Return the texts that the user can say."""


class _KnownValues:
    """Values that a model can know before a call."""

    def __init__(self) -> None:
        self.told = KnownValues()
        self.said: list[str] = []
        self.shown: list[Result] = []
        self._lookups: dict[tuple[int, int], list[ReadingCall]] = {}

    def hear(self, words: str) -> None:
        self.told.hear(words)
        self.said.append(words)

    def see(self, result: Result) -> None:
        if result.ok:
            self.told.see(render_values(result))
            self.shown.append(result)

    def look_up(
        self, entry: Entry, step: TruthStep, name: str, literal: str | float, doubt: UnclearOrigin
    ) -> UnclearOrigin | None:
        """Return why a value's origin is unclear, or None if a read call returns the value."""
        found: list[ReadingCall] = []
        for moment in dict.fromkeys([0, step.position]):
            found += self._lookups_at(entry, entry.turns[step.turn][moment])
            if any(lookup.shows(literal, name) for lookup in found):
                return None
        tool = step.before.tools[step.function]
        if isinstance(literal, (int, float)):
            for lookup in found:
                if how := _derive_number(literal, lookup, tool, self.told.heard):
                    why = f"no result contains {literal!r}; calculation: {how}"
                    return UnclearOrigin(False, why)
        return doubt

    def _lookups_at(self, entry: Entry, step: TruthStep) -> list[ReadingCall]:
        place = (step.turn, step.position)
        if place not in self._lookups:
            offered = entry.offered(step.turn)
            self._lookups[place] = list(lookups(step.before, offered, self.said, self.shown))
        return self._lookups[place]


def _derive_number(number: float, lookup: ReadingCall, tool: Tool, said: str) -> str:
    """Return a description of how to compute a number from a read call's result, or ""."""
    whole = number == int(number)
    bounds = set()
    if lookup.backend == tool.backend:
        bounds = list_spoken_numbers(render_document(tool)) | list_spoken_numbers(said)
    for shown in list_literals(lookup.result.held):
        if isinstance(shown, str):
            continue
        if (not whole or _ROUNDING.search(said)) and any(
            number == round(shown, digits) for digits in range(3)
        ):
            return f"{shown!r} of {lookup.call}, rounded"
        for bound in bounds:
            if bound >= MIN_BOUND and isclose(bound - shown, number, rel_tol=1e-9):
                return f"{bound:g} minus {shown!r} of {lookup.call}"
    return ""


def _literals_used(entry: Entry) -> Iterator[tuple[TruthStep, str, str | float, _KnownValues]]:
    known, user = _KnownValues(), kind_of(entry.trajectory).user(entry.trajectory)
    for turn, steps in zip(entry.trajectory.turns, entry.turns, strict=True):
        for message in turn.messages:
            known.hear(message.content)
        if isinstance(user, HasWords):
            known.hear(user.words())
        for step in steps:
            for name, value in entry.arguments(step.call).items():
                for literal in list_literals(value):
                    yield step, name, literal, known
            known.see(step.result)


ANSWERS = "ANSWERS"

_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", re.ASCII)
_WITHOUT_ANSWERS = (ComparisonKind.IRRELEVANCE, ComparisonKind.RELEVANCE)


def check_answers(entry: Entry) -> Iterator[Finding]:
    """Yield errors in the function documents and answers of a single-turn entry.

    Raises DataError if the Java and JavaScript grammars are not installed.
    """
    try:
        task = make_call_entry(entry.trajectory)
        findings = [*_check_documents(entry, task), *_check_answer_calls(entry, task)]
        yield from findings
        if not any(finding.severity is Severity.ERROR for finding in findings):
            yield from _check_right_step(entry, task)
    except UnjudgeableEntry as error:
        yield _error(entry, "expects", str(error))
    else:
        yield from _check_values(entry, task)


def _error(entry: Entry, field: str, message: str) -> Finding:
    return entry.finding(ANSWERS, Severity.ERROR, None, field, message)


def _check_documents(entry: Entry, task: CallEntry) -> Iterator[Finding]:
    # Providers do not accept dots, so two names must differ without them.
    shown = Counter([document.name.replace(".", "_") for document in task.documents])
    for position, document in enumerate(task.documents):
        field = f"expects.functions[{position}]"
        if not _NAME.fullmatch(document.name):
            yield _error(entry, field, f"{document.name!r} is not a valid function name")
        if shown[document.name.replace(".", "_")] > 1:
            yield _error(entry, field, f"duplicate function name {document.name}")
        for name in document.required:
            if name not in document.parameters:
                yield _error(entry, field, f"requires {name}, which is not a parameter")
        for schema in document.parameters.values():
            read_expected_type(schema, task.language)


def _check_answer_calls(entry: Entry, task: CallEntry) -> Iterator[Finding]:
    wanted = {
        ComparisonKind.SIMPLE: 1,
        ComparisonKind.MULTIPLE: 1,
        ComparisonKind.PARALLEL: max(1, len(task.answers)),
    }
    if len(task.answers) != wanted.get(task.kind, 0):
        message = f"{entry.trajectory.category} does not allow {len(task.answers)} answers"
        yield _error(entry, "expects.answers", message)
    if task.kind in _WITHOUT_ANSWERS:
        return
    for position, answer in enumerate(task.answers):
        field = f"expects.answers[{position}]"
        document = task.document(answer.function)
        for name in document.required:
            if name not in answer.allowed:
                yield _error(entry, field, f"required parameter {name} is missing")
        for name, allowed in answer.allowed.items():
            if name not in document.parameters:
                severity = Severity.WARNING if "" in allowed else Severity.ERROR
                message = "is not a parameter of the function"
                yield entry.finding(ANSWERS, severity, None, f"{field}.{name}", message)


def _check_right_step(entry: Entry, task: CallEntry) -> Iterator[Finding]:
    if task.kind is ComparisonKind.RELEVANCE and not task.documents:
        yield _error(entry, "expects.functions", "a call is expected, but no function is offered")
        return
    for profile in PROFILES.values():
        failure = judge(task, make_expected_step(task, profile), "fc", profile).failure
        if failure is not None and failure.calls is not None:
            why = brief("; ".join(failure.calls.lines()), 200)
            yield _error(
                entry,
                "expects.answers",
                f"no call can pass under the profile {profile.name}: {why}",
            )


def _check_values(entry: Entry, task: CallEntry) -> Iterator[Finding]:
    told = KnownValues("")
    for turn in entry.trajectory.turns:
        told.hear("\n".join([message.content for message in turn.messages]))
    for position, answer in enumerate(task.answers):
        parameters = task.document(answer.function).parameters
        for name, allowed in answer.allowed.items():
            field = f"expects.answers[{position}].{name}"
            schema = parameters.get(name, {})
            if strange := _values_outside_enum(allowed, schema):
                message = f"{brief(strange)} is not in the parameter's enum"
                yield entry.finding(ANSWERS, Severity.WARNING, None, field, message)
            elif schema and (
                found := _find_untold(_strip_sql(entry, name, allowed), schema, task.language, told)
            ):
                yield entry.finding(ANSWERS, weight(found), None, field, found.why)


def _strip_sql(entry: Entry, parameter: str, allowed: Sequence[Any]) -> Sequence[Any]:
    """Replace each allowed SQL expression by its literals and columns."""
    if parameter not in ("columns", "conditions") or not statements.is_executed(entry):
        return allowed
    return [
        [value for text in option for value in statements.extract_values(text, entry)]
        if isinstance(option, Sequence) and option
        else ""
        for option in allowed
    ]


def _values_outside_enum(allowed: Sequence[Any], schema: Mapping[str, Any]) -> list[Any]:
    items = schema.get("items")
    choices = schema.get("enum") or (items.get("enum") if isinstance(items, Mapping) else None)
    if not isinstance(choices, list):
        return []
    members = [m for option in allowed for m in (option if isinstance(option, list) else [option])]
    return [member for member in members if member != "" and member not in choices]


def _find_untold(
    allowed: Sequence[Any], schema: Mapping[str, Any], language: Language, told: KnownValues
) -> UnclearOrigin | None:
    """Return the reason why the model cannot know the value of a parameter, or None."""
    text, type_ = json.dumps(schema, ensure_ascii=False), read_expected_type(schema, language)
    found = []
    for option in allowed:
        values = list_literals(make_expected_value([option], type_))
        untold = [doubt for value in values if (doubt := told.doubt(value, text))]
        if option == "" or not untold:
            return None
        found += untold
    return found[0] if found else None
