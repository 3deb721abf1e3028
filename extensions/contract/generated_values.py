"""Generation of arguments that fit a schema; most values come from states and results."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cache, lru_cache
from itertools import count
from random import Random
from sys import float_info
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from envs.schema import ToolSpec, make_config_schema

_EDGES = (
    "9999-12-31", "0001-01-01", "2024-02-29", "9999-12-31T23:59", "0001-01-01T00:00", "23:59",
    "00:00", "9999-12-31T23:59:59", "0001-01-01T00:00:00", "9999-12", "0001-01", "99999999", "0",
)  # fmt: skip
"""Extreme strings in common formats, such as dates."""
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2})?)?")
_OTHER_DIGITS = {ord("0") + digit: 0x0660 + digit for digit in range(10)}
_LONG = 200
"""Number of characters of a long test string, if the schema has no maximum length."""
_HUGE = (10**18, -(10**18), 2**63, 10**30)
_FLOATS = (1e300, -1e300, 1e307, 5e-324, 1e-9, 0.1 + 0.2, -0.0)
_TINY = 1e-9
"""Distance between a test number and an exclusive bound."""
_MANY_ITEMS, _EQUAL_ITEMS = 12, 3
"""``_MANY_ITEMS``: length of a test list whose items all differ. ``_EQUAL_ITEMS``: length of a test
list whose items are all equal."""
_REPEATED = ("a", "1", " ")
"""Characters that are repeated in long strings. Such a string tests whether a regular expression
takes too long."""
_TEXTS = (
    "",
    "a",
    "new.txt",
    "Paris",
    "1",
    "2026-01-12",
    "2026-01-12T11:11",
    "economy",
    "\u00e9 \U0001f600",
    "it's",
    '"a" {b} \\ %s',
    "\u00b2",
    "nan",
)
SPECIAL_TEXTS = (
    "it's",
    "a\"b'c",
    "50% {x}'",
    "\\n'",
    " ends ",
    "\u00c4\u00df\u0130'",
    '(a"',
    "B, 'a'",
    "*'",
)
"""Strings with quotes, commas and brackets, which code often escapes wrongly."""
_IDS = ("1", "2", "3")
_INTEGERS = (0, 1, 2, -1, 5, 10, 50, 1000, 10**12)
_NUMBERS = (*_INTEGERS, 0.5, -2.5)
_ANYTHING = (None, True, 1, 0.5, "a", [1, "a"], {"a": 1})
_LETTERS = "abcXYZ019 _-.,:/'\"\n\t\u00df\u0130\u4e2d\U0001f600"
"""Characters of new strings."""
# Hypothesis needs seconds to compute the same set by default.
_UNICODE = st.characters(exclude_categories=["Cs"])
"""All characters that UTF-8 can encode."""
_ASCII = st.characters(codec="ascii", min_codepoint=32, max_codepoint=126)
_MATCHING = 40
"""Number of strings that are generated for a pattern."""
_MORE = 3
"""Maximum number of items above the schema's minimum."""
_MAX_DRAWS = 100
_MAX_MEMBERS = 40
"""Maximum number of values from one list or object: half from the beginning, half from the end."""
_SHARE_GIVEN, _SHARE_NEW, _SHARE_NEAR, _SHARE_READY = 0.5, 0.25, 0.15, 0.6
"""``_SHARE_GIVEN``: share of optional values that are given. ``_SHARE_NEW``: share of new values.
``_SHARE_NEAR``: share of known values that are replaced by a similar value. ``_SHARE_READY``: share
of new values that are constants."""
_SHARE_RECORD, _SHARE_OF_RECORD, _SHARE_ONCE = 0.4, 0.8, 0.8
"""``_SHARE_RECORD``: share of calls that use a record. ``_SHARE_OF_RECORD``: probability that
an argument comes from the record of its call. ``_SHARE_ONCE``: share of lists without repeated
items."""
_SHARE_PROVEN, _SHARE_KEPT, _SHARE_KEPT_NAME, _SHARE_LONGER = 0.4, 0.75, 0.25, 0.2
"""``_SHARE_PROVEN``: share of calls that copy arguments of a successful call. ``_SHARE_KEPT``:
probability that an argument of the successful call is copied. ``_SHARE_KEPT_NAME``: probability
that an unknown string is copied. ``_SHARE_LONGER``: probability that a copied list gets more
items."""
_STEPS = (("days", 1), ("days", -1), ("days", 31), ("hours", 1), ("minutes", 1), ("minutes", -1))
"""Offsets that turn a time into a nearby time, such as the same time on the next day."""
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float)
}  # fmt: skip


