"""The contract finds bugs of environments that use a world: hidden state, events, globals."""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from io import StringIO
from unittest import SkipTest

import pytest

from envs import registry
from envs.calls import parse_call
from extensions.contract import hidden_state, isolation_checks, random_play, state_checks
from extensions.contract.checked_environment import CheckedEnvironment
from extensions.contract.contract import ContractViolation, contract
from extensions.contract.random_play import RecordedPlay
from extensions.contract.timed_session import CallTimeout
from tests.environments.installing import add_metadata

CONFIG = {"NAME": {}, "WorldClock": {"now": "2026-03-02T09:00"}}
SOURCE = '''
"""A desk that lends keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from turnwise import Backend, NotFound, Refused, World, reads, writes
from turnwise.extensions.worlds.events import reaction
from turnwise.extensions.worlds.timestamps import shift
from turnwise.extensions.worlds.world_clock import WorldClock
from typing_extensions import TypedDict

_REFUSED: dict[str, int] = {}


class NAMEBoardConfig(TypedDict, total=False):
    keys: dict[str, list[str]]


class NAMEBoard(World):
    """The board with all keys, and their notes."""

    Config = NAMEBoardConfig
    keys: Mapping[str, Sequence[str]] = {}


class NAMEConfig(TypedDict, total=False):
    lent: dict[str, bool]


class NAME(Backend):
    """A desk."""

    Config = NAMEConfig
    uses = [NAMEBoard, WorldClock]
    lent: Mapping[str, bool] = {}

    @reaction
    def mark(self, key: str) -> None:
        """Mark a key as late."""
        if key in self.lent:
            self.lent = {**self.lent, key: True}

    @writes
    def PREFIX_add(self, key: str, note: str) -> dict[str, Any]:
        """Add a note to a key.

        Args:
            key: Name of the key.
            note: Note.

        Returns:
            notes: All notes.
        """
        board = self.world(NAMEBoard)
        board.keys = {**board.keys, key: [*board.keys.get(key, []), note]}
        return {"notes": list(board.keys[key])}

    @writes
    def PREFIX_lend(self, key: str) -> dict[str, Any]:
        """Lend a key.

        Args:
            key: Name of the key.

        Returns:
            until: Time until which it is lent.
        """
        if key not in self.world(NAMEBoard).keys:
            raise NotFound(f"There is no key {key!r:.40}.")
        if key in self.lent:
            raise Refused(f"{key!r:.40} is lent.")
        clock = self.world(WorldClock)
        until = shift(clock.now, 60)
        self.lent = {**self.lent, key: False}
        does = f"NAME.mark(key={key!r})"
        clock.schedule({"id": f"late {key}", "at": until, "does": [does]})
        return {"until": until}

    @reads
    def PREFIX_list(self) -> dict[str, Any]:
        """List lent keys.

        Returns:
            lent: Whether each lent key is late.
        """
        return {"lent": dict(self.lent)}
'''
ADD = "        board.keys = {**board.keys, key: [*board.keys.get(key, []), note]}\n"
BUGS = {
    "value that _load overwrites": (
        "    @reaction\n",
        "    def _load(self, config: Mapping[str, Any], pack: Any) -> None:\n"
        "        self.lent = {key: False for key in self.lent}\n\n    @reaction\n",
        " (in the config) to {",
    ),
    "event in place": (
        "            self.lent = {**self.lent, key: True}\n",
        "            self.lent[key] = True\n",
        "assign new values",
    ),
    "world in place": (
        ADD,
        "        board.keys = {**board.keys, key: board.keys.get(key, [])}\n"
        "        board.keys[key].append(note)\n",
        "in place",
    ),
    "refusals in a global": (
        '            raise Refused(f"{key!r:.40} is lent.")\n',
        "            _REFUSED[key] = _REFUSED.get(key, 0) + 1\n"
        '            raise Refused(f"{key!r:.40} is lent.")\n',
        "_REFUSED, a global of the module",
    ),
    "undeclared attribute of a world": (
        ADD,
        f"{ADD}        board.last = note\n",
        "NAMEBoard.last, which is not a field; annotate it in the class: last: str",
    ),
    "undeclared set of a world": (
        ADD,
        f"{ADD}        board.names = {{note}}\n",
        "NAMEBoard.names, which is not a field; annotate it in the class: names: set = set([",
    ),
    "event with a wrong call": ("key={key!r})", "key='{key}')", "is not a call"),
    "event of a missing key": (
        "        if key in self.lent:\n            self.lent = {**self.lent, key: True}\n",
        "        self.lent = {**self.lent, key: self.lent[key] or True}\n",
        "raised KeyError",
    ),
    "attribute of the class": (
        ADD,
        f"{ADD}        type(self).made = getattr(type(self), 'made', 0) + 1\n",
        "NAME.made, an attribute of the class, which all sessions share",
    ),
    "order of unordered events": (
        '        return {"lent": dict(self.lent)}\n',
        '        first = next((e["id"] for e in self.world(WorldClock).events), "")\n'
        '        return {"lent": dict(self.lent), "first": first}\n',
        "the order of unordered fields (WorldClock.events) must have no effect",
    ),
    "key that moves": (
        "            self.lent = {**self.lent, key: True}\n",
        "            others = {each: late for each, late in self.lent.items() if each != key}\n"
        "            self.lent = {**others, key: True}\n",
        "changes the order of the keys of NAME.lent: keep the order, or sort the result",
    ),
    "first key of an object": (
        '        return {"lent": dict(self.lent)}\n',
        '        return {"lent": {key: True for key in [*self.lent][:1]}}\n',
        "the order of an object's keys must have no effect",
    ),
    "exact value in a private field": (
        "    lent: Mapping[str, bool] = {}\n",
        "    lent: Mapping[str, bool] = {}\n    _made: int = 0\n",
        "depends on the private field _made",
    ),
}
ALSO = {
    "key that moves": (
        '        return {"lent": dict(self.lent)}\n',
        '        return {"lent": [*self.lent]}\n',
    ),
    "exact value in a private field": (
        "        board.keys = {**board.keys, key: [*board.keys.get(key, []), note]}\n",
        "        self._made += 1\n"
        "        notes = [*board.keys.get(key, []), str(self._made // 3)]\n"
        "        board.keys = {**board.keys, key: notes}\n",
    ),
}
"""Further changes of a bug."""
LISTED = '        return {"lent": dict(self.lent)}\n'
MAKE = '''    @writes
    def PREFIX_make(self, key: str, notes: list[str]) -> dict[str, Any]:
        """Make a key.

        Args:
            key: Name of the key.
            notes: Notes.

        Returns:
            notes: Sorted notes.
        """
        board = self.world(NAMEBoard)
        if key in board.keys:
            raise Refused(f"{key!r:.40} exists.")
        notes.sort()
        board.keys = {**board.keys, key: [*notes]}
        return {"notes": [*notes]}

'''
FEW_CALLS_BUGS = {
    "read that writes a constant": (
        state_checks.reads,
        LISTED,
        f"        self.lent = {{**self.lent, 'master': False}}\n{LISTED}",
        ["PREFIX_list()"],
        "master: expected nothing, got False; mark the function @writes",
    ),
    "read that sorts a world": (
        state_checks.reads,
        LISTED,
        "        board = self.world(NAMEBoard)\n"
        f"        board.keys = {{key: sorted(board.keys[key]) for key in board.keys}}\n{LISTED}",
        ["PREFIX_add(key='a', note='2')", "PREFIX_add(key='a', note='1')", "PREFIX_list()"],
        "NAMEBoard.keys.a[0]: expected '2', got '1'; mark the function @writes",
    ),
    "argument of a call that succeeds once": (
        state_checks.inputs,
        "    @reads\n",
        f"{MAKE}    @reads\n",
        ["PREFIX_make(key='a', notes=['2', '1'])"],
        "changes its argument notes[0]: expected '2', got '1' in place",
    ),
    "refused read that counts": (
        state_checks.refusals,
        LISTED,
        "        self.lent = {**self.lent, 'master': False}\n"
        "        raise Refused('There is no list.')\n",
        ["PREFIX_list()"],
        "got False; mark the function @writes, or do not change the state",
    ),
    "time zone of the machine": (
        state_checks.faults,
        LISTED,
        "        from datetime import datetime\n"
        "        return {'lent': {str(datetime(1, 1, 1).timestamp() * 0): 1 // 0}}\n",
        ["PREFIX_list()"],
        "timestamp() uses the clock or the time zone of the machine: use only the time",
    ),
    "zone without the machine": (
        state_checks.faults,
        LISTED,
        "        from datetime import datetime, timezone\n"
        "        at = datetime(1, 1, 1, tzinfo=timezone.utc)\n"
        "        return {'lent': {str(at.astimezone(timezone.max)): 1 // 0}}\n",
        ["PREFIX_list()"],
        "division or modulo by zero; handle this case",
    ),
    "result that contains itself": (
        state_checks.faults,
        LISTED,
        "        found = []\n        found.append(found)\n        return {'lent': found}\n",
        ["PREFIX_list()"],
        "PREFIX_list() raised RecursionError: the result contains itself, or has more than 250",
    ),
    "state that contains itself": (
        state_checks.faults,
        "        self.lent = {**self.lent, key: False}\n",
        "        lent = {**self.lent}\n        lent[key] = lent\n        self.lent = lent\n",
        ["PREFIX_add(key='a', note='1')", "PREFIX_lend(key='a')"],
        "PREFIX_lend(key='a') raised RecursionError: the state contains itself, or has more than",
    ),
    "read that marks lazily": (
        state_checks.reads,
        LISTED,
        f"        self.lent = {{key: key == 'a' for key in self.lent}}\n{LISTED}",
        ["PREFIX_add(key='a', note='1')", "PREFIX_lend(key='a')", "PREFIX_list()"],
        "lent.a: expected False, got True; mark the function @writes",
    ),
    **{
        name: (check, LISTED, f"{lines}{LISTED}", ["PREFIX_list()"], finding)
        for name, check, lines, finding in (
            (
                "file that is written",
                state_checks.output,
                "        open('/dev/full', 'a').close()\n",
                "writes the file /dev/full; read data in the method _load",
            ),
            (
                "file that is read",
                state_checks.output,
                "        open('/etc/passwd').close()\n",
                "reads the file /etc/passwd, which is not part of the package",
            ),
            (
                "variable that is set",
                state_checks.output,
                "        __import__('os').environ['DESK'] = '1'\n",
                "sets an environment variable",
            ),
            (
                "thread",
                state_checks.output,
                "        __import__('threading').Thread(target=int).start()\n",
                "starts a thread",
            ),
            (
                "decimal context",
                state_checks.inputs,
                "        __import__('decimal').getcontext().prec = 5\n",
                "changes the decimal context, which all sessions share",
            ),
            (
                "global random generator",
                state_checks.inputs,
                "        __import__('random').random()\n",
                "draw random numbers from RandomStream",
            ),
            (
                "number that is not a number",
                state_checks.plain,
                "        self.lent = {'a': float('nan')}\n",
                "puts nan into lent; JSON cannot represent this value",
            ),
            (
                "half a character",
                state_checks.plain,
                "        self.lent = {'a': chr(0xD800)}\n",
                "UTF-8 cannot represent this text",
            ),
            (
                "tuple as a key",
                state_checks.plain,
                "        self.lent = {(1, 2): True}\n",
                "a key is neither a string nor an integer, so use str(key)",
            ),
            (
                "equality that ignores a value",
                state_checks.plain,
                "        kind = type('Keys', (dict,), {'__eq__': lambda *_: True})\n"
                "        self.lent = kind(a=True)\n",
                "the type Keys defines its own `==`, so store plain values",
            ),
            (
                "copy that forgets a field",
                hidden_state.copies,
                "        type(self).__getstate__ = lambda self: {'lent': {'a': False}}\n"
                "        self.lent = {'a': True}\n",
                "a copy for another process differs from the session: NAME.lent.a",
            ),
        )
    },
    "event that is removed in place": (
        state_checks.snapshots,
        LISTED,
        f"        getattr(self.world(WorldClock), 'events').clear()\n{LISTED}",
        ["PREFIX_add(key='a', note='1')", "PREFIX_lend(key='a')", "PREFIX_list()"],
        "changes an earlier snapshot at WorldClock.events[0]: expected {'id': 'late a'",
    ),
    "world in a field": (
        state_checks.plain,
        LISTED,
        f"        self.board = self.world(NAMEBoard)\n{LISTED}",
        ["PREFIX_list()"],
        "puts the NAMEBoard of the session into NAME.board; a fork of the session would share",
    ),
    "dictionary that adds keys": (
        state_checks.plain,
        LISTED,
        "        kind = __import__('collections').defaultdict\n"
        f"        self.lent = kind(bool, self.lent)\n{LISTED}",
        ["PREFIX_list()"],
        "reading a missing key of a defaultdict adds the key, so use a plain dict",
    ),
    "number by fork": (
        state_checks.forks,
        LISTED,
        "        made = globals().setdefault('MADE', __import__('weakref').WeakKeyDictionary())\n"
        "        made[self] = made.get(self, len(self.lent)) + 1\n"
        "        return {'lent': {str(made[self]): True}}\n",
        ["PREFIX_list()", "PREFIX_add(key='a', note='1')", "PREFIX_list()"],
        "in forks of the same state",
    ),
    "key that is not described": (
        state_checks.results,
        LISTED,
        LISTED.replace("}\n", ", 'late': 0}\n"),
        ["PREFIX_list()"],
        "but the docstring lacks the key late",
    ),
    "key that is missing": (
        state_checks.results,
        LISTED,
        "        return {}\n",
        ["PREFIX_list()"],
        "but the docstring says that the key lent always exists",
    ),
}
"""Bugs that a few calls show: check, old and new source, calls, finding."""
DATE = "from datetime import date\n"
CHECKS = {"faults", "state", "inputs", "refusals", "snapshots", "memory"}


