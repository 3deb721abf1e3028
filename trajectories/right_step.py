"""A step that is right, made from the answers of a single-turn entry: what an oracle says.

In Java and JavaScript the values of its calls are source text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from checkers.calls.documents import (
    Answer,
    Expected,
    FunctionDocument,
    Kind,
    Language,
    Task,
    expected,
)
from checkers.profile import Profile
from checkers.replies.decoding import Step
from checkers.replies.single_turn import convert
from envs.calls import Call

IN_WORDS = "None of the functions does that."
"""What is said where no function fits."""


def right_step(task: Task, profile: Profile) -> Step:
    """Return a function-calling model's step that is right, if any is.

    Raises:
        CannotJudge: A type is unknown, or an answer's function has no document.
    """
    calls = right_calls(task, profile)
    return as_tool_calls(calls) if calls else IN_WORDS


def right_calls(task: Task, profile: Profile) -> list[Call]:
    """Return the calls that are right; in Java and JavaScript their values are source text.

    Raises:
        CannotJudge: A type is unknown, or an answer's function has no document.
    """
    if task.kind is Kind.IRRELEVANCE:
        return []
    answers = task.answers or [_any_call(task.documents[0], task.language)]
    return [_call(answer, task, profile) for answer in answers]


def right_value(allowed: Sequence[Any], type_: Expected) -> Any:
    """Return the first of the values that are right, but for the empty text that leaves out.

    An object among what an answer allows lists what is right, by member.
    """
    value = _first(allowed)
    if type_.type is dict and isinstance(value, Mapping):
        return _object(value)
    if type_.items is not None and type_.items.type is dict and isinstance(value, (list, tuple)):
        return [_object(member) for member in value]
    return value


def as_tool_calls(calls: Sequence[Call]) -> Step:
    """Return calls as a step; no provider takes a dot in a name, so there is none in it."""
    return [
        {call.name.replace(".", "_"): json.dumps(call.kwargs, ensure_ascii=False)} for call in calls
    ]


def _call(answer: Answer, task: Task, profile: Profile) -> Call:
    document = task.document(answer.function)
    arguments = {}
    for name, allowed in answer.allowed.items():
        left_out = [*allowed] == [""] and name not in document.required
        if name in document.parameters and not left_out:
            type_ = expected(document.parameters[name], task.language)
            arguments[name] = _argument(right_value(allowed, type_), type_, task.language, profile)
    return Call(document.name, (), arguments)


def _first(allowed: Sequence[Any]) -> Any:
    return next((option for option in allowed if option != ""), "")


def _object(members: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    return {name: _first(allowed) for name, allowed in members.items() if [*allowed] != [""]}


def _argument(value: Any, type_: Expected, language: Language, profile: Profile) -> Any:
    """Return a value as the argument of a call: in Java and JavaScript, the text of it.

    It is written so that the profile reads it back, if there is a way to.
    """
    if language is Language.PYTHON:
        return value
    # What may be anything is mostly a variable; what is not is not, unless the profile wants it so.
    forms = (False, True) if type_.word == "any" else (True, False)
    texts = [source_text(value, type_, language, quoted=quoted) for quoted in forms]
    right = (text for text in texts if convert(text, type_, language, profile.calls) == value)
    return next(right, texts[-1])


def _any_call(document: FunctionDocument, language: Language) -> Answer:
    """Return a call with all that is required, whatever its values."""
    schemas = [(name, document.parameters[name]) for name in document.required]
    values = {n: s.get("enum") or [expected(s, language).type()] for n, s in schemas}
    return Answer(document.name, values)


_JAVA_SUFFIXES = {"long": "L", "float": "f"}
_JAVA_CLASSES = {"integer": "Integer", "char": "Character", "any": "Object"}
_JAVA_PRIMITIVES = ("byte", "short", "long", "float", "double", "boolean", "char")
_ANYTHING = Expected("any", str)


def source_text(value: Any, type_: Expected, language: Language, *, quoted: bool) -> str:
    """Return the text of an expression; texts in it are quoted, or stand there as variables do."""
    write = _java if language is Language.JAVA else _javascript
    return write(value, type_, quoted)


def _java(value: Any, type_: Expected, quoted: bool) -> str:
    if isinstance(value, str):
        return _text(value, quoted, "'" if type_.word == "char" else '"')
    if isinstance(value, Mapping):
        puts = [f"put({_text(k)}, {_java(v, _ANYTHING, quoted)});" for k, v in value.items()]
        body = f" {{{{ {' '.join(puts)} }}}}" if puts else ""
        return f"new HashMap<String, Object>(){body}"
    if isinstance(value, list):
        return _java_list(value, type_, quoted)
    return json.dumps(value) + _JAVA_SUFFIXES.get(type_.word, "")


def _java_list(value: list[Any], type_: Expected, quoted: bool) -> str:
    items = type_.items or _ANYTHING
    inside = ", ".join(_java(member, items, quoted) for member in value)
    if type_.word == "Array":
        primitive = items.word if items.word in _JAVA_PRIMITIVES else _java_class(items)
        return f"new {'int' if items.word == 'integer' else primitive}[] {{{inside}}}"
    kind = f"{'ArrayList' if type_.word == 'any' else type_.word}<{_java_class(items)}>"
    return f"new {kind}(Arrays.asList({inside}))" if value else f"new {kind}()"


def _java_class(type_: Expected) -> str:
    return _JAVA_CLASSES.get(type_.word, type_.word[0].upper() + type_.word[1:])


def _javascript(value: Any, type_: Expected, quoted: bool) -> str:
    if isinstance(value, str):
        return _text(value, quoted)
    if isinstance(value, Mapping):
        pairs = [f"{_key(k)}: {_javascript(v, _ANYTHING, quoted)}" for k, v in value.items()]
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        items = type_.items or _ANYTHING
        return f"[{', '.join(_javascript(member, items, quoted) for member in value)}]"
    return json.dumps(value) + ("n" if type_.word == "Bigint" else "")


def _key(name: str) -> str:
    return name if name.isidentifier() else _text(name)


def _text(value: str, quoted: bool = True, mark: str = '"') -> str:
    inside = json.dumps(value, ensure_ascii=False)[1:-1]
    return f"{mark}{inside}{mark}" if quoted else value
