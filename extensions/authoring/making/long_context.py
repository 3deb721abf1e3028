"""Maker of long-context variants: a scenario in a world with many similar items.

``trajectories/long_context_generator.py`` generates the items from a seed when a session is loaded.
This module keeps words of the user's requests out of the generated items.
The module replays the ground truth once without the items and once with the items. The module then
adapts arguments and required information to the new results.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from math import ceil
from typing import Any, NamedTuple, NoReturn

from checkers.known_values import contains_value, list_literals, unescape_text
from checkers.required_info import Fact, Items, Number, Text
from envs.calls import Call, parse_call
from envs.errors import DataError
from envs.results import Result
from envs.session import Session
from extensions.authoring.fact_sources import FactSources
from extensions.authoring.making.avoided_words import (
    NUMBER,
    find_meant_words,
    find_replaced_files,
)
from extensions.authoring.making.maker_helpers import calls, derived, start
from extensions.authoring.stated_values import shown, write_documents
from trajectories.generated_items import FIRST_LINE
from trajectories.replay_queries import list_messages
from trajectories.schema import AlternativeRead, Category, LongContextSettings, Trajectory, Turn
from trajectories.vocabulary import KINDS

SEEDS = 20
"""Maximum seeds that are tried."""
MIN_CHARS, LONGER_CHARS = 24_000, 60_000
"""Minimum length of all results of a ground truth, in characters."""
MAX_ITEMS = 2_400
"""Maximum number of generated items of a kind."""
_LONGER_SHARE = 5, 8
"""``LONGER_CHARS`` applies to five of eight entries."""
_MARGIN = 1.06
"""Safety margin, because the length of the results differs between seeds."""
_PROBED = 200
"""Number of items of each kind in a first trial."""
_MIN_SHARE = 0.05
"""Each kind of items must add at least this share of the new characters."""
MAX_COPIED_CHARS = 200
"""Maximum number of generated characters in a ground-truth argument."""

MAX_LISTED = 50
"""If a list is longer, an answer does not have to name all items."""

_Value = str | int | float


def lengthen(
    base: Trajectory,
    seed: int | None = None,
    chars: int | None = None,
    said: Sequence[str] = (),
    by_hand: Trajectory | None = None,
    kept_whole: Sequence[str] = (),
) -> Trajectory | None:
    """Add items to a trajectory; return None if its results cannot become long enough.

    Raises DataError if generated items make a needed value ambiguous, or if no seed works.

    Args:
        base: The trajectory.
        seed: First seed (default: derived from the id).
        chars: Wanted characters of all results of the ground truth (default: derived from the id).
        said: Further messages of the user in a variant.
        by_hand: The trajectory without its generated world, which the items replace.
        kept_whole: Files, sectors and lists that are not extended.
    """
    first = derive_seed(base.id) if seed is None else seed
    share, parts = _LONGER_SHARE
    wanted = chars or (LONGER_CHARS if derive_seed(base.id) % parts < share else MIN_CHARS)
    enough = min(wanted, MIN_CHARS)
    bare = base if by_hand is None else by_hand
    kept = {*find_replaced_files(bare), *kept_whole}
    if any(_FIRST_LINE.search(text) for text in (*list_messages(bare.turns), *said)):
        kept.add(FIRST_LINE)
    without = tuple(sorted({*find_meant_words(bare, said), *kept}))
    bulk = choose_size(bare, LongContextSettings("generated", first, 0, without), wanted)
    if bulk is None:
        return None
    for chosen in range(first, first + SEEDS):
        longer = place_in_world(base, replace(bulk, seed=chosen), bare)
        read, filters_hold = _measure_bulk(base, longer, bare)
        if read < enough:
            return None
        if filters_hold:
            return longer
    message = (
        "long_context: a filter of the ground truth selects generated items; use a narrower filter"
    )
    raise DataError(base.id, message)


def choose_size(
    bare: Trajectory, bulk: LongContextSettings, chars: int
) -> LongContextSettings | None:
    """Return settings with enough generated items of the kinds that the ground truth reads.

    The number of items (at most ``MAX_ITEMS``) grows until the results have ``chars`` characters.
    Return None if the ground truth reads no items that can be generated.
    """
    kinds = _find_kinds(bare, bulk)
    if not kinds:
        return None
    goal, sized = chars * _MARGIN, replace(bulk, items=_PROBED, kinds=kinds)
    while (read := count_read(bare, sized)) < goal and sized.items < MAX_ITEMS:
        items = max(sized.items + 20, ceil(sized.items * goal / read))
        sized = replace(sized, items=min(MAX_ITEMS, items))
    return sized


def _find_kinds(bare: Trajectory, bulk: LongContextSettings) -> tuple[str, ...]:
    """Return the kinds of generated items that the ground truth reads."""
    without_growth = count_read(bare, replace(bulk, items=_PROBED, kinds=("none",)))
    growth = {
        kind: count_read(bare, replace(bulk, items=_PROBED, kinds=(kind,))) - without_growth
        for kind in KINDS
    }
    least = max(1.0, _MIN_SHARE * sum(growth.values()))
    return tuple([kind for kind, grown in growth.items() if grown >= least])


def count_read(bare: Trajectory, bulk: LongContextSettings) -> int:
    """Add generated items; return the number of characters in the ground truth's results."""
    session = start(replace(bare, long_context=bulk))
    read = 0
    for turn in bare.turns:
        read += sum(len(result.text) for result in session.play(calls(turn)))
        session.end_turn()
    return read


