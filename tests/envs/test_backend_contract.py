"""The contract, for every environment of this repository: one joins by being registered."""

from __future__ import annotations

from functools import cache

import pytest

from envs.registry import BACKENDS, load_library, load_more
from extensions.contract import isolation_checks, random_play
from extensions.contract.contract import CONTRACT, contract
from extensions.contract.random_play import RandomPlay, scripts
from tests.examples import examples

NAMES = (*BACKENDS, *load_more(), *load_library())
bound_checks = cache(contract)

PLAYED = {check.name for check in CONTRACT if "ends" in (check.name, *check.after)} - {"examples"}
"""Promises that are tried on plays made up at random, which takes seconds an environment."""
QUICK = ["GorillaFileSystem", "TicketAPI"]
"""Environments that are played in the quick part of the suite, too."""
MANY = ["processes", "sessions"]
"""Promises that are tried in other processes, or in ten thousand sessions."""


def marks(name, check):
    """Return the marks of a check: slow is what takes long where a like one has been done."""
    again = check in MANY and name != "TicketAPI"
    again |= check in PLAYED and name not in QUICK
    return [pytest.mark.slow] if again else []


def checks():
    """Return all checks of all environments."""
    return [
        pytest.param(name, number, id=f"{name}: {check.name}", marks=marks(name, check.name))
        for name in NAMES
        for number, check in enumerate(CONTRACT)
    ]


@pytest.fixture(scope="module", autouse=True)
def _fewer_plays_in_the_quick_part():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(random_play, "_PLAYS", examples(random_play._PLAYS))
        patch.setattr(isolation_checks, "SESSIONS", examples(isolation_checks.SESSIONS))
        yield


def test_the_promises_that_take_long_are_there():
    assert {"ends", *MANY} <= PLAYED


@pytest.mark.parametrize(("name", "number"), checks())
def test_contract(name, number):
    checks = bound_checks(name)
    found = [bound for bound in checks if bound.check is CONTRACT[number]]
    if CONTRACT[number].name == "frozen" and not checks[0].subject.has_tests:
        assert not found  # an installed package has no golden files
        return
    [check] = found
    check()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=marks(name, "inputs")) for name in NAMES]
)
def test_results_say_whether_the_compared_state_has_changed(name):
    subject = bound_checks(name)[0].subject
    for script in scripts(subject):
        played = RandomPlay(subject, script.start, script.next_call)
        before = played.session.snapshot()
        for call, result in played.steps():
            after = played.session.snapshot()
            # With each call time may pass, which is no change by a call that only reads.
            if name != "WorldClock" or played.session.tools[call.name].writes:
                assert result.changed is (before != after)
            before = after


def members(value):
    """Yield the names of all members in a value, at any depth, that are lists or objects."""
    if isinstance(value, dict):
        for name, member in value.items():
            if isinstance(member, (list, dict)):
                yield name
            yield from members(member)
    elif isinstance(value, list):
        for member in value:
            yield from members(member)


@pytest.mark.parametrize("name", BACKENDS)
def test_what_is_said_of_members_and_functions_is_about_some_that_there_are(name):
    subject = bound_checks(name)[0].subject
    backend = subject.backend
    assert backend.beyond_bfcl <= backend.FIELDS.keys()
    assert backend.acts <= backend.TOOLS.keys()
    found = set()
    for script in scripts(subject) if backend.unordered else ():
        played = RandomPlay(subject, script.start, script.next_call)
        for _, result in played.steps():
            found |= {*members(result.value)}
        found |= {*members(played.state())}
    assert backend.unordered <= found
