"""Checks for state outside of the fields, such as caches and objects that cannot be copied."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import redirect_stdout, suppress
from functools import cached_property, lru_cache, partial
from operator import itemgetter
from typing import Any, NamedTuple

from checkers.unordered_comparison import arrange_snapshot
from envs.backend import Backend
from envs.calls import Call
from envs.errors import BackendFault
from envs.random_stream import RandomStream
from envs.state import Snapshot, copy_json, cut_repr, to_json
from envs.tool import parameter_names, place
from extensions.contract import source_places
from extensions.contract.checked_environment import (
    EXCEPTIONS,
    CheckedEnvironment,
    ContractViolation,
    StartState,
)
from extensions.contract.generated_values import ValueRandom, shown_in
from extensions.contract.global_values import find_changed, list_shared
from extensions.contract.random_play import (
    RandomPlay,
    RecordedPlay,
    change,
    compare_texts,
    draw_call,
    explained,
    list_calls,
    list_proven,
    list_times,
    on_plays,
    sample_known,
    scripts,
    shorten,
    try_call,
)
from extensions.contract.timed_session import CallTimeout, TimedSession

_LIBRARY_FIELDS = ("_notices", "_worlds")
"""Private fields of the base classes, which the checks ignore."""
_PROBES = 10
_TRIES = 3
"""Maximum number of attempts to draw a call that succeeds."""
_REORDERED = 2
"""In every second playthrough, the items of the state are reordered."""
_MAX_PRIVATE = 6
"""For each argument, the check tries at most this many values of private fields."""
_FURTHER_CALLS = 6
"""Length of a sequence of calls after a playthrough."""
_MANY_PLAYS = 12
_CACHES = (type(lru_cache(len)), cached_property)


def caches(subject: CheckedEnvironment) -> None:
    """Check that no method caches results."""
    kinds = [subject.get_class(name) for name in subject.own_names]
    for base in dict.fromkeys(base for kind in kinds for base in kind.__mro__):
        for name, member in vars(base).items() if base is not Backend else ():
            inner = getattr(member, "__func__", member)
            if isinstance(inner, _CACHES) or _find_wrapped_cache(inner):
                kind = "cached_property" if isinstance(inner, cached_property) else "lru_cache"
                function = getattr(inner, "func", inner)
                message = f"the {kind} of {name} can return values of an earlier state"
                found = ContractViolation(
                    place(function), f"{base.__name__}.{name}: {message}; remove the {kind}"
                )
                raise found


def _find_wrapped_cache(member: object) -> bool:
    while member is not None:
        if isinstance(member, _CACHES):
            return True
        member = getattr(member, "__dict__", {}).get("__wrapped__")
    return False


@on_plays
def copies(subject: CheckedEnvironment, play: RandomPlay) -> None:
    """Check that the state can be copied to other processes."""
    _check_pickles(subject, play.session)
    for call, result in play.steps():
        if result.ok:
            _check_pickles(subject, play.session, call)
    kept = play.session.snapshot().states
    for name in subject.own_names:
        copy = vars(pickle.loads(pickle.dumps(play.session.backends[name])))
        found = change(to_json(kept[name]), to_json(copy))
        if found:
            message = f"a copy for another process differs from the session: {name}.{found}"
            advice = "let pickle copy every field; remove __getstate__, __setstate__ or __reduce__"
            raise subject.broken(f"{message}; {advice}")


def _check_pickles(
    subject: CheckedEnvironment, session: TimedSession, call: Call | None = None
) -> None:
    fields = [each for name in subject.own_names for each in vars(session.backends[name]).items()]
    for field, value in fields:
        try:
            pickle.dumps(value)
        except Exception as error:
            what = f"after {call}, the field" if call else "the field"
            kind = type(value).__name__
            message = f"{what} {field} cannot be copied to other processes ({kind}: {error})"
            raise subject.broken(f"{message}; keep plain data", call or field) from None


_PLAYS = 20
"""Number of playthroughs from which calls are chosen."""
_REFUSAL = '{"error": '


class _Probe(NamedTuple):
    script: RecordedPlay
    start: StartState
    calls: Sequence[Call]
    texts: Sequence[str]


def memory(subject: CheckedEnvironment) -> None:
    """Check that results depend only on fields that a config sets.

    After each random playthrough, the check makes the same calls in the session and in copies of
    the session. One copy belongs to another process.
    """
    probes = []
    for number, script in enumerate(scripts(subject)):
        if len(script.texts) == len(script.calls):
            try:
                probe = _probe(subject, script, reorders=number % _REORDERED == 0)
            except ContractViolation as found:
                find = partial(_find_in_probe, subject)
                raise explained(subject, *shorten(subject, find, script, found)) from None
            probes += [probe] if probe else []
    for probe, texts in zip(probes, _ask_elsewhere(subject, probes), strict=True):
        for call, ours, theirs in zip(probe.calls, probe.texts, texts, strict=True):
            if _is_different(ours, theirs):
                finding = _remembered(subject, call, ours, theirs, None)
                raise explained(subject, probe.script, finding)
    if (changed := find_changed_global(subject)) is not None:
        raise changed


def _find_in_probe(subject: CheckedEnvironment, script: RecordedPlay) -> ContractViolation | None:
    try:
        _probe(subject, script)
    except ContractViolation as found:
        return found
    return None


def find_changed_global(subject: CheckedEnvironment) -> ContractViolation | None:
    """Return a finding if calls changed a value in the environment's modules, else None."""
    changed = find_changed(subject.shared_at_start, list_shared(subject.modules))
    if changed is None:
        return None
    message = f"calls change {changed}, which all sessions share"
    found = subject.broken(f"{message}; keep all state in annotated fields")
    line = source_places.find_definition(subject.modules, changed.partition(",")[0])
    return ContractViolation(line or found.place, found.message)