def place_in_world(
    base: Trajectory, bulk: LongContextSettings, by_hand: Trajectory | None = None
) -> Trajectory:
    """Return a trajectory with generated items; ``bulk`` defines the items.

    Raises DataError if generated items make a needed part of a result ambiguous.
    """
    config = (by_hand or base).config
    longer = derived(base, Category.LONG_CONTEXT, long_context=bulk, config=config)
    return replace(longer, turns=_adapt_turns(base, longer))


def derive_seed(id: str) -> int:
    """Derive a seed from an id."""
    return int.from_bytes(sha256(id.encode()).digest()[:2])


_FIRST_LINE = re.compile(
    r"\b(?:first|second|third|top|opening) lines?\b|\bline but the first\b|\bnewest on top\b",
    re.IGNORECASE,
)
"""Matches messages about the beginning of a file."""

_FILTERS: Mapping[str, tuple[str, ...]] = {
    "grep": ("pattern",),
    "find": ("name",),
    "search_messages": ("keyword",),
    "search_tweets": ("keyword",),
    "get_transaction_history": ("start_date",),
    "get_user_tickets": ("status",),
}
"""Filter arguments of functions. The filters must not select generated items."""


def _measure_bulk(base: Trajectory, longer: Trajectory, by_hand: Trajectory) -> tuple[int, bool]:
    """Return the length of the results, and whether the filters select the same items."""
    short, long, bare = start(base), start(longer), start(by_hand)
    read, filters_hold = 0, True
    for turn, there in zip(base.turns, longer.turns, strict=True):
        for call, longer_call in zip(calls(turn), calls(there), strict=True):
            was, now, without = short.call(call), long.call(longer_call), bare.call(call)
            read += len(now.text)
            picks = [call.kwargs.get(name) for name in _FILTERS.get(call.name, ())]
            strict = any(picks) and _is_same_count(without.value, was.value)
            if strict and unescape_text(was.text) != unescape_text(now.text):
                filters_hold = filters_hold and _is_same_count(was.value, now.value)
    return read, filters_hold


def _is_same_count(was: Any, now: Any) -> bool:
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        return all(_is_same_count(was[name], now.get(name)) for name in was)
    return not isinstance(was, list) or (isinstance(now, list) and len(was) == len(now))


