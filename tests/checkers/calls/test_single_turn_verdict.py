from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.calls.call_entry import (
    CallEntry,
    ComparisonKind,
    ExpectedCall,
    FunctionDocument,
    Language,
    UnjudgeableEntry,
    read_expected_type,
)
from checkers.calls.single_turn_verdict import inference_error, judge
from checkers.profile import BFCL, PROFILES, STRICT, Profile
from checkers.verdict import Verdict
from envs.calls import MAX_TEXT

PROPERTIES = {
    "text": {"type": "string"},
    "count": {"type": "integer"},
    "share": {"type": "float"},
    "flag": {"type": "boolean"},
    "names": {"type": "array", "items": {"type": "string"}},
    "shares": {"type": "array", "items": {"type": "float"}},
    "pair": {"type": "tuple", "items": {"type": "integer"}},
    "box": {"type": "dict"},
    "boxes": {"type": "array", "items": {"type": "dict"}},
    "rest": {"type": "any"},
    "grid": {
        "type": "array",
        "items": {"type": "array", "items": {"type": "integer"}},
    },
    "sizes": {"type": "dict", "properties": {"n": {"type": "integer"}}},
    "pairs": {"type": "Tuple", "items": {"type": "Float"}},
}
DOCUMENT = FunctionDocument("shop.order", PROPERTIES, ())


def task(
    allowed: dict[str, list[Any]],
    kind: ComparisonKind = ComparisonKind.SIMPLE,
    required: tuple[str, ...] = (),
) -> CallEntry:
    """Return an entry with one function and one answer."""
    document = DOCUMENT._replace(required=required)
    return CallEntry(kind, Language.PYTHON, (document,), (ExpectedCall("shop.order", allowed),))


def step(**arguments: Any) -> list[dict[str, str]]:
    """Return a step with one tool call."""
    return [{"shop_order": json.dumps(arguments)}]


def outcome(allowed: dict[str, list[Any]], profile: Profile, **given: Any) -> str | None:
    """Return the error type of a call against an answer."""
    return judge(task(allowed), step(**given), "fc", profile).error_type


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@pytest.mark.parametrize(
    ("allowed", "given", "error"),
    [
        ({}, {}, None),
        ({"text": ["New York, NY"]}, {"text": "new york ny"}, None),
        ({"text": ["it's"]}, {"text": 'it"s'}, None),
        ({"text": ["a"]}, {"text": "b"}, "value_error:string"),
        ({"text": ["a", ""]}, {}, None),
        ({"text": ["a"]}, {}, "simple_function_checker:missing_optional"),
        ({"text": ["a"]}, {"text": "a", "size": 1}, "simple_function_checker:unexpected_param"),
        ({"text": ["a"]}, {"text": "a", "flag": True}, "simple_function_checker:unexpected_param"),
        ({"text": ["a"]}, {"text": 5}, "type_error:simple"),
        ({"count": [5]}, {"count": 5}, None),
        ({"count": [5]}, {"count": 6}, "value_error:others"),
        ({"count": [5]}, {"count": 5.0}, "type_error:simple"),
        ({"count": [1]}, {"count": True}, "type_error:simple"),
        ({"count": ["limit"]}, {"count": "limit"}, None),
        ({"count": ["limit"]}, {"count": "other"}, "value_error:others"),
        ({"share": [5.0]}, {"share": 5}, None),
        ({"share": [5.0]}, {"share": 10**400}, "value_error:others"),
        ({"flag": [True]}, {"flag": True}, None),
        ({"flag": [True]}, {"flag": "true"}, "type_error:simple"),
        ({"names": [["A b", "c"]]}, {"names": ["ab", "c"]}, None),
        ({"names": [["a", "b"]]}, {"names": ["b", "a"]}, "value_error:list/tuple"),
        ({"names": [["a"], ""]}, {"names": []}, None),
        ({"names": [["a"]]}, {"names": [5]}, "type_error:nested"),
        ({"pair": [[1, 2]]}, {"pair": [1, 2]}, None),
        ({"box": [{"a": [1, 2], "b": ["x", ""]}]}, {"box": {"a": 2}}, None),
        ({"box": [{"a": [1]}]}, {"box": {"a": 2}}, "value_error:dict_value"),
        ({"box": [{"a": [1]}]}, {"box": {"a": 1, "b": 1}}, "value_error:dict_key"),
        ({"box": [{"a": [1]}]}, {"box": {}}, "value_error:dict_key"),
        ({"box": [""]}, {"box": {}}, "dict_checker:unclear"),
        ({"boxes": [[{"a": [1]}]]}, {"boxes": [{"a": 1}]}, None),
        ({"boxes": [[{"a": [1]}]]}, {"boxes": []}, "value_error:list_dict_count"),
        ({"boxes": [[{"a": [1]}]]}, {"boxes": [{"a": 2}]}, "value_error:dict_value"),
        ({"boxes": ["", [{"a": [1]}]]}, {"boxes": [5]}, "type_error:nested"),
        ({"rest": ["x"]}, {"rest": "x"}, None),
    ],
)
def test_one_call(
    allowed: dict[str, list[Any]], given: dict[str, Any], error: str | None, profile: Any
) -> None:
    if given.get("share") == 10**400 and profile is BFCL:
        error = "type_error:simple"  # it does not fit into a float, which BFCL makes of it
    assert outcome(allowed, profile, **given) == error