def checks(tmp_path, monkeypatch, number, old="", new="", names=CHECKS):
    monkeypatch.setattr(isolation_checks, "SESSIONS", 200)
    name = f"Desk{number}"
    install(tmp_path, monkeypatch, name, old, new)
    for check in contract(name):
        if check.check.name in names:
            with redirect_stdout(StringIO()):
                try:
                    check()
                except SkipTest:
                    continue


def install(tmp_path, monkeypatch, name, old="", new=""):
    assert old in SOURCE
    package = tmp_path / f"{name.lower()}_env"
    package.mkdir()
    source = SOURCE.replace(old, new, 1) if old else SOURCE
    source = source.replace("NAME", name).replace("PREFIX", name.lower())
    for file, text in {
        "__init__.py": "",
        "backend.py": source,
        f"{name}.json": json.dumps(CONFIG).replace("NAME", name),
    }.items():
        (package / file).write_text(text, encoding="utf-8")
    add_metadata(tmp_path, name, f"{package.name}.backend:{name}")
    monkeypatch.syspath_prepend(tmp_path)
    registry.forget_installed()


def test_a_world_needs_no_config_in_the_example_file(tmp_path, monkeypatch):
    assert "NAMEBoard" not in CONFIG
    checks(tmp_path, monkeypatch, 98, names={"example config", "loading", "round trip"})


