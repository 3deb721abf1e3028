"""Checks of the state after loading a config and after random calls."""

from __future__ import annotations

import inspect
import io
import json
import math
import re
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from enum import Enum
from functools import partial
from types import MappingProxyType
from typing import Any

from envs.backend import Backend
from envs.calls import Call
from envs.errors import BackendFault, InvalidArgument
from envs.random_stream import RandomStream
from envs.results import Result
from envs.schema import check_value
from envs.session import Session
from envs.state import Snapshot, copy_json, cut, cut_repr, to_json
from envs.tool import Tool
from envs.worlds import World
from extensions.contract import source_places
from extensions.contract.boundary_plays import boundary_scripts
from extensions.contract.checked_environment import (
    CheckedEnvironment,
    ContractViolation,
    Of,
    StartState,
)
from extensions.contract.declaration_checks import check_config_is_kept
from extensions.contract.document_checks import find_key_error, find_result_error
from extensions.contract.generated_values import shown_in
from extensions.contract.global_values import SETTINGS, find_changed, list_shared
from extensions.contract.outside_effects import watched_effects
from extensions.contract.planned_events import check_events, list_events
from extensions.contract.random_play import (
    RandomPlay,
    change,
    compare_texts,
    explore,
    on_plays,
    scripts,
)
from extensions.contract.source_lines import line_in, returning_line
from extensions.contract.timed_session import TimedSession

_NO_OBJECTS: tuple[Any, ...] = (None, [], "text", 1)
_SURROGATE = re.compile("[\ud800-\udfff]")
_MACHINE_TIME = re.compile(
    r"\b(?:timestamp|fromtimestamp|localtime|mktime|utcnow|now|today|astimezone(?=\(\)))(?=\()"
)
"""Functions that use the machine's clock or time zone."""
_EQUALITIES: Collection[object] = {
    kind.__eq__ for kind in (str, float, dict, list, tuple, set, frozenset, MappingProxyType, Enum)
}
"""Comparison methods of plain types."""


def example(subject: CheckedEnvironment) -> None:
    """Check that the example config and the empty config can be loaded."""
    for key, field in subject.backend.RENAMED.items():
        if subject.backend.KEYS.get(key) != field:
            message = f"RENAMED maps {key!r} to {field!r}; use a config key and a state field"
            raise subject.broken(message, "RENAMED")
    for place in sorted(subject.backend.untrusted):
        if place.split(".")[0] not in subject.backend.Config.__annotations__:
            raise subject.broken(
                f"`untrusted` contains {place!r}, which does not begin with a key", "untrusted"
            )
    problems = subject.backend.check_config(copy_json(subject.example))
    if problems:
        if problems[0].path == f"$.{subject.name}":
            # If references breaks, its line is more telling.
            deque(subject.backend.references(copy_json(subject.example)), maxlen=0)
        raise ContractViolation(f"{subject.example_file}:1", str(problems[0]))
    for start in subject.starts:
        subject.session(start)


def round_trip(subject: CheckedEnvironment) -> None:
    """Check that a state stays equal if it is saved as a config and loaded again."""
    for start in (StartState({}), StartState(subject.example)):
        loaded = subject.session(start).snapshot()
        again = subject.session(subject.start_of(loaded)).snapshot()
        differences = loaded.differences(again)
        if differences:
            field = differences[0].path.split(".")[1].split("[")[0]
            message = f"the state differs after saving and loading it as a config: {differences[0]}"
            if "_load" in vars(subject.backend):
                raise subject.at_load(subject.name, field, message)
            raise subject.broken(message, field)


def unknown_keys(subject: CheckedEnvironment) -> None:
    """Check that an unknown key is refused."""
    path = f"$.{subject.backend.__name__}.no_such_key"
    problems = subject.backend.check_config({"no_such_key": 1})
    if [problem.path for problem in problems] != [path]:
        message = f"Config accepts the unknown key {path}; make Config a TypedDict"
        found = subject.broken(message, "Config")
        check = partial(subject.backend.check_config, {"no_such_key": 1})
        raise ContractViolation(returning_line(subject.source, check) or found.place, found.message)


