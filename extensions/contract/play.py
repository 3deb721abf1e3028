"""Random plays: sequences of calls that hypothesis generates from the schemas.

Arguments fit the schemas and mostly reuse values from states and results. Plays are generated once
per environment and replayed by every check; a failing play is shortened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial, wraps
from itertools import islice
from sys import float_info
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import FlakyStrategyDefinition

from envs.calls import Call
from envs.errors import BackendFault
from envs.results import Result
from envs.schema import ToolSpec
from envs.state import Snapshot, list_differences, to_json
from extensions.contract.source_lines import changing_line, parting_line, returning_line, steps_of
from extensions.contract.subject import ContractViolation, StartState, Subject

_TEXTS = ("", "a", "new.txt", "Paris", "1", "2026-11-11", "economy", "\u00e9 \U0001f600")
_INTEGERS = (0, 1, 2, -1, 5, 10, 50, 1000, 10**12)
_NUMBERS = (*_INTEGERS, 0.5, -2.5)
_ANYTHING = (None, True, 1, 0.5, "a", [1, "a"], {"a": 1})
_LETTERS = st.characters(exclude_categories=["Cs"])
"""All characters of UTF-8; stated here because Hypothesis needs seconds to compute its default."""
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float)
}  # fmt: skip


class ShownValue(NamedTuple):
    """A text or number in a state or a result, with the names on its path."""

    words: frozenset[str]
    value: str | int | float


def shown_in(value: Any, words: frozenset[str] = frozenset()) -> Iterator[ShownValue]:
    """Yield the texts and numbers in a value, including keys."""
    if isinstance(value, Mapping):
        for key, member in value.items():
            if isinstance(key, str):
                yield ShownValue(words, key)
            yield from shown_in(member, words | _words(key))
    elif isinstance(value, (list, tuple, set, frozenset)):
        for member in sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value:
            yield from shown_in(member, words)
    elif type(value) in (str, int, float):
        yield ShownValue(words, value)


def arguments(told: ToolSpec, known: Sequence[ShownValue]) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for the arguments of a call, given all values shown so far."""
    required: dict[str, st.SearchStrategy[Any]] = {}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    for parameter in told.parameters:
        values = _values(parameter.schema, parameter.name, known)
        (required if parameter.required else optional)[parameter.name] = values
    return st.fixed_dictionaries(required, optional=optional)


