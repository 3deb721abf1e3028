"""Long context: the same scenario in a world full of things that are nearly the ones meant.

The bulk comes from a seed when the session is loaded (``trajectories/packs.py``); what is said here
is which words it has to do without, so that requests mean what they meant. The ground truth is
executed in both worlds side by side, and what it takes from results is taken anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, NamedTuple, NoReturn

from checkers.answers import Fact, Items, Number, Text
from checkers.told import literals, readable, stands_in
from envs.calls import Call, parse_call
from envs.results import Result
from extensions.authoring.making.base import calls, derived, start
from extensions.authoring.making.meant import NUMBER, meant
from extensions.authoring.tells import Grounds
from trajectories.errors import DataError
from trajectories.schema import Alternative, Category, LongContext, Trajectory, Turn
from trajectories.told import documents, shown, words

SEEDS = 20
"""How many worlds are tried."""
LEAST_READ = 3
"""Characters for each item that the ground truth has to read more for a scenario to be long."""
LONGEST_TAKEN_OVER = 200
"""Characters of bulk that a ground-truth argument may have to repeat, and no more."""

LONGEST_LISTED = 50
"""Items of a listing of which a fair answer names every one."""

_Value = str | int | float


def lengthen(
    base: Trajectory,
    seed: int | None = None,
    items: int = 200,
    said: Sequence[str] = (),
    by_hand: Trajectory | None = None,
) -> Trajectory | None:
    """Return the trajectory in a world of bulk, so many items of each kind.

    The same seed and size give the same bulk; the first seed comes from the id. Several are tried
    for one whose bulk no filter of the ground truth lets through. None where what the ground truth
    reads is no longer than in the world without bulk.

    Args:
        base: The trajectory.
        seed: The first seed to try.
        items: How many items of each kind.
        said: What else the user says in a variant of it.
        by_hand: The trajectory without the world that it stands in; bulk takes its place.

    Raises:
        DataError: The ground truth takes something out of a result that the bulk has changed, and
            it cannot be said what it is now; or every world has more than filters keep out.
    """
    first = seed_of(base.id) if seed is None else seed
    bare = base if by_hand is None else by_hand
    without = meant(bare, said)
    for chosen in range(first, first + SEEDS):
        longer = in_world(base, LongContext("generated", chosen, items, without), bare)
        added, filters_hold = _added(base, longer, bare)
        if added < LEAST_READ * items:
            return None
        if filters_hold:
            return longer
    raise DataError(base.id, f"long_context: filters let bulk of {SEEDS} seeds through")


def in_world(base: Trajectory, bulk: LongContext, by_hand: Trajectory | None = None) -> Trajectory:
    """Return the trajectory in a world with some bulk, in the place of one that it stands in.

    Raises:
        DataError: The ground truth takes something out of a result that the bulk has changed, and
            it cannot be said what it is now.
    """
    config = (by_hand or base).config
    longer = derived(base, Category.LONG_CONTEXT, long_context=bulk, config=config)
    return replace(longer, turns=_recomputed(base, longer))


def seed_of(id: str) -> int:
    """Return the seed that an id gives."""
    return int.from_bytes(sha256(id.encode()).digest()[:2])


_FILTERS: Mapping[str, tuple[str, ...]] = {
    "grep": ("pattern",),
    "find": ("name",),
    "search_messages": ("keyword",),
    "search_tweets": ("keyword",),
    "get_transaction_history": ("start_date",),
    "get_user_tickets": ("status",),
}
"""Functions that pick by an argument; what they pick has to be what it was."""


def _added(base: Trajectory, longer: Trajectory, by_hand: Trajectory) -> tuple[int, bool]:
    """Return how much more the ground truth reads, and whether its filters give what they gave.

    A filter that lets something of the base's own world through may let bulk through as well.
    """
    short, long, bare = start(base), start(longer), start(by_hand)
    added, filters_hold = 0, True
    for turn, there in zip(base.turns, longer.turns, strict=True):
        for call, longer_call in zip(calls(turn), calls(there), strict=True):
            was, now, without = short.call(call), long.call(longer_call), bare.call(call)
            added += max(0, len(now.text) - len(was.text))
            picks = [call.kwargs.get(name) for name in _FILTERS.get(call.name, ())]
            strict = any(picks) and _picked(without.value, was.value)
            if strict and readable(was.text) != readable(now.text):
                filters_hold = filters_hold and _picked(was.value, now.value)
    return added, filters_hold


def _picked(was: Any, now: Any) -> bool:
    """Tell whether two results pick as many, whatever else is in them."""
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        return all(_picked(was[name], now.get(name)) for name in was)
    return not isinstance(was, list) or (isinstance(now, list) and len(was) == len(now))


def _recomputed(base: Trajectory, longer: Trajectory) -> tuple[Turn, ...]:
    """Return the turns with a ground truth that is right in the longer world."""
    short, long = start(base), start(longer)
    told = [documents(base.environments), json.dumps(shown(longer.config), ensure_ascii=False)]
    changes: dict[_Value, _Value] = {}
    read_before: list[str] = []
    read_now: list[str] = []
    telling = _Telling()
    turns = []
    for index, turn in enumerate(base.turns):
        said = words(base.turns[:index])
        now = words([turn])
        truth = []
        for call in calls(turn):
            taken = _Taking(f"{longer.id}: turn {index}: {call}", changes, said, now)
            there = taken.call(call)
            for value in literals(call.kwargs):
                known = any(stands_in(value, text) for text in (*told, *said, *now))
                if not known and any(stands_in(value, text) for text in read_before):
                    fresh = taken(value)
                    if not any(stands_in(fresh, text) for text in read_now):
                        taken.give_up(value, "is shown no longer")
            was, is_now = short.call(call), long.call(there)
            if was.ok and not is_now.ok:
                taken.give_up(call.name, f"fails: {is_now.text}")
            for old, new in _changes(was.value, is_now.value):
                changes.setdefault(old, new)
            read_before.append(readable(was.text))
            read_now.append(readable(is_now.text))
            truth.append(str(there))
            telling.see(was, is_now)
        accepts = [
            _accepted(alternative, turn, truth, _Taking(longer.id, changes, said, now))
            for alternative in turn.accepts
        ]
        made = replace(turn, ground_truth=tuple(truth), accepts=tuple(accepts))
        turns.append(replace(made, tells=telling.turn(turn, f"{longer.id}: turn {index}")))
    return tuple(turns)


class _Telling:
    """What the user is told in the longer world, from the results in both."""

    def __init__(self) -> None:
        self._before, self._now = Grounds(), Grounds()
        self._places: list[_Place] = []
        self._summed_up: list[list[str]] = []
        self._earlier: list[_Place] = []

    def see(self, was: Result, is_now: Result) -> None:
        """Take in the results of one call."""
        self._before.see(was)
        self._now.see(is_now)
        self._places += _places("", was.value, is_now.value)
        self._summed_up += _summed_up(was.value, is_now.value)

    def turn(self, turn: Turn, where: str) -> tuple[Fact, ...]:
        """Return the facts of a turn, all of whose results have been taken in.

        Raises:
            DataError: It cannot be said what one is now.
        """
        for message in turn.messages:
            self._before.hear(message.content)
            self._now.hear(message.content)
        told = [fact for fact in turn.tells if not self._is_summed_up(fact)]
        made = tuple([self._fact(fact, where) for fact in told])
        self._earlier += self._places
        self._places, self._summed_up = [], []
        return made

    def _is_summed_up(self, fact: Fact) -> bool:
        """Tell whether a list is one that was shown whole, and is too long for that now."""
        return isinstance(fact, Items) and any(
            all(any(stands_in(item, member) for item in fact.items) for member in members)
            for members in self._summed_up
        )

    def _fact(self, fact: Fact, where: str) -> Fact:
        made = fact
        match fact:
            case Number(number=number, unit=unit):
                made = replace(fact, number=self._number(number, where, unit))
            case Text(text=text):
                made = fact if (now := self._text(text)) == text else _worded(now)
            case Items(items=items):
                taken = [
                    self._text(item) if isinstance(item, str) else self._number(item, where)
                    for item in items
                ]
                made = replace(fact, items=tuple(taken))
        doubt = self._now.doubt(made)
        if doubt and doubt.serious and not self._before.doubt(fact):
            raise DataError(where, f"tells: {fact} is not shown any more")
        return made

    def _number(self, number: float, where: str, unit: str = "") -> float:
        """Return a number as it is now; of several, that of the member which its unit names."""
        found = _numbers(self._places, number) or _numbers(self._earlier, number)
        stems = _stems(unit)
        named = {now for name, now in found if stems & _stems(name)}
        values = named or {now for _, now in found} or {number}
        if len(values) > 1:
            shown = " or ".join(sorted(map(str, values)))
            raise DataError(where, f"tells: {number} {unit}".rstrip() + f" may be {shown} now")
        [value] = values
        return value

    def _text(self, text: str) -> str:
        """Return a text as it is now; one that only bulk has been added to is still shown."""
        if not self._now.doubt(Text(text)):
            return text
        found = [str(place.now) for place in (*self._earlier, *self._places) if place.was == text]
        return found[-1] if found else text


def _worded(text: str) -> Text:
    """Return a text as a fact; a size may be rounded to one decimal."""
    size = _SIZE.fullmatch(text)
    return Text(text, (f"{float(size[1]):.1f} {size[2]}",) if size else ())


_SIZE = re.compile(r"(\d+\.\d\d) ([KMG]?B)")


def _summed_up(old: Any, new: Any) -> Iterator[list[str]]:
    """Yield what was in listings that are too long now to be told one by one."""
    if not old or type(old) is not type(new) or not isinstance(old, (Mapping, list)):
        return
    if len(old) < len(new) > LONGEST_LISTED:
        members = old.items() if isinstance(old, Mapping) else old
        yield [json.dumps(member, ensure_ascii=False) for member in members]
    elif isinstance(old, Mapping):
        for name in old:
            yield from _summed_up(old[name], new.get(name))


def _stems(name: str) -> set[str]:
    """Return the words of a unit or a member's name, in the singular."""
    return {word.rstrip("s") for word in name.casefold().replace("_", " ").split()}


