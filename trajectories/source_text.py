"""From a value to the source text that stands for it in Java or JavaScript."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from checkers.calls.documents import Expected, Language

_JAVA_SUFFIXES = {"long": "L", "float": "f"}
_JAVA_CLASSES = {"integer": "Integer", "char": "Character", "any": "Object"}
_JAVA_PRIMITIVES = ("byte", "short", "long", "float", "double", "boolean", "char")
_ANYTHING = Expected("any", str)


def source_text(value: Any, type_: Expected, language: Language, *, quoted: bool) -> str:
    """Return the text of an expression.

    Args:
        value: Plain JSON.
        type_: The type that it is to have.
        language: Java or JavaScript.
        quoted: Whether texts are put between quotes; otherwise they stand there as variables do.
    """
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