def _probe(
    subject: CheckedEnvironment, script: RecordedPlay, *, reorders: bool = True
) -> _Probe | None:
    """Play a script and compare the final state with copies. Return None without a config."""
    calls = _choose(subject, script)
    live = subject.session(script.start)
    orders_kept = _KeyOrder(subject, live)
    with suppress(BackendFault):
        # Caches are filled before the state changes.
        live.play([call for call in calls if not subject.all_tools[call.name].writes])
        for call in script.calls:
            live.call(call)
            orders_kept.follow(live, call)
    start = subject.start_of(live.snapshot(), script.start.pack)
    try:
        loaded = subject.session(start)
    except (ContractViolation, CallTimeout):
        return None
    if subject.find_problems(start):
        return None
    state, copy_state = (vars(each.backends[subject.name]) for each in (live, loaded))
    # No config describes a random stream after its draws.
    carried = {
        name: value
        for name, value in state.items()
        if isinstance(value, RandomStream) or ("memory", f"{subject.name}.{name}") in EXCEPTIONS
    }
    copy_state.update(carried)
    if loaded.snapshot() != live.snapshot():
        _check_round_trip(subject, live, loaded)
        return None
    calls += _vary_by_private(subject, live, loaded, _find_successful(subject, live))
    _check_moved_keys(subject, live, orders_kept, script, calls)
    orders = _list_reordered(subject, start, live) if reorders else []
    for reordered, _, _ in orders:
        if reordered is not None:
            vars(reordered.backends[subject.name]).update(carried)
    texts = []
    for call in calls:
        text = _text(live, call)
        for copy, other in (("in a fork", live.fork()), ("in a session with this state", loaded)):
            again = _text(other, call)
            if _is_different(again, text):
                raise _remembered(subject, call, text, again, (copy, live, other))
        for equal, tools, advice in orders:
            if equal is not None and call.name in tools:
                again = _text(equal, call)
                # A refusal may list what exists.
                refused = text.startswith(_REFUSAL) and again.startswith(_REFUSAL)
                if not refused and _sort_lists(again) != _sort_lists(text):
                    said = f"{call} depends on the order of items: {compare_texts(text, again)}"
                    raise subject.broken(f"{said}; {advice}", call)
        texts.append(text)
    _play_on(subject, live, loaded)
    return _Probe(script, start, [] if carried else calls, [] if carried else texts)


