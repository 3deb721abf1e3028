"""Comparison of one call with one expected call; the reason describes the first difference."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, NamedTuple

from checkers.calls.call_entry import (
    TYPES,
    ExpectedCall,
    ExpectedType,
    FunctionDocument,
    Language,
    UnjudgeableEntry,
    read_expected_type,
)
from checkers.evidence import CallEvidence
from checkers.profile import CallRules, RuleVariant
from checkers.reasons import Reason
from checkers.replies.single_turn import convert
from envs.calls import Call
from envs.lazy_modules import lazy_module
from envs.state import ATOMS, cut_repr

if TYPE_CHECKING:
    from checkers.replies import code
else:
    code = lazy_module("checkers.replies.code")


_PYTHON_TYPES = TYPES[Language.PYTHON]


class EntryRules(NamedTuple):
    """Rules for all calls of an entry."""

    language: Language
    profile: CallRules
    underscores: bool
    """Whether the model saw function names with underscores instead of dots."""


def check_call(
    call: Call, document: FunctionDocument, answer: ExpectedCall, rules: EntryRules
) -> CallEvidence | None:
    """Compare a call with an expected call; ``document`` describes the expected function.

    Raises UnjudgeableEntry if the document has an unknown type or a type that BFCL does not
    implement.
    """
    name = get_shown_name(document.name, rules)
    if call.name != name:
        shown = cut_repr(call.name)
        message = f"the called function is {shown}"
        return CallEvidence(Reason.FUNCTION, message, name, expected=name, actual=shown)
    given = bind_arguments(call, document)
    failure = (
        _check_count(call, given)
        or _check_required(document, given)
        or _check_given(given, document, answer, rules)
        or _check_left_out(given, answer)
    )
    return failure._replace(function=name) if failure else None


def bind_arguments(call: Call, document: FunctionDocument) -> dict[str, Any]:
    """Map parameters to arguments; ignore positional arguments that have no parameter."""
    if not call.args:
        return {**call.kwargs}
    return {**dict(zip(document.parameters, call.args, strict=False)), **call.kwargs}


def get_shown_name(name: str, rules: EntryRules) -> str:
    """Return the function name that the model sees, such as ``a_b`` for ``a.b``."""
    return name.replace(".", "_") if rules.underscores else name


def _check_count(call: Call, given: Mapping[str, Any]) -> CallEvidence | None:
    if len(given) == len(call.args) + len(call.kwargs):
        return None
    message = "more arguments than parameters, or an argument given twice"
    return CallEvidence(Reason.UNEXPECTED, message)


def _check_required(document: FunctionDocument, given: Mapping[str, Any]) -> CallEvidence | None:
    for parameter in document.required:
        if parameter not in given:
            return CallEvidence(Reason.MISSING_REQUIRED, "required", parameter=parameter)
    return None


def _check_given(
    given: Mapping[str, Any], document: FunctionDocument, answer: ExpectedCall, rules: EntryRules
) -> CallEvidence | None:
    schemas, language = document.parameters, rules.language
    for parameter, value in given.items():
        if parameter not in schemas or parameter not in answer.allowed:
            known = [name for name in schemas if name in answer.allowed]
            message = "unknown parameter, or a parameter that should not be given"
            return CallEvidence(Reason.UNEXPECTED, message, None, parameter, known, cut_repr(value))
        schema, allowed = schemas[parameter], answer.allowed[parameter]
        if language is Language.PYTHON and _is_accepted(value, schema, allowed):
            continue  # the most common case
        type_ = read_expected_type(schema, language, allowed)
        failure = _check_argument(value, allowed, type_, rules)
        if failure is not None:
            return failure._replace(parameter=parameter)
    return None


def _is_accepted(value: object, schema: Mapping[str, Any], allowed: Sequence[Any]) -> bool:
    """Tell whether a value is an accepted text, number or truth value of the documented type."""
    kind, word = type(value), schema.get("type")
    if kind not in ATOMS or type(word) is not str or _PYTHON_TYPES.get(word) is not kind:
        return False
    return any(type(option) is kind and option == value for option in allowed)


def _check_argument(
    value: Any, allowed: Sequence[Any], type_: ExpectedType, rules: EntryRules
) -> CallEvidence | None:
    if rules.language is not Language.PYTHON and not isinstance(value, str):
        java = rules.language is Language.JAVA
        reason = Reason.JAVA_TEXT if java else Reason.JAVASCRIPT_TEXT
        message = f"expected a string with a {type_.word} expression"
        return CallEvidence(reason, message, expected="string", actual=cut_repr(value))
    value = _convert(value, type_, rules)
    found = fit(value, allowed, type_, rules.profile)
    if found is TypeFit.WRONG_TYPE:
        message = f"{cut_repr(value)} is not of type {type_.word}"
        return _failure(Reason.TYPE, type_.word, value, message)
    if found is TypeFit.FRACTION:
        message = f"{cut_repr(value)} has a fraction, but the function document says integer"
        return _failure(Reason.ITEM_TYPE, "integer", value, message)
    if found is TypeFit.WRONG_ITEMS and type_.items is not None:
        message = f"{cut_repr(value)} has elements that are not of type {type_.items.word}"
        return _failure(Reason.ITEM_TYPE, type_.items.word, value, message)
    return check_value(value, allowed, type_, found, rules.profile)


def _convert(value: Any, type_: ExpectedType, rules: EntryRules) -> Any:
    if rules.language is not Language.PYTHON:
        is_long = len(value) > code.MAX_CODE
        return value if is_long else convert(value, type_, rules.language, rules.profile)
    if type_.word == "tuple" and isinstance(value, tuple):
        return [*value]
    if type_.type is float and type(value) is int:
        with suppress(OverflowError):
            return float(value)
    return value


def _check_left_out(given: Mapping[str, Any], answer: ExpectedCall) -> CallEvidence | None:
    for parameter, allowed in answer.allowed.items():
        if parameter not in given and "" not in allowed:
            return CallEvidence(Reason.MISSING_OPTIONAL, "required here", None, parameter, allowed)
    return None


_MARKS = str.maketrans("'", '"', " ,./-_*^")
_SIGN_OR_POINT = re.compile(r"(?<=\d)\.(?=\d)|(?<![\w)])(?<!\d )-(?=\.?\d)")
_POINT, _SIGN = "\ue000", "\ue001"


def normalise(text: str) -> str:
    """Convert to lower case, remove spaces and punctuation, and unify quotes."""
    return text.translate(_MARKS).lower()


def normalise_but_numbers(text: str) -> str:
    """Normalise a string but keep signs and decimal points, so that "1.5" differs from "15"."""
    kept = _SIGN_OR_POINT.sub(lambda mark: _POINT if mark[0] == "." else _SIGN, text)
    return normalise(kept)


_NORMALISE = {RuleVariant.AS_BFCL: normalise, RuleVariant.RIGHT: normalise_but_numbers}


class TypeFit(Enum):
    """Result of comparing a value's type with the documented type."""

    LITERAL = auto()
    VARIABLE = auto()
    """At least one accepted value does not have the documented type."""
    WRONG_TYPE = auto()
    WRONG_ITEMS = auto()
    FRACTION = auto()
    """A nested value is a float, but the function document requires an integer."""


