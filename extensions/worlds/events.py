"""Events: changes of a world that the model does not cause.

Events are data of an entry. An event has a trigger (time, call or condition on the state) and
effects (state changes, calls, messages). An event happens at most once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Annotated, Any, Required, TypeVar

from pydantic import Field
from typing_extensions import TypedDict

from envs.backend import Backend
from envs.calls import Call, parse_call
from envs.errors import MalformedCall
from envs.session import Session
from envs.state import copy_lists
from envs.tool import bind, defaults, parameter_names
from extensions.worlds.state_paths import MAX_PARSED, MISSING, StatePath
from extensions.worlds.timestamps import Moment, is_moment

Method = TypeVar("Method", bound=Callable[..., Any])


class Event(TypedDict, total=False):
    """One event."""

    id: Required[str]
    """Unique id of the event."""
    at: Moment
    """Trigger: the time."""
    after: str
    """Trigger: a successful call, such as ``buy(item='tea')``; omitted arguments may have any
    value."""
    when: dict[str, Any]
    """Conditions by path. If neither ``at`` nor ``after`` is set, the event happens when all
    conditions hold. If ``at`` or ``after`` is set, the conditions must hold at that moment."""
    delay: Annotated[int, Field(ge=0, le=527_040)]
    """Minutes from the trigger (``after`` or ``when``) to the effects (default: 0)."""
    sets: dict[str, Any]
    """Effect: new values, by path."""
    adds: dict[str, Any]
    """Effect: amounts to add to numbers, and items to add to lists, by path."""
    removes: list[str]
    """Effect: paths of the values to delete."""
    does: list[str]
    """Effect: calls to execute, such as ``Bank.pay_interest(account='a')``."""
    agent: str
    """Effect: message to the agent."""
    user: str
    """Effect: message to the user."""


EFFECTS = ("sets", "adds", "removes", "does", "agent", "user")
_TRIGGERS = ("at", "after", "when")
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "below": lambda value, limit: value < limit,
    "above": lambda value, limit: value > limit,
    "at_most": lambda value, limit: value <= limit,
    "at_least": lambda value, limit: value >= limit,
}


def reaction(method: Method) -> Method:
    """Mark a method of a backend as a reaction: events may call it, but the model may not."""
    method.__dict__["_reaction"] = True
    return method


@lru_cache(1_000)
def reactions_of(backend: type[Backend]) -> Mapping[str, Callable[..., Any]]:
    """Return a backend's reactions by name. Reactions are methods that events may call."""
    members = {
        name: member for base in reversed(backend.__mro__) for name, member in vars(base).items()
    }
    return {
        name: member
        for name, member in members.items()
        if getattr(member, "__dict__", {}).get("_reaction") is True
    }


def find_event_problems(event: Mapping[str, Any], now: str) -> Iterator[tuple[str, str]]:
    """Yield the JSON path and the message of each error within an event."""
    triggers = [name for name in _TRIGGERS if name in event]
    if not triggers or {"at", "after"} <= {*triggers}:
        yield "", "needs one trigger: `at`, `after` or `when`"
    if not any(name in event for name in EFFECTS):
        yield "", f"needs an effect: {', '.join(EFFECTS)}"
    if "at" in event and not is_moment(event["at"]):
        yield ".at", f"{event['at']} is not a real date and time"
    elif "at" in event and event["at"] < now:
        yield ".at", f"{event['at']} is in the past; the current time is {now}"
    if "at" in event and "delay" in event:
        yield ".delay", "cannot be combined with `at`; leave out `delay` and give a later `at`"
    for name in ("sets", "adds", "removes", "when"):
        for path in event.get(name, ()):
            try:
                StatePath.read(path)
            except ValueError as error:
                yield f".{name}", str(error)
    for path, condition in event.get("when", {}).items():
        if isinstance(condition, dict) and not _is_comparison(condition):
            known = ", ".join([*_COMPARISONS, "is", "is_not", "exists"])
            yield f".when[{path!r}]", f"must be a value, or an object with one of {known}"
    for name in ("after", "does"):
        for text in [event[name]] if name == "after" and name in event else event.get(name, ()):
            try:
                read_event_call(text)
            except MalformedCall as error:
                yield f".{name}", f"{text!r:.80} is not a call: {error.message}"