@pytest.mark.parametrize(
    ("allowed", "given", "bfcl", "strict"),
    [
        ({"shares": [[1.0]]}, {"shares": [1]}, "type_error:nested", None),
        ({"text": ["-5"]}, {"text": "5"}, None, "value_error:string"),
        ({"text": ["1.5"]}, {"text": "15"}, None, "value_error:string"),
        ({"box": [{"a": [1]}]}, {"box": {"a": True}}, None, "value_error:dict_value"),
        ({"box": [{"a": [["X"]]}]}, {"box": {"a": ["x"]}}, "value_error:dict_value", None),
        ({"count": [5, "limit"]}, {"count": "limit"}, "type_error:simple", None),
    ],
)
def test_the_profiles_differ(
    allowed: dict[str, list[Any]], given: dict[str, Any], bfcl: str | None, strict: str | None
) -> None:
    assert outcome(allowed, BFCL, **given) == bfcl
    assert outcome(allowed, STRICT, **given) == strict


def test_a_required_parameter_may_not_be_left_out_even_where_the_answer_allows_it() -> None:
    verdict = judge(task({"text": [""]}, required=("text",)), step(), "fc", BFCL)
    assert verdict.error_type == "simple_function_checker:missing_required"


def test_names_have_underscores_where_the_model_was_shown_them() -> None:
    entry = task({})
    assert judge(entry, [{"shop_order": "{}"}], "fc", BFCL).valid
    assert judge(entry, "[shop.order()]", "prompt", BFCL).valid
    wrong = judge(entry, "[shop_order()]", "prompt", BFCL)
    assert wrong.error_type == "simple_function_checker:wrong_func_name"


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        (ComparisonKind.SIMPLE, "simple_function_checker:wrong_count"),
        (ComparisonKind.MULTIPLE, "multiple_function_checker:wrong_count"),
        (ComparisonKind.PARALLEL, "parallel_function_checker_no_order:wrong_count"),
    ],
)
def test_a_wrong_number_of_calls(kind: ComparisonKind, error: str) -> None:
    verdict = judge(task({}, kind), [*step(), *step()], "fc", BFCL)
    assert verdict.error_type == error


@pytest.mark.parametrize(
    ("answered", "error"),
    [
        ("I cannot.", "ast_decoder:decoder_failed"),
        (None, "ast_decoder:decoder_failed"),
        ([{"shop_order": "{"}], "ast_decoder:decoder_failed"),
        ([{"shop_order": "[1]"}], "ast_decoder:decoder_wrong_output_format"),
        ("", "simple_function_checker:wrong_count"),
        ([], "simple_function_checker:wrong_count"),
    ],
)
def test_what_the_reference_cannot_read(answered: Any, error: str) -> None:
    assert judge(task({}), answered, "fc", BFCL).error_type == error


def test_text_instead_of_calls_is_no_call_to_strict() -> None:
    verdict = judge(task({}), "I cannot.", "fc", STRICT)
    assert verdict.error_type == "simple_function_checker:wrong_count"


def test_positional_arguments_count_in_strict_and_are_dropped_by_the_reference() -> None:
    entry = task({"text": ["a"], "count": [5]})
    assert judge(entry, "[shop.order('a', count=5)]", "prompt", STRICT).valid
    dropped = judge(entry, "[shop.order('a', count=5)]", "prompt", BFCL)
    assert dropped.error_type == "simple_function_checker:missing_optional"