@pytest.mark.parametrize("bug", FEW_CALLS_BUGS)
def test_a_bug_of_few_calls_is_found(tmp_path, monkeypatch, bug):
    check, old, new, calls, finding = FEW_CALLS_BUGS[bug]
    name = f"Stand{[*FEW_CALLS_BUGS].index(bug)}"
    install(tmp_path, monkeypatch, name, old, new)
    subject = CheckedEnvironment(name)
    made = [parse_call(call.replace("PREFIX", name.lower())) for call in calls]
    script = RecordedPlay(subject.starts[0], made, (), None)
    monkeypatch.setattr(random_play, "scripts", lambda _: [script])
    monkeypatch.setattr(state_checks, "scripts", lambda _: [script])
    with pytest.raises(ContractViolation) as caught:
        check(subject)
    finding = finding.replace("NAME", name).replace("PREFIX", name.lower())
    assert finding in caught.value.message


def test_the_call_with_another_outcome_parts_two_executions():
    once = [[("a:1", "x"), ("a:2", "x"), ("", "s")], [("a:3", "x"), ("a:4", "x"), ("", "t")]]
    again = [[("a:1", "x"), ("a:2", "y"), ("", "s")], [("a:3", "x"), ("a:4", "y"), ("", "u")]]
    assert isolation_checks._part(once, again) == ("a:3", 1)
    assert isolation_checks._part(once[:1], again[:1]) == ("a:1", 1)