def _adapt_turns(base: Trajectory, longer: Trajectory) -> tuple[Turn, ...]:
    short, long = start(base), start(longer)
    told = [
        write_documents(base.environments),
        json.dumps(shown(longer.config), ensure_ascii=False),
    ]
    changes: dict[_Value, _Value] = {}
    read_before: list[str] = []
    read_now: list[str] = []
    telling = _LongContextFacts()
    turns = []
    for index, turn in enumerate(base.turns):
        said = list_messages(base.turns[:index])
        now = list_messages([turn])
        truth = []
        before = []
        for call in calls(turn):
            before.append((short.fork(), long.fork()))
            taken = _LongContextArguments(f"{longer.id}: turn {index}: {call}", changes, said, now)
            there = taken.call(call)
            for value in list_literals(call.kwargs):
                known = any(contains_value(value, text) for text in (*told, *said, *now))
                if not known and any(contains_value(value, text) for text in read_before):
                    fresh = taken(value)
                    if not any(contains_value(fresh, text) for text in read_now):
                        taken.give_up(value, "does not occur in the longer results")
            was, is_now = short.call(call), long.call(there)
            if was.ok and not is_now.ok:
                taken.give_up(call.name, f"fails: {is_now.text}")
            for old, new in _find_changes(was.value, is_now.value):
                changes.setdefault(old, new)
            read_before.append(unescape_text(was.text))
            read_now.append(unescape_text(is_now.text))
            truth.append(str(there))
            telling.see(was, is_now)
        taken = _LongContextArguments(longer.id, changes, said, now)
        accepts = [
            made
            for each in turn.accepts
            for made in (_adapt_alternative(each, turn, truth, taken),)
            if _still_shows(each, made, *before[turn.ground_truth.index(each.call)])
        ]
        moved = dict(zip(turn.ground_truth, truth, strict=True))
        made = replace(
            turn,
            ground_truth=tuple(truth),
            accepts=tuple(accepts),
            ordered=tuple([tuple([moved[text] for text in group]) for group in turn.ordered]),
            never=tuple([str(taken.call(parse_call(text))) for text in turn.never]),
        )
        turns.append(replace(made, tells=telling.turn(turn, f"{longer.id}: turn {index}")))
    return tuple(turns)


class _LongContextFacts:
    """Finds the new value of each required fact in the longer results."""

    def __init__(self) -> None:
        self._before, self._now = FactSources(), FactSources()
        self._places: list[_ResultPlace] = []
        self._listings: list[list[str]] = []
        self._earlier: list[_ResultPlace] = []

    def see(self, was: Result, is_now: Result) -> None:
        self._before.see(was)
        self._now.see(is_now)
        self._places += _pair_values("", was.value, is_now.value)
        self._listings += _long_listings(was.value, is_now.value)

    def turn(self, turn: Turn, where: str) -> tuple[Fact, ...]:
        """Return a turn's facts with their new values.

        Before you call this method, pass each result of the turn to ``see``.

        Raises DataError if a fact is ambiguous or missing in the results with generated items.
        """
        for message in turn.messages:
            self._before.hear(message.content)
            self._now.hear(message.content)
        told = [fact for fact in turn.tells if not self._is_summed_up(fact)]
        made = tuple([self._fact(fact, where) for fact in told])
        self._earlier += self._places
        self._places, self._listings = [], []
        return made

    def _is_summed_up(self, fact: Fact) -> bool:
        """Tell whether a fact names all items of a long list."""
        return isinstance(fact, Items) and any(
            all(any(contains_value(item, member) for item in fact.items) for member in members)
            for members in self._listings
        )

    def _fact(self, fact: Fact, where: str) -> Fact:
        made = fact
        match fact:
            case Number(number=number, unit=unit):
                made = replace(fact, number=self._number(number, where, unit))
            case Text(text=text):
                if (now := self._text(text)) != text:
                    size = _SIZE.fullmatch(now)  # A size may also be given with one decimal.
                    made = Text(now, (f"{float(size[1]):.1f} {size[2]}",) if size else ())
            case Items(items=items):
                taken = [
                    self._text(item) if isinstance(item, str) else self._number(item, where)
                    for item in items
                ]
                made = replace(fact, items=tuple(taken))
        doubt = self._now.doubt(made)
        if doubt and doubt.serious and not self._before.doubt(fact):
            raise DataError(where, f"tells: {fact} is missing in the longer results")
        return made

    def _number(self, number: float, where: str, unit: str = "") -> float:
        """Return the new value of a number.

        If several fields contain this number, ``unit`` names the right field.
        """
        found = _find_number(self._places, number) or _find_number(self._earlier, number)
        stems = _singulars(unit)
        named = {now for name, now in found if stems & _singulars(name)}
        values = named or {now for _, now in found} or {number}
        if len(values) > 1:
            choices = " or ".join(sorted(map(str, values)))
            raise DataError(where, f"tells: {number} {unit}".rstrip() + f" may be {choices} now")
        [value] = values
        return value

    def _text(self, text: str) -> str:
        """Return the new value of ``text``, or ``text`` itself if the new results contain it."""
        if not self._now.doubt(Text(text)):
            return text
        found = [str(place.now) for place in (*self._earlier, *self._places) if place.was == text]
        return found[-1] if found else text