@pytest.mark.parametrize(
    "call", ["shop.order('a', text='a')", f"shop.order({', '.join('1' * 14)})"]
)
def test_positional_arguments_that_have_no_place(call: str) -> None:
    verdict = judge(task({"text": ["a"]}), call, "prompt", STRICT)
    assert verdict.error_type == "simple_function_checker:unexpected_param"


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_relevance_and_irrelevance(profile: Profile) -> None:
    made, none = step(text="x"), "Nothing fits."
    fits, unfit = (
        task({}, kind) for kind in (ComparisonKind.RELEVANCE, ComparisonKind.IRRELEVANCE)
    )
    assert judge(fits, made, "fc", profile).valid
    assert judge(unfit, none, "fc", profile).valid
    assert judge(unfit, made, "fc", profile).error_type == "irrelevance_error:decoder_success"
    assert judge(fits, none, "fc", profile).error_type == "relevance_error:decoder_failed"
    assert judge(fits, [], "fc", profile).error_type == "relevance_error:decoder_failed"


def test_a_call_of_a_function_that_was_not_offered_is_not_relevant_to_strict() -> None:
    made = [{"unknown": "{}"}]
    assert judge(task({}, ComparisonKind.RELEVANCE), made, "fc", BFCL).valid
    assert not judge(task({}, ComparisonKind.RELEVANCE), made, "fc", STRICT).valid
    assert not judge(task({}, ComparisonKind.IRRELEVANCE), made, "fc", STRICT).valid


def test_a_broken_call_is_a_call_to_strict_where_none_should_be_made() -> None:
    broken = [{"shop_order": "{"}]
    assert judge(task({}, ComparisonKind.IRRELEVANCE), broken, "fc", BFCL).valid
    assert not judge(task({}, ComparisonKind.IRRELEVANCE), broken, "fc", STRICT).valid
    assert not judge(task({}, ComparisonKind.RELEVANCE), broken, "fc", STRICT).valid


def test_code_that_is_too_long_to_be_read_is_no_call() -> None:
    entry = task({}, ComparisonKind.IRRELEVANCE)._replace(language=Language.JAVA)
    assert judge(entry, "No. " * MAX_TEXT, "prompt", STRICT).valid


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        (ComparisonKind.IRRELEVANCE, None),
        (ComparisonKind.RELEVANCE, "relevance_error:decoder_failed"),
        (ComparisonKind.SIMPLE, "ast_decoder:decoder_failed"),
    ],
)
def test_a_failed_request_is_the_models_fault_to_the_reference_only(
    kind: ComparisonKind, error: str | None
) -> None:
    assert inference_error(task({}, kind), BFCL).error_type == error
    with pytest.raises(UnjudgeableEntry, match="request failed"):
        inference_error(task({}, kind), STRICT)


def test_an_unknown_type_is_no_verdict() -> None:
    document = FunctionDocument("f", {"a": {"type": "quaternion"}}, ())
    entry = CallEntry(
        ComparisonKind.SIMPLE, Language.PYTHON, (document,), (ExpectedCall("f", {"a": [1]}),)
    )
    with pytest.raises(UnjudgeableEntry, match="'quaternion' is not a type of python"):
        judge(entry, [{"f": '{"a": 1}'}], "fc", BFCL)


def test_an_answer_without_a_document_is_no_verdict() -> None:
    entry = task({}, ComparisonKind.MULTIPLE)._replace(answers=(ExpectedCall("unknown", {}),))
    with pytest.raises(UnjudgeableEntry, match="unknown, which has no function document"):
        judge(entry, step(), "fc", BFCL)


@pytest.mark.parametrize(
    ("allowed", "given"),
    [
        ({"names": [["a"], 5]}, {"names": ["b"]}),
        ({"boxes": [[{"a": [1]}], 5]}, {"boxes": [{"a": 2}]}),
        ({"box": [{"a": 5}]}, {"box": {"a": 5}}),
        ({"box": [{"a": 5}]}, {"box": {}}),
    ],
)
def test_an_answer_without_a_list_of_values_is_no_verdict(
    allowed: dict[str, list[Any]], given: dict[str, Any]
) -> None:
    by_first = STRICT._replace(calls=STRICT.calls._replace(variables_by_any_answer=False))
    with pytest.raises(UnjudgeableEntry, match="an answer has 5 in place of a list"):
        outcome({**allowed, "count": [1, ""]}, by_first, **given)