@pytest.mark.slow
def test_a_set_order_in_an_event_is_named(tmp_path, monkeypatch):
    sound = "        if key in self.lent:\n            self.lent = {**self.lent, key: True}\n"
    bug = "        key = next(iter({*self.lent}))\n        self.lent = {**self.lent, key: True}\n"
    install(tmp_path, monkeypatch, "Desk96", sound, bug)
    subject = CheckedEnvironment("Desk96")
    lent = [call for k in "abcdef" for call in (f"add(key='{k}', note='')", f"lend(key='{k}')")]
    calls = [*[f"desk96_{each}" for each in lent], "wait(until='2026-03-02T11:00')"]
    calls.append("desk96_list()")
    made = [parse_call(each) for each in calls]
    start = subject.starts[0]
    session = subject.session(start)
    texts = [session.call(each).text for each in made]
    script = RecordedPlay(start, made, texts, session.snapshot())
    monkeypatch.setattr(isolation_checks, "_whole", lambda _: [script])
    with pytest.raises(ContractViolation) as caught:
        isolation_checks.processes(subject)
    line = SOURCE.replace(sound, bug).splitlines().index(bug.splitlines()[0]) + 1
    assert caught.value.place.endswith(f"backend.py:{line}")
    assert "the states differ after wait(" in caught.value.message