class _Place(NamedTuple):
    """What stands in one place of a result in both worlds."""

    name: str
    """Of the member."""
    was: _Value
    now: _Value


def _numbers(places: Sequence[_Place], number: float) -> list[tuple[str, float]]:
    """Return what a number has become in each place, with the member's name."""
    return [
        (place.name, now)
        for place in places
        if _number_in(place.was) == number and (now := _number_in(place.now)) is not None
    ]


def _number_in(value: _Value) -> float | None:
    """Return a number, or the one that a text is; None where there is more to the text."""
    if not isinstance(value, str):
        return None if isinstance(value, bool) else value
    whole = NUMBER.fullmatch(value)
    return (float(value) if "." in value else int(value)) if whole else None


def _places(name: str, old: Any, new: Any) -> Iterator[_Place]:
    """Yield what stands in the same place of two results, and lengths that differ."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in old:
            if key in new:
                yield from _places(str(key).casefold(), old[key], new[key])
    elif isinstance(old, list) and isinstance(new, list) and len(old) != len(new):
        yield _Place(name, len(old), len(new))
    elif isinstance(old, list) and isinstance(new, list):
        for was, is_now in zip(old, new, strict=True):
            yield from _places(name, was, is_now)
    elif old == new and isinstance(old, (str, int, float)):
        yield _Place(name, old, new)
    else:
        yield from (_Place(name, was, is_now) for was, is_now in _changes(old, new))


def _accepted(
    alternative: Alternative, turn: Turn, truth: Sequence[str], taken: _Taking
) -> Alternative:
    """Return an alternative as it is in the longer world, whose ground truth the turn has."""
    call = truth[turn.ground_truth.index(alternative.call)]
    return Alternative(call, tuple([str(taken.call(parse_call(t))) for t in alternative.instead]))


class _Taking:
    """Arguments as they are in the longer world.

    Args:
        where: Which call, for a complaint.
        changes: Values of results, before and after.
        said: What the user has said in earlier turns.
        now: What the user says in this one.
    """

    def __init__(
        self, where: str, changes: Mapping[_Value, _Value], said: Sequence[str], now: Sequence[str]
    ) -> None:
        self.where = where
        self.changes = changes
        self.said = said
        self.now = now

    def call(self, call: Call) -> Call:
        """Return a call as it is in the longer world."""
        return Call(call.name, (), {name: self(value) for name, value in call.kwargs.items()})

    def __call__(self, value: Any) -> Any:
        """Return an argument as it is in the longer world."""
        if isinstance(value, dict):
            return {key: self(member) for key, member in value.items()}
        if isinstance(value, list):
            return [self(member) for member in value]
        if isinstance(value, bool) or value is None:
            return value
        if any(stands_in(value, text) for text in self.now):
            return value
        taken = self._text(value) if isinstance(value, str) else self.changes.get(value, value)
        if taken != value and any(stands_in(value, text) for text in self.said):
            self.give_up(value, "was said by the user and is a changed result as well")
        return taken

    def _text(self, value: str) -> str:
        """Return a text with the results that it repeats, or is, as they are now."""
        taken = value
        if value in self.changes:
            taken = str(self.changes[value])
        else:
            # The longest first, so that no part of one is taken for another.
            for old in sorted(map(str, self.changes), key=len, reverse=True):
                if not any(stands_in(old, text) for text in (*self.said, *self.now)):
                    taken = self._replaced(old, taken)
        if len(taken) > len(value) + LONGEST_TAKEN_OVER:
            self.give_up(value, "would have to repeat the bulk")
        return taken

    def _replaced(self, old: str, text: str) -> str:
        new = next(str(now) for was, now in self.changes.items() if str(was) == old)
        if not old:
            return text
        return re.sub(rf"(?<![\w.]){re.escape(old)}(?!\w|\.\d)", lambda _: new, text)

    def give_up(self, value: object, reason: str) -> NoReturn:
        """Say that a value cannot be taken anew.

        Raises:
            DataError: Always.
        """
        raise DataError(self.where, f"{value!r} {reason}")


def _changes(old: Any, new: Any) -> list[tuple[_Value, _Value]]:
    """Return the values that stand in the same place of two results and differ."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return [pair for key in old if key in new for pair in _changes(old[key], new[key])]
    if isinstance(old, (list, tuple)) and isinstance(new, (list, tuple)):
        if len(old) != len(new):
            return []
        return [pair for both in zip(old, new, strict=True) for pair in _changes(*both)]
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
