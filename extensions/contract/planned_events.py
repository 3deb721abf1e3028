"""Check that a call for one item does not replace the planned event of another item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from envs.calls import Call
from envs.state import to_json
from extensions.contract.checked_environment import CheckedEnvironment
from extensions.contract.random_play import RandomPlay
from extensions.worlds.events import Event, read_event_call
from extensions.worlds.world_clock import WorldClock


def list_events(play: RandomPlay) -> Sequence[Event]:
    """Return the planned events of a session."""
    clock = play.session.backends.get(WorldClock.__name__)
    return clock.events if isinstance(clock, WorldClock) else ()


def check_events(
    subject: CheckedEnvironment, play: RandomPlay, call: Call, before: Sequence[Event]
) -> None:
    """Raise a finding if a call changes an id in a planned event."""
    after = list_events(play)
    if after is before or not before:
        return
    planned = {event["id"]: event for event in after}
    for old in before:
        new = planned.get(old["id"], old)
        if new is old or new == old:
            continue
        compared = play.session.snapshot().compared()
        ids = {*_list_ids(to_json([compared[name] for name in subject.own_names]))}
        for text, other in zip(old.get("does", ()), new.get("does", ()), strict=False):
            given, changed = read_event_call(text), read_event_call(other)
            if given.name == changed.name and _differs(given.kwargs, changed.kwargs, ids):
                said = f"{call} replaces the planned event {old['id']!r}: {text} becomes {other}"
                advice = "include the id of the item in the id of the event"
                raise subject.broken(f"{said}; {advice}", call)


def _differs(given: Mapping[str, Any], other: Mapping[str, Any], ids: set[str]) -> bool:
    return any(
        other.get(name) != value and {str(value), str(other.get(name))} <= ids
        for name, value in given.items()
    )


def _list_ids(value: Any, name: str = "") -> Iterator[str]:
    """Yield all keys of a state, and the values of the id fields."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield key
            yield from _list_ids(member, key)
    elif isinstance(value, list):
        for member in value:
            yield from _list_ids(member, name)
    elif name == "id" or name.endswith("_id"):
        yield str(value)
