"""Conversion of external JSON Schemas to Python types with sample values."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

_DEEP = 4
_MAX_CHOICES, _MAX_CLASSES, _MAX_MEMBERS = 60, 300, 40
_CHOICE = re.compile(r"[^\"'\\\n]{1,60}")
_MEMBER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}")
_MAX_NUMBER = 10**12
_SIMPLE: Mapping[str, tuple[str, Any]] = {
    "boolean": ("bool", True),
    "integer": ("int", 1),
    "number": ("float", 1.5),
    "string": ("str", "text"),
}
_MAX_LINE_CHARS = 100
_MAX_INLINE_CHARS = 60
"""Maximum length of a type on one line. Longer types get one line for each choice."""


def plain_text(text: object, most: int) -> str:
    """Return a text as one line of visible characters; dots replace characters beyond the limit.

    Non-ASCII letters that look like ASCII letters are removed.
    """
    seen = "".join(
        c if c.isprintable() and ord(c) < 0x10000 else " " for c in str(text)[: 4 * most]
    )
    words = " ".join(seen.split())
    return words if len(words) <= most else f"{words[: most - 4].rstrip(' .')} ..."


class PythonType(NamedTuple):
    """Source code of a type, with an example value."""

    source: str
    sample: Any
    kind: str = "any"
    choices: Sequence[Any] = ()
    low: float = -_MAX_NUMBER
    high: float = _MAX_NUMBER

    def or_none(self) -> PythonType:
        """Return the union of this type and None."""
        if self.source == "Any" or self.source.endswith("| None"):
            return self
        return self._replace(source=f"{self.source} | None")

    def anything(self) -> PythonType:
        """Return the type Any with the same example value."""
        return PythonType("Any", self.sample)

    def takes(self, value: object) -> bool:
        """Tell whether a value has this type and can be written in one line of code."""
        if self.choices:
            return any(value == each and type(value) is type(each) for each in self.choices)
        match self.kind, value:
            case ("boolean", bool()):
                return True
            case ("integer", int()) if not isinstance(value, bool):
                return self.low <= value <= self.high
            case ("number", int() | float()) if not isinstance(value, bool):
                return self.low <= value <= self.high
            case ("string", str()):
                return bool(_CHOICE.fullmatch(value)) and value.isprintable()
            case ("any", bool() | int() | float()):
                # A union of types.
                return type(value).__name__ in self.source.split(" | ")
        return False


_ANY = PythonType("Any", "text")


def literal(value: object) -> str:
    """Return the source code of a plain value."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


