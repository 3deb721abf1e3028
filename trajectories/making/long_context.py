"""Long context: the same scenario in a world full of things that do not matter.

Files, car, broker and travel agency are filled by a pack when the session is loaded. Messenger,
help desk and network have no such material, so that theirs goes into the initial config. The ground
truth is executed in both worlds side by side, and what it takes from results is taken anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from random import Random
from typing import Any, NamedTuple, NoReturn

from checkers.answers import Fact, Items, Number, Text
from checkers.told import literals, readable, stands_in
from envs.calls import Call, parse_call
from envs.long_context import Pack
from envs.registry import backend_class
from envs.results import Result
from trajectories.errors import DataError
from trajectories.making.base import calls, derived, start
from trajectories.packs import full_name, generate, prose
from trajectories.schema import Alternative, Category, LongContext, Trajectory, Turn
from trajectories.tells import Grounds
from trajectories.told import documents, shown, words

LONGEST_TAKEN_OVER = 200
"""Characters of bulk that a ground-truth argument may have to repeat, and no more."""

_Value = str | int | float
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def lengthen(base: Trajectory, seed: int | None = None, items: int = 200) -> Trajectory:
    """Return the trajectory in a world of bulk, so many items of each kind.

    The same seed and size give the same bulk; without a seed, it comes from the id.

    Raises:
        DataError: The ground truth takes something out of a result that the bulk has changed, and
            it cannot be said what it is now.
    """
    chosen = seed_of(base.id) if seed is None else seed
    config = filled(base, Random(chosen), items)
    in_pack = items
    if any(call.name == "rmdir" for turn in base.turns for call in calls(turn)):
        # A pack puts files into empty directories too, and then they cannot be removed.
        files = config["GorillaFileSystem"]
        files["root"] = _fill_directories(files["root"], generate(chosen, items))
        in_pack = 0
    material = LongContext("generated", chosen, in_pack)
    longer = derived(base, Category.LONG_CONTEXT, config=config, long_context=material)
    return replace(longer, turns=_recomputed(base, longer))


def seed_of(id: str) -> int:
    """Return the seed that an id gives."""
    return int.from_bytes(sha256(id.encode()).digest()[:2])


def filled(base: Trajectory, source: Random, items: int) -> dict[str, dict[str, Any]]:
    """Return the initial config with bulk in those backends for which no pack has any.

    What the scenario has keeps its ids, its counters and its place as the latest.
    """
    config = {name: dict(base.config.get(name, {})) for name in base.environments}
    for name, fill in _FILL.items():
        if name in config:
            defaults = backend_class(name).FIELDS
            fill(config[name], {**defaults, **config[name]}, source, items)
    return {name: members for name, members in config.items() if members or name in base.config}


def _fill_directories(nodes: Mapping[str, Any], pack: Pack) -> dict[str, Any]:
    """Lengthen all files, and add some to directories that hold files only, at least one."""
    filled_up: dict[str, Any] = {}
    for name, node in nodes.items():
        if node["type"] == "file":
            filled_up[name] = {**node, "content": node["content"] + pack.file_suffix}
        else:
            inside = _fill_directories(node["contents"], pack)
            if inside and all(entry["type"] == "file" for entry in inside.values()):
                inside |= {extra: {"type": "file", "content": ""} for extra in pack.extra_files}
            filled_up[name] = {**node, "contents": inside}
    return filled_up


def _fill_messages(
    config: dict[str, Any], whole: Mapping[str, Any], source: Random, items: int
) -> None:
    """Add users, with ids far beyond the next ones, and messages to them before all others."""
    taken = {*whole["user_map"], *whole["user_map"].values()}
    count = items // 4
    names = dict.fromkeys(full_name(source) for _ in range(4 * count))
    free = [name for name in names if name not in taken][:count]
    added = {name: f"USR{whole['user_count'] + 500 + i}" for i, name in enumerate(free)}
    receivers = list(added.values())
    sent = [{source.choice(receivers): prose(source, 1)} for _ in range(items)] if added else []
    config["user_map"] = {**whole["user_map"], **added}
    config["inbox"] = [*sent, *whole["inbox"]]
    config["user_count"] = whole["user_count"]
    config["message_count"] = whole["message_count"] + len(sent)


def _fill_tickets(
    config: dict[str, Any], whole: Mapping[str, Any], source: Random, items: int
) -> None:
    """Add closed tickets with the free ids below the first, and prose to those that are there."""
    queue = whole["ticket_queue"]
    first = min((ticket["id"] for ticket in queue), default=whole["ticket_counter"])
    people = [*dict.fromkeys(t["created_by"] for t in queue if "created_by" in t), "facilities.bot"]
    added = [
        {
            "id": number,
            "title": prose(source, 1).rstrip("."),
            "description": prose(source, 2),
            "status": "Closed",
            "priority": source.randint(1, 5),
            "created_by": source.choice(people),
        }
        for number in range(max(1, first - items), first)
    ]
    longer = [
        {**ticket, "description": f"{ticket['description']} {prose(source, items // 8)}".strip()}
        for ticket in queue
    ]
    config["ticket_queue"] = [*added, *longer]


def _fill_tweets(
    config: dict[str, Any], whole: Mapping[str, Any], source: Random, items: int
) -> None:
    """Add tweets with the free ids below the first, comments on all, and users to follow."""
    tweets = whole["tweets"]
    first = min((tweet["id"] for tweet in tweets.values()), default=whole["tweet_counter"])
    people = list(dict.fromkeys(tweet["username"] for tweet in tweets.values()))
    others = [full_name(source).lower().replace(" ", "_") for _ in range(items)]
    added = {
        str(number): {
            "id": number,
            "username": source.choice([*people, *others[: len(people) + 1]]),
            "content": prose(source, 1),
            "tags": [],
            "mentions": [],
        }
        for number in range(max(0, first - items), first)
    }
    comments = {
        key: [
            *(
                {"username": source.choice(others), "content": prose(source, 1)}
                for _ in range(items // 8)
            ),
            *whole["comments"].get(key, ()),
        ]
        for key in tweets
    }
    followed = [name for name in dict.fromkeys(others) if name not in whole["following_list"]]
    config["tweets"] = {**added, **tweets}
    config["comments"] = comments
    config["following_list"] = [*followed, *whole["following_list"]]


_FILL = {"MessageAPI": _fill_messages, "TicketAPI": _fill_tickets, "TwitterAPI": _fill_tweets}


def _recomputed(base: Trajectory, longer: Trajectory) -> tuple[Turn, ...]:
    """Return the turns with a ground truth that is right in the longer world."""
    short, long = start(base), start(longer)
    told = [documents(base.environments), json.dumps(shown(base.config), ensure_ascii=False)]
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
        self._earlier: list[_Place] = []

    def see(self, was: Result, is_now: Result) -> None:
        """Take in the results of one call."""
        self._before.see(was)
        self._now.see(is_now)
        self._places += _places("", was.value, is_now.value)

    def turn(self, turn: Turn, where: str) -> tuple[Fact, ...]:
        """Return the facts of a turn, all of whose results have been taken in.

        Raises:
            DataError: It cannot be said what one is now.
        """
        for message in turn.messages:
            self._before.hear(message.content)
            self._now.hear(message.content)
        told = tuple([self._fact(fact, where) for fact in turn.tells])
        self._earlier += self._places
        self._places = []
        return told

    def _fact(self, fact: Fact, where: str) -> Fact:
        made = fact
        match fact:
            case Number(number=number, unit=unit):
                made = replace(fact, number=self._number(number, where, unit))
            case Text(text=text):
                made = fact if (now := self._text(text)) == text else Text(now)
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
    whole = _NUMBER.fullmatch(value)
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
        if _NUMBER.sub("#", old) == _NUMBER.sub("#", new):
            numbers = zip(_NUMBER.findall(old), _NUMBER.findall(new), strict=True)
            pairs += [pair for pair in numbers if pair[0] != pair[1]]
    return pairs
