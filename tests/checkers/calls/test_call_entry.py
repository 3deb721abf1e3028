from __future__ import annotations

import re
from typing import Any

import pytest

from checkers.calls.call_entry import (
    CallEntry,
    ComparisonKind,
    ExpectedCall,
    FunctionDocument,
    Language,
    UnjudgeableEntry,
    find_document_errors,
    read_expected_type,
)


def test_the_form_of_the_data_files() -> None:
    parameters = {"type": "dict", "properties": {"a": {"type": "any"}}, "required": ["a"]}
    document = FunctionDocument.from_json({"name": "f", "parameters": parameters})
    assert document == FunctionDocument("f", {"a": {"type": "any"}}, ["a"])
    assert ExpectedCall.from_json({"f": {"a": [1, ""]}}) == ExpectedCall("f", {"a": [1, ""]})


def test_nothing_is_required_unless_the_document_says_so() -> None:
    document = FunctionDocument.from_json({"name": "f", "parameters": {"properties": {}}})
    assert list(document.required) == []


@pytest.mark.parametrize("parameters", [None, {}, {"properties": []}, {"properties": {"a": "any"}}])
def test_a_document_without_parameters_is_no_verdict(parameters: Any) -> None:
    with pytest.raises(
        UnjudgeableEntry, match="the document of f has no valid `parameters` object"
    ):
        FunctionDocument.from_json({"name": "f", "parameters": parameters})


@pytest.mark.parametrize("answer", [{}, {"f": {}, "g": {}}, {"f": []}, {"f": {"a": 5}}])
def test_an_answer_of_another_form_is_no_verdict(answer: Any) -> None:
    with pytest.raises(UnjudgeableEntry, match=r"the answer .* must have the form"):
        ExpectedCall.from_json(answer)


def test_errors_in_function_documents_are_listed_with_their_paths() -> None:
    whole = {"name": "f", "description": "D.", "parameters": {"properties": {}}}
    nested = {"items": {"properties": {"x": {"required": "x"}, "y": {"required": ["y", 1]}}}}
    documents = [
        whole,
        5,
        {"name": 1, "parameters": {"properties": {}}},
        {**whole, "parameters": []},
        {**whole, "parameters": {}},
        {**whole, "parameters": {"properties": []}},
        {**whole, "parameters": {"properties": {"a": 1, "b": nested}, "required": {}}},
        {**whole, "parameters": {"properties": {"a": {"properties": 5}}, "required": ("a",)}},
    ]
    assert [*find_document_errors(documents)] == [
        ("[1]", "must be an object"),
        ("[2].name", "must be a string"),
        ("[2].description", "must be a string"),
        ("[3].parameters", "must be an object"),
        ("[4].parameters.properties", "is missing"),
        ("[5].parameters.properties", "must be an object"),
        ("[6].parameters.properties.a", "must be an object"),
        ("[6].parameters.properties.b.items.properties.x.required", "must be a list of names"),
        ("[6].parameters.properties.b.items.properties.y.required", "must be a list of names"),
        ("[6].parameters.required", "must be a list of names"),
        ("[7].parameters.properties.a.properties", "must be an object"),
    ]


def test_words_of_the_message_name_variables() -> None:
    question = "Use my_data, x1 and 2y at a.b; True, None or null is no name."
    entry = CallEntry(ComparisonKind.SIMPLE, Language.PYTHON, (), (), question)
    assert entry.named == {"Use", "my_data", "x1", "and", "at", "a", "or", "is", "no", "name"}


def test_only_a_simple_entry_takes_its_one_document_for_every_call() -> None:
    documents = (FunctionDocument("f", {}, ()), FunctionDocument("g", {}, ()))
    simple = CallEntry(ComparisonKind.SIMPLE, Language.PYTHON, documents)
    assert simple.document_of(ExpectedCall("h", {})).name == "f"
    several = simple._replace(kind=ComparisonKind.MULTIPLE)
    assert several.document_of(ExpectedCall("g", {})).name == "g"
    with pytest.raises(UnjudgeableEntry, match="an answer calls h, which has no function document"):
        several.document_of(ExpectedCall("h", {}))


@pytest.mark.parametrize(
    ("schema", "allowed", "shown"),
    [
        ({"type": "string"}, (), "string str None []"),
        ({"type": "dict", "properties": {"a": {"type": "float"}, "b": 5, "c": {"type": "x"}}}, (),
         "dict dict None ['a']"),
        ({"type": "dict", "items": {"type": "string"}}, (), "dict dict None []"),
        ({"type": "array", "items": {"type": "integer"}}, (), "array list integer []"),
        ({"type": "array", "items": 5}, (), "array list None []"),
        ({"type": "string", "items": {"type": "x"}}, (), "string str None []"),
        ({}, (1,), "integer int None []"),
        ({}, ("", 1.5), "float float None []"),
        ({}, (None, "a"), "string str None []"),
        ({}, (True,), "boolean bool None []"),
        ({}, ([1],), "array list None []"),
        ({}, ({},), "dict dict None []"),
        ({}, (), "None is not a type of python"),
        ({}, ("",), "None is not a type of python"),
        ({"type": None}, (1,), "None is not a type of python"),
        ({"type": ["string"]}, (), "['string'] is not a type of python"),
        ({"type": "array", "items": {"type": "x"}}, (), "'x' is not a type of python"),
        ({"type": "dict", "properties": {"a": {"type": {}}}}, (), "dict dict None []"),
    ],
)  # fmt: skip
def test_a_schema_or_the_first_value_gives_the_type(
    schema: dict[str, Any], allowed: tuple[Any, ...], shown: str
) -> None:
    if shown.endswith("is not a type of python"):
        with pytest.raises(UnjudgeableEntry, match=f"^{re.escape(shown)}$"):
            read_expected_type(schema, Language.PYTHON, allowed)
        return
    found = read_expected_type(schema, Language.PYTHON, allowed)
    items = found.items and found.items.word
    assert f"{found.word} {found.type.__name__} {items} {[*found.members]}" == shown