def wrong_types(subject: CheckedEnvironment) -> None:
    """Check that values of wrong types are refused, for each key and for the whole config."""
    for key in subject.backend.Config.__annotations__:
        path = f"$.{subject.backend.__name__}.{key}"
        problems = subject.backend.check_config({key: 1j})
        if not problems or any(problem.path != path for problem in problems):
            message = f"{path} accepts a value of a wrong type; declare a precise type for the key"
            raise subject.config_broken(key, message)
    for config in _NO_OBJECTS:
        if not subject.backend.check_config(config):
            raise subject.broken(f"the config {config!r} is accepted, although it is not an object")


@on_plays
def inputs(subject: CheckedEnvironment, play: RandomPlay) -> None:
    """Check that calls change no config, long-context material, default value or argument."""
    check_config_is_kept(subject, play.start, play.session)
    before = _inputs(subject, play)
    for name, value in subject.settings_at_start.items():
        SETTINGS[name].write(value)
    for call, _ in play.steps(partial(_check_arguments, subject, play)):
        found = change(before, _inputs(subject, play))
        for name, value in subject.settings_at_start.items():
            if SETTINGS[name].read() != value:
                message = f"{call} changes {name}, which all sessions share"
                is_random = name == "the random generator"
                advice = (
                    "draw random numbers from RandomStream" if is_random else "leave it as it is"
                )
                raise subject.broken(f"{message}; {advice}", call)
        if found:
            message = f"{call} changes {found} in place; assign a new value instead"
            raise subject.broken(message, call, "values")


def _check_arguments(subject: CheckedEnvironment, play: RandomPlay, call: Call) -> None:
    given = copy_json(dict(call.kwargs))
    before = copy_json(given)
    if not any(isinstance(value, (list, dict)) for value in given.values()):
        return
    tool = subject.all_tools[call.name]
    backend = play.session.fork().backends[tool.backend]
    run = partial(tool.function, backend, **given)
    with suppress(Exception, SystemExit):
        subject.in_time(call.name, run)
    found = change(before, given)
    if found:
        message = f"{call} changes its argument {found} in place; work on a copy"
        part = next(name for name in given if given[name] != before[name])
        raise subject.broken(message, call, part=part)


def _inputs(subject: CheckedEnvironment, play: RandomPlay) -> dict[str, Any]:
    return {
        "config": copy_json(play.session.configs),
        "pack": repr(play.start.pack),
        "defaults": {name: repr(value) for name, value in subject.backend.FIELDS.items()},
    }


@on_plays
def arguments(subject: CheckedEnvironment, play: RandomPlay) -> None:
    """Check that the schema accepts the arguments of generated calls."""
    strict = play.session.fork(checks_arguments=True)
    for call, result in play.steps():
        checked = strict.call(call)
        if checked.text != result.text:
            tool = subject.all_tools[call.name]
            message = f"{call} fits the schema but returns {checked.text}"
            raise subject.broken(message, call, part=_unfit(tool, call))


def _unfit(tool: Tool, call: Call) -> str | None:
    for name, value in call.kwargs.items():
        try:
            check_value(tool, name, value)
        except InvalidArgument:
            return name
    return None


def ends(subject: CheckedEnvironment) -> None:
    """Check that loading and every call finish within the time limit."""
    for start in subject.starts:
        subject.session(start)
    scripts(subject)


