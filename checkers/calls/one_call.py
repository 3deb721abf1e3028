"""One call against one answer; the first check that fails decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from checkers.calls.documents import Answer, Expected, FunctionDocument, Language, expected
from checkers.calls.values import Fit, check_value, fit
from checkers.profile import CallRules
from checkers.replies.code import MAX_CODE
from checkers.replies.single_turn import convert
from checkers.verdict import CallEvidence, Reason
from envs.calls import Call
from envs.state import brief


class Rules(NamedTuple):
    """What holds for all calls of an entry."""

    language: Language
    profile: CallRules
    underscores: bool
    """Whether the model was shown function names with underscores in place of dots."""


def check_call(
    call: Call, document: FunctionDocument, answer: Answer, rules: Rules
) -> CallEvidence | None:
    """Compare a call with an answer.

    Args:
        call: What the model called.
        document: The function that the answer calls.
        answer: What would be right.
        rules: How to compare.

    Raises:
        CannotJudge: The document has a type that nobody knows, or that BFCL lacks.
    """
    name = shown_name(document.name, rules)
    if call.name != name:
        message = f"the function called is {brief(call.name)}"
        return CallEvidence(Reason.FUNCTION, message, name, expected=name, actual=brief(call.name))
    given = arguments_of(call, document)
    failure = (
        _check_count(call, given)
        or _check_required(document, given)
        or _check_given(given, document, answer, rules)
        or _check_left_out(given, answer)
    )
    return failure._replace(function=name) if failure else None


def arguments_of(call: Call, document: FunctionDocument) -> dict[str, Any]:
    """Return the arguments of a call by parameter; positions beyond the parameters have no name."""
    return {**dict(zip(document.parameters, call.args, strict=False)), **call.kwargs}


def shown_name(name: str, rules: Rules) -> str:
    """Return the name under which the model knows a function."""
    return name.replace(".", "_") if rules.underscores else name


def _check_count(call: Call, given: Mapping[str, Any]) -> CallEvidence | None:
    if len(given) == len(call.args) + len(call.kwargs):
        return None
    message = "there are more arguments than parameters, or one is given twice"
    return CallEvidence(Reason.UNEXPECTED, message)


def _check_required(document: FunctionDocument, given: Mapping[str, Any]) -> CallEvidence | None:
    for parameter in document.required:
        if parameter not in given:
            return CallEvidence(Reason.MISSING_REQUIRED, "it is required", parameter=parameter)
    return None


def _check_given(
    given: Mapping[str, Any], document: FunctionDocument, answer: Answer, rules: Rules
) -> CallEvidence | None:
    for parameter, value in given.items():
        if parameter not in document.parameters or parameter not in answer.allowed:
            known = [name for name in document.parameters if name in answer.allowed]
            message = "there is no such parameter, or it is not to be given"
            return CallEvidence(Reason.UNEXPECTED, message, None, parameter, known, brief(value))
        type_ = expected(document.parameters[parameter], rules.language)
        failure = _check_argument(value, answer.allowed[parameter], type_, rules)
        if failure is not None:
            return failure._replace(parameter=parameter)
    return None


def _check_argument(
    value: Any, allowed: Sequence[Any], type_: Expected, rules: Rules
) -> CallEvidence | None:
    if rules.language is not Language.PYTHON and not isinstance(value, str):
        java = rules.language is Language.JAVA
        reason = Reason.JAVA_TEXT if java else Reason.JAVASCRIPT_TEXT
        message = f"the text of an expression of type {type_.word} is expected"
        return CallEvidence(reason, message, expected="text", actual=brief(value))
    value = _converted(value, type_, rules)
    found = fit(value, allowed, type_, rules.profile)
    if found is Fit.WRONG_TYPE:
        message = f"{brief(value)} is not of type {type_.word}"
        return CallEvidence(Reason.TYPE, message, expected=type_.word, actual=brief(value))
    if found is Fit.WRONG_ITEMS and type_.items is not None:
        message = f"{brief(value)} has elements that are not of type {type_.items.word}"
        word = type_.items.word
        return CallEvidence(Reason.ITEM_TYPE, message, expected=word, actual=brief(value))
    return check_value(value, allowed, type_, found, rules.profile)


def _converted(value: Any, type_: Expected, rules: Rules) -> Any:
    if rules.language is not Language.PYTHON and len(value) > MAX_CODE:
        return value
    if rules.language is not Language.PYTHON:
        return convert(value, type_, rules.language, rules.profile)
    if type_.word == "tuple" and isinstance(value, tuple):
        return [*value]
    if type_.type is float and type(value) is int:
        return _as_float(value)
    return value


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return value


def _check_left_out(given: Mapping[str, Any], answer: Answer) -> CallEvidence | None:
    for parameter, allowed in answer.allowed.items():
        if parameter not in given and "" not in allowed:
            message = "it may not be left out here"
            return CallEvidence(Reason.MISSING_OPTIONAL, message, None, parameter, allowed)
    return None