_SIZE = re.compile(r"(\d+\.\d\d) ([KMG]?B)")


def _long_listings(old: Any, new: Any) -> Iterator[list[str]]:
    """Yield the old items of each list that has grown to more than ``MAX_LISTED`` items."""
    if not old or type(old) is not type(new) or not isinstance(old, (Mapping, list)):
        return
    if len(old) < len(new) > MAX_LISTED:
        members = old.items() if isinstance(old, Mapping) else old
        yield [json.dumps(member, ensure_ascii=False) for member in members]
    elif isinstance(old, Mapping):
        for name in old:
            yield from _long_listings(old[name], new.get(name))


def _singulars(name: str) -> set[str]:
    return {word.rstrip("s") for word in name.casefold().replace("_", " ").split()}


class _ResultPlace(NamedTuple):
    """Value of one field before and after items are added."""

    name: str
    """Name of the field."""
    was: _Value
    now: _Value


def _find_number(places: Sequence[_ResultPlace], number: float) -> list[tuple[str, float]]:
    return [
        (place.name, now)
        for place in places
        if _parse_number(place.was) == number and (now := _parse_number(place.now)) is not None
    ]


def _parse_number(value: _Value) -> float | None:
    if not isinstance(value, str):
        return None if isinstance(value, bool) else value
    whole = NUMBER.fullmatch(value)
    return (float(value) if "." in value else int(value)) if whole else None