class ValueRandom(Random):
    """Random generator that prefers some values to others."""

    texts: Sequence[str] = _TEXTS
    """Candidates for new strings."""
    record: Sequence[ShownValue] = ()
    """Known values of one record; the generator prefers these values."""


class ShownValue(NamedTuple):
    """A string or number in a state or a result, with the names on its path."""

    words: frozenset[str]
    value: str | int | float
    nearest: frozenset[str]
    """Words of the last key on the path."""
    records: tuple[int, ...] = ()
    """Identifiers of the objects that contain the value."""

    def likeness(self, wanted: frozenset[str]) -> int:
        """Count the wanted words on the path; words of the nearest key count three times."""
        return len(wanted & self.words) + 2 * len(wanted & self.nearest)


class ShownValues(list[ShownValue]):
    """Values that calls have shown so far."""

    def __init__(self, values: Iterable[ShownValue] = ()) -> None:
        super().__init__(values)
        self._fitting: dict[tuple[int, str], tuple[object, list[Any], list[Any]]] = {}

    def list_fitting(self, schema: Mapping[str, Any], name: str) -> tuple[list[Any], list[Any]]:
        """Return all fitting values, and the likeliest of them."""
        key = id(schema), name
        if key not in self._fitting:
            wanted, likenesses = _words(name), dict[Any, int]()
            kinds, fitting = _TYPES[schema["type"]], dict[Any, bool]()
            # Many values have the same names.
            by_names = dict[tuple[frozenset[str], frozenset[str]], int]()
            for shown in self:
                words, value, nearest, _ = shown
                if type(value) not in kinds:
                    continue
                if value not in fitting:
                    fitting[value] = _fits(value, schema)
                if fitting[value]:
                    if (words, nearest) not in by_names:
                        by_names[words, nearest] = shown.likeness(wanted)
                    likeness = by_names[words, nearest]
                    if likeness >= likenesses.get(value, 0):
                        likenesses[value] = likeness
            best = max(likenesses.values(), default=0)
            similar = [value for value, likeness in likenesses.items() if likeness == best]
            # The schema is kept, because its id is the key.
            self._fitting[key] = schema, [*likenesses], similar
        return self._fitting[key][1:]


def shown_in(value: Any, records: Iterator[int] | None = None) -> list[ShownValue]:
    """Return the strings and numbers in a value, including keys.

    Args:
        value: A state or a result.
        records: Numbers for its objects; values with a common number belong together.
    """
    found: list[ShownValue] = []
    _collect_shown(value, (frozenset(), frozenset()), (), records or count(), found)
    return found


def _collect_shown(
    value: Any,
    names: tuple[frozenset[str], frozenset[str]],
    records: tuple[int, ...],
    numbers: Iterator[int],
    found: list[ShownValue],
) -> None:
    words, nearest = names
    # Types first: plays look through their whole state at every step.
    if type(value) in (str, int, float):
        found.append(ShownValue(words, value, nearest, records))
    elif type(value) is dict or isinstance(value, Mapping):
        for key, member in _cut_middle(value.items()):
            inside = (*records[-1:], next(numbers))
            if isinstance(key, str):
                found.append(ShownValue(words, key, nearest, inside[-1:]))
            own = _words(key)
            _collect_shown(member, (words | own, own), inside, numbers, found)
    elif isinstance(value, (list, tuple, set, frozenset)):
        members = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
        for member in _cut_middle(members):
            inside = (next(numbers),) if isinstance(member, Mapping) else records
            _collect_shown(member, names, inside, numbers, found)


def _cut_middle(members: Collection[Any]) -> Iterable[Any]:
    if len(members) <= _MAX_MEMBERS:
        return members
    listed, part = [*members], _MAX_MEMBERS // 2
    return [*listed[:part], *listed[-part:]]


