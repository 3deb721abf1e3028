from __future__ import annotations

from typing import Any

import pytest

from checkers.calls.call_entry import ExpectedCall, FunctionDocument, UnjudgeableEntry


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
    with pytest.raises(UnjudgeableEntry, match="the document of f has no object of parameters"):
        FunctionDocument.from_json({"name": "f", "parameters": parameters})


@pytest.mark.parametrize("answer", [{}, {"f": {}, "g": {}}, {"f": []}, {"f": {"a": 5}}])
def test_an_answer_of_another_form_is_no_verdict(answer: Any) -> None:
    with pytest.raises(UnjudgeableEntry, match=r"the answer .* must have the form"):
        ExpectedCall.from_json(answer)
