"""CONFIG and UNIQUE: what is asked for is there, and what is to be made is not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from envs.errors import AlreadyExists, NotFound
from envs.session import check_config
from trajectories.rules.entry import Entry, TruthStep
from trajectories.rules.problem import Problem, Severity, brief

CONFIG, UNIQUE = "CONFIG", "UNIQUE"

_FILE_NAME = re.compile(
    r"\b[\w-]+\.(?:txt|csv|md|pdf|docx?|xlsx?|py|log|json|html|java|js|png|jpg|zip|dat|xml)\b"
)


def check_sound(entry: Entry) -> Iterator[Problem]:
    """Yield the defects of an initial config, as a strict load would name them."""
    trajectory = entry.trajectory
    for path, message in check_config(trajectory.environments, trajectory.config):
        yield entry.problem(CONFIG, Severity.ERROR, None, f"config{path[1:]}", message)


def check_complete(entry: Entry) -> Iterator[Problem]:
    """Yield what is asked for and does not exist.

    These are ground-truth calls that do not find what they name, and files that the user names
    while neither config, ground truth nor any result has ever heard of them.
    """
    for step in entry.steps:
        error = step.result.error
        if isinstance(error, NotFound):
            message = f"asks for what is not there: {brief(error.message, 160)}"
            yield entry.problem(CONFIG, Severity.ERROR, step.turn, step.field, message)
    if "GorillaFileSystem" in entry.trajectory.environments:
        yield from _unknown_files(entry)


def _unknown_files(entry: Entry) -> Iterator[Problem]:
    known = json.dumps(entry.trajectory.config, ensure_ascii=False).casefold()
    for turn in entry.trajectory.turns:
        known += "\n".join(turn.ground_truth).casefold()
    known += "\n".join(step.result.text for step in entry.steps).casefold()
    for index, turn in enumerate(entry.trajectory.turns):
        for number, message in enumerate(turn.messages):
            for name in dict.fromkeys(_FILE_NAME.findall(message.content)):
                if name.casefold() not in known:
                    text = f"names the file {name!r}, which exists nowhere and is never made"
                    field = f"messages[{number}].content"
                    yield entry.problem(CONFIG, Severity.WARNING, index, field, text)


Existing = Callable[[Mapping[str, Any], Mapping[str, Any]], object]
"""Looks in a backend's state for what the arguments of a call would make."""


def _member(field: str, key: str) -> Existing:
    """Look for an object of a list with the same member."""

    def find(state: Mapping[str, Any], arguments: Mapping[str, Any]) -> object:
        kept = state[field]
        members = kept.values() if isinstance(kept, Mapping) else kept
        wanted = arguments.get(key)
        same = [m for m in members if isinstance(m, Mapping) and m.get(key) == wanted]
        return wanted if same and wanted is not None else None

    return find


def _booked(state: Mapping[str, Any], arguments: Mapping[str, Any]) -> object:
    keys = ("travel_from", "travel_to", "travel_date", "travel_class")
    wanted = [arguments.get(key) for key in keys]
    kept = state["booking_record"]
    records = kept.values() if isinstance(kept, Mapping) else kept
    same = [r for r in records if isinstance(r, Mapping) and [r.get(k) for k in keys] == wanted]
    return ", ".join(map(str, wanted)) if same else None


MADE: Mapping[str, Existing] = {
    "create_ticket": _member("ticket_queue", "title"),
    "post_tweet": _member("tweets", "content"),
    "register_credit_card": _member("credit_card_list", "card_number"),
    "book_flight": _booked,
}
"""Functions that make a second one of what exists without refusing."""


def check_unique(entry: Entry) -> Iterator[Problem]:
    """Yield calls that make what is already there."""
    for step in entry.steps:
        error = step.result.error
        if isinstance(error, AlreadyExists):
            message = f"makes what is already there: {brief(error.message, 160)}"
            yield entry.problem(UNIQUE, Severity.ERROR, step.turn, step.field, message)
        elif found := _second(entry, step):
            message = f"makes a second {brief(found)!r}; the first one is there already"
            yield entry.problem(UNIQUE, Severity.WARNING, step.turn, step.field, message)


def _second(entry: Entry, step: TruthStep) -> object:
    name = getattr(step.call, "name", "")
    if name not in MADE or not step.result.ok:
        return None
    backend = step.before.backends[step.before.tools[name].backend]
    return MADE[name](vars(backend), entry.arguments(step.call))