def draw_arguments(random: ValueRandom, spec: ToolSpec, known: ShownValues) -> dict[str, Any]:
    """Draw arguments for a call from the known values; optional arguments may be missing."""
    if known and random.random() < _SHARE_RECORD:
        records = {*random.choice(known).records[-1:]}
        random.record = [each for each in known if not records.isdisjoint(each.records)]
    try:
        return {
            each.name: draw_value(random, each.schema, each.name, known)
            for each in spec.parameters
            if each.required or random.random() < _SHARE_GIVEN
        }
    finally:
        random.record = ()


def vary_arguments(
    random: ValueRandom,
    spec: ToolSpec,
    known: ShownValues,
    proven: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Return random arguments, of which some may come from an earlier successful call.

    Args:
        random: Random generator.
        spec: Function.
        known: Values shown so far.
        proven: Arguments of successful calls.
    """
    given = draw_arguments(random, spec, known)
    if not proven or random.random() >= _SHARE_PROVEN:
        return given
    old, shown = random.choice(proven), {each.value for each in known}
    for each in spec.parameters:
        if each.name not in old:
            continue
        value = old[each.name]
        parts = value if isinstance(value, list) else [value]
        # A name of another state does not exist.
        is_name = "pattern" not in each.schema and "enum" not in each.schema
        is_lost = is_name and any(isinstance(part, str) and part not in shown for part in parts)
        if random.random() < (_SHARE_KEPT_NAME if is_lost else _SHARE_KEPT):
            more: Any = given.get(each.name)
            is_longer = isinstance(value, list) and isinstance(more, list)
            if is_longer and random.random() < _SHARE_LONGER:
                value = [*value, *more][: each.schema.get("maxItems", len(value) + len(more))]
            given[each.name] = value
    return given


def draw_value(
    random: ValueRandom, schema: Mapping[str, Any], name: str, known: ShownValues
) -> Any:
    """Return a value that fits a schema."""
    if "anyOf" in schema:
        return draw_value(random, random.choice(schema["anyOf"]), name, known)
    if "enum" in schema:
        return random.choice(schema["enum"])
    if "const" in schema:
        return schema["const"]
    match schema.get("type"):
        case "boolean":
            return random.random() < 0.5
        case "null":
            return None
        case "string" | "integer" | "number":
            return _draw_likely(random, schema, name, known)
        case "array":
            low = schema.get("minItems", 0)
            number = random.randint(low, min(schema.get("maxItems", low + _MORE), low + _MORE))
            items = schema.get("items", {})
            drawn = [draw_value(random, items, name, known) for _ in range(number)]
            # Most functions refuse repeated names.
            once = [each for index, each in enumerate(drawn) if each not in drawn[:index]]
            return once if len(once) >= low and random.random() < _SHARE_ONCE else drawn
        case "object":
            return _draw_object(random, schema, name, known)
    return random.choice(_ANYTHING)


def _draw_object(
    random: ValueRandom, schema: Mapping[str, Any], name: str, known: ShownValues
) -> dict[str, Any]:
    members = schema.get("properties", {})
    if not members and schema.get("additionalProperties", True):
        further = schema.get("additionalProperties")
        values = further if isinstance(further, dict) else {}
        low = schema.get("minProperties", 0)
        high = min(schema.get("maxProperties", low + _MORE), low + _MORE)
        number = random.randint(low, high)
        # Ids are numbers in most configs, or names that occur elsewhere.
        names = [each.value for each in known if isinstance(each.value, str)]
        names = random.sample(names, min(len(names), len(_IDS)))
        keys = random.sample([*dict.fromkeys([*_IDS, *random.texts, *names])], number)
        return {key: draw_value(random, values, name, known) for key in keys}
    required = schema.get("required", ())
    return {
        key: draw_value(random, member, key, known)
        for key, member in members.items()
        if key in required or random.random() < _SHARE_GIVEN
    }


def _draw_likely(
    random: ValueRandom, schema: Mapping[str, Any], name: str, known: ShownValues
) -> Any:
    if random.record and random.random() < _SHARE_OF_RECORD:
        near = [each for each in random.record if _fits(each.value, schema)]
        random.shuffle(near)
        if near:
            wanted = _words(name)
            return max(near, key=lambda each: each.likeness(wanted)).value
    way = random.random()
    fitting, similar = known.list_fitting(schema, name)
    if way < _SHARE_NEW or not fitting:
        return _draw_new(random, schema)
    chosen = random.choice(similar if way > 2 * _SHARE_NEW else fitting)
    near = [value for value in _list_neighbours(chosen) if _fits(value, schema)]
    return random.choice(near) if near and random.random() < _SHARE_NEAR else chosen


def list_likely(
    schema: Mapping[str, Any], name: str, known: Sequence[ShownValue]
) -> list[str | int | float]:
    """Return known values that fit the schema and the parameter's name."""
    if schema.get("type") not in _TYPES:
        return []
    wanted = _words(name)
    return [each.value for each in known if each.likeness(wanted) and _fits(each.value, schema)]


def list_near(value: str | int | float | None) -> list[Any]:
    """Return replacements for a value: similar values, common values and boundary values."""
    if isinstance(value, str):
        return [*_list_neighbours(value) * 3, *_TEXTS, *_EDGES]
    return [] if value is None else [*_list_neighbours(value), *_INTEGERS, *_HUGE]


def _list_neighbours(value: str | int | float) -> list[Any]:
    """Return numbers near a number (one less, one more, double), or times near a time."""
    if not isinstance(value, str):
        return [value - 1, value + 1, value * 2]
    # A time of the day alone has no date.
    with suppress(ValueError, OverflowError):
        moment = datetime.fromisoformat(value if "-" in value else "")
        near = [moment + timedelta(**{unit: number}) for unit, number in _STEPS]
        near.append(moment.replace(month=12, day=31, hour=23, minute=59))
        return [each.isoformat()[: len(value)] for each in near]
    return []


def _draw_new(random: ValueRandom, schema: Mapping[str, Any]) -> Any:
    kind = schema["type"]
    made: list[Any]
    ready: list[Any]
    if kind == "string" and "pattern" in schema:
        ready = [text for text in (*random.texts, *_TEXTS, *_EDGES) if _fits(text, schema)]
        # Most other strings that match the pattern of a date are no date.
        if ready and random.random() < _SHARE_READY:
            return random.choice(ready)
        made = [text for text in list_matching(schema["pattern"]) if _fits(text, schema)]
        return random.choice(made or ready)
    if kind == "string":
        low = schema.get("minLength", 0)
        length = random.randint(low, min(low + 8, schema.get("maxLength", low + 8)))
        made = ["".join(random.choices(_LETTERS, k=length))]
        ready = [text for text in random.texts if _fits(text, schema)]
    else:
        made = _draw_numbers(random, schema)
        ready = [n for n in (_INTEGERS if kind == "integer" else _NUMBERS) if _fits(n, schema)]
    return random.choice(ready if ready and random.random() < _SHARE_READY else made)


def _draw_numbers(random: ValueRandom, schema: Mapping[str, Any]) -> list[int | float]:
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    low = low if low is not None else (high or 0) - 10**6
    high = high if high is not None else low + 2 * 10**6
    whole = schema["type"] == "integer"
    step = schema.get("multipleOf", 1)
    for _ in range(_MAX_DRAWS):
        number = random.randint(math.ceil(low), math.floor(high)) if whole else low
        number = number // step * step if whole else random.uniform(low, high)
        if _fits(number, schema):
            return [number]
    return [low]


@cache
def list_matching(pattern: str) -> Sequence[str]:
    """Return some strings that match a pattern; the same pattern gives the same strings."""
    found: dict[str, None] = {}
    alphabets = [_UNICODE, *([_ASCII] if pattern.isascii() else [])]
    strategy = st.one_of([st.from_regex(pattern, alphabet=each) for each in alphabets])

    # The same values every time, and none are kept on disk.
    @settings(
        max_examples=_MATCHING,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(text: str) -> None:
        found[text] = None

    collect()
    return [*found]


def write_in_other_digits(value: Any) -> Any:
    """Replace the digits in strings by digits of the Arabic script, which ``int`` also accepts."""
    if isinstance(value, str):
        return value.translate(_OTHER_DIGITS)
    if isinstance(value, dict):
        return {key: write_in_other_digits(each) for key, each in value.items()}
    return [write_in_other_digits(each) for each in value] if isinstance(value, list) else value


def is_time(value: object) -> bool:
    """Tell whether a value looks like a date, or like a date with a time."""
    return isinstance(value, str) and _TIME.fullmatch(value) is not None


def list_bounds(schema: Mapping[str, Any]) -> list[int | float]:
    """Return 0, 1 and the bounds of a schema, but only numbers that fit the schema."""
    bounds = [schema[name] for name in ("minimum", "maximum") if name in schema]
    for name, step in (("exclusiveMinimum", 1), ("exclusiveMaximum", -1)):
        if name in schema:
            bounds += [schema[name] + step, schema[name] + step * _TINY]
    whole = schema["type"] == "integer"
    numbers = [int(each) if whole else each for each in (0, *bounds, 1)]
    return [number for number in dict.fromkeys(numbers) if _fits(number, schema)]


def list_edges(schema: Mapping[str, Any]) -> list[Any]:
    """Return the boundary values of a schema, which the contract always tries."""
    if "anyOf" in schema:
        return [edge for member in schema["anyOf"] for edge in list_edges(member)]
    match schema.get("type"):
        case "string" if "enum" not in schema:
            high = schema.get("maxLength", _LONG)
            long = ["x" * high, *(f"{character * (high - 1)}!" for character in _REPEATED)]
            short = "x" * schema.get("minLength", 0)
            return [text for text in (short, *long, *_EDGES) if _fits(text, schema)]
        case "integer" | "number" as kind:
            numbers = [*list_bounds(schema), *_HUGE, *(_FLOATS if kind == "number" else [])]
            return [number for number in numbers if _fits(number, schema)]
        case "array":
            return _list_edge_lists(schema)
    return []


def _list_edge_lists(schema: Mapping[str, Any]) -> list[list[Any]]:
    """Return test lists: an empty one, long ones, and one for each boundary value of the items."""
    items = schema.get("items", {})
    random = ValueRandom(0)
    drawn = [draw_value(random, items, "", ShownValues()) for _ in range(_MAX_DRAWS)]
    if items.get("type") == "string" and not {"enum", "pattern"} & {*items}:
        drawn = [f"item {number}" for number in range(_MANY_ITEMS)]
    many = [each for index, each in enumerate(drawn) if each not in drawn[:index]]
    lists = [[], *([edge] for edge in list_edges(items)), many[:1] * _EQUAL_ITEMS]
    lists.append(many[: min(_MANY_ITEMS, schema.get("maxItems", _MANY_ITEMS))])
    low, high = schema.get("minItems", 0), schema.get("maxItems", _MANY_ITEMS)
    return [each for each in lists if low <= len(each) <= high]


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    if type(value) not in _TYPES[schema["type"]]:
        return False
    if isinstance(value, str):
        # To Python, $ is also before a line break at the end; to JSON Schema it is not.
        if "pattern" in schema and value.endswith("\n"):
            return False
        long_enough = schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", 10**9)
        return long_enough and ("pattern" not in schema or _matches(schema["pattern"], value))
    if schema["type"] == "number" and abs(value) > float_info.max:
        return False  # such as a factorial: Python reads a number as a float
    return (
        schema.get("minimum", value) <= value <= schema.get("maximum", value)
        and value not in (schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum"))
        and schema.get("exclusiveMinimum", value) <= value <= schema.get("exclusiveMaximum", value)
        and value % schema.get("multipleOf", value or 1) == 0
    )


@lru_cache(50_000)
def _matches(pattern: str, text: str) -> bool:
    return re.search(pattern, text) is not None


@lru_cache(1_000)
def _words(name: object) -> frozenset[str]:
    return frozenset(word.rstrip("s") for word in str(name).lower().split("_"))


@cache
def inline_config_schema(kind: type, depth: int = 4) -> Mapping[str, Any]:
    """Return the JSON Schema of an initial config, with definitions in place of references.

    ``depth`` limits the nesting of the definitions.
    """
    schema = make_config_schema(kind)
    definitions = schema.get("$defs", {})

    def inlined(value: Any, depth: int) -> Any:
        if isinstance(value, list):
            return [inlined(member, depth) for member in value]
        if not isinstance(value, dict):
            return value
        if "$ref" in value:
            name = value["$ref"].rpartition("/")[2]
            return inlined(definitions[name], depth - 1) if depth else {"type": "null"}
        return {key: inlined(member, depth) for key, member in value.items() if key != "$defs"}

    found: Mapping[str, Any] = inlined(schema, depth)
    return found