class _KeyOrder:
    """Copy of the state; the keys of each object are in the order of their creation."""

    def __init__(self, subject: CheckedEnvironment, session: TimedSession) -> None:
        self._names = subject.own_names
        self.states: dict[str, dict[str, Any]] = {}
        """Compared fields of each backend."""
        self.moved: tuple[Call, str] | None = None
        """First call that reordered the keys of a field, and the name of this field."""
        self.follow(session, None)

    def follow(self, session: TimedSession, call: Call | None) -> None:
        """Record the keys that a call created."""
        compared = session.snapshot().compared()
        for name in self._names:
            old = self.states.get(name, {})
            self.states[name] = new = {
                field: _keep_order(old.get(field), value) for field, value in compared[name].items()
            }
            if self.moved is None and call is not None:
                for field, value in new.items():
                    if value is not compared[name][field] and repr(value) != repr(
                        compared[name][field]
                    ):
                        self.moved = call, f"{name}.{field}"


def _keep_order(before: Any, after: Any) -> Any:
    """Return ``after`` with its keys in the order of ``before``; new keys come last."""
    if before is after or type(after) is not dict or type(before) is not dict:
        return after
    keys = [*(key for key in before if key in after), *(key for key in after if key not in before)]
    return {key: _keep_order(before.get(key), after[key]) for key in keys}


def _check_moved_keys(
    subject: CheckedEnvironment,
    live: TimedSession,
    kept: _KeyOrder,
    script: RecordedPlay,
    calls: Sequence[Call],
) -> None:
    """Check that reordered keys do not change the results of read-only functions."""
    if kept.moved is None or ("key order", subject.name) in EXCEPTIONS:
        return
    states = live.snapshot().states
    unmoved = {name: {**states[name], **kept.states.get(name, {})} for name in states}
    try:
        other = subject.session(subject.start_of(Snapshot(unmoved), script.start.pack))
    except (ContractViolation, CallTimeout):
        return
    if other.snapshot() != live.snapshot():
        return
    for call in calls:
        if call.name in subject.reading_tools:
            text, again = _text(live, call), _text(other, call)
            if _is_different(text, again):
                moving, field = kept.moved
                advice = (
                    f"the call {moving} changes the order of the keys of {field}: keep the order, "
                    "or sort the result"
                )
                said = f"{call} depends on the order of keys: {compare_texts(text, again)}"
                raise subject.broken(f"{said}; {advice}", call)


def _list_reordered(
    subject: CheckedEnvironment, start: StartState, live: TimedSession
) -> list[tuple[TimedSession | None, Collection[str], str]]:
    """Return copies of a session in which items or keys are reordered."""
    own = subject.own_names
    return [
        (_reorder(subject, start, live, own), subject.all_tools, _say_unordered(subject)),
        (
            _reorder(subject, start, live, (*subject.worlds,)),
            subject.reading_tools,
            _say_unordered(subject),
        ),
        (
            None
            if ("key order", subject.name) in EXCEPTIONS
            else _reorder(subject, start, live, own, _reverse_keys),
            subject.all_tools,
            "the order of an object's keys must have no effect, because verdicts ignore this order",
        ),
    ]