def code_task(language: Language, word: str, allowed: list[Any]) -> CallEntry:
    """Return an entry of Java or JavaScript with one parameter."""
    document = FunctionDocument("A.f", {"a": {"type": word}}, ())
    return CallEntry(
        ComparisonKind.SIMPLE, language, (document,), (ExpectedCall("A.f", {"a": allowed}),)
    )


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@pytest.mark.parametrize(
    ("language", "word", "error"),
    [
        (Language.JAVA, "integer", "type_error:java"),
        (Language.JAVASCRIPT, "integer", "type_error:js"),
    ],
)
def test_values_of_java_and_javascript_are_given_as_text(
    language: Language, word: str, error: str, profile: Profile
) -> None:
    entry = code_task(language, word, [5])
    assert judge(entry, [{"A_f": '{"a": 5}'}], "fc", profile).error_type == error
    assert judge(entry, [{"A_f": '{"a": "5"}'}], "fc", profile).valid


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@pytest.mark.parametrize("language", [Language.JAVA, Language.JAVASCRIPT])
def test_long_code_is_no_value(language: Language, profile: Profile) -> None:
    entry = code_task(language, "integer", [5])
    step = [{"A_f": json.dumps({"a": "new HashMap<>(){" * 60_000})}]
    assert judge(entry, step, "fc", profile).error_type == "type_error:simple"


def test_a_short_java_call_is_read_by_strict_only() -> None:
    entry = code_task(Language.JAVA, "long", [5])
    failed = judge(entry, "[A.f(a=5)]", "prompt", BFCL)
    assert failed.error_type == "ast_decoder:decoder_failed"
    assert judge(entry, "[A.f(a=5)]", "prompt", STRICT).valid
    assert judge(entry, "[A.f(5L)]", "prompt", STRICT).valid
    assert judge(entry, "[A.f(a=5L);]", "prompt", BFCL).valid


def test_the_order_of_a_set_does_not_count_in_strict() -> None:
    entry = code_task(Language.JAVA, "Set", [[1, 2]])
    assert judge(entry, "[A.f(a=Set.of(2, 1))]", "prompt", STRICT).valid
    with pytest.raises(UnjudgeableEntry, match="no conversion for the type Set"):
        judge(entry, "[A.f(a=Set.of(2, 1));]", "prompt", BFCL)


def test_a_verdict_shows_its_evidence() -> None:
    verdict = judge(task({"text": ["a"]}), step(text="b"), "fc", BFCL)
    shown = verdict.to_json()
    assert (shown["valid"], shown["error_type"]) == (False, "value_error:string")
    assert shown["calls"] == {
        "error_type": "value_error:string",
        "message": "the string is not one of the allowed values",
        "function": "shop_order",
        "parameter": "text",
        "expected": ["a"],
        "actual": "'b'",
    }
    right = judge(task({}), step(), "fc", BFCL).to_json()
    assert (right["valid"], right["error_type"]) == (True, None)
    assert "calls" not in right


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (task({"text": ["a"]}), {"expected": ["a"]}),
        (task({"text": ["a"]}, required=("text",)), {}),
    ],
)
def test_evidence_has_no_member_for_an_argument_that_was_left_out(
    entry: CallEntry, expected: dict[str, Any]
) -> None:
    shown = judge(entry, step(), "fc", BFCL).to_json()["calls"]
    assert {name: shown[name] for name in ("expected", "actual") if name in shown} == expected


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "a", "5"])
JSON = LEAVES | st.lists(LEAVES, max_size=2) | st.dictionaries(st.sampled_from("ab"), LEAVES)
NESTED = JSON | st.lists(JSON, max_size=2) | st.dictionaries(st.sampled_from("ab"), JSON)
ALLOWED = {
    "text": ["a", ""],
    "count": [5, ""],
    "share": [1.5, ""],
    "flag": [True, ""],
    "names": [["a"], ""],
    "shares": [[1.5], ""],
    "pair": [[1, 2], ""],
    "box": [{"a": [1, ""]}, ""],
    "boxes": [[{"a": [1]}], ""],
    "rest": ["x", ""],
}


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@given(arguments=st.dictionaries(st.sampled_from([*PROPERTIES, "other"]), NESTED, max_size=4))
def test_any_arguments_get_a_verdict(profile: Profile, arguments: dict[str, Any]) -> None:
    verdict = judge(task(ALLOWED), step(**arguments), "fc", profile)
    shown = verdict.to_json()
    assert json.loads(json.dumps(shown))["valid"] is verdict.valid
    assert Verdict.from_json(shown).to_json() == shown


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@pytest.mark.parametrize(
    "arguments",
    ['{"names": ' + "[" * 900 + "]" * 900 + "}", '{"count": ' + "9" * 4000 + "}", '{"a": ' * 900],
    ids=["deep", "large", "unclosed"],
)
def test_hostile_arguments_fail_like_others(profile: Profile, arguments: str) -> None:
    verdict = judge(task(ALLOWED), [{"shop_order": arguments}], "fc", profile)
    assert not verdict.valid
    json.dumps(verdict.to_json())


