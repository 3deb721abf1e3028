"""Rules EXEC, CONFIG, UNIQUE, OFFER and DETERMINISM: the ground truth runs in its environment.

Every call succeeds and uses a function that the turn offers. Every object that a call uses must
exist. The same calls return the same results and lead to the same states in a new session and in a
fork.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from checkers.multi_turn_verdict import check_turn
from envs.calls import Call, parse_call
from envs.errors import AlreadyExists, MalformedCall, NotFound, ToolError
from envs.registry import backend_class, check_config, is_usable, list_tools, with_worlds
from envs.schema import check_arguments
from envs.session import Session
from envs.tool import parameter_names
from extensions.authoring.rules.finding import Finding, Severity, brief
from extensions.authoring.rules.replayed_entry import Entry, TruthStep

EXEC, OFFER, DETERMINISM = "EXEC", "OFFER", "DETERMINISM"


def check_calls(entry: Entry) -> Iterator[Finding]:
    """Yield a finding for each call that is malformed, fails or violates the function's schema."""
    for step in entry.steps:
        text = brief(entry.trajectory.turns[step.turn].ground_truth[step.position], 100)
        if not step.result.ok:
            reason = step.result.error.message if step.result.error else ""
            message = f"{text} fails: {brief(reason, 160)}"
            yield entry.finding(EXEC, Severity.ERROR, step.turn, step.field, message)
        elif mismatch := _find_schema_mismatch(entry, step.call):
            message = f"the arguments of {text} do not fit the function's schema: {brief(mismatch)}"
            yield entry.finding(EXEC, Severity.WARNING, step.turn, step.field, message)
    yield from _find_rejected_turn(entry)


def _find_rejected_turn(entry: Entry) -> Iterator[Finding]:
    """Yield a finding for the first turn whose ground truth the checker rejects."""
    for turn in range(0 if entry.has_own_criteria else len(entry.truth)):
        played = entry.truth[: turn + 1]
        failure = check_turn(played, played, entry.profile, entry.scene)
        if failure is not None:
            lines = failure.calls.lines() if failure.calls else [failure.reason.meaning]
            message = f"the checker rejects the ground truth: {brief('; '.join(lines), 160)}"
            yield entry.finding(EXEC, Severity.ERROR, turn, "ground_truth", message)
            return


def _find_schema_mismatch(entry: Entry, call: Call | MalformedCall) -> str:
    if isinstance(call, MalformedCall) or call.nested or entry.profile.execution.checks_arguments:
        return ""
    try:
        check_arguments(entry.template.tools[call.name], call.args, call.kwargs)
    except ToolError as error:
        return error.message
    return ""


def check_offers(entry: Entry) -> Iterator[Finding]:
    """Check that each turn offers the right functions."""
    trajectory = entry.trajectory
    functions = tuple(
        [
            name
            for environment in with_worlds(trajectory.environments)
            if is_usable(environment)
            for name in backend_class(environment).TOOLS
        ]
    )
    for name in trajectory.excluded:
        if name not in functions:
            message = f"{name} is not a function of the entry's backends"
            yield entry.finding(OFFER, Severity.ERROR, None, "excluded", message)
    for index, calls in enumerate(entry.calls):
        offered = trajectory.offered(functions, index)
        for position, call in enumerate(calls):
            if isinstance(call, Call) and call.name not in offered:
                message = f"needs {call.name}, {_explain_absence(call.name, entry, functions)}"
                field = f"ground_truth[{position}]"
                yield entry.finding(OFFER, Severity.ERROR, index, field, message)
        yield from _check_late_offers(entry, index, functions)
        yield from _check_turn_rules(entry, index)
    if not entry.has_own_criteria:
        yield from _find_unused_backends(entry)


def _find_unused_backends(entry: Entry) -> Iterator[Finding]:
    called = {call.name for calls in entry.calls for call in calls if isinstance(call, Call)}
    for position, environment in enumerate(entry.trajectory.environments):
        if not is_usable(environment):
            continue
        functions = backend_class(environment).TOOLS.keys()
        is_offered = not functions <= {*entry.trajectory.excluded}
        if is_offered and called.isdisjoint(functions):
            message = f"the ground truth never uses {environment}"
            field = f"environments[{position}]"
            yield entry.finding(OFFER, Severity.WARNING, None, field, message)


def _explain_absence(name: str, entry: Entry, functions: tuple[str, ...]) -> str:
    if name not in functions:
        return f"which is not a function of {', '.join(entry.trajectory.environments)}"
    if name in entry.trajectory.excluded:
        return "which is excluded"
    return "which is only offered later"


def _check_late_offers(entry: Entry, index: int, functions: tuple[str, ...]) -> Iterator[Finding]:
    used = {call.name for call in entry.calls[index] if isinstance(call, Call)}
    for position, name in enumerate(entry.trajectory.turns[index].offers):
        field = f"offers[{position}]"
        if name not in functions:
            message = f"offers {name}, which is not a function of the entry's backends"
            yield entry.finding(OFFER, Severity.ERROR, index, field, message)
        elif name not in used:
            message = f"offers {name}, but the ground truth of this turn does not call {name}"
            yield entry.finding(OFFER, Severity.WARNING, index, field, message)


