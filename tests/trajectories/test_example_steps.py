"""The oracle of single turns: what it gives, and that the judge reads it as meant."""

from __future__ import annotations

import json
from typing import Any

import pytest

from checkers.calls.call_entry import (
    CallEntry,
    ComparisonKind,
    ExpectedCall,
    FunctionDocument,
    Language,
    UnjudgeableEntry,
    read_expected_type,
)
from checkers.calls.single_turn_verdict import judge
from checkers.profile import BFCL, PROFILES, STRICT
from trajectories.example_steps import IN_WORDS, make_expected_step, write_source

each_profile = pytest.mark.parametrize("profile", [BFCL, STRICT], ids=lambda p: p.name)


def task(
    schema: dict[str, Any], *allowed: Any, language: str = "python", **members: Any
) -> CallEntry:
    """Return a task whose one function has one required parameter."""
    document = FunctionDocument("clock.tick", {"x": schema}, ["x"])
    answers = (ExpectedCall("clock.tick", {"x": allowed}),) if allowed else ()
    made = CallEntry(ComparisonKind.SIMPLE, Language(language), (document,), answers)
    return made._replace(**members)


def argument(made: CallEntry, profile: Any = STRICT) -> Any:
    (call,) = make_expected_step(made, profile)  # type: ignore[misc]
    ((name, text),) = call.items()
    assert name == "clock_tick"
    return json.loads(text)["x"]


@pytest.mark.parametrize(
    ("schema", "allowed", "given"),
    [
        ({"type": "integer"}, [3, 4], 3),
        ({"type": "string"}, ["", "a"], "a"),
        ({"type": "boolean"}, [False], False),
        ({"type": "array", "items": {"type": "string"}}, [["a", "b"]], ["a", "b"]),
        ({"type": "dict"}, [{"k": ["", 1], "left_out": [""]}], {"k": 1}),
        ({"type": "array", "items": {"type": "dict"}}, [[{"k": [1]}, {"k": [2]}]],
         [{"k": 1}, {"k": 2}]),
        ({"type": "dict"}, [{"k": [{"deep": [1]}]}], {"k": {"deep": [1]}}),
        ({"type": "integer"}, ["variable"], "variable"),
    ],
)  # fmt: skip
def test_the_first_right_value_is_given(schema: Any, allowed: Any, given: Any) -> None:
    made = task(schema, *allowed)
    assert argument(made) == given
    for profile in PROFILES.values():
        assert judge(made, make_expected_step(made, profile), "fc", profile).valid


def test_what_may_only_be_left_out_is_left_out() -> None:
    document = FunctionDocument("f", {"x": {"type": "integer"}}, [])
    made = CallEntry(
        ComparisonKind.SIMPLE, Language.PYTHON, (document,), (ExpectedCall("f", {"x": [""]}),)
    )
    assert make_expected_step(made, STRICT) == [{"f": "{}"}]


def test_a_parameter_that_the_document_lacks_is_not_given() -> None:
    document = FunctionDocument("f", {}, [])
    made = CallEntry(
        ComparisonKind.SIMPLE, Language.PYTHON, (document,), (ExpectedCall("f", {"x": [1]}),)
    )
    assert make_expected_step(made, STRICT) == [{"f": "{}"}]


def test_no_function_is_called_where_none_fits() -> None:
    assert (
        make_expected_step(task({"type": "integer"}, kind=ComparisonKind.IRRELEVANCE), STRICT)
        == IN_WORDS
    )


@pytest.mark.parametrize(
    ("schema", "given"),
    [
        ({"type": "integer"}, 0),
        ({"type": "string"}, ""),
        ({"type": "string", "enum": ["a", "b"]}, "a"),
        ({"type": "array", "items": {"type": "string"}}, []),
        ({"type": "dict"}, {}),
    ],
)
@each_profile
def test_where_any_call_will_do_it_has_what_is_required(
    schema: Any, given: Any, profile: Any
) -> None:
    made = task(schema, kind=ComparisonKind.RELEVANCE)
    assert argument(made, profile) == given
    assert judge(made, make_expected_step(made, profile), "fc", profile).valid


def test_an_answer_without_a_document_cannot_be_given() -> None:
    made = task({"type": "integer"}, 3)._replace(answers=(ExpectedCall("other", {}),))
    with pytest.raises(UnjudgeableEntry, match="other, which has no function document"):
        make_expected_step(made, STRICT)


# Java and JavaScript

TEXTS = {"type": "ArrayList", "items": {"type": "String"}}


@pytest.mark.parametrize(
    ("language", "schema", "value", "text"),
    [
        ("java", {"type": "long"}, 5, "5L"),
        ("java", {"type": "float"}, 0.5, "0.5f"),
        ("java", {"type": "double"}, -0.5, "-0.5"),
        ("java", {"type": "boolean"}, True, "true"),
        ("java", TEXTS, ["a b", "c"], 'new ArrayList<String>(Arrays.asList("a b", "c"))'),
        ("java", TEXTS, [], "new ArrayList<String>()"),
        ("java", {"type": "Array", "items": {"type": "integer"}}, [1, 2], "new int[] {1, 2}"),
        ("java", {"type": "HashMap"}, {"k": [5]},
         'new HashMap<String, Object>() {{ put("k", 5); }}'),
        ("java", {"type": "HashMap"}, {}, "new HashMap<String, Object>()"),
        ("java", {"type": "any"}, "job", "job"),
        ("javascript", {"type": "Bigint"}, 2**70, f"{2**70}n"),
        ("javascript", {"type": "Boolean"}, False, "false"),
        ("javascript", {"type": "String"}, "a b", '"a b"'),
        ("javascript", {"type": "array"}, [[1, 2], [3, 4]], "[[1, 2], [3, 4]]"),
        ("javascript", {"type": "dict"}, {"k": ["v"], "n-1": [2]}, '{k: "v", "n-1": 2}'),
        ("javascript", {"type": "any"}, "onClick", "onClick"),
    ],
)  # fmt: skip
@each_profile
def test_values_are_written_as_source_text(
    language: str, schema: Any, value: Any, text: str, profile: Any
) -> None:
    pytest.importorskip("tree_sitter_java")
    made = task(schema, value, language=language)
    assert argument(made, profile) == text
    assert judge(made, make_expected_step(made, profile), "fc", profile).valid


def test_a_text_gets_the_quotes_that_the_profile_takes_off() -> None:
    pytest.importorskip("tree_sitter_java")
    made = task({"type": "String"}, "a b", language="java")
    assert argument(made, BFCL) == "a b"
    assert argument(made, STRICT) == '"a b"'


def test_quotes_and_backslashes_inside_of_a_text_are_escaped() -> None:
    type_ = read_expected_type({"type": "String"}, Language.JAVA)
    assert write_source('a "b" \\', type_, Language.JAVA, quoted=True) == r'"a \"b\" \\"'


@pytest.mark.parametrize("member", [True, [[1]], {"k": 5}])
def test_members_without_accepted_values_cannot_be_judged(member: Any) -> None:
    made = task({"type": "array", "items": {"type": "dict"}}, [member])
    with pytest.raises(UnjudgeableEntry, match="does not list the accepted values"):
        make_expected_step(made, STRICT)
