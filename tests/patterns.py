"""All regular expressions of the four packages, and texts that could make one slow."""

from __future__ import annotations

import ast
import json
import re
import re._constants as codes  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from itertools import islice
from typing import Any, NamedTuple

from tests.source import PACKAGES, PATTERN_METHODS, ROOT, SEARCHING, module_of, modules, nodes

_WORD = "word"
_MANY = 20
"""From here on a repetition counts as one without end."""
_CHARACTERS = "a70Z_ .,;:-+'\"`()[]{}<>/\\=|$%#@!?*&^~\n\té"
_ONE_CHARACTER = (codes.LITERAL, codes.NOT_LITERAL, codes.IN, codes.ANY)
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)


class Found(NamedTuple):
    """A regular expression, and how it is used."""

    place: str
    pattern: re.Pattern[str]
    methods: frozenset[str]


@cache
def patterns() -> tuple[Found, ...]:
    """Return the regular expressions in the modules' attributes and, as literals, in functions.

    Another process imports the modules, because their libraries take 90 MB.
    """
    command = [sys.executable, "-m", "tests.patterns"]
    lines = subprocess.check_output(command, cwd=ROOT, text=True).splitlines()
    used = _methods()
    found: dict[tuple[str, int], Found] = {}
    for module, name, text, flags in map(json.loads, lines):
        methods = used.get(_key(module, name), SEARCHING)
        _add(found, Found(f"{module}.{name}", re.compile(text, flags), methods))
    for place, pattern, method in _literals():
        _add(found, Found(place, pattern, frozenset({method})))
    return tuple(found.values())


def _add(found: dict[tuple[str, int], Found], new: Found) -> None:
    key = new.pattern.pattern, new.pattern.flags
    before = found[key].methods if key in found else frozenset()
    found[key] = new._replace(methods=before | new.methods)


def _imported_patterns() -> Iterator[tuple[str, str, re.Pattern[str]]]:
    """Yield module and name of the attributes that have patterns, each with a pattern."""
    for package in PACKAGES:
        for module in modules(package):
            if ".adapters." in module or module.endswith("__main__"):
                continue  # these need libraries that not every environment has
            for name, value in _attributes(module).items():
                for pattern in held_in(value):
                    if isinstance(pattern.pattern, str):
                        yield module, name, pattern


def _attributes(module: str) -> Mapping[str, Any]:
    """Return what a module holds; nothing where a library is not installed that it needs."""
    try:
        return vars(import_module(module))
    except ModuleNotFoundError as error:
        if error.name and error.name.split(".")[0] in PACKAGES:
            raise
        return {}


def held_in(value: object, depth: int = 3) -> Iterator[re.Pattern[Any]]:
    """Yield the expressions in a value, also inside of tables and records."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth:
        members: Any = ()
        if isinstance(value, Mapping):
            members = value.values()
        elif isinstance(value, (tuple, list, set, frozenset)):
            members = value
        elif isinstance(value, type):
            members = [*vars(value).values()] if value.__module__.split(".")[0] in PACKAGES else ()
        elif is_dataclass(value):
            members = [getattr(value, field.name, None) for field in fields(value)]
        for member in members:
            yield from held_in(member, depth - 1)


def _key(module: str, name: str) -> tuple[str, str]:
    """Return the key of an expression's uses; only its own module uses a private name."""
    return (module if name.startswith("_") else "", name)


def _methods() -> dict[tuple[str, str], frozenset[str]]:
    """Return the methods that are called on each expression."""
    used: dict[tuple[str, str], set[str]] = {}
    for each in nodes(ast.Attribute):
        name, held = each.node.attr, each.node.value
        if name in PATTERN_METHODS and isinstance(held, ast.Name):
            used.setdefault(_key(module_of(each.path), held.id), set()).add(name)
    return {key: frozenset(methods) for key, methods in used.items()}