def _pair_values(name: str, old: Any, new: Any) -> Iterator[_ResultPlace]:
    """Pair the values at equal paths of two results."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in old:
            if key in new:
                yield from _pair_values(str(key).casefold(), old[key], new[key])
    elif isinstance(old, list) and isinstance(new, list) and len(old) != len(new):
        yield _ResultPlace(name, len(old), len(new))
    elif isinstance(old, list) and isinstance(new, list):
        for was, is_now in zip(old, new, strict=True):
            yield from _pair_values(name, was, is_now)
    elif old == new and isinstance(old, (str, int, float)):
        yield _ResultPlace(name, old, new)
    else:
        yield from (_ResultPlace(name, was, is_now) for was, is_now in _find_changes(old, new))


def _adapt_alternative(
    alternative: AlternativeRead, turn: Turn, truth: Sequence[str], taken: _LongContextArguments
) -> AlternativeRead:
    call = truth[turn.ground_truth.index(alternative.call)]
    return AlternativeRead(
        call, tuple([str(taken.call(parse_call(t))) for t in alternative.instead])
    )


def _still_shows(
    was: AlternativeRead, is_now: AlternativeRead, short: Session, long: Session
) -> bool:
    """Tell whether an alternative call still shows one of the original values.

    For example, return False if ``tail`` shows only generated lines.
    """
    old, new = _list_lines(was.instead, short), _list_lines(is_now.instead, long)
    shown = _list_lines([is_now.call], long)
    numbers = {value for value in shown if not isinstance(value, str)}
    return not old or not new.isdisjoint(old | numbers)


def _list_lines(texts: Sequence[str], session: Session) -> set[_Value]:
    """Return the values in the results of calls; split strings into lines."""
    there = session.fork()
    results = there.play([parse_call(text) for text in texts])
    values = list_literals([result.held for result in results if result.ok])
    return {
        line.strip() if isinstance(line, str) else line
        for value in values
        for line in (value.split("\n") if isinstance(value, str) else [value])
        if line != ""
    }


class _LongContextArguments:
    """Adapter of a call's arguments: values from the new results replace values from old results.

    Args:
        where: Place for error messages.
        changes: Maps each old result value to the new value.
        said: The user's words in earlier turns.
        now: The user's words in this turn.
    """

    def __init__(
        self, where: str, changes: Mapping[_Value, _Value], said: Sequence[str], now: Sequence[str]
    ) -> None:
        self.where = where
        self.changes = changes
        self.said = said
        self.now = now

    def call(self, call: Call) -> Call:
        """Return a call with replaced arguments."""
        return Call(call.name, (), {name: self(value) for name, value in call.kwargs.items()})

    def __call__(self, value: Any) -> Any:
        """Return the replacement of an argument."""
        if isinstance(value, dict):
            return {key: self(member) for key, member in value.items()}
        if isinstance(value, list):
            return [self(member) for member in value]
        if isinstance(value, bool) or value is None:
            return value
        if any(contains_value(value, text) for text in self.now):
            return value
        taken = self._text(value) if isinstance(value, str) else self.changes.get(value, value)
        if taken != value and any(contains_value(value, text) for text in self.said):
            self.give_up(
                value, "is in a user message, but the longer results contain another value"
            )
        return taken

    def _text(self, value: str) -> str:
        taken = value
        if value in self.changes:
            taken = str(self.changes[value])
        else:
            # Longest first, so that no value matches a part of another.
            for old in sorted(map(str, self.changes), key=len, reverse=True):
                if not any(contains_value(old, text) for text in (*self.said, *self.now)):
                    taken = self._replaced(old, taken)
        if len(taken) > len(value) + MAX_COPIED_CHARS:
            self.give_up(value, f"would grow by more than {MAX_COPIED_CHARS} characters")
        return taken

    def _replaced(self, old: str, text: str) -> str:
        new = next(str(now) for was, now in self.changes.items() if str(was) == old)
        if not old:
            return text
        return re.sub(rf"(?<![\w.]){re.escape(old)}(?!\w|\.\d)", lambda _: new, text)

    def give_up(self, value: object, reason: str) -> NoReturn:
        """Raise a DataError for a value that has no replacement."""
        raise DataError(self.where, f"{value!r} {reason}")


def _find_changes(old: Any, new: Any) -> list[tuple[_Value, _Value]]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return [pair for key in old if key in new for pair in _find_changes(old[key], new[key])]
    if isinstance(old, (list, tuple)) and isinstance(new, (list, tuple)):
        if len(old) != len(new):
            return []
        return [pair for both in zip(old, new, strict=True) for pair in _find_changes(*both)]
    if old == new or not all(isinstance(v, (str, int, float)) for v in (old, new)):
        return []
    pairs: list[tuple[_Value, _Value]] = [(old, new)]
    if isinstance(old, str) and isinstance(new, str):
        lines, later = old.split("\n"), new.split("\n")
        if len(lines) == len(later) > 1:
            pairs += [pair for pair in zip(lines, later, strict=True) if pair[0] != pair[1]]
        if NUMBER.sub("#", old) == NUMBER.sub("#", new):
            numbers = zip(NUMBER.findall(old), NUMBER.findall(new), strict=True)
            pairs += [pair for pair in numbers if pair[0] != pair[1]]
    return pairs