def _vary_by_private(
    subject: CheckedEnvironment, live: TimedSession, loaded: TimedSession, calls: Sequence[Call]
) -> Iterator[Call]:
    """Yield the calls, then copies of the calls with private values as arguments."""
    yield from calls
    private = {
        field: vars(live.backends[name]).get(field)
        for name in subject.own_names
        for field in _list_private(subject, live, loaded)
    }
    known = dict.fromkeys(each.value for each in shown_in(to_json(private)))
    stale = _list_stale(subject, live, loaded, calls) if private else []
    for call in calls:
        tool = subject.all_tools[call.name]
        for name, old in call.kwargs.items():
            for value in [*dict.fromkeys([*stale, *known])][:_MAX_PRIVATE]:
                for new in _replace_parts(old, value):
                    if subject.fits(tool, {name: new}):
                        yield Call(call.name, (), {**call.kwargs, name: new})


def _list_stale(
    subject: CheckedEnvironment, live: TimedSession, loaded: TimedSession, calls: Sequence[Call]
) -> list[Any]:
    """Make the same calls in two sessions; return the private values that only one session has."""
    values: list[dict[Any, None]] = []
    for session in (live, loaded):
        forks = [session.fork() for _ in calls]
        for fork, call in zip(forks, calls, strict=True):
            _outcome(fork, call)
        private = [
            {field: vars(fork.backends[name]).get(field) for field in fields}
            for fork in forks
            for name in subject.own_names
            if (fields := _list_private(subject, live, loaded))
        ]
        values.append(dict.fromkeys(each.value for each in shown_in(to_json(private))))
    first, second = values
    return [
        *(each for each in second if each not in first),
        *(each for each in first if each not in second),
    ]


def _replace_parts(old: Any, value: Any) -> Iterator[Any]:
    """Yield copies of ``old`` with ``value`` in one place."""
    if isinstance(old, dict):
        yield from ({**old, key: new} for key in old for new in _replace_parts(old[key], value))
    elif isinstance(old, list):
        for index, each in enumerate(old):
            for new in _replace_parts(each, value):
                yield [*old[:index], new, *old[index + 1 :]]
    else:
        yield value


def _find_successful(subject: CheckedEnvironment, live: TimedSession) -> list[Call]:
    """Return calls that succeed in a state, one for each function if possible."""
    random = ValueRandom(0)
    known = sample_known(random, [*shown_in(live.snapshot().states), *list_times(live)])
    proven = list_proven(subject)
    found = []
    for tool in subject.played_tools:
        for _ in range(_TRIES):
            call = draw_call(subject, random, [tool], known, proven)
            result, _ = try_call(live, call)
            if result is not None and result.ok:
                found.append(call)
                break
    return found


def _play_on(subject: CheckedEnvironment, live: TimedSession, loaded: TimedSession) -> None:
    """Check that further calls have the same results in ``live`` and ``loaded``."""
    private = _list_private(subject, live, loaded)
    for number in range(_MANY_PLAYS if private else 1):
        random = ValueRandom(number)
        sessions = live.fork(), loaded.fork()
        calls: list[Call] = []
        for _ in range(_FURTHER_CALLS):
            shown = [*shown_in(sessions[0].snapshot().states), *list_times(sessions[0])]
            known = sample_known(random, shown)
            for _ in range(_TRIES):
                call = draw_call(subject, random, subject.played_tools, known, list_proven(subject))
                results = [try_call(each, call)[0] for each in sessions]
                if any(result is not None and result.ok for result in results):
                    break
            calls.append(call)
            texts = [_outcome(each, call) for each in sessions]
            if _is_different(*texts):
                copies = "in a session with this state", live, loaded
                found = _remembered(subject, call, texts[0], texts[1], copies)
                then = f" (then {list_calls(calls[:-1])})" if calls[1:] else ""
                raise ContractViolation(found.place, found.message + then)
        ends = [each.snapshot() for each in sessions]
        difference = next(iter(ends[0].differences(ends[1])), None)
        if difference is not None:
            texts = [cut_repr(each) for each in (difference.expected, difference.actual)]
            path = difference.path
            said = f"sets {path} to {texts[0]}. The same call sets {path} to {texts[1]}"
            copies = "in a session with this state", live, loaded
            found = _remembered(subject, calls[-1], texts[0], texts[1], copies, said)
            raise ContractViolation(found.place, f"{found.message} (then {list_calls(calls)})")


