"""Proof that the embedded single-turn entries are sound: what is right passes, all else fails."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import trajectories
from checkers.calls.call_entry import (
    CallEntry,
    ComparisonKind,
    ExpectedCall,
    Language,
    read_expected_type,
)
from checkers.calls.single_turn_verdict import judge
from checkers.profile import PROFILES, Profile
from envs.calls import Call
from extensions.authoring.rule_sets import validate
from extensions.authoring.rules.finding import Severity
from trajectories.call_checker_tasks import make_call_entry
from trajectories.dataset import Dataset, load_embedded
from trajectories.example_steps import (
    make_expected_calls,
    make_expected_step,
    to_tool_calls,
    write_source,
)
from trajectories.record_validation import to_json
from trajectories.schema import SINGLE_TURN, Category, Trajectory

pytest.importorskip("tree_sitter_java")

FOLDER = Path(trajectories.__file__).parent / "data"
MANY = ("simple_python", "multiple", "parallel", "parallel_multiple", "irrelevance")
FEWER = ("simple_java", "simple_javascript", "live_relevance", "chat")

each = pytest.mark.parametrize("category", [*MANY, *FEWER])
each_profile = pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES.keys())


@cache
def dataset() -> Dataset:
    return load_embedded(SINGLE_TURN)


def entries() -> list[Trajectory]:
    return [*dataset().trajectories.values()]


def of(category: str) -> list[Trajectory]:
    return [t for t in entries() if t.category == category]


def passes(task: CallEntry, calls: list[Call], profile: Profile) -> bool:
    return judge(task, to_tool_calls(calls), "fc", profile).valid


def wants_calls(task: CallEntry) -> bool:
    return task.kind not in (ComparisonKind.IRRELEVANCE, ComparisonKind.RELEVANCE)


@each
def test_each_category_has_its_file_of_canonical_lines(category: str) -> None:
    lines = (FOLDER / f"{category}.jsonl").read_text(encoding="utf-8").splitlines()
    found = of(category)
    assert lines == [json.dumps(to_json(t), ensure_ascii=False) for t in found]
    assert len(found) >= (20 if category in MANY else 12)
    assert all(t.id.startswith(f"{category}_") for t in found)


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_no_rule_finds_anything(every: int) -> None:
    problems = validate(dataset(), entries()[::every])
    assert [str(p) for p in problems if p.severity is not Severity.INFO] == []


def test_every_type_of_every_language_that_both_profiles_read_is_needed_somewhere() -> None:
    used = {language: set(types_of(language)) for language in Language}
    assert used[Language.PYTHON] >= {
        "string", "integer", "float", "boolean", "array", "tuple", "dict", "any",
    }  # fmt: skip
    assert used[Language.JAVA] >= {
        "String", "byte", "short", "integer", "long", "float", "double", "boolean", "char",
        "Array", "ArrayList", "HashMap", "any",
    }  # fmt: skip
    assert used[Language.JAVASCRIPT] >= {
        "String", "integer", "float", "Bigint", "Boolean", "dict", "array", "any",
    }  # fmt: skip


def types_of(language: Language) -> Iterator[str]:
    tasks = [task for task in map(make_call_entry, entries()) if task.language is language]
    for document in [document for task in tasks for document in task.documents]:
        for schema in document.parameters.values():
            type_ = read_expected_type(schema, language)
            yield from (type_.word, *([type_.items.word] if type_.items else []))


@each
@each_profile
def test_what_is_right_passes_and_nothing_fails(category: str, profile: Profile) -> None:
    for entry in of(category):
        task = make_call_entry(entry)
        assert judge(task, make_expected_step(task, profile), "fc", profile).valid, entry.id
        found = judge(task, None, "fc", profile)
        assert found.valid is (task.kind is ComparisonKind.IRRELEVANCE), entry.id


def wanted(category: str) -> list[Trajectory]:
    """Return the entries of a category that want calls."""
    return [t for t in of(category) if wants_calls(make_call_entry(t))]


def test_all_but_a_few_want_calls() -> None:
    none = {category for category in (*MANY, *FEWER) if not wanted(category)}
    assert none == {"irrelevance", "live_relevance", "chat"}


@each
@each_profile
def test_another_function_or_a_call_too_many_or_too_few_fails(
    category: str, profile: Profile
) -> None:
    for entry in wanted(category):
        task = make_call_entry(entry)
        calls = make_expected_calls(task, profile)
        for position, call in enumerate(calls):
            renamed = call._replace(name=f"{call.name}_too")
            assert not passes(task, _with(calls, position, renamed), profile), entry.id
        assert not passes(task, calls[1:], profile), entry.id
        assert not passes(task, [*calls, calls[0]], profile), entry.id


@each
@each_profile
def test_any_argument_that_is_changed_or_unknown_fails(category: str, profile: Profile) -> None:
    for entry in wanted(category):
        no_other_argument_passes(entry, profile)


def no_other_argument_passes(entry: Trajectory, profile: Profile) -> None:
    task = make_call_entry(entry)
    calls = make_expected_calls(task, profile)
    plain = (
        make_expected_calls(task._replace(language=Language.PYTHON), profile)
        if _python(task)
        else None
    )
    for position, call in enumerate(calls):
        document = task.document(call.name)
        for name in call.kwargs:
            type_ = read_expected_type(document.parameters[name], task.language)
            value = plain[position].kwargs[name] if plain else _value(entry, position, name)
            wrong = _changed(value)
            if not plain:
                wrong = write_source(wrong, type_, task.language, quoted=not _is_variable(type_))
            changed = call._replace(kwargs={**call.kwargs, name: wrong})
            found = passes(task, _with(calls, position, changed), profile)
            assert not found, (entry.id, name, wrong)
        more = call._replace(kwargs={**call.kwargs, "no_such_parameter": "1"})
        assert not passes(task, _with(calls, position, more), profile), entry.id


@each
@each_profile
def test_any_required_argument_that_is_left_out_fails(category: str, profile: Profile) -> None:
    for entry in wanted(category):
        task = make_call_entry(entry)
        calls = make_expected_calls(task, profile)
        for position, call in enumerate(calls):
            for name in task.document(call.name).required:
                kept = {key: value for key, value in call.kwargs.items() if key != name}
                changed = call._replace(kwargs=kept)
                found = passes(task, _with(calls, position, changed), profile)
                assert not found, (entry.id, name)


def test_an_optional_argument_at_its_default_may_be_given_or_left_out() -> None:
    left_out = 0
    for task in [make_call_entry(t) for t in entries() if wants_calls(make_call_entry(t))]:
        for profile in PROFILES.values():
            right = make_expected_calls(task, profile)
            calls = [_needed(*pair) for pair in zip(right, task.answers, strict=True)]
            left_out += calls != right
            assert passes(task, calls, profile)
    assert left_out >= 20


def _needed(call: Call, answer: ExpectedCall) -> Call:
    kept = {k: v for k, v in call.kwargs.items() if "" not in answer.allowed[k]}
    return call._replace(kwargs=kept)


def _with(calls: list[Call], position: int, call: Call) -> list[Call]:
    return [*calls[:position], call, *calls[position + 1 :]]


def _python(task: CallEntry) -> bool:
    return task.language is Language.PYTHON


def _value(entry: Trajectory, position: int, name: str) -> Any:
    """Return the first value that an answer in Java or JavaScript allows."""
    task = make_call_entry(entry)
    value = task.answers[position].allowed[name][0]
    return {k: v[0] for k, v in value.items()} if isinstance(value, Mapping) else value


def _is_variable(type_: Any) -> bool:
    return type_.word == "any"


def _changed(value: Any) -> Any:
    """Return a value of the same type that means something else."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return f"{value}x"
    if isinstance(value, Mapping):
        first, *rest = value.items()
        return {first[0]: _changed(first[1]), **dict(rest)}
    return [*value[:-1], _changed(value[-1])]


def test_questions_are_our_own_and_each_is_asked_once() -> None:
    asked = [t.turns[0].messages[0].content for t in entries()]
    assert len(set(asked)) == len(asked)
    assert all(t.category is not Category.CHAT or not t.expects.functions for t in entries())  # type: ignore[union-attr]