@pytest.mark.slow
def test_the_sound_desk_passes(tmp_path, monkeypatch):
    checks(tmp_path, monkeypatch, 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", BUGS)
def test_a_bug_of_a_world_is_found(tmp_path, monkeypatch, name):
    old, new, finding = BUGS[name]
    number = 1 + [*BUGS].index(name)
    if name in ALSO:
        monkeypatch.setattr(f"{__name__}.SOURCE", SOURCE.replace(*ALSO[name], 1))
    with pytest.raises(ContractViolation) as caught:
        checks(tmp_path, monkeypatch, number, old, new)
    assert finding.replace("NAME", f"Desk{number}") in caught.value.message


@pytest.mark.slow
def test_a_default_that_depends_on_the_date_is_shown(tmp_path, monkeypatch):
    old, new = "note: str)", "note: str = str(date.today()))"
    monkeypatch.setattr(f"{__name__}.SOURCE", SOURCE.replace("\n_REF", f"\n{DATE}\n_REF", 1))
    with pytest.raises(ContractViolation, match=r"default = '.*', but '.*do not use the clock"):
        checks(tmp_path, monkeypatch, 97, old, new, names={"processes"})


def test_an_endless_call_names_small_numbers_of_the_config(tmp_path, monkeypatch):
    install(tmp_path, monkeypatch, "Desk95")
    subject = CheckedEnvironment("Desk95")
    error = CallTimeout(None, parse_call("desk95_list()"))
    error.configs = {"Desk95": {"lent": {"a": 0, "b": 1}}, "WorldClock": {"minutes_per_call": 0}}
    assert subject.raised(error).message.endswith("code ends (with a = 0 in the config)")