class _OutputWatch(io.StringIO):
    """Replacement for standard output. ``line`` is the line of code that printed."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self._source = source
        self.line: str | None = None

    def write(self, text: str) -> int:
        self.line = self.line or line_in(self._source, sys._getframe(1))
        return super().write(text)


@on_plays
def output(subject: CheckedEnvironment, play: RandomPlay) -> None:
    """Check that calls print nothing, and use no files, processes, connections or threads.

    Printed text would corrupt the output of ``exec`` and servers.
    """
    heard = _OutputWatch(subject.source)
    with redirect_stdout(heard), watched_effects(subject.source) as effects:
        for call, _ in play.steps():
            for line, effect in effects:
                advice = "read data in the method _load, and keep all state in annotated fields"
                message = subject.broken(f"{call} {effect}; {advice}", call).message
                raise ContractViolation(line, message)
    if heard.getvalue():
        call = play.calls[-1]
        message = (
            f"{call} prints {cut_repr(heard.getvalue())}; to show text to the model, return it"
        )
        found = subject.broken(message, call)
        raise ContractViolation(heard.line or found.place, found.message)


@on_plays
def plain(subject: CheckedEnvironment, play: RandomPlay) -> None:
    """Check that the state is plain data."""
    _check_objects(subject, play, None)
    _check_declared(subject, play, None)
    _check_plain(subject, play)
    events = list_events(play)
    for call, result in play.steps():
        check_events(subject, play, call, events)
        events = list_events(play)
        _check_objects(subject, play, call)
        _check_declared(subject, play, call)
        if result.ok:
            _check_plain(subject, play, call)


def _check_objects(subject: CheckedEnvironment, play: RandomPlay, call: Call | None) -> None:
    """Check that no field contains a backend, a world or a session."""
    for owner in subject.own_names:
        for field, value in vars(play.session.backends[owner]).items():
            if isinstance(value, (Backend, Session)):
                kind = type(value).__name__
                advice = "a fork of the session would share this object"
                advice += (
                    f"; call self.world({kind}) at each use" if isinstance(value, World) else ""
                )
                cause = str(call) if call else "loading"
                message = f"{cause} puts the {kind} of the session into {owner}.{field}; {advice}"
                raise subject.broken(message, call or field, partial(_get_member, field))


def _check_declared(subject: CheckedEnvironment, play: RandomPlay, call: Call | None) -> None:
    for owner in subject.own_names:
        backend = play.session.backends[owner]
        state = backend.__dict__
        for name in state.keys() - backend.FIELDS.keys():
            kind = type(state[name]).__name__
            what = f"{call or 'loading'} sets {owner}.{name}, which is not a field"
            value = cut_repr(state[name], 60)
            value = f"{kind}({value})" if isinstance(state[name], (set, frozenset)) else value
            advice = f"annotate it in the class: {name}: {kind} = {value}"
            message = f"{what}; {advice}"
            if call is None and "_load" in vars(subject.backend) and owner == subject.name:
                raise subject.at_load(owner, name, message)
            raise subject.broken(message, call, partial(_get_member, name) if call else None)


def _get_member(name: str, state: Mapping[str, Any]) -> object:
    return state.get(name)


def _check_plain(subject: CheckedEnvironment, play: RandomPlay, call: Call | None = None) -> None:
    compared = play.session.snapshot().compared()
    for owner in subject.own_names:
        for field, value in compared[owner].items():
            odd = _odd(value)
            if odd is not None:
                shown = field if owner == subject.name else f"{owner}.{field}"
                what = (
                    f"{call} puts {odd!r:.60} into {shown}"
                    if call
                    else f"{shown} holds {odd!r:.60}"
                )
                message = f"{what}; {_say_why_odd(odd)}"
                if call is None and owner != subject.name:
                    place = source_places.member(subject.get_class(owner), field)
                    raise ContractViolation(place, f"{owner}: {message}")
                raise subject.broken(message, call or field, _oddities if call else None)


def _oddities(state: Mapping[str, Any]) -> list[str]:
    return [repr(_odd(value)) for value in state.values()]


def _odd(value: Any) -> object:
    """Return the first member that JSON cannot represent, or that overrides ``__eq__``."""
    if value is None or isinstance(value, (bool, int)):
        return None
    if type(value).__eq__ not in _EQUALITIES or hasattr(value, "__missing__"):
        return value
    if isinstance(value, str):
        return value if _SURROGATE.search(value) else None
    if isinstance(value, float):
        return None if math.isfinite(value) else value
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, (str, int)):
                return {key: value[key]}
        inside: Collection[Any] = [*value, *value.values()]
    elif isinstance(value, (list, tuple, set, frozenset)):
        inside = value
    else:
        return value
    return next((odd for each in inside if (odd := _odd(each)) is not None), None)


def _say_why_odd(odd: object) -> str:
    if isinstance(odd, str):
        return "UTF-8 cannot represent this text, so do not split a character"
    if type(odd) is dict:
        return "a key is neither a string nor an integer, so use str(key)"
    if hasattr(odd, "__missing__"):
        return f"reading a missing key of a {type(odd).__name__} adds the key, so use a plain dict"
    if isinstance(odd, (dict, list)):
        return f"the type {type(odd).__name__} defines its own `==`, so store plain values"
    return "JSON cannot represent this value, so store strings or numbers"


def faults(subject: CheckedEnvironment) -> None:
    """Check that functions raise only ToolError, also with boundary values."""
    explore(subject, partial(_check_faults, subject), boundary_scripts(subject))


def _check_faults(subject: CheckedEnvironment, play: RandomPlay) -> None:
    try:
        deque(play.steps(), maxlen=0)
    except BackendFault as fault:
        call = play.calls[-1]
        found = subject.broken(f"{fault}{_advise(subject, play, fault)}", call)
        cause = fault.__cause__
        raise ContractViolation(
            (cause and subject.line_of(cause)) or found.place, found.message
        ) from fault


def _advise(subject: CheckedEnvironment, play: RandomPlay, fault: BackendFault) -> str:
    """Return advice for an error, or ""."""
    if find_changed(subject.shared_at_start, list_shared(subject.modules)):
        return ""
    code = subject.code_of(fault.__cause__) if fault.__cause__ else None
    if used := _MACHINE_TIME.search(code or ""):
        advice = "use only the time in the state"
        return f"; {used.group()}() uses the clock or the time zone of the machine: {advice}"
    if isinstance(fault.__cause__, ValueError) and play.start not in subject.starts:
        for each in shown_in([play.start.config, *play.start.worlds.values()]):
            if isinstance(each.value, str) and repr(each.value) in str(fault.__cause__):
                advice = "refuse this value in `references`, or handle the value"
                return f"; the config has {cut_repr(each.value, 60)}: {advice}"
    return "; handle this case, or refuse the call by raising a ToolError"


def refusals(subject: CheckedEnvironment) -> None:
    """Check that refused calls keep the state, unless a function has ``writes_even_refused``."""
    for tool in subject.tools:
        if tool.keeps_on_refusal is not None and not tool.keeps_on_refusal.strip():
            message = "explain in `writes_even_refused` why a refused call changes the state"
            raise subject.broken(f"the reason is empty; {message}", tool)

    def examine(play: RandomPlay) -> None:
        kept: list[tuple[Snapshot, str]] = []

        def keep(_: Call) -> None:
            kept[:] = [(before := play.session.snapshot(), repr(before.states))]

        for call, result, found in _changes(play, keep):
            tool = subject.all_tools[call.name]
            if not result.ok and tool.keeps_on_refusal is None and found:
                advice = "assign new values; do not change old values in place"
                [(before, written)] = kept
                of: Of = "values"
                if repr(before.states) == written:
                    # The session undoes the assignments of @writes functions only.
                    advice, of = "mark the function @writes, or do not change the state", "state"
                message = f"{call} is refused but changes {found}; {advice}"
                raise subject.broken(message, tool, of)

    explore(subject, examine)


@on_plays
def reads(subject: CheckedEnvironment, play: RandomPlay) -> None:
    """Check that read-only functions do not change the state."""
    deque(play.steps(partial(_check_read, subject, play)), maxlen=0)


def _check_read(subject: CheckedEnvironment, play: RandomPlay, call: Call) -> None:
    tool = subject.all_tools[call.name]
    if tool.writes:
        return
    # The function runs outside of a session, because worlds of a session may act after a call.
    fork, before = play.session.fork(), play.state()
    with suppress(Exception, SystemExit):
        run = partial(tool.function, fork.backends[tool.backend], **copy_json(dict(call.kwargs)))
        subject.in_time(call.name, run)
    fields = subject.backend.FIELDS.items()
    streams = {name for name, value in fields if isinstance(value, RandomStream)}
    found = _change_by_read(before, RandomPlay.state_of(fork), streams)
    if found:
        raise subject.broken(f"{call} changes {found}; mark the function @writes", tool, "state")


def _change_by_read(
    before: Mapping[str, Any], after: Mapping[str, Any], without: Collection[str]
) -> str | None:
    seen = ({k: v for k, v in state.items() if k not in without} for state in (before, after))
    return change(*seen)


def _changes(
    play: RandomPlay, first: Callable[[Call], None]
) -> Iterator[tuple[Call, Result, str | None]]:
    before = play.state()
    for call, result in play.steps(first):
        after = play.state()
        yield call, result, change(before, after)
        before = after


@on_plays
def results(subject: CheckedEnvironment, play: RandomPlay) -> None:
    """Check that results are JSON of the declared type."""
    for call, result in play.steps():
        tool = subject.all_tools[call.name]
        defect = (
            _result_defect(result)
            or (result.ok and find_result_error(tool, result.held))
            or (result.ok and find_key_error(tool, result.held))
            or None
        )
        if defect and not subject.excepts("results", tool):
            raise subject.broken(
                f"{call} returns {cut_repr(result.held)}, {defect}", tool, "result"
            )


def _result_defect(result: Result) -> str | None:
    if result.error is not None:
        return None if result.error.message else "an error without a message"
    if inspect.isgenerator(result.held) or inspect.isawaitable(result.held):
        kind = type(result.held).__name__
        return f"a {kind}; return a list instead, because a model cannot read a {kind}"
    try:
        written = json.loads(json.dumps(result.held, allow_nan=False))
    except (TypeError, ValueError) as error:
        return f"which is not JSON: {error}"
    if _SURROGATE.search(json.dumps(result.held, ensure_ascii=False)):
        return "a string that UTF-8 cannot represent; keep whole characters"
    if isinstance(written, dict) and set(written) != set(result.held):
        return "an object that has a key other than a string"
    if isinstance(written, dict) and "error" in written:
        return "an error; raise a ToolError instead, so that the call counts as refused"
    return None


@on_plays
def snapshots(subject: CheckedEnvironment, play: RandomPlay) -> None:
    """Check that later calls change neither snapshots nor earlier results."""
    start, before = play.session.snapshot(), play.state()
    # A world may replace its values after each call, so every call needs a snapshot of its own.
    kept = [(start, repr(start.compared()))]

    def keep(_: Call) -> None:
        latest = play.session.snapshot()
        kept[1:] = [(latest, repr(latest.compared()))]

    made: list[tuple[Result, str]] = []
    advice = "assign new values; do not change old values in place"
    for call, result in play.steps(keep):
        for number, (snapshot, written) in enumerate(kept):
            if repr(snapshot.compared()) != written:
                calls = play.calls[:-1] if number else []
                found = _find_change_in_place(subject, play.start, calls, snapshot)
                message = f"{call} changes an earlier snapshot{found}; {advice}"
                raise subject.broken(message, call, "values")
        for earlier, text in made:
            if Result(earlier.held).text != text:
                message = f"{call} changes an earlier result, {cut(text, 200)}; {advice}"
                raise subject.broken(message, call, "values")
        if result.ok:
            made.append((result, result.text))
    play.session.restore(start)
    restored = change(before, play.state())
    if restored:
        raise subject.broken(f"a restored snapshot differs at {restored}")


def _find_change_in_place(
    subject: CheckedEnvironment, start: StartState, calls: Sequence[Call], changed: Snapshot
) -> str:
    """Repeat the calls, and return the path where the new state first differs from ``changed``."""
    session = subject.session(start)
    with suppress(BackendFault):
        session.play(calls)
    found = change(to_json(session.snapshot().compared()), to_json(changed.compared()))
    return f" at {found}" if found else ""


_FORKED_AT = (0, 1, 4)
"""Numbers of calls after which the check forks the session."""


@on_plays
def forks(subject: CheckedEnvironment, play: RandomPlay) -> None:
    """Check that forks are independent and behave equally."""
    made: list[tuple[Call, Result]] = []
    forked: list[tuple[int, TimedSession]] = []

    def fork(_: Call) -> None:
        if len(made) in _FORKED_AT:
            forked.append((len(made), play.session.fork()))

    seen = ""
    for call, result in play.steps(fork):
        first = repr(forked[0][1].snapshot().compared())
        if first != (seen or first):
            raise subject.broken(f"{call} changes an earlier fork of the session", call, "values")
        seen = first
        made.append((call, result))
    for number, copy in forked:
        for call, result in made[number:]:
            again = copy.call(call).text
            if again != result.text:
                texts = compare_texts(result.text, again)
                message = f"{call} returns different results in forks of the same state: {texts}"
                raise subject.broken(
                    f"{message}; keep all state in annotated fields", call, "again"
                )
        found = change(play.state(), RandomPlay.state_of(copy))
        if found:
            call = made[-1][0]
            message = f"after {call}, two forks of the same state differ: {found}"
            raise subject.broken(f"{message}; keep all state in annotated fields", call, "again")
