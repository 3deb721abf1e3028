"""PROVENANCE and ANSWERS: what a model has to give can be known, and can be given.

Sources of a ground-truth argument are what the user has said so far, the function's own document (a
default, a closed choice), earlier results, and what functions that read would tell at that point;
that it stands in the initial config is not enough. What is left over is flagged, for a person to
say how it comes about.

Of a single turn's answers, the documents are sound, each answer fits its document, a model that
gives the right calls passes under both profiles, and every value has been told by the user or
stands in the document.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import isclose
from typing import Any

from checkers.calls.documents import CannotJudge, Kind, Language, MissingGrammar, Task, expected
from checkers.calls.judge import judge
from checkers.profile import PROFILES
from checkers.told import Doubt, Told, literals, spoken_numbers, stands_in
from envs.calls import Call
from envs.results import Result
from envs.schema import spec
from envs.tool import Tool
from extensions.authoring.rules import statements
from extensions.authoring.rules.entry import Entry, TruthStep
from extensions.authoring.rules.lookups import Lookup, documented, lookups, values_text
from extensions.authoring.rules.problem import Problem, Severity, brief
from trajectories.errors import DataError
from trajectories.right_step import right_step, right_value
from trajectories.task import task_of

PROVENANCE = "PROVENANCE"

LEAST_BOUND = 10
"""What is filled up holds so much, at least; smaller numbers of a document count something."""
_ROUNDING = re.compile(r"\b(?:round|nearest|integer|whole|decimal|digit|precision)", re.IGNORECASE)


def check_provenance(entry: Entry) -> Iterator[Problem]:
    """Yield values of the ground truth that nothing before them has told, shown or would show.

    How a reader works a value out may be said in the provenance.
    """
    worked_out = entry.trajectory.provenance.get("worked_out", "")
    for step, name, literal, known in _used(entry):
        tool = entry.template.tools[_name(step)]
        document = _parameter_documents(tool).get(name, "")
        doubt = known.told.doubt(literal, document)
        if doubt is None:
            continue
        if doubt.serious:
            doubt = known.looked_up(entry, step, name, literal, doubt)
        if doubt and doubt.serious and stands_in(literal, worked_out):
            doubt = Doubt(False, f"{brief(literal)} is worked out, as its provenance says")
        if doubt:
            field = f"{step.field}.{name}"
            yield entry.problem(PROVENANCE, weight(doubt), step.turn, field, doubt.why)


def weight(doubt: Doubt) -> Severity:
    """Return how bad it is that a value's origin is not plain."""
    return Severity.WARNING if doubt.serious else Severity.INFO


class _Known:
    """What is known before a call: told, shown, or to be looked up."""

    def __init__(self) -> None:
        self.told = Told()
        self.said: list[str] = []
        self.shown: list[Result] = []
        self._lookups: dict[tuple[int, int], list[Lookup]] = {}

    def hear(self, words: str) -> None:
        """Take in what the user says."""
        self.told.hear(words)
        self.said.append(words)

    def see(self, result: Result) -> None:
        """Take in a result."""
        if result.ok:
            self.told.see(values_text(result))
            self.shown.append(result)

    def looked_up(
        self, entry: Entry, step: TruthStep, name: str, literal: str | float, doubt: Doubt
    ) -> Doubt | None:
        """Return what is to be said of a value in view of what can be looked up."""
        found: list[Lookup] = []
        for moment in dict.fromkeys([0, step.position]):
            found += self._lookups_at(entry, entry.turns[step.turn][moment])
            if any(lookup.shows(literal, name) for lookup in found):
                return None
        tool = step.before.tools[_name(step)]
        if isinstance(literal, (int, float)):
            for lookup in found:
                if how := _reckoned(literal, lookup, tool, self.told.heard):
                    return Doubt(False, f"{literal!r} stands nowhere, but is {how}")
        return doubt

    def _lookups_at(self, entry: Entry, step: TruthStep) -> list[Lookup]:
        place = (step.turn, step.position)
        if place not in self._lookups:
            offered = entry.offered(step.turn)
            there = list(lookups(step.before, offered, self.said, self.shown))
            self._lookups[place] = there
        return self._lookups[place]


def _reckoned(number: float, lookup: Lookup, tool: Tool, said: str) -> str:
    """Return how a number follows from one that can be looked up; empty where it does not."""
    whole = number == int(number)
    bounds = set()
    if lookup.backend == tool.backend:
        bounds = spoken_numbers(documented(tool)) | spoken_numbers(said)
    for there in literals(lookup.result.held):
        if isinstance(there, str):
            continue
        if (not whole or _ROUNDING.search(said)) and any(
            number == round(there, digits) for digits in range(3)
        ):
            return f"{there!r} of {lookup.call}, rounded"
        for bound in bounds:
            if bound >= LEAST_BOUND and isclose(bound - there, number, rel_tol=1e-9):
                return f"{bound:g} less {there!r} of {lookup.call}"
    return ""


def _used(entry: Entry) -> Iterator[tuple[TruthStep, str, str | float, _Known]]:
    """Yield call, parameter and literal, with what is known at that point."""
    known = _Known()
    for turn, steps in zip(entry.trajectory.turns, entry.turns, strict=True):
        for message in turn.messages:
            known.hear(message.content)
        for step in steps:
            for name, value in entry.arguments(step.call).items():
                for literal in literals(value):
                    yield step, name, literal, known
            known.see(step.result)


def _name(step: TruthStep) -> str:
    assert isinstance(step.call, Call)
    return step.call.name