def fit(
    value: object, allowed: Sequence[Any], expected: ExpectedType, profile: CallRules
) -> TypeFit:
    """Compare the types of a value and of its nested values with the documented types."""
    found = _fit(value, allowed, expected.type, profile)
    if profile.compares_deeply and _has_fraction(value, allowed, expected):
        return TypeFit.FRACTION
    items = expected.items
    if items is None or not isinstance(value, list) or expected.type is not list:
        return found
    if not allowed:
        return TypeFit.WRONG_TYPE
    if any(_do_items_fit(value, option, items, profile) for option in allowed):
        return found
    return TypeFit.WRONG_ITEMS


def _fit(value: object, allowed: Sequence[Any], type_: type, profile: CallRules) -> TypeFit:
    types = [type(option) for option in allowed if option != ""]
    if not profile.variables_by_any_answer:
        types = types[:1]
    is_whole = profile.compares_deeply and type_ is float and type(value) is int
    if type(value) is not type_ and not is_whole:
        return TypeFit.VARIABLE if type(value) in types else TypeFit.WRONG_TYPE
    return TypeFit.LITERAL if not types or type_ in types else TypeFit.VARIABLE


def _has_fraction(value: object, allowed: Sequence[Any], expected: ExpectedType) -> bool:
    """Tell whether a nested value is a float although the document requires an integer."""
    if isinstance(value, list) and expected.items is not None:
        within = [member for option in allowed if isinstance(option, list) for member in option]
        return any(_has_nested_fraction(each, within, expected.items) for each in value)
    if isinstance(value, dict):
        return any(
            _has_nested_fraction(value[name], _options_of(allowed, name), type_)
            for name, type_ in expected.members.items()
            if name in value
        )
    return False


def _has_nested_fraction(value: object, allowed: Sequence[Any], expected: ExpectedType) -> bool:
    if expected.type is int and type(value) is float:
        return not any(type(option) is float for option in allowed)
    return _has_fraction(value, allowed, expected)


def _options_of(allowed: Sequence[Any], name: str) -> list[Any]:
    members = [option[name] for option in allowed if isinstance(option, dict) and name in option]
    return [
        each for member in members for each in (member if isinstance(member, list) else [member])
    ]


def _do_items_fit(
    value: list[Any], option: object, items: ExpectedType, profile: CallRules
) -> bool:
    # Only a list among the answers gives types of elements; nested elements are compared as values.
    if not isinstance(option, list):
        return True
    return all(
        _fit(member, option, items.type, profile) is not TypeFit.WRONG_TYPE for member in value
    )


