"""PROVENANCE and ANSWERS: what a model has to give can be known, and can be given.

Sources of a ground-truth argument are what the user has said so far, the initial config but for its
secrets, the function's own document (a default, a closed choice), and earlier results. What is left
over is flagged, for a person to say how it comes about.

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
from typing import Any

from checkers.calls.documents import CannotJudge, Kind, Language, MissingGrammar, Task, expected
from checkers.calls.judge import judge
from checkers.profile import PROFILES
from checkers.told import Doubt, Told, literals, readable
from envs.calls import Call
from envs.registry import backend_class
from envs.schema import spec
from envs.state import to_json
from envs.tool import Tool
from trajectories.errors import DataError
from trajectories.prepare import task_of
from trajectories.right_step import right_step, right_value
from trajectories.rules.entry import Entry, TruthStep
from trajectories.rules.problem import Problem, Severity, brief
from trajectories.told import shown

PROVENANCE = "PROVENANCE"


def check_provenance(entry: Entry) -> Iterator[Problem]:
    """Yield values of the ground truth that nothing before them has told or shown."""
    for step, name, literal, told in _used(entry):
        document = _parameter_documents(entry.template.tools[_name(step)]).get(name, "")
        if doubt := told.doubt(literal, document):
            field = f"{step.field}.{name}"
            yield entry.problem(PROVENANCE, weight(doubt), step.turn, field, doubt.why)


def weight(doubt: Doubt) -> Severity:
    """Return how bad it is that a value's origin is not plain."""
    return Severity.WARNING if doubt.serious else Severity.INFO


def _used(entry: Entry) -> Iterator[tuple[TruthStep, str, str | float, Told]]:
    """Yield call, parameter and literal, with what is known at that point."""
    told = Told(_known_at_first(entry))
    for turn, steps in zip(entry.trajectory.turns, entry.turns, strict=True):
        for message in turn.messages:
            told.hear(message.content)
        for step in steps:
            for name, value in entry.arguments(step.call).items():
                for literal in literals(value):
                    yield step, name, literal, told
            if step.result.ok:
                told.see(step.result.text)


def _name(step: TruthStep) -> str:
    assert isinstance(step.call, Call)
    return step.call.name


@lru_cache(maxsize=256)
def _parameter_documents(tool: Tool) -> Mapping[str, str]:
    """Return what the function's document says of each parameter: choices, default, advice."""
    return {p.name: json.dumps(dict(p.schema), ensure_ascii=False) for p in spec(tool).parameters}


def _known_at_first(entry: Entry) -> str:
    """Return what can be looked up in the initial state, as text."""
    known: dict[str, Any] = {}
    wide = entry.dataset.config(entry.trajectory)
    for environment in entry.trajectory.environments:
        backend = backend_class(environment)
        config = wide.get(environment, {})
        defaults = {
            key: to_json(backend.FIELDS[field])
            for key, field in backend.KEYS.items()
            if key not in config
        }
        known[environment] = shown({**defaults, **config})
    return readable(json.dumps(known, ensure_ascii=False))


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
            elif schema and (found := _untold(allowed, schema, task.language, told)):
                yield entry.problem(ANSWERS, weight(found), None, field, found.why)


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
