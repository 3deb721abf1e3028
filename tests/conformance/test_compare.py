from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conformance.compare import Tally
from tests.conformance.known import failed
from tests.conformance.sides import CRASH, PlayedTurn, Reply, Script

DOORS = {"VehicleControlAPI": {"doorStatus": {"driver": "unlocked"}, "remainingUnlockedDoors": 4}}
LOCKED = {"VehicleControlAPI": {"doorStatus": {"driver": "locked"}, "remainingUnlockedDoors": 3}}
TREE = {"GorillaFileSystem": {"root": {"ws": {"type": "directory", "contents": {}}}}}
OK = '{"status": "ok"}'
NO = '{"error": "no"}'
RAISED = "Error during execution: no"


def script(*calls: str) -> Script:
    """Return a script with one call per turn."""
    return Script("s", {}, [], False, [[call] for call in calls])


def reply(*results: str, state: Any = None, last: Any = None) -> Reply:
    """Return a reply in which the state is the same after all turns, or but the last."""
    turns = [PlayedTurn([result], state or {}) for result in results]
    if last is not None:
        turns[-1] = PlayedTurn(turns[-1].results, last)
    return Reply(state or {}, turns)


@pytest.mark.parametrize(
    ("text", "is_failure"),
    [
        (RAISED, True),
        (NO, True),
        ('{"booking_status": false, "error": "no"}', True),
        ("[{'error': 'not logged in'}]", True),
        ("['Error: not logged in']", True),
        (OK, False),
        ("None", False),
        ("[]", False),
        ('{"file_content": "an \\"error\\" in it"}', False),
        ("{'result': Decimal('2'), \"error\"", False),
    ],
)
def test_failures_are_told_by_their_texts(text: str, is_failure: bool) -> None:
    assert failed(text) is is_failure


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (OK, OK),
        (RAISED, NO),
        (
            '{"verification_status": false, "verification_failure": "a"}',
            '{"verification_status": false, "verification_failure": "b"}',
        ),
        (
            '{"login_status": false, "message": "a"}',
            '{"login_status": false, "message": "b"}',
        ),
    ],
)
def test_equal_results(expected: str, actual: str) -> None:
    tally = Tally()
    assert tally.compare(script("f()"), reply(expected), reply(actual))
    assert tally.calls == 1
    assert tally.done["f"] + tally.refused["f"] == 1


@pytest.mark.parametrize(
    ("expected", "actual"),
    [(OK, NO), (NO, OK), (OK, '{"status":"ok"}'), ('{"price": 1}', '{"price": 1.0}')],
)
def test_different_results(expected: str, actual: str) -> None:
    tally = Tally()
    assert not tally.compare(script("g()", "f()"), reply(OK, expected), reply(OK, actual))
    (finding,) = tally.findings
    assert str(finding) == f"s turn 1: f(): expected {expected}, got {actual}"


def test_a_long_difference_is_shown_where_it_begins() -> None:
    tally = Tally()
    tally.compare(script("f()"), reply("x" * 5000 + "A"), reply("x" * 5000 + "B"))
    line = str(tally.findings[0])
    assert "A…, got …" in line
    assert len(line) < 600


def test_states_are_compared_like_the_reference_compares_them() -> None:
    ours, theirs = {"A": {"x": 1, "y": [1]}}, {"A": {"y": [True], "x": 1.0}}
    assert Tally().compare(script("f()"), reply(OK, state=theirs), reply(OK, state=ours))
    nan = json.loads('{"A": {"x": NaN}}')
    again = json.loads('{"A": {"x": NaN}}')
    assert Tally().compare(script("f()"), reply(OK, state=nan), reply(OK, state=again))


def test_different_states() -> None:
    tally = Tally()
    theirs, ours = {"A": {"x": [1, 2]}}, {"A": {"x": [1, 3]}}
    state = {"A": {"x": [1]}}
    assert not tally.compare(
        script("f()"), reply(OK, state=state, last=theirs), reply(OK, state=state, last=ours)
    )
    assert str(tally.findings[0]) == "s turn 0: f() A.x[1]: expected 2, got 3"


def test_different_initial_states() -> None:
    tally = Tally()
    assert not tally.compare(script("f()"), reply(OK), reply(OK, state={"A": {"x": 1}}))
    assert "initial A" in str(tally.findings[0])


@pytest.mark.parametrize(
    ("theirs", "ours", "equal"),
    [("bad config", "bad config too", True), ("bad", None, False), (None, "bad", False)],
)
def test_scripts_that_cannot_be_played(theirs: str | None, ours: str | None, equal: bool) -> None:
    replies = [
        reply(OK) if problem is None else Reply({}, [], problem) for problem in (theirs, ours)
    ]
    assert Tally().compare(script("f()"), *replies) is equal


def test_a_crash_of_ours_is_never_right() -> None:
    crashed = Reply({}, [], f"{CRASH}f() broke")
    assert not Tally().compare(script("f()"), Reply({}, [], "bad config"), crashed)


def test_a_harmless_known_difference_is_counted_and_passed() -> None:
    tally = Tally()
    calls = script("startEngine(ignitionMode='STOP')", "f()")
    assert not tally.compare(calls, reply(NO, OK), reply(OK, NO))
    assert tally.known == {"V1": 1}
    assert tally.findings[0].where == "f()"


def test_a_known_difference_in_state_ends_the_script() -> None:
    tally = Tally()
    calls = script("mkdir(dir_name='..')", "f()")
    assert tally.compare(calls, reply("None", OK, state=TREE), reply(NO, NO, state=TREE))
    assert tally.known == {"F23": 1}
    assert tally.calls == 1


@pytest.mark.parametrize(
    "call",
    ["startEngine('START')", "mkdir('a')", "mv('a', 'b')", "mv('..', 'a')", "cp('a', 'b')", "f()"],
)
def test_known_differences_explain_nothing_beside_them(call: str) -> None:
    assert not Tally().compare(script(call), reply(OK, state=TREE), reply(NO, state=TREE))
    assert not Tally().compare(script(call), reply(NO, state=TREE), reply(OK, state=TREE))


@pytest.mark.parametrize(
    ("call", "result", "known"),
    [
        ("lockDoors(unlock=False, door=['driver', 'boot'])", NO, True),
        ("lockDoors(unlock=False, door=['driver'])", OK, False),
        ("startEngine('START')", NO, False),
    ],
)
def test_doors_that_only_the_reference_locks(call: str, result: str, known: bool) -> None:
    theirs = reply(result, state=DOORS, last=LOCKED)
    assert Tally().compare(script(call), theirs, reply(result, state=DOORS)) is known


@pytest.mark.parametrize(
    ("contents", "known"),
    [({}, False), ({"f": {"type": "file", "content": "x"}}, True)],
)
def test_only_what_was_in_a_copied_directory_is_shared(contents: Any, known: bool) -> None:
    old = {"type": "directory", "contents": contents}
    state = {"GorillaFileSystem": {"root": {"ws": {"type": "directory", "contents": {"old": old}}}}}
    calls = script("cp('old', 'new')", "du()")
    theirs, ours = reply(OK, '{"disk_usage": "2"}', state=state), reply(OK, OK, state=state)
    assert Tally().compare(calls, theirs, ours) is known