def _check_round_trip(
    subject: CheckedEnvironment, live: TimedSession, loaded: TimedSession
) -> None:
    """Raise a finding if a field differs between a state and its reloaded copy."""
    for name in subject.own_names:
        kind = type(live.backends[name])
        then, now = (each.snapshot().compared()[name] for each in (live, loaded))
        keys = {*kind.KEYS.values()}
        for field in then.keys() & now.keys():
            # A field without a key may only follow from the others.
            is_equal = _written(then[field]) == _written(now[field])
            if not is_equal and (field in keys or "_load" in vars(kind)):
                old, new = cut_repr(then[field], 80), cut_repr(now[field], 80)
                if field in keys and "_load" in vars(kind):
                    said = f"`_load` changes {name}.{field} from {old} (in the config) to {new}"
                    raise subject.at_load(name, field, f"{said}; keep the config's value")
                said = f"{name}.{field} is {old} after calls, but {new} if this state is loaded"
                advice = "add a key for the field to Config, or compute the field from other fields"
                raise subject.broken(f"{said}; {advice}")


def _written(value: Any) -> str:
    return json.dumps(to_json(value), sort_keys=True, default=str)


def _reorder(
    subject: CheckedEnvironment,
    start: StartState,
    live: TimedSession,
    names: Sequence[str],
    change_order: Callable[[Any], Any] | None = None,
) -> TimedSession | None:
    """Return a session with items in another order; None if no order may be changed.

    If ``change_order`` is None, the function reverses the lists in unordered fields.
    """
    configs = {subject.name: start.config, **start.worlds}
    changed = {
        name: change_order(config)
        if change_order and name in names
        else {
            key: value[::-1] if isinstance(value, list) and key in keys else value
            for key, value in config.items()
        }
        for name, config in configs.items()
        for keys in [_list_unordered(subject, name) if name in names and not change_order else ()]
    }
    if repr(changed) == repr(configs):
        return None
    equal = StartState(changed.pop(subject.name), start.pack, changed)
    try:
        session = subject.session(equal)
    except (ContractViolation, CallTimeout):
        return None
    arranged = arrange_snapshot(
        live.snapshot(), session.snapshot(), lambda name: subject.get_class(name).unordered
    )
    return session if arranged == live.snapshot() else None


def _reverse_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reverse_keys(value[key]) for key in reversed(value)}
    return [_reverse_keys(each) for each in value] if isinstance(value, list) else value


def _list_unordered(subject: CheckedEnvironment, name: str) -> Collection[str]:
    kind = subject.get_class(name)
    return [key for key, field in kind.KEYS.items() if field in kind.unordered]


def _say_unordered(subject: CheckedEnvironment) -> str:
    fields = ", ".join(
        sorted(
            f"{name}.{field}"
            for name in (subject.name, *subject.worlds)
            for field in subject.get_class(name).unordered
        )
    )
    return f"the order of unordered fields ({fields}) must have no effect"


def _is_different(text: str, other: str) -> bool:
    """Tell whether two results differ; the order of an object's fields is ignored."""
    if text == other:
        return False
    try:
        return bool(json.loads(text) != json.loads(other))
    except ValueError:
        return True


def _sort_lists(text: str) -> str:
    """Sort the lists in a JSON result; if the result is not JSON, sort its characters."""

    def ordered(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: ordered(value[key]) for key in sorted(value)}
        if isinstance(value, str):
            # A message may list names.
            return "".join(sorted(value))
        return sorted(map(ordered, value), key=repr) if isinstance(value, list) else value

    try:
        return json.dumps(ordered(json.loads(text)), sort_keys=True)
    except ValueError:
        return "".join(sorted(text))