def _literals() -> Iterator[tuple[str, re.Pattern[str], str]]:
    """Yield expressions that functions give to ``re`` as literal texts, and for what."""
    for path, node, in_function in nodes(ast.Call):
        if (
            in_function
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.args
            and node.func.attr in {*PATTERN_METHODS, "compile"}
            and (text := _written(node.args[0])) is not None
        ):
            method = "search" if node.func.attr == "compile" else node.func.attr
            yield f"{path}:{node.lineno}", re.compile(text), method


def _written(node: ast.expr) -> str | None:
    """Return the text of a literal; a word stands for each value that is put into it."""
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else _WORD for part in node.values]
        return "".join(map(str, parts))
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return str(node.value) if is_text else None


# Texts for an expression


def pumps(pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    """Return pairs of a beginning and of what to repeat after it, made of what is in a pattern."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
    whole = list(islice(_samples(tree), 6))
    found = [("", text) for text in whole] + [("", text[:-1]) for text in whole]
    found += [("", text[:1]) for text in whole] + [("", text[1:]) for text in whole]
    found += _repeated("", tree)
    found += [("", character) for character in _in_tree(tree)]
    return [pair for pair in dict.fromkeys(found) if pair[1]]


def _repeated(before: str, tree: Any) -> list[tuple[str, str]]:
    """Return the bodies of repetitions, each with what stands before it."""
    found: list[tuple[str, str]] = []
    for code, value in tree:
        if code in _REPEATS:
            _, most, body = value
            if most >= _MANY:
                texts = list(islice(_samples(body), 6))
                found += [(start, text) for text in texts for start in dict.fromkeys((before, ""))]
            found += _repeated(before, body)
        for part in _parts(code, value):
            found += _repeated(before, part)
        before += next(_samples([(code, value)]), "")
    return found


def _inner_trees(code: Any, value: Any) -> list[Any]:
    return [value[2]] if code in _REPEATS else _parts(code, value)


def _parts(code: Any, value: Any) -> list[Any]:
    if code is codes.BRANCH:
        return list(value[1])
    if code is codes.SUBPATTERN:
        return [value[-1]]
    if code is codes.ATOMIC_GROUP:
        return [value]
    if code in (codes.ASSERT, codes.ASSERT_NOT):
        return [value[1]]
    return []


def _in_tree(tree: Any) -> Iterator[str]:
    """Yield the single characters that a tree knows."""
    for code, value in tree:
        if code in _ONE_CHARACTER:
            yield from islice(_samples([(code, value)]), 4)
        elif code in _REPEATS:
            yield from _in_tree(value[2])
        for part in _parts(code, value):
            yield from _in_tree(part)


def _samples(tree: Any) -> Iterator[str]:
    """Yield texts that match a tree, roughly."""
    texts = [""]
    for code, value in tree:
        mine = list(islice(_of(code, value), 4)) or [""]
        texts = [text + more for text in texts for more in mine][:8]
    yield from dict.fromkeys(texts)


def _of(code: Any, value: Any) -> Iterator[str]:
    if code is codes.LITERAL:
        yield chr(value)
    elif code is codes.ANY:
        yield from "a ("
    elif code is codes.NOT_LITERAL:
        yield from (c for c in _CHARACTERS if ord(c) != value)
    elif code is codes.IN:
        known = [chr(v) for c, v in value if c is codes.LITERAL]
        known += [chr(end) for c, v in value if c is codes.RANGE for end in v]
        yield from dict.fromkeys(c for c in [*_CHARACTERS, *known] if contains(value, c))
    elif code in _REPEATS:
        least, _, body = value
        yield from (text * max(least, 1) for text in _samples(body))
        if not least:
            yield ""
    else:
        for part in [] if code in (codes.ASSERT, codes.ASSERT_NOT) else _parts(code, value):
            yield from islice(_samples(part), 3)


def contains(members: Any, character: str) -> bool:
    """Tell whether a set of characters has one."""
    negated = any(code is codes.NEGATE for code, _ in members)
    return negated != any(_is_in(code, value, character) for code, value in members)


def _is_in(code: Any, value: Any, character: str) -> bool:
    if code is codes.LITERAL:
        return ord(character) == value
    if code is codes.NOT_LITERAL:
        return ord(character) != value
    if code is codes.RANGE:
        low, high = value
        return bool(low <= ord(character) <= high)
    if code is codes.CATEGORY:
        return re.fullmatch(_CATEGORIES[value], character) is not None
    return False


_CATEGORIES = {
    codes.CATEGORY_DIGIT: r"\d",
    codes.CATEGORY_NOT_DIGIT: r"\D",
    codes.CATEGORY_SPACE: r"\s",
    codes.CATEGORY_NOT_SPACE: r"\S",
    codes.CATEGORY_WORD: r"\w",
    codes.CATEGORY_NOT_WORD: r"\W",
}


# What makes an expression slow, seen from its form


def overlaps(pattern: re.Pattern[str]) -> list[str]:
    """Return the repetitions without end that could share out one text in several ways.

    They stand inside of one another, the inner one at the end of what the outer one repeats, or
    beside one another, and both take the same characters.
    """
    return list(_overlaps(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)))


def _overlaps(tree: Any) -> Iterator[str]:
    before: set[str] = set()
    """What a repetition could take that may end right here."""
    for code, value in tree:
        endless = code in _REPEATS and value[1] >= _MANY
        if endless:
            mine = _first([(code, value)])
            if before & mine:
                yield f"two beside one another take {min(before & mine)!r}"
            inner = _last_endless(value[2])
            if code is not codes.POSSESSIVE_REPEAT and inner & _first(value[2]):
                yield f"two inside one another take {min(inner & _first(value[2]))!r}"
        for part in _inner_trees(code, value):
            yield from _overlaps(part)
        if not _may_be_empty(code, value):
            before = set()
        if endless and code is not codes.POSSESSIVE_REPEAT:
            before = before | _last_endless([(code, value)])


def _may_be_empty(code: Any, value: Any) -> bool:
    if code in _REPEATS:
        return bool(value[0] == 0)
    if code in (codes.AT, codes.ASSERT, codes.ASSERT_NOT):
        return True
    return any(all(_may_be_empty(*item) for item in part) for part in _parts(code, value))


def _first(tree: Any) -> set[str]:
    """Return the characters with which a text of a tree may begin."""
    found: set[str] = set()
    for code, value in tree:
        if code in (codes.LITERAL, codes.NOT_LITERAL, codes.IN):
            item = [(code, value)] if code is not codes.IN else value
            found |= {c for c in _CHARACTERS if contains(item, c)}
        elif code is codes.ANY:
            found |= set(_CHARACTERS) - {"\n"}
        elif code in _REPEATS:
            found |= _first(value[2])
        elif code not in (codes.ASSERT, codes.ASSERT_NOT):
            for part in _parts(code, value):
                found |= _first(part)
        if not _may_be_empty(code, value):
            break
    return found


def _last_endless(tree: Any) -> set[str]:
    """Return what the repetition without end takes that a tree may end with."""
    for code, value in reversed(list(tree)):
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT) and value[1] >= _MANY:
            body = list(value[2])
            return _first(body) if len(body) == 1 else _last_endless(body)
        if code is codes.SUBPATTERN:
            return _last_endless(value[-1])
        if not _may_be_empty(code, value):
            break
    return set()


# What CPython reads wrongly before 3.11.5


def possessive_groups(pattern: re.Pattern[str]) -> int:
    """Return how many possessive repetitions have more than one character class inside.

    CPython before 3.11.5 lets them match what the repeated part does not match (issue 106052). An
    atomic group around a greedy repetition is right in all releases.
    """
    return _possessive_groups(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE))


def _possessive_groups(tree: Any) -> int:
    found = 0
    for code, value in tree:
        if code is codes.POSSESSIVE_REPEAT:
            [first, *others] = value[2]
            found += bool(others) or first[0] not in _ONE_CHARACTER
        found += sum(map(_possessive_groups, _inner_trees(code, value)))
    return found


if __name__ == "__main__":
    for module, name, pattern in _imported_patterns():
        print(json.dumps([module, name, pattern.pattern, pattern.flags]))