@lru_cache(maxsize=256)
def _parameter_documents(tool: Tool) -> Mapping[str, str]:
    """Return what the function's document says of each parameter: choices, default, advice."""
    return {p.name: json.dumps(dict(p.schema), ensure_ascii=False) for p in spec(tool).parameters}


ANSWERS = "ANSWERS"

_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", re.ASCII)
_WITHOUT_ANSWERS = (Kind.IRRELEVANCE, Kind.RELEVANCE)


def check_answers(entry: Entry) -> Iterator[Problem]:
    """Yield what is wrong with the documents and the answers of a single-turn entry.

    Raises:
        DataError: The libraries that read Java and JavaScript are not installed.
    """
    try:
        task = task_of(entry.trajectory)
        wrong = [*_documents(entry, task), *_answers(entry, task)]
        yield from wrong
        if not any(problem.severity is Severity.ERROR for problem in wrong):
            yield from _right_step(entry, task)
    except CannotJudge as error:
        yield _error(entry, "expects", str(error))
    except MissingGrammar as error:
        raise DataError(entry.trajectory.category, str(error)) from None
    else:
        yield from _values(entry, task)


def _error(entry: Entry, field: str, message: str) -> Problem:
    return entry.problem(ANSWERS, Severity.ERROR, None, field, message)


def _documents(entry: Entry, task: Task) -> Iterator[Problem]:
    # Two names may differ in nothing but what providers do not accept.
    shown = Counter([document.name.replace(".", "_") for document in task.documents])
    for position, document in enumerate(task.documents):
        field = f"expects.functions[{position}]"
        if not _NAME.fullmatch(document.name):
            yield _error(entry, field, f"{document.name!r} is not the name of a function")
        if shown[document.name.replace(".", "_")] > 1:
            yield _error(entry, field, f"there is another {document.name}")
        for name in document.required:
            if name not in document.parameters:
                yield _error(entry, field, f"requires {name}, which is no parameter")
        for schema in document.parameters.values():
            expected(schema, task.language)


def _answers(entry: Entry, task: Task) -> Iterator[Problem]:
    wanted = {Kind.SIMPLE: 1, Kind.MULTIPLE: 1, Kind.PARALLEL: max(1, len(task.answers))}
    if len(task.answers) != wanted.get(task.kind, 0):
        message = f"{len(task.answers)} answers do not go with {entry.trajectory.category}"
        yield _error(entry, "expects.answers", message)
    if task.kind in _WITHOUT_ANSWERS:
        return
    for position, answer in enumerate(task.answers):
        field = f"expects.answers[{position}]"
        document = task.document(answer.function)
        for name in document.required:
            if name not in answer.allowed:
                yield _error(entry, field, f"has no {name}, which is required")
        for name, allowed in answer.allowed.items():
            if name not in document.parameters:
                severity = Severity.WARNING if "" in allowed else Severity.ERROR
                message = "is no parameter of the function"
                yield entry.problem(ANSWERS, severity, None, f"{field}.{name}", message)


def _right_step(entry: Entry, task: Task) -> Iterator[Problem]:
    if task.kind is Kind.RELEVANCE and not task.documents:
        yield _error(entry, "expects.functions", "a function is to be called, and there is none")
        return
    for profile in PROFILES.values():
        failure = judge(task, right_step(task, profile), "fc", profile).failure
        if failure is not None and failure.calls is not None:
            why = brief("; ".join(failure.calls.lines()), 200)
            yield _error(entry, "expects.answers", f"{profile.name}: no call is right: {why}")


def _values(entry: Entry, task: Task) -> Iterator[Problem]:
    """Yield values that a model has to give and cannot know, or that the document rules out."""
    told = Told("")
    for turn in entry.trajectory.turns:
        told.hear("\n".join([message.content for message in turn.messages]))
    for position, answer in enumerate(task.answers):
        parameters = task.document(answer.function).parameters
        for name, allowed in answer.allowed.items():
            field = f"expects.answers[{position}].{name}"
            schema = parameters.get(name, {})
            if strange := _not_chosen(allowed, schema):
                message = f"{brief(strange)} is none of the choices that there are"
                yield entry.problem(ANSWERS, Severity.WARNING, None, field, message)
            elif schema and (
                found := _untold(_told_values(entry, name, allowed), schema, task.language, told)
            ):
                yield entry.problem(ANSWERS, weight(found), None, field, found.why)


def _told_values(entry: Entry, parameter: str, allowed: Sequence[Any]) -> Sequence[Any]:
    """Return allowed values as they have to be told: of SQL only what it takes from outside."""
    if parameter not in ("columns", "conditions") or not statements.is_executed(entry):
        return allowed
    return [
        [value for text in option for value in statements.said_in(text, entry)] if option else ""
        for option in allowed
    ]


def _not_chosen(allowed: Sequence[Any], schema: Mapping[str, Any]) -> list[Any]:
    """Return values out of an enumeration's bounds, also those of a list's elements."""
    items = schema.get("items")
    choices = schema.get("enum") or (items.get("enum") if isinstance(items, Mapping) else None)
    if not choices:
        return []
    members = [m for option in allowed for m in (option if isinstance(option, list) else [option])]
    return [member for member in members if member != "" and member not in choices]


def _untold(
    allowed: Sequence[Any], schema: Mapping[str, Any], language: Language, told: Told
) -> Doubt | None:
    """Return what is to be said of the first value, unless one of them is told or none needed."""
    text, type_ = json.dumps(schema, ensure_ascii=False), expected(schema, language)
    found = []
    for option in allowed:
        values = literals(right_value([option], type_))
        untold = [doubt for value in values if (doubt := told.doubt(value, text))]
        if option == "" or not untold:
            return None
        found += untold
    return found[0] if found else None
