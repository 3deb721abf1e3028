"""Failing episodes with one planted fault each, made from the ground truth of our own entries.

A mutator changes the ground truth's calls of an entry in one way, at a place that it draws, and
says which cause is right. Nothing here knows the rules that find causes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from random import Random
from typing import Any, NamedTuple

from checkers.causes.divergence import CallEffect, list_effects
from checkers.profile import STRICT
from checkers.replies.decoding import Step
from envs.calls import Call
from runner.episodes.offline import examine_recorded
from runner.episodes.rejudged_episode import RejudgedEpisode
from runner.episodes.script_traces import trace_truth
from runner.episodes.turn_loop import STEP_LIMIT
from runner.records.episode_record import EpisodeRecord, RecordedEpisode, TurnEnd, Why
from trajectories.dataset import Dataset, load_embedded
from trajectories.prepared_trajectory import PreparedTrajectory, prepare
from trajectories.schema import Category

Turns = list[list[Any]]
"""Steps of each turn: calls, or the text that ends the turn."""

ANYWHERE = -1
"""A step that the fault leaves open."""


class Fault(NamedTuple):
    """A changed ground truth."""

    turns: Turns
    cause: str
    """The right cause, with its sub-reason where the fault has one; several are joined by ``|``."""
    turn: int
    step: int | None
    """Index of the step; None at the end of the turn; ANYWHERE if several are right."""
    ended: Why | None = None
    """How the turn ended, if not by an answer."""


class Planted(NamedTuple):
    """A failing episode with a planted fault."""

    kind: str
    fault: Fault
    examined: RejudgedEpisode

    @property
    def id(self) -> str:
        """Name for a test."""
        return f"{self.kind}-{self.examined.trajectory.id}"


class Entry(NamedTuple):
    """An entry with its ground truth."""

    prepared: PreparedTrajectory
    turns: Turns
    effects: Sequence[Sequence[CallEffect]]
    random: Random

    @property
    def environments(self) -> Sequence[str]:
        """Backends of the entry."""
        return self.prepared.trajectory.environments

    def copy(self) -> Turns:
        """Return the turns for a change."""
        return [[*turn] for turn in self.turns]

    def draw(self, fits: Callable[[CallEffect], Any]) -> tuple[int, int, CallEffect] | None:
        """Return turn, step and effect of a call that fits."""
        found = [
            (turn, step, effect)
            for turn, effects in enumerate(self.effects)
            for step, effect in enumerate(effects)
            if fits(effect) and not effect.traced.call.nested
        ]
        return self.random.choice(found) if found else None

    def needing(self) -> int | None:
        """Return a turn that needs calls."""
        found = [turn for turn, calls in enumerate(self.turns) if calls]
        return self.random.choice(found) if found else None


Mutator = Callable[[Entry], Fault | None]
KINDS: dict[str, Mutator] = {}


def kind(mutator: Mutator) -> Mutator:
    """Add a kind of fault under the mutator's name."""
    KINDS[mutator.__name__] = mutator
    return mutator


def given(effect: CallEffect) -> Mapping[str, Any]:
    """Return the named arguments of a call."""
    return effect.traced.call.kwargs


def changed(
    entry: Entry,
    change: Callable[[str, Any], Any],
    cause: str = "wrong_argument",
    fits: Callable[[CallEffect], Any] = lambda effect: effect.changes,
) -> Fault | None:
    """Return a fault with another value of one argument; ``change`` returns None where unfit."""

    def options(effect: CallEffect) -> list[tuple[str, Any]]:
        values = ((name, change(name, value)) for name, value in given(effect).items())
        return [(n, v) for n, v in values if v is not None and v != given(effect)[n]]

    found = entry.draw(lambda effect: fits(effect) and options(effect))
    if found is None:
        return None
    turn, step, effect = found
    name, value = entry.random.choice(options(effect))
    turns, call = entry.copy(), turns_call(effect)
    turns[turn][step] = call._replace(kwargs={**call.kwargs, name: value})
    return Fault(turns, cause, turn, step)


def turns_call(effect: CallEffect) -> Call:
    """Return the call of an effect."""
    call = effect.traced.call
    assert isinstance(call, Call)
    return call


