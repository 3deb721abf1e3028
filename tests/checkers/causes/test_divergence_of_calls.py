from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.causes.divergence import (
    filter_touching,
    find_closest,
    find_off_path,
    list_effects,
    list_mismatches,
    match_effects,
)
from checkers.causes.trace import TracedCall, TracedTurn
from envs.calls import parse_call
from envs.errors import MalformedCall
from envs.session import Session
from envs.state import ABSENT, Difference

FILES = {"a.txt": {"type": "file", "content": "one"}, "old": {"type": "directory", "contents": {}}}
CONFIG = {
    "GorillaFileSystem": {"root": {"home": {"type": "directory", "contents": FILES}}},
    "TicketAPI": {"ticket_queue": [], "ticket_counter": 1, "current_user": "ann"},
}


def played(*steps):
    """Return a turn in which steps of calls are made."""
    session = Session.load(list(CONFIG), CONFIG)
    before = session.snapshot()
    traced = tuple(
        tuple(
            [TracedCall(call, session.call(call), session.snapshot()) for call in map(read, step)]
        )
        for step in steps
    )
    return TracedTurn(frozenset(session.tools), before, traced)


def read(text):
    """Return the call of a text, or what could not be read as one."""
    return text if isinstance(text, MalformedCall) else parse_call(text)


def texts(acts):
    """Return what acts called."""
    return [act.text for act in acts]


def at(*paths):
    """Return differences at places."""
    return [Difference(path, 0, 1) for path in paths]


def test_an_act_says_what_it_did():
    _, cd, ticket = list_effects(played(["ls()", "cd('old')"], ["create_ticket('Dark')"]))
    assert (cd.step, cd.moved, cd.changes) == (0, True, ())
    assert (ticket.step, ticket.tool.backend, ticket.offered) == (1, "TicketAPI", True)
    assert "TicketAPI.ticket_counter" in [change.path for change in ticket.changes]
    assert ticket.arguments == {"title": "Dark", "description": "", "priority": 1}


def test_an_act_without_a_function():
    unknown, malformed = list_effects(played(["look(1, at='x')", MalformedCall("No call.")]))
    assert (unknown.tool, unknown.offered, unknown.ok) == (None, False, False)
    assert unknown.arguments == {"0": 1, "at": "x"}
    assert (malformed.name, malformed.text) == ("", "No call.")


def test_arguments_that_are_missing_or_too_many():
    none, many = list_effects(played(["mv('a.txt')", "mv('a.txt', 'b', 'c', d=1)"]))
    assert none.arguments == {"source": "a.txt", "destination": ABSENT}
    assert many.arguments == {"source": "a.txt", "destination": "b", "2": "c", "d": 1}


def test_calls_are_paired_however_they_are_written_and_ordered():
    truth = played(["touch(file_name='b')", "create_ticket(title='Dark', priority=1)"])
    model = played(["create_ticket('Dark')"], ["touch('b')"])
    assert match_effects(truth, model) == ((), (), ())


def test_other_calls_to_the_same_effect_are_paired():
    truth = played(["rmdir(dir_name='old')"])
    model = played(["rm(file_name='old')"])
    assert match_effects(truth, model) == ((), (), ())


def test_what_stands_alone_is_missing_or_extra():
    found = match_effects(played(["touch('b')", "ls()"]), played(["pwd()", "touch('b')"]))
    assert (texts(found.missing), texts(found.extra)) == (["ls()"], ["pwd()"])


def test_equal_calls_that_did_not_do_the_same_are_displaced():
    truth, model = played(["cd('old')", "touch('b')"]), played(["touch('b')"])
    found = match_effects(truth, model)
    assert (texts(found.missing), texts(found.extra)) == (["cd('old')"], [])
    assert [texts(pair) for pair in found.displaced] == [["touch('b')"] * 2]


def test_an_equal_call_that_was_refused_is_extra():
    found = match_effects(played(["mkdir('b')", "cd('b')"]), played(["cd('b')"]))
    assert texts(found.missing) == ["mkdir('b')", "cd('b')"]
    assert texts(found.extra) == ["cd('b')"]


def test_a_call_stands_for_one_other_only():
    found = match_effects(played(["ls()"]), played(["ls()", "ls()"]))
    assert texts(found.extra) == ["ls()"]


def test_the_closest_call_is_of_the_same_function():
    [expected] = list_effects(played(["create_ticket('Dark', 'in here', 3)"]))
    acts = list_effects(played(["create_ticket('Loud')", "create_ticket('Dark', '', 3)", "ls()"]))
    assert find_closest(expected, acts) is acts[1]
    assert find_closest(expected, acts[2:]) is None


def test_misfits_come_in_the_order_of_the_parameters():
    expected, actual = list_effects(
        played(["mv('a.txt', 'old')", "mv(destination='new', from_='a')"])
    )
    assert list_mismatches(expected, actual) == [
        ("source", "a.txt", ABSENT),
        ("destination", "old", "new"),
        ("from_", ABSENT, "a"),
    ]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("A.b", "A.b", True),
        ("A.b", "A.b.c", True),
        ("A.b", "A.b[0]", True),
        ("A.b.c", "A.b", True),
        ("A.b", "A.bc", False),
        ("A.b[1]", "A.b[12]", False),
        ("A['x.y']", "A['x.z']", False),
    ],
)
def test_differences_touch_at_above_and_below_a_place(one, other, expected):
    assert bool(filter_touching(at(one), at(other))) is expected


paths = st.lists(st.sampled_from(["A", "A.b", "A.b[0]", "A.b[0].c", "A.c", "B"]), max_size=5)


@given(paths, paths)
def test_touching_is_mutual(ours, theirs):
    assert bool(filter_touching(at(*ours), at(*theirs))) == bool(
        filter_touching(at(*theirs), at(*ours))
    )


def test_a_state_of_any_moment_of_the_turn_is_on_the_path():
    turn = played(*[[f"echo('{number}', 'a.txt')"] for number in range(5)])
    for moment in (turn.before, *[call.after for call in turn.calls]):
        assert find_off_path(turn, moment) == []
    [other, *_] = played(["touch('c')"]).calls
    off = find_off_path(turn, other.after)
    assert [difference.path for difference in off] == ["GorillaFileSystem.root.home.contents.c"]