def said(text: str, allowed: dict[str, list[Any]], question: str, profile: Profile) -> str | None:
    """Return the error type of a prompting model's text, to a question."""
    return judge(task(allowed)._replace(question=question), text, "prompt", profile).error_type


UNREAD = "ast_decoder:decoder_failed"


@pytest.mark.parametrize(
    ("text", "allowed", "question", "strict", "as_bfcl"),
    [
        ("shop.order(count=limit)", {"count": ["limit"]}, "Up to `limit`.", None, None),
        ("[shop.order(count=limit)]", {"count": ["limit"]}, "Up to limit, please.", None, None),
        ("shop.order(names=[a, b])", {"names": [["a", "b"]]}, "Order a and b.", None, None),
        ("shop.order(text=red)", {"text": ["red"]}, "In red!", None, None),
        ("shop.order(count=limit)", {"count": ["limit"]}, "Up to limits, off_limit.", UNREAD, None),
        ("shop.order(count=limit)", {"count": ["limit"]}, "", UNREAD, None),
        ("shop.order(count=limit)", {"count": ["limit"]}, "Up to its.limit", UNREAD, None),
        ("shop.order(count=other)", {"count": ["limit"]}, "limit or other",
         "value_error:others", "value_error:others"),
        ("shop.order(count=limit)", {"count": [5]}, "The limit is 5.",
         "type_error:simple", "type_error:simple"),
        ("shop.order(flag=true)", {"flag": [True]}, "Is it true?", UNREAD, "type_error:simple"),
        ("shop.order(count=limit+1)", {"count": ["limit"]}, "limit", UNREAD, UNREAD),
    ],
)  # fmt: skip
def test_a_bare_variable_is_right_where_the_question_names_it(
    text: str,
    allowed: dict[str, list[Any]],
    question: str,
    strict: str | None,
    as_bfcl: str | None,
) -> None:
    assert said(text, allowed, question, STRICT) == strict
    assert said(text, allowed, question, BFCL) == as_bfcl


def test_an_entry_that_expects_a_call_and_has_no_answer_is_not_judged() -> None:
    with pytest.raises(UnjudgeableEntry, match="no answer"):
        judge(task({})._replace(answers=()), step(), "fc", STRICT)


@pytest.mark.parametrize(
    ("allowed", "given", "error"),
    [
        ({"grid": [[[1, 2]]]}, {"grid": [[1, 2]]}, None),
        ({"grid": [[[1, 2]]]}, {"grid": [[1, 2.0]]}, "type_error:nested"),
        ({"grid": [[[1, 2.0]]]}, {"grid": [[1, 2.0]]}, None),
        ({"sizes": [{"n": [2, 3]}]}, {"sizes": {"n": 3}}, None),
        ({"sizes": [{"n": [2, 3]}]}, {"sizes": {"n": 3.0}}, "type_error:nested"),
        ({"pairs": [[1.5, 2.0]]}, {"pairs": [1.5, 2.0]}, None),
    ],
)
def test_nested_integers_are_not_written_as_fractions(
    allowed: dict[str, list[Any]], given: dict[str, Any], error: str | None
) -> None:
    assert outcome(allowed, STRICT, **given) == error
    assert outcome(allowed, BFCL, **given) is None


def test_a_linked_list_is_a_java_list() -> None:
    schema = {"type": "LinkedList", "items": {"type": "String"}}
    assert read_expected_type(schema, Language.JAVA).type is list
