"""EXEC, CONFIG, UNIQUE, OFFER and DETERMINISM: the ground truth can be played in its world.

Every call can be made and succeeds; what is asked for is there, and what is to be made is not;
nothing that is needed is withheld at that point; the same calls give the same texts and states, in
a new session and in a fork.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from envs.calls import Call
from envs.errors import AlreadyExists, MalformedCall, NotFound, ToolError
from envs.registry import backend_class, check_config, is_usable
from envs.schema import check_arguments
from envs.session import Session
from extensions.authoring.rules.entry import Entry, TruthStep
from extensions.authoring.rules.problem import Problem, Severity, brief

EXEC, OFFER, DETERMINISM = "EXEC", "OFFER", "DETERMINISM"


def check_calls(entry: Entry) -> Iterator[Problem]:
    """Yield calls that are no calls, that are refused, or whose arguments fit no schema."""
    for step in entry.steps:
        if not step.result.ok:
            message = f"{_shown(entry, step)} fails: {brief(_reason(step), 160)}"
            yield entry.problem(EXEC, Severity.ERROR, step.turn, step.field, message)
        elif misfit := _misfit(entry, step.call):
            message = f"{_shown(entry, step)} runs, but does not fit its schema: {brief(misfit)}"
            yield entry.problem(EXEC, Severity.WARNING, step.turn, step.field, message)


def _shown(entry: Entry, step: TruthStep) -> str:
    return brief(entry.trajectory.turns[step.turn].ground_truth[step.position], 100)


def _reason(step: TruthStep) -> str:
    return step.result.error.message if step.result.error else ""


def _misfit(entry: Entry, call: Call | MalformedCall) -> str:
    """Return in what a call that succeeds does not fit its schema."""
    if isinstance(call, MalformedCall) or call.nested or entry.profile.execution.checks_arguments:
        return ""
    try:
        check_arguments(entry.template.tools[call.name], call.args, call.kwargs)
    except ToolError as error:
        return error.message
    return ""


def check_offers(entry: Entry) -> Iterator[Problem]:
    """Yield functions that are needed and not offered, and names that are no functions."""
    trajectory = entry.trajectory
    functions = tuple(
        [
            name
            for environment in trajectory.environments
            if is_usable(environment)
            for name in backend_class(environment).TOOLS
        ]
    )
    for name in trajectory.excluded:
        if name not in functions:
            yield entry.problem(
                OFFER, Severity.ERROR, None, "excluded", f"{name} is no function of its backends"
            )
    for index, calls in enumerate(entry.calls):
        offered = trajectory.offered(functions, index)
        for position, call in enumerate(calls):
            if isinstance(call, Call) and call.name not in offered:
                reason = _why_not(call.name, entry, functions)
                yield entry.problem(
                    OFFER,
                    Severity.ERROR,
                    index,
                    f"ground_truth[{position}]",
                    f"needs {call.name}, which {reason}",
                )
        yield from _handed_over(entry, index, functions)
    yield from _unused(entry)


def _unused(entry: Entry) -> Iterator[Problem]:
    """Yield backends whose functions are only there to be passed over."""
    called = {call.name for calls in entry.calls for call in calls if isinstance(call, Call)}
    for position, environment in enumerate(entry.trajectory.environments):
        if is_usable(environment) and called.isdisjoint(backend_class(environment).TOOLS):
            message = f"the ground truth never uses {environment}"
            field = f"environments[{position}]"
            yield entry.problem(OFFER, Severity.WARNING, None, field, message)


def _why_not(name: str, entry: Entry, functions: tuple[str, ...]) -> str:
    if name not in functions:
        return f"no backend of {', '.join(entry.trajectory.environments)} has"
    return "is excluded" if name in entry.trajectory.excluded else "is handed over only later"


def _handed_over(entry: Entry, index: int, functions: tuple[str, ...]) -> Iterator[Problem]:
    used = {call.name for call in entry.calls[index] if isinstance(call, Call)}
    for position, name in enumerate(entry.trajectory.turns[index].offers):
        field = f"offers[{position}]"
        if name not in functions:
            message = f"hands over {name}, which is no function of its backends"
            yield entry.problem(OFFER, Severity.ERROR, index, field, message)
        elif name not in used:
            message = f"hands over {name}, which the ground truth of this turn does not use"
            yield entry.problem(OFFER, Severity.WARNING, index, field, message)


def check_repeats(entry: Entry) -> Iterator[Problem]:
    """Yield the first turn at which a second run departs from the first."""
    new = entry.load()
    for kind, session in (("a new session", new), ("a fork", entry.template.fork())):
        problem = _departure(entry, session, kind)
        if problem is not None:
            yield problem
            return
    # Writing all state out takes longest, and states of a fork are the same objects.
    if new.snapshot().digest() != entry.truth[-1].snapshot.digest():
        turn = len(entry.truth) - 1
        message = "lead to a state with another digest in a new session"
        yield entry.problem(DETERMINISM, Severity.ERROR, turn, "ground_truth", message)


def _departure(entry: Entry, session: Session, kind: str) -> Problem | None:
    for index, (calls, truth) in enumerate(zip(entry.calls, entry.truth, strict=True)):
        for position, (call, expected) in enumerate(zip(calls, truth.results, strict=True)):
            if session.call(call).text != expected.text:
                message = f"gives another result in {kind}"
                field = f"ground_truth[{position}]"
                return entry.problem(DETERMINISM, Severity.ERROR, index, field, message)
        if session.snapshot() != truth.snapshot:
            message = f"lead to another state in {kind}"
            return entry.problem(DETERMINISM, Severity.ERROR, index, "ground_truth", message)
    return None


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
