"""Creation of correct steps for single-turn entries, from the expected calls.

In Java and JavaScript, the values in calls are source code.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from checkers.calls.call_entry import (
    CallEntry,
    ComparisonKind,
    ExpectedCall,
    ExpectedType,
    FunctionDocument,
    Language,
    UnjudgeableEntry,
    read_expected_type,
)
from checkers.profile import Profile
from checkers.replies.decoding import Step
from checkers.replies.single_turn import convert
from envs.calls import Call

IN_WORDS = "None of the functions does that."
"""Answer if no function fits."""


def make_expected_step(task: CallEntry, profile: Profile) -> Step:
    """Return the right tool calls of a single-turn entry.

    Raises UnjudgeableEntry if a type is unknown, or an answer's function has no document.
    """
    calls = make_expected_calls(task, profile)
    return to_tool_calls(calls) if calls else IN_WORDS


def make_expected_calls(task: CallEntry, profile: Profile) -> list[Call]:
    """Return the right calls of a single-turn entry.

    Raises UnjudgeableEntry if a type is unknown, or an answer's function has no document.
    """
    if task.kind is ComparisonKind.IRRELEVANCE:
        return []
    answers = task.answers or [_make_any_call(task.documents[0], task.language)]
    return [_make_call(answer, task, profile) for answer in answers]


def make_expected_value(allowed: Sequence[Any], type_: ExpectedType) -> Any:
    """Return the first accepted value that is not ``""``.

    If the value is an object, the first accepted value of each field is chosen.
    """
    value = _get_first(allowed)
    if type_.type is dict and isinstance(value, Mapping):
        return _make_object(value)
    if type_.items is not None and type_.items.type is dict and isinstance(value, (list, tuple)):
        return [_make_object(member) for member in value]
    return value


def to_tool_calls(calls: Sequence[Call]) -> Step:
    """Return calls as a step. In names, underscores replace dots, because providers refuse dots."""
    return [
        {call.name.replace(".", "_"): json.dumps(call.kwargs, ensure_ascii=False)} for call in calls
    ]


def _make_call(answer: ExpectedCall, task: CallEntry, profile: Profile) -> Call:
    document = task.document(answer.function)
    arguments = {}
    for name, allowed in answer.allowed.items():
        left_out = [*allowed] == [""] and name not in document.required
        if name in document.parameters and not left_out:
            type_ = read_expected_type(document.parameters[name], task.language, allowed)
            arguments[name] = _make_argument(
                make_expected_value(allowed, type_), type_, task.language, profile
            )
    return Call(document.name, (), arguments)


def _get_first(allowed: Sequence[Any]) -> Any:
    return next((option for option in allowed if option != ""), "")


def _make_object(members: object) -> dict[str, Any]:
    if not isinstance(members, Mapping) or not all(
        isinstance(allowed, Collection) for allowed in members.values()
    ):
        raise UnjudgeableEntry(f"{members!r:.60} does not list the accepted values of its members")
    return {name: _get_first(allowed) for name, allowed in members.items() if [*allowed] != [""]}


def _make_argument(value: Any, type_: ExpectedType, language: Language, profile: Profile) -> Any:
    if language is Language.PYTHON:
        return value
    # Values of type ``any`` are mostly variables; values of other types are mostly literals.
    forms = (False, True) if type_.word == "any" else (True, False)
    texts = [write_source(value, type_, language, quoted=quoted) for quoted in forms]
    right = (text for text in texts if convert(text, type_, language, profile.calls) == value)
    return next(right, texts[-1])


def _make_any_call(document: FunctionDocument, language: Language) -> ExpectedCall:
    schemas = [(name, document.parameters[name]) for name in document.required]
    values = {n: s.get("enum") or [read_expected_type(s, language).type()] for n, s in schemas}
    return ExpectedCall(document.name, values)


_JAVA_SUFFIXES = {"long": "L", "float": "f"}
_JAVA_CLASSES = {"integer": "Integer", "char": "Character", "any": "Object"}
_JAVA_PRIMITIVES = ("byte", "short", "long", "float", "double", "boolean", "char")
_ANYTHING = ExpectedType("any", str)


def write_source(value: Any, type_: ExpectedType, language: Language, *, quoted: bool) -> str:
    """Return the source code of a value; if ``quoted`` is False, strings become variable names."""
    write = _write_java if language is Language.JAVA else _write_javascript
    return write(value, type_, quoted)


def _write_java(value: Any, type_: ExpectedType, quoted: bool) -> str:
    if isinstance(value, str):
        return _write_text(value, quoted, "'" if type_.word == "char" else '"')
    if isinstance(value, Mapping):
        puts = [
            f"put({_write_text(k)}, {_write_java(v, _ANYTHING, quoted)});" for k, v in value.items()
        ]
        body = f" {{{{ {' '.join(puts)} }}}}" if puts else ""
        return f"new HashMap<String, Object>(){body}"
    if isinstance(value, list):
        return _write_java_list(value, type_, quoted)
    return json.dumps(value) + _JAVA_SUFFIXES.get(type_.word, "")


def _write_java_list(value: list[Any], type_: ExpectedType, quoted: bool) -> str:
    items = type_.items or _ANYTHING
    inside = ", ".join(_write_java(member, items, quoted) for member in value)
    if type_.word == "Array":
        primitive = items.word if items.word in _JAVA_PRIMITIVES else _get_java_class(items)
        return f"new {'int' if items.word == 'integer' else primitive}[] {{{inside}}}"
    kind = f"{'ArrayList' if type_.word == 'any' else type_.word}<{_get_java_class(items)}>"
    return f"new {kind}(Arrays.asList({inside}))" if value else f"new {kind}()"


def _get_java_class(type_: ExpectedType) -> str:
    return _JAVA_CLASSES.get(type_.word, type_.word[0].upper() + type_.word[1:])


def _write_javascript(value: Any, type_: ExpectedType, quoted: bool) -> str:
    if isinstance(value, str):
        return _write_text(value, quoted)
    if isinstance(value, Mapping):
        pairs = [
            f"{_write_key(k)}: {_write_javascript(v, _ANYTHING, quoted)}" for k, v in value.items()
        ]
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        items = type_.items or _ANYTHING
        return f"[{', '.join(_write_javascript(member, items, quoted) for member in value)}]"
    return json.dumps(value) + ("n" if type_.word == "Bigint" else "")


def _write_key(name: str) -> str:
    return name if name.isidentifier() else _write_text(name)


def _write_text(value: str, quoted: bool = True, mark: str = '"') -> str:
    inside = json.dumps(value, ensure_ascii=False)[1:-1]
    return f"{mark}{inside}{mark}" if quoted else value