def number(value: Any) -> bool:
    """Tell whether a value is a number other than zero."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value != 0


@kind
def wrong_value(entry: Entry) -> Fault | None:
    return changed(entry, lambda _, v: f"{v} again" if isinstance(v, str) and " " in v else None)


@kind
def wrong_unit(entry: Entry) -> Fault | None:
    wanted = ("fuelAmount", "temperature", "distance", "pressure", "amount")
    factor = {"fuelAmount": 3.785411784, "distance": 1.609344, "pressure": 6.894757}
    return changed(
        entry,
        lambda n, v: v * factor.get(n, 1000) if n in wanted and number(v) else None,
        "wrong_argument (unit)",
    )


@kind
def scale(entry: Entry) -> Fault | None:
    return changed(entry, lambda _, v: v / 100 if number(v) else None, "wrong_argument (scale)")


@kind
def off_by_one(entry: Entry) -> Fault | None:
    is_count = lambda v: number(v) and v == int(v)  # noqa: E731
    return changed(entry, lambda _, v: v + 1 if is_count(v) else None)


@kind
def date_format(entry: Entry) -> Fault | None:
    def turned(_: str, value: Any) -> str | None:
        date = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", value) if isinstance(value, str) else None
        return date and f"{date[3]}/{date[2]}/{date[1]}"

    return changed(entry, turned)


@kind
def id_instead_of_name(entry: Entry) -> Fault | None:
    names = {"USR": "Bob", "card": "Visa card", "flight": "Flight"}

    def named(name: str, value: Any) -> str | None:
        if name.endswith("_id") and isinstance(value, str):
            return next((new for old, new in names.items() if old in value), "the first one")
        return None

    return changed(entry, named)


@kind
def spelling(entry: Entry) -> Fault | None:
    def misspelt(_: str, value: Any) -> str | None:
        return value.upper() if isinstance(value, str) and 3 < len(value) < 30 else None

    return changed(entry, misspelt)


@kind
def stale_value(entry: Entry) -> Fault | None:
    """Give the value that the same parameter had in an earlier call."""

    def earlier(effect: CallEffect) -> list[tuple[str, Any]]:
        before = [e for effects in entry.effects for e in effects]
        before = before[: next(i for i, e in enumerate(before) if e is effect)]
        return [
            (name, given(e)[name])
            for e in before
            for name, value in given(effect).items()
            if name in given(e) and given(e)[name] != value and e.name == effect.name
        ]

    found = entry.draw(lambda effect: effect.changes and earlier(effect))
    if found is None:
        return None
    turn, step, effect = found
    name, value = earlier(effect)[-1]
    turns, call = entry.copy(), turns_call(effect)
    turns[turn][step] = call._replace(kwargs={**call.kwargs, name: value})
    return Fault(turns, "wrong_argument", turn, step)


def from_result(entry: Entry) -> tuple[int, int, CallEffect, str, int] | None:
    """Return a change whose argument only the result of an earlier call of the turn gives."""
    found = []
    for turn, effects in enumerate(entry.effects):
        said = " ".join(entry.prepared.scene.words(t) for t in range(turn + 1))
        results = [e.result for some in entry.effects[:turn] for e in some]
        for step, effect in enumerate(effects):
            for name, value in given(effect).items():
                if not effect.changes or not number(value) or str(value) in said:
                    continue
                if value in range(100) or any(str(value) in text for text in results):
                    continue
                reads = [
                    s
                    for s, e in enumerate(effects[:step])
                    if not e.moved and str(value) in e.result
                ]
                if len(reads) == 1:
                    found.append((turn, step, effect, name, reads[0]))
    return entry.random.choice(found) if found else None


@kind
def result_not_passed_on(entry: Entry) -> Fault | None:
    found = from_result(entry)
    if found is None:
        return None
    turn, step, effect, name, _ = found
    turns, call = entry.copy(), turns_call(effect)
    turns[turn][step] = call._replace(kwargs={**call.kwargs, name: call.kwargs[name] * 1.37 + 3})
    return Fault(turns, "wrong_argument", turn, step)


@kind
def acted_without_looking(entry: Entry) -> Fault | None:
    """Leave out a read and give its value by guessing."""
    found = from_result(entry)
    if found is None:
        return None
    turn, step, effect, name, read = found
    turns, call = entry.copy(), turns_call(effect)
    turns[turn][step] = call._replace(kwargs={**call.kwargs, name: call.kwargs[name] * 1.37 + 3})
    del turns[turn][read]
    return Fault(turns, "acted_without_looking", turn, step - 1)


_CAR = "VehicleControlAPI"


@kind
def refused_without_looking(entry: Entry) -> Fault | None:
    """Fill the tank with too much, without a look at it."""
    found = entry.draw(lambda effect: effect.name == "fillFuelTank")
    if found is None:
        return None
    turn, step, _ = found
    before = entry.effects[turn][:step]
    reads = [i for i, e in enumerate(before) if not e.moved and e.tool.backend == _CAR]
    if not reads:
        return None
    answers = (
        "The tank is as full as it can be.",
        "That is more than the tank takes. How many gallons should I add?",
        "Sorry, I could not fill the tank.",
    )
    turns = entry.copy()
    turns[turn] = [
        *[each for i, each in enumerate(turns[turn][:step]) if i not in reads],
        Call("fillFuelTank", (), {"fuelAmount": 50}),
        entry.random.choice(answers),
    ]
    return Fault(turns, "acted_without_looking", turn, step - len(reads))


@kind
def swapped_arguments(entry: Entry) -> Fault | None:
    def texts(effect: CallEffect) -> list[str]:
        return [n for n, v in given(effect).items() if isinstance(v, str) and v]

    found = entry.draw(lambda effect: effect.changes and len(texts(effect)) > 1)
    if found is None:
        return None
    turn, step, effect = found
    one, other = texts(effect)[:2]
    turns, call = entry.copy(), turns_call(effect)
    turns[turn][step] = call._replace(
        kwargs={**call.kwargs, one: call.kwargs[other], other: call.kwargs[one]}
    )
    return Fault(turns, "wrong_argument", turn, step)


@kind
def missing_call(entry: Entry) -> Fault | None:
    found = entry.draw(lambda effect: effect.changes)
    if found is None or len(entry.turns[found[0]]) < 2:
        return None
    turn, step, _ = found
    turns = entry.copy()
    del turns[turn][step]
    return Fault(turns, "missing_call", turn, ANYWHERE)


@kind
def late_call(entry: Entry) -> Fault | None:
    """Make the last change of a turn in the next one."""
    found = entry.draw(lambda effect: effect.changes)
    if found is None or found[0] + 1 == len(entry.turns) or len(entry.turns[found[0]]) < 2:
        return None
    turn, step, _ = found
    if step + 1 < len(entry.turns[turn]):
        return None
    turns = entry.copy()
    turns[turn + 1].insert(0, turns[turn].pop())
    return Fault(turns, "missing_call", turn, ANYWHERE)


@kind
def early_call(entry: Entry) -> Fault | None:
    """Make a change of the next turn already in this one."""
    found = entry.draw(lambda effect: effect.changes)
    if found is None or found[0] == 0 or found[1] > 0 or not entry.turns[found[0] - 1]:
        return None
    turn = found[0] - 1
    turns = entry.copy()
    turns[turn].append(turns[turn + 1].pop(0))
    return Fault(turns, "extra_call", turn, len(turns[turn]) - 1)


_UNASKED: Mapping[str, Call] = {
    "TicketAPI": Call("create_ticket", (), {"title": "A ticket that nobody wants"}),
    "TwitterAPI": Call("post_tweet", (), {"content": "A tweet that nobody wants"}),
    "TradingBot": Call("fund_account", (), {"amount": 13.5}),
    "TravelAPI": Call("contact_customer_support", (), {"booking_id": "1", "message": "Hello"}),
    "VehicleControlAPI": Call("fillFuelTank", (), {"fuelAmount": 0.25}),
    "GorillaFileSystem": Call("touch", (), {"file_name": "unwanted.txt"}),
    "MessageAPI": Call("add_contact", (), {"user_name": "Nobody Special"}),
}


@kind
def extra_irreversible_call(entry: Entry) -> Fault | None:
    known = [name for name in entry.environments if name in _UNASKED]
    turn = entry.needing()
    if turn is None or not known:
        return None
    turns = entry.copy()
    turns[turn].append(_UNASKED[entry.random.choice(known)])
    return Fault(turns, "extra_call", turn, len(turns[turn]) - 1)


_FAMILY = {
    "mv": "cp",
    "cp": "mv",
    "close_ticket": "resolve_ticket",
    "fund_account": "withdraw_funds",
    "add_to_watchlist": "remove_stock_from_watchlist",
    "follow_user": "unfollow_user",
    "touch": "mkdir",
    "retweet": "comment",
    "cancel_order": "get_order_details",
    "mention": "comment",
    "activateParkingBrake": "pressBrakePedal",
}
_RENAMED = {
    "mkdir": {"file_name": "dir_name"},
    "resolve_ticket": {"resolution": None},
    "remove_stock_from_watchlist": {"stock": "symbol"},
    "pressBrakePedal": {"mode": None},
}


@kind
def wrong_function(entry: Entry) -> Fault | None:
    found = entry.draw(lambda effect: effect.name in _FAMILY)
    if found is None:
        return None
    turn, step, effect = found
    other, call = _FAMILY[effect.name], turns_call(effect)
    names = _RENAMED.get(other, {})
    kwargs = {names.get(n, n): v for n, v in call.kwargs.items() if names.get(n, n) is not None}
    more = {"resolve_ticket": {"resolution": "done"}, "comment": {"comment_content": "!"}}
    more["pressBrakePedal"] = {"pedalPosition": 0.5}
    kwargs.pop("mentioned_usernames", None)
    turns = entry.copy()
    turns[turn][step] = Call(other, (), {**kwargs, **more.get(other, {})})
    return Fault(turns, "wrong_function", turn, step)


def answered(entry: Entry, text: Callable[[list[Call]], str], cause: str) -> Fault | None:
    """Return a fault in which a turn has only words."""
    turn = entry.needing()
    if turn is None:
        return None
    turns = entry.copy()
    turns[turn] = [text([turns_call(effect) for effect in entry.effects[turn]])]
    return Fault(turns, cause, turn, None)


@kind
def call_in_prose(entry: Entry) -> Fault | None:
    shapes = (
        "I will call {} now.",
        "Sure: `{}` does that for you.",
        "To do this, I use the function **{}**. Done!",
    )
    shape = entry.random.choice(shapes)
    return answered(entry, lambda calls: shape.format(calls[0]), "unreadable (in_text)")


@kind
def call_in_fence(entry: Entry) -> Fault | None:
    shape = entry.random.choice(("```python\n{}\n```", "Here you are:\n\n```\n{}\n```\n", "[{}]"))
    return answered(entry, lambda calls: shape.format(calls[0]), "unreadable (in_text)")


@kind
def call_as_json(entry: Entry) -> Fault | None:
    return answered(
        entry,
        lambda calls: (
            "<tool_call>\n"
            + json.dumps({"name": calls[0].name, "arguments": dict(calls[0].kwargs)})
            + "\n</tool_call>"
        ),
        "unreadable (other_format)",
    )


class Broken(NamedTuple):
    """A tool call with arguments that are not JSON."""

    name: str


@kind
def malformed_in_the_middle(entry: Entry) -> Fault | None:
    found = entry.draw(lambda effect: True)
    if found is None or found[1] + 1 == len(entry.turns[found[0]]):
        return None
    turn, step, effect = found
    turns = entry.copy()
    turns[turn][step] = Broken(effect.name)
    return Fault(turns, "unreadable (malformed)", turn, step)


@kind
def malformed_at_the_end(entry: Entry) -> Fault | None:
    turn = entry.needing()
    if turn is None:
        return None
    turns = entry.copy()
    step = len(turns[turn]) - 1
    turns[turn][step] = Broken(turns[turn][step].name)
    turns[turn].append("That is done.")
    return Fault(turns, "unreadable (malformed)", turn, step)


@kind
def refusal(entry: Entry) -> Fault | None:
    texts = (
        "I'm sorry, but I can't assist with that request.",
        "I cannot help with this, as it goes against my guidelines.",
        "I must decline: this would violate the usage policies.",
    )
    text = entry.random.choice(texts)
    return answered(entry, lambda _: text, "refusal")


@kind
def content_filter(entry: Entry) -> Fault | None:
    found = answered(entry, lambda _: "", "content_filter")
    return found and found._replace(ended="content_filter")


@kind
def cut_off(entry: Entry) -> Fault | None:
    found = answered(entry, lambda _: "First I have to think about which of the", "cut_off")
    return found and found._replace(ended="cut_off")


@kind
def invented_function(entry: Entry) -> Fault | None:
    found = entry.draw(lambda effect: effect.changes)
    if found is None:
        return None
    turn, step, effect = found
    turns, call = entry.copy(), turns_call(effect)
    turns[turn][step] = call._replace(name=f"{call.name}_now")
    return Fault(turns, "not_offered", turn, step)


@kind
def invented_parameter(entry: Entry) -> Fault | None:
    found = entry.draw(lambda effect: effect.changes)
    if found is None:
        return None
    turn, step, effect = found
    turns, call = entry.copy(), turns_call(effect)
    turns[turn][step] = call._replace(kwargs={**call.kwargs, "dry_run": False})
    return Fault(turns, "wrong_argument", turn, step)


@kind
def loop_to_the_limit(entry: Entry) -> Fault | None:
    found = entry.draw(lambda effect: not effect.moved)
    if found is None:
        return None
    turn, step, effect = found
    turns = entry.copy()
    turns[turn][step:] = [turns_call(effect)] * (STEP_LIMIT + 2)
    return Fault(turns[: turn + 1], "loop", turn, ANYWHERE)


_REFUSED: Mapping[str, Call] = {
    "GorillaFileSystem": Call("cat", (), {"file_name": "no_such_file.txt"}),
    "TicketAPI": Call("get_ticket", (), {"ticket_id": 98765}),
    "TradingBot": Call("get_order_details", (), {"order_id": 98765}),
    "MessageAPI": Call("get_user_id", (), {"user": "Nobody Special"}),
    "VehicleControlAPI": Call("startEngine", (), {"ignitionMode": "PUSH"}),
    "TravelAPI": Call("get_credit_card_balance", (), {"access_token": "x", "card_id": "none"}),
}


def refused(entry: Entry) -> tuple[int, Call] | None:
    """Return a turn whose last call changes a backend, and a call of it that is refused."""
    found = [
        (turn, _REFUSED[effects[-1].tool.backend])
        for turn, effects in enumerate(entry.effects)
        if effects and effects[-1].changes and effects[-1].tool.backend in _REFUSED
    ]
    return entry.random.choice(found) if found else None


@kind
def loop_of_refused_calls(entry: Entry) -> Fault | None:
    if (found := refused(entry)) is None:
        return None
    turn, call = found
    turns = entry.copy()
    last = len(turns[turn]) - 1
    turns[turn][last:] = [call, call, call, call, "It did not work so far."]
    return Fault(turns, "loop", turn, ANYWHERE)


@kind
def gave_up_after_an_error(entry: Entry) -> Fault | None:
    if (found := refused(entry)) is None:
        return None
    turn, call = found
    turns = entry.copy()
    turns[turn][-1:] = [call, "Unfortunately I was unable to do that: the call failed."]
    return Fault(turns, "gave_up", turn, None)


@kind
def ignored_error(entry: Entry) -> Fault | None:
    if (found := refused(entry)) is None:
        return None
    turn, call = found
    turns = entry.copy()
    last = len(turns[turn]) - 1
    turns[turn][last:] = [call, "All of that is done."]
    return Fault(turns, "ignored_error", turn, last)


@kind
def asked_instead_of_acting(entry: Entry) -> Fault | None:
    texts = ("Shall I go ahead with this?", "Could you please confirm that you want me to do it?")
    text = entry.random.choice(texts)
    return answered(entry, lambda _: text, "asked_instead_of_acting")


def stopped(entry: Entry, text: str, cause: str, ended: Why | None = None) -> Fault | None:
    """Return a fault in which a turn ends in words before its last change."""
    found = entry.draw(lambda effect: effect.changes)
    if found is None or found[1] == 0:
        return None
    turn, step, _ = found
    turns = entry.copy()
    turns[turn][step:] = [text]
    return Fault(turns, cause, turn, None, ended)


@kind
def asked_halfway(entry: Entry) -> Fault | None:
    return stopped(entry, "Do you want me to go on?", "asked_instead_of_acting")


@kind
def refused_halfway(entry: Entry) -> Fault | None:
    return stopped(entry, "I'm sorry, I can't help with that.", "refusal")


@kind
def filtered_halfway(entry: Entry) -> Fault | None:
    return stopped(entry, "", "content_filter", "content_filter")


@kind
def cut_off_halfway(entry: Entry) -> Fault | None:
    return stopped(entry, "Next I will", "cut_off", "cut_off")


@kind
def told_halfway(entry: Entry) -> Fault | None:
    """Write the next call in back ticks after some calls."""
    found = entry.draw(lambda effect: effect.changes)
    if found is None or found[1] == 0:
        return None
    turn, step, effect = found
    turns = entry.copy()
    turns[turn][step:] = [f"Now I run `{turns_call(effect)}` for you."]
    return Fault(turns, "unreadable (in_text)", turn, None)


@kind
def loop_of_two_calls(entry: Entry) -> Fault | None:
    found = entry.draw(lambda effect: not effect.moved)
    if found is None or found[1] == 0 or entry.effects[found[0]][found[1] - 1].moved:
        return None
    turn, step, _ = found
    turns = entry.copy()
    turns[turn][step + 1 :] = turns[turn][step - 1 : step + 1] * STEP_LIMIT
    return Fault(turns[: turn + 1], "loop", turn, ANYWHERE)


@kind
def omitted_argument(entry: Entry) -> Fault | None:
    found = entry.draw(lambda effect: effect.changes and len(given(effect)) > 1)
    if found is None:
        return None
    turn, step, effect = found
    turns, call = entry.copy(), turns_call(effect)
    left_out = entry.random.choice([*call.kwargs])
    kwargs = {name: value for name, value in call.kwargs.items() if name != left_out}
    turns[turn][step] = call._replace(kwargs=kwargs)
    return Fault(turns, "wrong_argument", turn, step)


@kind
def missing_read(entry: Entry) -> Fault | None:
    """Leave out the last call of a turn, which only reads."""
    found = entry.draw(lambda effect: not effect.moved)
    if found is None or found[1] == 0 or found[1] + 1 < len(entry.turns[found[0]]):
        return None
    turns = entry.copy()
    turns[found[0]].pop()
    return Fault(turns, "missing_call", found[0], None)


@kind
def wrong_read(entry: Entry) -> Fault | None:
    """Read another thing."""
    change = lambda _, v: f"{v}_x" if isinstance(v, str) else v + 3 if number(v) else None  # noqa: E731
    return changed(entry, change, fits=lambda effect: not effect.moved)


@kind
def corrected_malformed_call(entry: Entry) -> Fault | None:
    """Correct a broken call, and then err elsewhere."""
    found = wrong_value(entry)
    if found is None:
        return None
    turns = found.turns
    turns[found.turn].insert(0, Broken(turns[found.turn][0].name))
    return Fault(turns, "wrong_argument", found.turn, found.step + 1)


@kind
def step_of_several_calls(entry: Entry) -> Fault | None:
    """Err in the second call of a step."""
    found = off_by_one(entry)
    if found is None or not found.step:
        return None
    turn, step = found.turn, found.step
    one, other = found.turns[turn][step - 1 : step + 1]
    if one.name == other.name:
        return None
    found.turns[turn][step - 1 : step + 1] = [[one, other]]
    return Fault(found.turns, "wrong_argument", turn, step - 1)


@kind
def acted_instead_of_asking(entry: Entry) -> Fault | None:
    idle = [t for t, calls in enumerate(entry.turns[:-1]) if not calls and entry.turns[t + 1]]
    idle = [t for t in idle if any(effect.changes for effect in entry.effects[t + 1])]
    if not idle:
        return None
    turn, turns = idle[0], entry.copy()
    turns[turn] = turns[turn + 1]
    turns[turn + 1] = []
    return Fault(turns, "acted_instead_of_asking|not_offered", turn, ANYWHERE)


@kind
def missing_url(entry: Entry) -> Fault | None:
    """Leave out the address of a REST call."""
    found = entry.draw(lambda effect: "url" in given(effect))
    if found is None:
        return None
    turn, step, effect = found
    turns, call = entry.copy(), turns_call(effect)
    turns[turn][step] = call._replace(kwargs={n: v for n, v in call.kwargs.items() if n != "url"})
    return Fault(turns, "wrong_argument (missing)", turn, step)


@kind
def nested_call_in_parts(entry: Entry) -> Fault | None:
    """Make the parts of a nested call one after the other."""
    call = entry.turns[0][0] if entry.turns[0] else None
    if not (isinstance(call, Call) and call.nested):
        return None
    inner = [value for value in call.kwargs.values() if isinstance(value, Call)]
    if len(inner) != 1 or inner[0].nested:
        return None
    result = entry.prepared.template.fork().call(inner[0])
    (value,) = json.loads(result.text).values()
    outer = {n: value if isinstance(v, Call) else v for n, v in call.kwargs.items()}
    return Fault([[[inner[0], Call(call.name, (), outer)]]], "extra_call (not_nested)", 0, 0)


_CATEGORIES: Mapping[str, Category] = {
    "acted_instead_of_asking": Category.MISSING_PARAMETER,
    "missing_url": Category.REST,
    "nested_call_in_parts": Category.NESTED,
}
"""Categories other than the base entries."""


def planted(kind: str, number: int, seed: int = 0) -> Iterator[Planted]:
    """Yield failing episodes with a fault of a kind, of different backends as far as there are."""
    dataset = dataset_of(_CATEGORIES.get(kind, Category.BASE))
    entries = sorted(dataset.trajectories)
    random = Random(f"{seed}/{kind}")
    random.shuffle(entries)
    backends: set[Sequence[str]] = set()
    used: set[str] = set()
    for is_repeated in (False, True):
        for id in entries:
            environments = tuple(dataset.trajectories[id].environments)
            if len(used) == number:
                return
            if id in used or (environments in backends) is not is_repeated:
                continue
            episode = plant(kind, dataset, id, random)
            if episode is not None:
                used.add(id)
                backends.add(environments)
                yield episode


@cache
def dataset_of(category: Category) -> Dataset:
    """Return our own entries of a category."""
    return load_embedded([category])


def plant(kind: str, dataset: Dataset, id: str, random: Random) -> Planted | None:
    """Return an entry with a fault; None if the kind does not fit, or the episode passes."""
    prepared = prepare(dataset, dataset.trajectories[id], STRICT)
    truth = [list_effects(turn) for turn in trace_truth(prepared, STRICT).turns]
    turns: Turns = [[effect.traced.call for effect in effects] for effects in truth]
    fault = KINDS[kind](Entry(prepared, turns, truth, random))
    if fault is None:
        return None
    ended = fault.ended or "answer"
    record = EpisodeRecord(
        id,
        0,
        prepared.trajectory.category.value,
        None,
        None,
        None,
        turn_ends=[
            TurnEnd(turn, ended if turn == fault.turn else "answer", None)
            for turn in range(len(fault.turns))
        ],
        result=[[*map(_step, turn)] for turn in fault.turns],
    )
    examined = examine_recorded(prepared, RecordedEpisode(record, "fc"), STRICT, STEP_LIMIT)
    return None if examined.verdict.valid else Planted(kind, fault, examined)


def _step(part: Any) -> Step:
    """Return a step of a function-calling model."""
    if isinstance(part, str):
        return part
    parts = part if type(part) is list else [part]
    return [{call.name: _arguments(call)} for call in parts]


def _arguments(call: Call | Broken) -> str:
    return '{"a": ' if isinstance(call, Broken) else json.dumps(dict(call.kwargs))
