"""What a result with something inside becomes on its way to being short: texts first, then lists.

A result is JSON or a Python literal, and stays one. Objects in a list become rows, with what they
share said once; where that is not enough the members that take most room are left out, and named.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from typing import Any

_LONGEST = (2048, 1024, 512, 256, 128, 64, 32)
"""How long texts in a result may be, in characters."""
_IN_ROWS = (512, 64, 32)
_MOST_COLUMNS = 32
_LEFT_OUT = " ... "


def whole(text: str) -> Iterator[str]:
    """Yield a result with shorter and shorter texts, all members there; nothing for a mere text."""
    value, write = structure(text)
    if isinstance(value, dict | list):
        yield from (write(with_short_texts(value, longest)) for longest in _LONGEST)
        yield from (write(with_short_texts(in_rows(value), longest)) for longest in _IN_ROWS)


def shorter(text: str) -> Iterator[str]:
    """Yield the same, and then without more and more members of the objects in lists."""
    yield from whole(text)
    value, write = structure(text)
    before = in_rows(value)
    for left_out in range(1, _MOST_COLUMNS):
        rows = in_rows(value, left_out)
        if rows == before:
            return
        before = rows
        yield from (write(with_short_texts(rows, longest)) for longest in _IN_ROWS)


def structure(text: str) -> tuple[Any, Callable[[Any], str]]:
    """Return the value of a result, JSON or a Python literal, and what writes it again."""
    try:
        return json.loads(text), json.dumps
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text), str
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None, str


def with_short_texts(value: Any, longest: int) -> Any:
    """Return a value whose texts have no more than so many characters but for a mark."""
    if isinstance(value, str):
        if len(value) <= longest + len(_LEFT_OUT):
            return value
        head = longest - longest // 8
        return value[:head] + _LEFT_OUT + value[len(value) - longest // 8 :]
    if isinstance(value, dict):
        return {name: with_short_texts(inner, longest) for name, inner in value.items()}
    if isinstance(value, list):
        return [with_short_texts(inner, longest) for inner in value]
    return value


def in_rows(value: Any, left_out: int = 0) -> Any:
    """Return a value whose lists of objects are tables without so many of the largest columns."""
    if isinstance(value, dict):
        return {name: in_rows(inner, left_out) for name, inner in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) < 2 or not all(isinstance(each, dict) and each for each in value):
        return [in_rows(each, left_out) for each in value]
    names = list(dict.fromkeys(name for each in value for name in each))
    shared = {name: value[0][name] for name in names if _is_shared(name, value)}
    own = [name for name in names if name not in shared]
    sizes = {name: sum(len(str(each.get(name, ""))) for each in value) for name in own}
    largest = sorted(own, key=lambda name: -sizes[name])[: min(left_out, len(own) - 1)]
    columns = [name for name in own if name not in largest]
    rows = [[in_rows(each.get(name), left_out) for name in columns] for each in value]
    told = {"left out": [name for name in own if name in largest], "in all rows": shared}
    return {**{name: each for name, each in told.items() if each}, "columns": columns, "rows": rows}


def _is_shared(name: str, objects: list[dict[str, Any]]) -> bool:
    first = objects[0].get(name)
    return all(name in each and each[name] == first for each in objects)
