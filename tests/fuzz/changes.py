"""Changes to the text of a file, drawn from a seed: what damage and malice do to it."""

from __future__ import annotations

import copy
import gzip
import json
import string
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

_HUGE = "@@huge@@"
"""Stands for a number that Python would not write down."""
_DEEP: Any = "end"
for _ in range(300):
    _DEEP = [_DEEP]

VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        7,
        1.5,
        -0.0,
        10**30,
        10**400,
        1e308,
        float("nan"),
        float("inf"),
    ),
    *(_HUGE, "", " ", "x", "0", "-", "..", "../../x", "a/b", "\0", "x" * 20_000, "9" * 5000),
    *("\ud800", "a\udfffb", "\x1b]0;owned\x07", "\x9b31m", "\u202ereversed", "\r\n", "ünïcödé"),
    *([], {}, [[]], [{}], [None], {"": 0}, {"id": "x"}, ["a", 1], [["a"]], _DEEP),
    *("f(", "f(x=1)", "f(x=" + "(" * 200, "cd(folder='x')", "[]", "{}", "nan", "TicketAPI"),
)
"""What is put in the place of a value."""

_BYTES = (b"\xff", b"\0", b"\x1b[31m", b"\r", b"\n", b"\n\n", b'"', b"{", b"]", b"\xef\xbb\xbf")

_TYPED_SHARE = 0.6
"""Share of changes that keep the types of a file, so that code behind its reader is tried."""