def _check_turn_rules(entry: Entry, index: int) -> Iterator[Finding]:
    turn = entry.trajectory.turns[index]
    tools = list_tools(tuple(filter(is_usable, entry.trajectory.environments)))
    forbidden = {f"never[{n}]": parse_call(text) for n, text in enumerate(turn.never)}
    named = {field: call.name for field, call in forbidden.items()}
    for field, name in {**named, **{f"outages.{name}": name for name in turn.outages}}.items():
        if name not in tools:
            message = f"{name} is not a function of the entry's backends"
            yield entry.finding(OFFER, Severity.ERROR, index, field, message)
    for field, call in forbidden.items():
        known = parameter_names(tools[call.name])[0] if call.name in tools else call.kwargs
        for name in call.kwargs:
            if name not in known:
                message = f"{call.name} has no parameter {name}"
                yield entry.finding(OFFER, Severity.ERROR, index, field, message)


def check_repeats(entry: Entry) -> Iterator[Finding]:
    """Replay the ground truth again; yield a finding for the first turn with a difference."""
    new = entry.load()
    for kind, session in (("a new session", new), ("a fork", entry.template.fork())):
        if difference := _find_difference(entry, session, kind):
            yield difference
            return
    # Digests are slow, and a fork shares its state objects: only the new session is compared.
    if new.snapshot().digest() != entry.truth[-1].snapshot.digest():
        turn = len(entry.truth) - 1
        message = "leads to a different state digest in a new session"
        yield entry.finding(DETERMINISM, Severity.ERROR, turn, "ground_truth", message)


def _find_difference(entry: Entry, session: Session, kind: str) -> Finding | None:
    for index, (calls, truth) in enumerate(zip(entry.calls, entry.truth, strict=True)):
        if index:
            session.end_turn()
        for position, (call, expected) in enumerate(zip(calls, truth.results, strict=True)):
            if session.call(call).text != expected.text:
                message = f"the result of the call is different in {kind}"
                field = f"ground_truth[{position}]"
                return entry.finding(DETERMINISM, Severity.ERROR, index, field, message)
        if session.snapshot() != truth.snapshot:
            message = f"the state after the turn is different in {kind}"
            return entry.finding(DETERMINISM, Severity.ERROR, index, "ground_truth", message)
    return None


CONFIG, UNIQUE = "CONFIG", "UNIQUE"

_FILE_NAME = re.compile(
    r"(?<![A-Za-z0-9_-])(?:(?![\u3040-\u9fff])[\w-]){1,255}"
    r"\.(?:txt|csv|md|pdf|docx?|xlsx?|py|log|json|html|java|js|png|jpg|zip|dat|xml)\b"
)


def check_sound(entry: Entry) -> Iterator[Finding]:
    """Yield the errors that the strict check finds in the initial config."""
    trajectory = entry.trajectory
    for path, message in check_config(trajectory.environments, trajectory.config):
        yield entry.finding(CONFIG, Severity.ERROR, None, f"config{path[1:]}", message)


def check_complete(entry: Entry) -> Iterator[Finding]:
    """Report calls that name missing objects, and user messages that name unknown files.

    A file is unknown if its name does not occur in the config, the ground truth or a result.
    """
    for step in entry.steps:
        error = step.result.error
        if isinstance(error, NotFound):
            message = f"asks for a missing object: {brief(error.message, 160)}"
            yield entry.finding(CONFIG, Severity.ERROR, step.turn, step.field, message)
    if "GorillaFileSystem" in entry.trajectory.environments:
        yield from _find_unknown_files(entry)


def _find_unknown_files(entry: Entry) -> Iterator[Finding]:
    known = json.dumps(entry.trajectory.config, ensure_ascii=False).casefold()
    for turn in entry.trajectory.turns:
        known += "\n".join(turn.ground_truth).casefold()
    known += "\n".join(step.result.text for step in entry.steps).casefold()
    for index, turn in enumerate(entry.trajectory.turns):
        for number, message in enumerate(turn.messages):
            for name in dict.fromkeys(_FILE_NAME.findall(message.content)):
                if name.casefold() not in known:
                    text = f"names the file {name!r}, which does not exist and is never created"
                    field = f"messages[{number}].content"
                    yield entry.finding(CONFIG, Severity.WARNING, index, field, text)


Existing = Callable[[Mapping[str, Any], Mapping[str, Any]], str]
"""Function that returns the name of an equal existing object, or ""."""


def _find_equal(field: str, *keys: str) -> Existing:
    def find(state: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
        kept = state[field]
        objects = kept.values() if isinstance(kept, Mapping) else kept
        wanted = [arguments.get(key) for key in keys]
        if any(isinstance(o, Mapping) and [o.get(k) for k in keys] == wanted for o in objects):
            return ", ".join([str(value) for value in wanted if value is not None])
        return ""

    return find


MADE: Mapping[str, Existing] = {
    "create_ticket": _find_equal("ticket_queue", "title"),
    "post_tweet": _find_equal("tweets", "content"),
    "register_credit_card": _find_equal("credit_card_list", "card_number"),
    "book_flight": _find_equal(
        "booking_record", "travel_from", "travel_to", "travel_date", "travel_class"
    ),
}
"""Maps each function that can create a duplicate to the function that finds the original."""


def check_unique(entry: Entry) -> Iterator[Finding]:
    """Yield a finding for each call that creates an existing object again."""
    for step in entry.steps:
        error = step.result.error
        if isinstance(error, AlreadyExists):
            message = f"creates an object that already exists: {brief(error.message, 160)}"
            yield entry.finding(UNIQUE, Severity.ERROR, step.turn, step.field, message)
        elif found := _find_original(entry, step):
            message = f"creates {brief(found)!r} again, although it exists"
            yield entry.finding(UNIQUE, Severity.WARNING, step.turn, step.field, message)


def _find_original(entry: Entry, step: TruthStep) -> str:
    name = step.function
    if name not in MADE or not step.result.ok:
        return ""
    backend = step.before.backends[step.before.tools[name].backend]
    return MADE[name](vars(backend), entry.arguments(step.call))