def _text(session: TimedSession, call: Call) -> str:
    # Not in a fork of a fork: a cache may belong to the object.
    before = session.snapshot()
    try:
        return _outcome(session, call)
    finally:
        session.restore(before)


def _outcome(session: TimedSession, call: Call) -> str:
    try:
        return session.call(Call(call.name, (), copy_json(dict(call.kwargs)))).text
    except BackendFault as fault:
        return str(fault)


def _choose(subject: CheckedEnvironment, script: RecordedPlay) -> list[Call]:
    made = [
        (text.startswith(_REFUSAL), call)
        for each in (*scripts(subject)[:_PLAYS], script)
        for call, text in zip(each.calls, each.texts, strict=False)
    ]
    # A refusal shows little of the state.
    made.sort(key=itemgetter(0))
    by_name: dict[str, list[Call]] = {}
    for call in {str(call): call for _, call in made}.values():
        by_name.setdefault(call.name, []).append(call)
    tools = subject.all_tools
    written = [call for call in script.calls if tools[call.name].writes]
    about = []
    for name, calls in by_name.items():
        names, _ = parameter_names(tools[name])
        for call in written if not tools[name].writes else ():
            shared = {name: value for name, value in call.kwargs.items() if name in names}
            if shared and subject.fits(tools[name], shared):
                about.append(Call(name, (), {**calls[0].kwargs, **shared}))
    rounds = [calls[number] for number in range(3) for calls in by_name.values() if calls[number:]]
    return [*about[:_PROBES], *rounds[: max(2 * _PROBES, len(by_name))]]


def _remembered(
    subject: CheckedEnvironment,
    call: Call,
    text: str,
    other: str,
    copies: tuple[str, TimedSession, TimedSession] | None,
    said: str | None = None,
) -> ContractViolation:
    where = copies[0] if copies else "in another process with this state"
    advice = "a value is stored outside of the fields, for example in a cache; remove it"
    if copies:
        private = _list_private(subject, *copies[1:])
        if private:
            name = private[0]
            advice = (
                f"the result depends on the private field {name}, but no config sets this field. "
                f'Add a key to Config with RENAMED = {{"{name.lstrip("_")}": "{name}"}}, or '
                "compute the field in _load"
            )
    said = said or f"returns {compare_texts(text, other)}"
    return subject.broken(f"{call} {said} {where}; {advice}", call)


def _list_private(
    subject: CheckedEnvironment, live: TimedSession, other: TimedSession
) -> list[str]:
    """Return the names of the private fields that differ between two sessions."""
    return [
        field
        for name in subject.own_names
        for field, value in vars(live.backends[name]).items()
        if field.startswith("_")
        and field not in _LIBRARY_FIELDS
        and value != vars(other.backends[name]).get(field)
    ]


def _ask_elsewhere(subject: CheckedEnvironment, probes: Sequence[_Probe]) -> list[list[str]]:
    asked = [
        [
            probe.start.to_json(),
            [(call.name, dict(call.kwargs)) for call in probe.calls],
        ]
        for probe in probes
    ]
    done = subprocess.run(
        [sys.executable, "-c", f"from {__name__} import answer; answer()"],
        input=json.dumps([subject.name, asked]),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        said = done.stderr.strip().rpartition("\n")[2]
        raise subject.broken(f"cannot be loaded in another process: {said}")
    answered: list[list[str]] = json.loads(done.stdout)
    return answered


def answer() -> None:
    """Read states and calls from standard input, and write the results."""
    name, asked = json.load(sys.stdin)
    with redirect_stdout(sys.stderr):
        subject = CheckedEnvironment(name)
        answered = []
        for start, calls in asked:
            session = subject.session(StartState.from_json(start))
            answered.append([_text(session, Call(name, (), given)) for name, given in calls])
    json.dump(answered, sys.stdout)