_WHOLES: tuple[Callable[[bytes], bytes], ...] = (
    *(gzip.compress, lambda text: text.decode(errors="replace").encode("utf-16")),
    *(lambda text: text.replace(b"\n", b"\r\n"), lambda text: text[: len(text) // 2]),
    *(lambda text: b"a = " + b"[" * 20_000, lambda text: b"a = 1" + b"0" * 5000),
    *(lambda text: b"[" * 100_000, lambda text: b'{"a":' * 100_000, lambda text: b""),
    *(lambda text: text + b"\0" * 9, lambda text: b"\xef\xbb\xbf" + text, lambda text: b"[{}]"),
)
"""Changes to a whole file: its encoding, its end, and its nesting."""

Place = tuple[Any, Any]
"""A list or an object, and an index or a name in it."""


def changed(text: bytes, random: Random) -> bytes:
    """Return the text of a file with one change, or with a few."""
    if random.random() < _TYPED_SHARE:
        before = text
        for _ in range(random.choice((1, 2, 4))):
            text = _in_a_value(text, random, _retyped)
        # A value may have been replaced by its equal.
        return text if text != before else _in_a_value(text, random, _retyped)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        text = random.choice((_in_a_value,) * 8 + (_in_the_lines, _in_the_bytes, _in_all))(
            text, random
        )
    return text


def _in_all(text: bytes, random: Random) -> bytes:
    return random.choice(_WHOLES)(text)


def _retyped(value: Any, random: Random) -> Any:
    """Change a value to another of its type, so that the file stays readable.

    A text or number becomes another one of the same name; items of a list are repeated or dropped.
    """
    named: dict[tuple[Any, type], list[Any]] = {}
    places = [*_named_places(value, "")]
    for holder, key, name in places:
        named.setdefault((name, type(holder[key])), []).append(holder[key])
    if not places:
        return value
    holder, key, name = random.choice(places)
    found = holder[key]
    if isinstance(found, list) and len(found) > 1 and random.random() < 0.5:
        index = random.randrange(len(found))
        found[index : index + 1] = [copy.deepcopy(found[index])] * random.choice((0, 2, 3))
    elif isinstance(found, bool):
        holder[key] = not found
    elif isinstance(found, int | float) and random.random() < 0.5:
        holder[key] = random.choice((found + 1, found - 1, 0, -found, 2 * found))
    else:
        holder[key] = copy.deepcopy(random.choice(named[name, type(found)]))
    return value


def _named_places(value: Any, name: str) -> Iterator[tuple[Any, Any, str]]:
    """Yield all places with the names of their values; an item is named after its list."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            named = str(key) if isinstance(value, dict) else f"{name}[]"
            yield value, key, named
            yield from _named_places(value[key], named)


def _in_a_value(
    text: bytes, random: Random, alter: Callable[[Any, Random], Any] | None = None
) -> bytes:
    """Change a value in one of the JSON values that the file, or its lines, are."""
    alter = alter or _altered
    # A single line may be a file of JSON lines.
    indent = 1 if b"\n" in text.strip() else None
    try:
        return _encoded(alter(json.loads(text), random), indent)
    except (ValueError, RecursionError):
        lines = text.split(b"\n")
    full = [index for index, line in enumerate(lines) if line.strip()]
    if full:
        index = random.choice(full)
        try:
            lines[index] = _encoded(alter(json.loads(lines[index]), random))
        except (ValueError, RecursionError):
            return _in_the_bytes(text, random)
    return b"\n".join(lines)


def _encoded(value: Any, indent: int | None = None) -> bytes:
    return json.dumps(value, indent=indent).replace(f'"{_HUGE}"', "1" + "0" * 5000).encode()


def _altered(value: Any, random: Random) -> Any:
    places = [*_places(value)]
    if not places or random.random() < 0.03:
        return random.choice(VALUES)
    holder, key = random.choice(places)
    random.choice(_CHANGES)(holder, key, random)
    return value


def _places(value: Any) -> Iterator[Place]:
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def _set(holder: Any, key: Any, random: Random) -> None:
    holder[key] = copy.deepcopy(random.choice(VALUES))


def _retype(holder: Any, key: Any, random: Random) -> None:
    value = holder[key]
    if isinstance(value, dict):
        holder[key] = random.choice(
            ([*value], [*value.values()], [[k, v] for k, v in value.items()])
        )
    elif isinstance(value, list):
        holder[key] = random.choice((dict(enumerate(value)), str(value), value[0] if value else 0))
    else:
        holder[key] = random.choice((str(value), [value], {"value": value}, bool(value)))


def _remove(holder: Any, key: Any, random: Random) -> None:
    del holder[key]


def _rename(holder: Any, key: Any, random: Random) -> None:
    if isinstance(holder, dict):
        value = holder.pop(key)
        names = (f"{key}s", str(key).upper(), "", "\x1b[2J", "\ud800", *map(str, holder))
        holder[random.choice(names)] = value


def _double(holder: Any, key: Any, random: Random) -> None:
    if isinstance(holder, list):
        holder[key:key] = [copy.deepcopy(holder[key])] * random.choice((1, 1, 5, 200))
    elif isinstance(holder[key], str):
        holder[key] *= random.choice((2, 100))
    else:
        holder[f"{key} "] = copy.deepcopy(holder[key])


def _wrap(holder: Any, key: Any, random: Random) -> None:
    holder[key] = random.choice(([holder[key]], {str(key): holder[key]}, [[holder[key]]]))


def _reorder(holder: Any, key: Any, random: Random) -> None:
    if isinstance(holder, list):
        random.shuffle(holder)
    else:
        members = [*holder.items()]
        random.shuffle(members)
        values = [value for _, value in members] if random.random() < 0.3 else holder.values()
        pairs = [*zip(holder, values, strict=True)]
        holder.clear()
        holder.update(pairs)


def _cut(holder: Any, key: Any, random: Random) -> None:
    value = holder[key]
    if isinstance(value, str | list) and value:
        holder[key] = value[: random.randrange(len(value))]
    else:
        _remove(holder, key, random)


def _control(holder: Any, key: Any, random: Random) -> None:
    if isinstance(holder[key], str):
        at = random.randrange(len(holder[key]) + 1)
        sign = random.choice(
            ("\x1b[31m", "\0", "\ud83d", "\x07", "\u202e", "'", '"', "\\", "(", "{")
        )
        holder[key] = holder[key][:at] + sign + holder[key][at:]
    elif isinstance(holder[key], int | float):
        holder[key] = random.choice((holder[key] + 1, -holder[key], _HUGE, float("nan"), 10**18))
    else:
        _set(holder, key, random)


def _swap(holder: Any, key: Any, random: Random) -> None:
    """Put a value of the same holder in the place of another."""
    keys = [*holder] if isinstance(holder, dict) else [*range(len(holder))]
    holder[key] = copy.deepcopy(holder[random.choice(keys)])


_CHANGES: tuple[Callable[[Any, Any, Random], None], ...] = (
    *(_set, _set, _set, _retype, _retype, _control, _control),
    *(_remove, _rename, _double, _wrap, _reorder, _cut, _swap),
)


def _in_the_lines(text: bytes, random: Random) -> bytes:
    lines = text.split(b"\n")
    index = random.randrange(len(lines))
    match random.randrange(5):
        case 0:
            lines.insert(index, lines[index])
        case 1:
            del lines[index]
        case 2:
            random.shuffle(lines)
        case 3:
            lines[index] = lines[index][: random.randrange(len(lines[index]) + 1)]
        case _:
            lines.insert(index, random.choice((b"", b"[]", b"null", b"{}", b'"', b"[" * 100_000)))
    return b"\n".join(lines)


def _in_the_bytes(text: bytes, random: Random) -> bytes:
    at = random.randrange(len(text) + 1)
    match random.randrange(4):
        case 0:
            return text[:at]
        case 1:
            return text[:at] + random.choice(_BYTES) + text[at:]
        case 2:
            return text[:at] + text[at + random.randrange(1, 20) :]
        case _:
            letter = random.choice(string.printable).encode()
            return text[:at] + letter + text[at + 1 :]