def find_session_problems(event: Mapping[str, Any], session: Session) -> Iterator[tuple[str, str]]:
    """Yield a JSON path and a message for each unknown name in an event."""
    for name in ("sets", "adds", "removes", "when"):
        for path in event.get(name, ()):
            problem = StatePath.read(path).find_problem(session.backends)
            if problem:
                yield f".{name}", problem
    if "after" in event:
        call = read_event_call(event["after"])
        if call.name not in session.tools:
            yield ".after", f"the session has no function {call.name}"
    for text in event.get("does", ()):
        call = read_event_call(text)
        if call.name not in session.tools and _find_reaction(session, call.name) is None:
            yield ".does", f"the session has no function or reaction {call.name}"


@lru_cache(maxsize=MAX_PARSED)
def read_event_call(text: str) -> Call:
    """Parse a call; a bare name is a call without arguments.

    The result is cached: equal strings share one ``Call``, so do not change it. Raises
    MalformedCall if the string is not a call.
    """
    call = parse_call(text if "(" in text else f"{text}()")
    if call.nested or (call.args and "." in call.name):
        raise MalformedCall("write each argument as name=value; a value must not be a call")
    return call


def matches(event: Mapping[str, Any], call: Call, session: Session) -> bool:
    """Tell whether a call is the trigger of an event."""
    if "after" not in event:
        return False
    wanted, tool = read_event_call(event["after"]), session.tools[call.name]
    if wanted.name != call.name:
        return False
    given = {**defaults(tool), **bind(tool, call.args, call.kwargs)}
    values = {**dict(zip(parameter_names(tool)[0], wanted.args, strict=False)), **wanted.kwargs}
    return all(name in given and given[name] == value for name, value in values.items())


def holds(event: Mapping[str, Any], session: Session) -> bool:
    """Tell whether all conditions of an event hold."""
    return all(
        _meets(StatePath.read(path).get(session.backends), wanted)
        for path, wanted in event.get("when", {}).items()
    )


def _meets(value: Any, wanted: Any) -> bool:
    if not _is_comparison(wanted):
        return bool(value == wanted)
    [(name, limit)] = wanted.items()
    if name == "exists":
        return (value is not MISSING) is limit
    if name in ("is", "is_not"):
        return (value == limit) is (name == "is")
    try:
        return value is not MISSING and _COMPARISONS[name](value, limit)
    except TypeError:
        return False


def _is_comparison(wanted: Any) -> bool:
    names = {*_COMPARISONS, "is", "is_not", "exists"}
    return isinstance(wanted, dict) and len(wanted) == 1 and names.issuperset(wanted)


def list_effects(
    event: Mapping[str, Any], session: Session
) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield a description and a function for each change or call of an event."""
    backends = session.backends
    for path, value in event.get("sets", {}).items():
        yield f"{path} = {value!r:.80}", partial(StatePath.read(path).set, backends, value)
    for path, value in event.get("adds", {}).items():
        yield f"{path} += {value!r:.80}", partial(StatePath.read(path).add, backends, value)
    for path in event.get("removes", ()):
        yield f"{path} is removed", partial(StatePath.read(path).set, backends, MISSING)
    for text in event.get("does", ()):
        yield text, partial(_execute, session, read_event_call(text))


def _execute(session: Session, call: Call) -> None:
    """Call a function or reaction.

    Raises ToolError if the call is refused.
    """
    found = _find_reaction(session, call.name)
    if found is not None:
        found(**_copy_values(call.kwargs))
        return
    tool = session.tools[call.name]
    arguments = _copy_values(bind(tool, call.args, call.kwargs))
    tool.function(session.backends[tool.backend], **arguments)


def _copy_values(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Copy the arguments, because the called function may change or store them."""
    return {name: copy_lists(value) for name, value in arguments.items()}


def _find_reaction(session: Session, name: str) -> Callable[..., Any] | None:
    owner, _, method = name.rpartition(".")
    backend = session.backends.get(owner)
    if backend is None:
        return None
    function = reactions_of(type(backend)).get(method)  # type: ignore[arg-type]  # is hashable
    return None if function is None else partial(function, backend)