def _values(
    schema: Mapping[str, Any], name: str, known: Sequence[ShownValue]
) -> st.SearchStrategy[Any]:
    if "anyOf" in schema:
        return st.one_of([_values(member, name, known) for member in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "const" in schema:
        return st.just(schema["const"])
    match schema.get("type"):
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case "string" | "integer" | "number":
            return _likely(schema, name, known)
        case "array":
            items = _values(schema.get("items", {}), name, known)
            low = schema.get("minItems", 0)
            return st.lists(items, min_size=low, max_size=schema.get("maxItems", low + 3))
        case "object":
            return _objects(schema, name, known)
    return st.sampled_from(_ANYTHING)


def _objects(
    schema: Mapping[str, Any], name: str, known: Sequence[ShownValue]
) -> st.SearchStrategy[Any]:
    members = {
        key: _values(member, key, known) for key, member in schema.get("properties", {}).items()
    }
    if not members and schema.get("additionalProperties", True):
        further = schema.get("additionalProperties")
        values = _values(further if isinstance(further, dict) else {}, name, known)
        low = schema.get("minProperties", 0)
        keys = st.sampled_from(_TEXTS)
        return st.dictionaries(
            keys, values, min_size=low, max_size=schema.get("maxProperties", low + 3)
        )
    required = {key: members.pop(key) for key in schema.get("required", ())}
    return st.fixed_dictionaries(required, optional=members)


def _likely(
    schema: Mapping[str, Any], name: str, known: Sequence[ShownValue]
) -> st.SearchStrategy[Any]:
    """Return a strategy that prefers values with a similar name, then any shown value."""
    wanted = _words(name)
    fitting: dict[str | int | float, int] = {}
    for words, value in known:
        if _fits(value, schema):
            fitting[value] = max(len(wanted & words), fitting.get(value, 0))
    if not fitting:
        return _new(schema)
    most = max(fitting.values())
    best = st.sampled_from([value for value, likeness in fitting.items() if likeness == most])
    any_known = st.sampled_from([*fitting])
    return st.one_of(best, best, any_known, _new(schema))


def _new(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    kind = schema["type"]
    if kind == "string" and "pattern" in schema:
        return st.from_regex(schema["pattern"], alphabet=_LETTERS).filter(
            partial(_fits, schema=schema)
        )
    if kind == "string":
        low, high = schema.get("minLength", 0), schema.get("maxLength")
        made = st.text(_LETTERS, min_size=low, max_size=min(low + 8, high or low + 8))
        ready: Sequence[Any] = _TEXTS
    else:
        low = schema.get("minimum", schema.get("exclusiveMinimum"))
        high = schema.get("maximum", schema.get("exclusiveMaximum"))
        made = _numbers(kind, low, high)
        ready = _INTEGERS if kind == "integer" else _NUMBERS
    fitting = [value for value in ready if _fits(value, schema)]
    made = made.filter(partial(_fits, schema=schema))
    return st.one_of(st.sampled_from(fitting), made) if fitting else made


def _numbers(kind: str, low: float | None, high: float | None) -> st.SearchStrategy[Any]:
    low = low if low is not None else (high or 0) - 10**6
    high = high if high is not None else low + 2 * 10**6
    if kind == "integer":
        return st.integers(int(low), int(high))
    return st.floats(low, high, allow_nan=False, allow_infinity=False)


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    if type(value) not in _TYPES[schema["type"]]:
        return False
    if isinstance(value, str):
        # To Python, $ is also before a line break at the end; to JSON Schema it is not.
        if "pattern" in schema and value.endswith("\n"):
            return False
        long_enough = schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", 10**9)
        return long_enough and (
            "pattern" not in schema or bool(re.search(schema["pattern"], value))
        )
    if schema["type"] == "number" and abs(value) > float_info.max:
        return False  # such as a factorial: Python reads a number as a float
    return (
        schema.get("minimum", value) <= value <= schema.get("maximum", value)
        and value not in (schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum"))
        and schema.get("exclusiveMinimum", value) <= value <= schema.get("exclusiveMaximum", value)
        and value % schema.get("multipleOf", value or 1) == 0
    )


def _words(name: object) -> frozenset[str]:
    return frozenset(word.rstrip("s") for word in str(name).lower().split("_"))


_PLAYS = 60
_STEPS = 12
_RECENT, _MOST = 6, 20
"""Number of earlier results that are used, and of values that are remembered."""


class Script(NamedTuple):
    """A recorded play."""

    start: StartState
    calls: Sequence[Call]
    texts: Sequence[str]
    """Text of every result; a last call that caused a BackendFault has none."""
    end: Snapshot

    def next_call(self, play: Play) -> Call | None:
        """Return the next call of a play of this script, None at its end."""
        made = len(play.calls)
        return self.calls[made] if made < len(self.calls) else None


class Play:
    """A session and its calls; ``choose`` returns the next call, or None at the end.

    If the last call caused a BackendFault, it has no result.
    """

    def __init__(
        self, subject: Subject, start: StartState, choose: Callable[[Play], Call | None]
    ) -> None:
        self.start = start
        self.session = subject.session(start)
        self.calls: list[Call] = []
        self.results: list[Result] = []
        self._choose = choose

    def steps(self) -> Iterator[tuple[Call, Result]]:
        """Yield after each call of the play. Raises BackendFault if the backend has a bug."""
        while (call := self._choose(self)) is not None:
            self.calls.append(call)
            self.results.append(self.session.call(call))
            yield call, self.results[-1]

    def state(self) -> dict[str, Any]:
        """Return a copy of the state, including fields that are not compared, and worlds."""
        own, *worlds = self.session.snapshot().states.items()
        return {name: to_json(value) for name, value in (*own[1].items(), *worlds)}


Examine = Callable[[Play], None]
"""Function that makes the calls of a play and raises its findings."""


def explore(subject: Subject, examine: Examine) -> None:
    """Examine random plays; a play ends at a BackendFault.

    Raises ContractViolation with the first finding and the calls that lead to it.
    """
    for script in scripts(subject):
        found = _finding(subject, examine, script)
        if found:
            script, found = _shortest(subject, examine, script, found)
            before = "; ".join(map(str, script.calls[:-1]))
            after = f" (after {before})" if before else ""
            raise ContractViolation(_line(subject, script, found), found.message + after)


def on_plays(check: Callable[[Subject, Play], None]) -> Callable[[Subject], None]:
    """Return a check of random plays from a function that examines one play."""

    @wraps(check)
    def run(subject: Subject) -> None:
        explore(subject, partial(check, subject))

    return run


@cache
def scripts(subject: Subject) -> Sequence[Script]:
    """Return the random plays of an environment; equal calls return equal plays."""
    recorded: list[Script] = []

    # The same plays every time, and none are kept on disk.
    @settings(
        max_examples=_PLAYS,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def record(data: st.DataObject) -> None:
        start = data.draw(st.sampled_from(subject.starts))
        play = Play(subject, start, partial(_make_up, subject, data))
        texts: list[str] = []
        with suppress(BackendFault):
            texts.extend(result.text for _, result in play.steps())
        recorded.append(Script(start, tuple(play.calls), texts, play.session.snapshot()))

    # An environment that is not the same every time ends it early; there are checks for that.
    with suppress(FlakyStrategyDefinition):
        record()
    return recorded


def change(before: Any, after: Any) -> str | None:
    """Return the first place where two copies of a state differ, or None."""
    return next((str(difference) for difference in list_differences(before, after)), None)


def _finding(subject: Subject, examine: Examine, script: Script) -> ContractViolation | None:
    try:
        with suppress(BackendFault):
            examine(Play(subject, script.start, script.next_call))
    except ContractViolation as found:
        return found
    return None


def _shortest(
    subject: Subject, examine: Examine, script: Script, found: ContractViolation
) -> tuple[Script, ContractViolation]:
    """Leave out every call that the finding does not need."""
    for index in reversed(range(len(script.calls))):
        shorter = script._replace(calls=[*script.calls[:index], *script.calls[index + 1 :]])
        again = _finding(subject, examine, shorter)
        if again and again.place == found.place:
            script, found = shorter, again
    return script, found


def _line(subject: Subject, script: Script, found: ContractViolation) -> str:
    """Return the line of the last call that causes the finding, or else the line of the finding."""
    if found.of is None or not script.calls:
        return found.place
    if found.of == "again":
        return _again(subject, script) or found.place
    session = subject.session(script.start)
    *before, last = script.calls
    with suppress(BackendFault):
        session.play(before)

    def run() -> object:
        return session.call(last)

    if found.of == "result":
        return returning_line(subject.source, run) or found.place
    state = session.backends[subject.name].__dict__
    kept = {**state, "defaults": subject.backend.FIELDS, "config": session.config}
    look = found.of
    if callable(look):
        return changing_line(subject.source, run, lambda: repr(look(state))) or found.place
    watched = state if look == "state" else kept
    return changing_line(subject.source, run, lambda: repr(watched)) or found.place


def _again(subject: Subject, script: Script) -> str | None:
    """Return the first line that differs when the calls run in a second fork."""
    session = subject.session(script.start)
    fork = session.fork()
    once, again = (
        [steps_of(subject.source, partial(live.call, call)) for call in script.calls]
        for live in (session, fork)
    )
    return parting_line(once, again)


def _make_up(subject: Subject, data: st.DataObject, play: Play) -> Call | None:
    """Return a call with arguments from the state of a play and from earlier results."""
    if len(play.calls) == _STEPS:
        return None
    tool = data.draw(st.sampled_from(subject.tools))
    known = list(shown_in(play.session.snapshot().compared()))
    for result in play.results[-_RECENT:]:
        known += islice(shown_in(result.held), _MOST)
    return Call(tool.name, (), data.draw(arguments(subject.spec(tool), known)))
