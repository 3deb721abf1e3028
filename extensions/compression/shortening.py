"""Shortening of structured results: first strings are shortened, then lists.

A shortened result can still be parsed. Objects in a list become rows of a table. If all objects
have the same value, the value is written once. If the result is still too long, the largest fields
are omitted. The result then lists the names of the omitted fields.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from typing import Any

_TEXT_LIMITS = (2048, 1024, 512, 256, 128, 64, 32)
"""Maximum lengths of strings in a result, in characters."""
_IN_ROWS = (512, 64, 32)
_MAX_COLUMNS = 32
_LEFT_OUT = " ... "


def shorten_texts(text: str) -> Iterator[str]:
    """Yield shortened versions of a JSON result: all fields remain, and strings are cut."""
    value, write = parse_structure(text)
    if isinstance(value, dict | list):
        yield from (write(truncate_texts(value, longest)) for longest in _TEXT_LIMITS)
        yield from (write(truncate_texts(tabulate_lists(value), longest)) for longest in _IN_ROWS)


def shorten(text: str) -> Iterator[str]:
    """Yield shortened versions: first with shorter strings, then also with fewer table columns."""
    yield from shorten_texts(text)
    value, write = parse_structure(text)
    before = tabulate_lists(value)
    for left_out in range(1, _MAX_COLUMNS):
        rows = tabulate_lists(value, left_out)
        if rows == before:
            return
        before = rows
        yield from (write(truncate_texts(rows, longest)) for longest in _IN_ROWS)


def parse_structure(text: str) -> tuple[Any, Callable[[Any], str]]:
    """Return the value of a JSON or Python literal, and the function that serializes it."""
    try:
        return json.loads(text), json.dumps
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text), str
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None, str


def truncate_texts(value: Any, longest: int) -> Any:
    """Shorten the strings of a value; a short note replaces the removed middle."""
    if isinstance(value, str):
        if len(value) <= longest + len(_LEFT_OUT):
            return value
        head = longest - longest // 8
        return value[:head] + _LEFT_OUT + value[len(value) - longest // 8 :]
    if isinstance(value, dict):
        return {name: truncate_texts(inner, longest) for name, inner in value.items()}
    if isinstance(value, list):
        return [truncate_texts(inner, longest) for inner in value]
    return value


def tabulate_lists(value: Any, left_out: int = 0) -> Any:
    """Convert lists of objects to tables without the largest columns."""
    if isinstance(value, dict):
        return {name: tabulate_lists(inner, left_out) for name, inner in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) < 2 or not all(isinstance(each, dict) and each for each in value):
        return [tabulate_lists(each, left_out) for each in value]
    names = list(dict.fromkeys(name for each in value for name in each))
    shared = {name: value[0][name] for name in names if _is_shared(name, value)}
    own = [name for name in names if name not in shared]
    sizes = {name: sum(len(str(each.get(name, ""))) for each in value) for name in own}
    largest = sorted(own, key=lambda name: -sizes[name])[: min(left_out, len(own) - 1)]
    columns = [name for name in own if name not in largest]
    rows = [[tabulate_lists(each.get(name), left_out) for name in columns] for each in value]
    note = {"left out": [name for name in own if name in largest], "in all rows": shared}
    return {**{name: each for name, each in note.items() if each}, "columns": columns, "rows": rows}


def _is_shared(name: str, objects: list[dict[str, Any]]) -> bool:
    first = objects[0].get(name)
    return all(name in each and each[name] == first for each in objects)