def check_value(
    value: Any, allowed: Sequence[Any], expected: ExpectedType, fit: TypeFit, profile: CallRules
) -> CallEvidence | None:
    """Compare a value of the right type with the accepted values; return evidence of an error."""
    if fit is TypeFit.VARIABLE:
        return _check_variable(value, allowed, profile)
    if expected.type is dict:
        return _check_dict(value, allowed, profile)
    if expected.items is not None and expected.items.type is dict:
        return _check_dicts(value, allowed, profile)
    if expected.type is str:
        normal = _NORMALISE[profile.normalise]
        texts = [normal(option) for option in allowed if isinstance(option, str)]
        return _fail_unless(normal(value) in texts, Reason.STRING, allowed, value)
    if expected.type is list:
        return _check_list(value, allowed, expected.word == "Set", profile)
    right = _is_one_of(value, allowed, profile)
    return _fail_unless(right, Reason.OTHER_VALUE, allowed, value)


def _check_variable(value: Any, allowed: Sequence[Any], profile: CallRules) -> CallEvidence | None:
    right = _is_one_of(value, allowed, profile) if profile.compares_deeply else value in allowed
    return _fail_unless(right, Reason.OTHER_VALUE, allowed, value)


def _check_list(
    value: list[Any], allowed: Sequence[Any], unordered: bool, profile: CallRules
) -> CallEvidence | None:
    given = _normalise_list(value, unordered, profile)
    # An empty string marks an optional parameter; in this list, it becomes an empty list.
    lists = [_normalise_list(_list_members(option), unordered, profile) for option in allowed]
    return _fail_unless(given in lists, Reason.LIST, allowed, value)


def _list_members(option: object) -> list[Any]:
    if not isinstance(option, (list, tuple, str)):
        raise UnjudgeableEntry(f"an answer has {cut_repr(option)} in place of a list")
    return [*option]


def _normalise_list(value: list[Any], unordered: bool, profile: CallRules) -> list[Any]:
    members = [normalise_value(member, profile) for member in value]
    return sorted(members, key=repr) if unordered else members


def _check_dicts(
    value: list[Any], allowed: Sequence[Any], profile: CallRules
) -> CallEvidence | None:
    failure: CallEvidence | None = _failure(Reason.DICTS_UNCLEAR, allowed, value)
    for option in map(_list_members, allowed):
        if len(option) != len(value):
            failure = _failure(Reason.DICT_COUNT, len(option), len(value))
            continue
        pairs = zip(value, option, strict=True)
        failures = (_check_dict(member, [right], profile) for member, right in pairs)
        failure = next((found for found in failures if found), None)
        if failure is None:
            return None
    return failure


def _check_dict(value: object, allowed: Sequence[Any], profile: CallRules) -> CallEvidence | None:
    if not isinstance(value, dict):
        return _failure(Reason.ITEM_TYPE, allowed, value, "an element is not an object")
    failure: CallEvidence | None = _failure(Reason.DICT_UNCLEAR, allowed, value)
    for option in allowed:
        if not isinstance(option, Mapping):
            continue
        failure = _compare_dict(value, option, profile)
        if failure is None:
            return None
    return failure


def _compare_dict(
    value: dict[Any, Any], option: Mapping[str, Sequence[Any]], profile: CallRules
) -> CallEvidence | None:
    for key, members in option.items():
        if key not in value and "" not in _list_members(members):
            return _failure(Reason.DICT_KEY, list(option), list(value))
    for key, member in value.items():
        if key not in option:
            return _failure(Reason.DICT_KEY, list(option), key)
        if not _is_one_of(member, _list_members(option[key]), profile):
            return _failure(Reason.DICT_VALUE, {key: option[key]}, {key: member})
    return None


def _is_one_of(value: Any, allowed: Sequence[Any], profile: CallRules) -> bool:
    given = normalise_value(value, profile)
    return any(given == normalise_value(option, profile) for option in allowed)


def normalise_value(value: Any, profile: CallRules) -> Any:
    """Return a normalised value, so that equivalent values are equal."""
    if isinstance(value, str):
        return _NORMALISE[profile.normalise](value)
    if not profile.compares_deeply:
        return value
    if isinstance(value, bool):
        return ("truth value", value)  # since 1 == True
    if isinstance(value, (list, tuple)):
        return [normalise_value(member, profile) for member in value]
    if isinstance(value, Mapping):
        return {key: normalise_value(member, profile) for key, member in value.items()}
    return value


def _fail_unless(
    right: bool, reason: Reason, allowed: object, value: object
) -> CallEvidence | None:
    return None if right else _failure(reason, allowed, value)


def _failure(
    reason: Reason, expected: object, actual: object, message: str | None = None
) -> CallEvidence:
    shown = cut_repr(actual)
    return CallEvidence(reason, message or reason.meaning, expected=expected, actual=shown)