class TypeConverter:
    """Converter from schemas to types; each object with fields becomes a class.

    Args:
        prefix: Prefix of the class names.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._made: dict[str, str] = {}
        self._known: dict[str, str] = {}

    def source(self) -> str:
        """Return the source code of all classes, inner classes before outer classes."""
        return "".join(f"{code}\n\n\n" for code in self._made.values())

    def of(self, schema: object, name: str, depth: int = _DEEP) -> PythonType:
        """Return the type of a schema; unsupported parts become Any.

        Args:
            schema: JSON Schema without references.
            name: Base of the class name.
            depth: Remaining depth.
        """
        if not isinstance(schema, Mapping) or depth == 0:
            return _ANY
        found = self._of(schema, name, depth)
        nullable = schema.get("nullable") is True or schema.get("x-nullable") is True
        return found.or_none() if nullable else found

    def _of(self, schema: Mapping[str, Any], name: str, depth: int) -> PythonType:
        for word in ("anyOf", "oneOf"):
            if isinstance(members := schema.get(word), list):
                return self._union(members, name, depth)
        choices = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(choices, list):
            return self._choice(choices, name)
        kind = schema.get("type")
        if isinstance(kind, list):
            return self._union([{**schema, "type": each} for each in kind], name, depth)
        if kind in ("integer", "number"):
            return self._number(schema, kind)
        if isinstance(kind, str) and kind in _SIMPLE:
            return PythonType(*_SIMPLE[kind], kind=kind)
        if kind == "array":
            return PythonType(f"list[{self.of(schema.get('items'), name, depth - 1).source}]", [])
        if kind == "object" or isinstance(schema.get("properties"), Mapping):
            return self._object(schema, name, depth)
        return _ANY

    def _union(self, members: Sequence[object], name: str, depth: int) -> PythonType:
        found: dict[str, PythonType] = {}
        null = False
        for member in members[:5]:
            if isinstance(member, Mapping) and member.get("type") == "null":
                null = True
            else:
                inner = self.of(member, name, depth - 1)
                found.setdefault(inner.source, inner)
        if not found or len(members) > 4 or "Any" in found:
            return _ANY
        first, *rest = found.values()
        parts = list(dict.fromkeys(source.removesuffix(" | None") for source in found))
        if {"int", "float"} <= set(parts):
            parts.remove("int")
        both = " | ".join(parts)
        # A union in a union may say the same twice.
        if rest and (any(" | " in part for part in parts) or both.count("Literal[") > 1):
            return _ANY
        null = null or any(source.endswith("| None") for source in found)
        whole = PythonType(both, first.sample, first.kind if not rest else "any", first.choices)
        if len(both) > _MAX_INLINE_CHARS:
            return _ANY
        return whole.or_none() if null else whole

    def _choice(self, choices: Sequence[Any], name: str) -> PythonType:
        null = None in choices
        plain = list(
            dict.fromkeys((type(c), c) for c in choices if isinstance(c, (str, bool, int)))
        )
        values = [value for _, value in plain]
        if len(values) + null != len(dict.fromkeys(map(repr, choices))) or not values:
            return _ANY
        fits = all(
            _CHOICE.fullmatch(v) and v.isprintable()
            if isinstance(v, str)
            else abs(v) <= _MAX_NUMBER
            for v in values
        )
        if not fits or len(values) > _MAX_CHOICES:
            texts = all(isinstance(value, str) for value in values)
            found = PythonType("str", "text", "string") if texts else _ANY
            return found.or_none() if null else found
        words = [literal(value) for value in values]
        line = f"Literal[{', '.join(words)}]"
        if len(line) > _MAX_INLINE_CHARS and len(words) > 1:
            code = "Literal[\n" + "".join(f"    {word},\n" for word in words) + "]"
            line = self._title(name, code, f"{{}} = {code}")
        found = PythonType(line, values[0], "choice", values)
        return found.or_none() if null else found

    def _number(self, schema: Mapping[str, Any], kind: str) -> PythonType:
        source, sample = _SIMPLE[kind]
        bounds = {
            mark: value
            for key, mark in (("minimum", "ge"), ("maximum", "le"))
            if isinstance(value := schema.get(key), int if kind == "integer" else (int, float))
            and not isinstance(value, bool)
            and abs(value) <= _MAX_NUMBER
        }
        low, high = bounds.get("ge", -_MAX_NUMBER), bounds.get("le", _MAX_NUMBER)
        if not bounds or low > high:
            return PythonType(source, sample, kind)
        sample = min(max(sample, low), high)
        marks = ", ".join(f"{mark}={value!r}" for mark, value in bounds.items())
        written = f"Annotated[{source}, Field({marks})]"
        return PythonType(written, sample, kind, low=low, high=high)

    def _object(self, schema: Mapping[str, Any], name: str, depth: int) -> PythonType:
        members = schema.get("properties")
        further = schema.get("additionalProperties")
        if not isinstance(members, Mapping) or not members:
            inner = self.of(further, name, depth - 1) if isinstance(further, Mapping) else _ANY
            return PythonType(f"dict[str, {inner.source}]", {})
        odd = any(
            not isinstance(key, str) or not _MEMBER.fullmatch(key) or keyword.iskeyword(key)
            for key in members
        )
        if odd or len(members) > _MAX_MEMBERS or len(self._made) >= _MAX_CLASSES:
            return PythonType("dict[str, Any]", {})
        return self._class(schema, members, name, depth)

    def _class(
        self, schema: Mapping[str, Any], members: Mapping[str, Any], name: str, depth: int
    ) -> PythonType:
        listed = schema.get("required")
        needed = {str(key) for key in listed} if isinstance(listed, list) else set()
        lines, sample = [], {}
        for key, inner in members.items():
            kind = self.of(inner, f"{name}_{key}", depth - 1)
            if key in needed:
                sample[key] = kind.sample
            line = f"    {key}: {kind.source if key in needed else f'NotRequired[{kind.source}]'}"
            if len(line) > _MAX_LINE_CHARS:
                line = f"    {key}: {'Any' if key in needed else 'NotRequired[Any]'}"
            lines.append(line)
        code = "\n".join(lines)
        said = f'    """What {" ".join(name.split("_"))[:70].strip()} holds."""'
        return PythonType(
            self._title(name, code, f"class {{}}(TypedDict):\n{said}\n\n{code}"), sample
        )

    def _title(self, name: str, code: str, definition: str) -> str:
        if code not in self._known:
            words = "".join(word[:1].upper() + word[1:] for word in name.split("_"))[:60]
            title = f"{self._prefix}{words}"
            while title in self._made:
                title += "2"
            self._made[title] = definition.replace("{}", title, 1)
            self._known[code] = title
        return self._known[code]
