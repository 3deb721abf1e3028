"""Every check finds what it is there for, and no other does, where all else is sound."""

from __future__ import annotations

from pathlib import Path
from unittest import SkipTest

import pytest

from envs.errors import InvalidArgument, NotFound
from envs.session import Session
from extensions.contract import isolation_checks, random_play, timed_session
from extensions.contract.contract import (
    CONTRACT,
    ContractViolation,
    contract,
    refuse,
    state,
    succeed,
)
from tests.extensions.contract.mutants import IMPORTS, MUTANTS, table
from tests.source import ROOT

SOUND = ("Say which world", "Say which world")


LONG_CHECKS = {"sessions", "processes"}


def first_of_each():
    """Return a mutant for every check."""
    found = {mutant.check: mutant for mutant in reversed(MUTANTS)}.values()
    # Those take seconds: many sessions, or processes.
    return [
        pytest.param(each, marks=[pytest.mark.slow] if each.check in LONG_CHECKS else [])
        for each in found
    ]


def made(install, mutant, monkeypatch):
    """Install a mutant and return its name."""
    if mutant.check == "ends":
        monkeypatch.setattr(timed_session, "CALL_SECONDS", 0.5)
    imports = [IMPORTS] if mutant.file == "backend.py" else []
    return install(*imports, *mutant.changes, file=mutant.file)


def assert_found(mutant, name, found):
    """Assert what is said, and that the statement's own line is named."""
    prefix = name.lower()
    assert mutant.finding.replace("PREFIX", prefix) in found.message
    path, line = found.place.rsplit(":", 1)
    assert path.endswith((f"{prefix}_env/backend.py", mutant.file.replace("NAME", name)))
    source = Path(path).read_text(encoding="utf-8").splitlines()
    named = source[int(line) - 1].strip()
    assert named.startswith(mutant.line.replace("PREFIX", prefix)), named
    if mutant.check == "ends":
        assert named == "pass" or named.startswith("while ")


def test_there_is_a_broken_environment_for_every_check():
    checks = list(dict.fromkeys(mutant.check for mutant in MUTANTS))
    assert checks == [check.name for check in CONTRACT]


def test_the_table_is_that_of_the_broken_environments():
    assert table() in (ROOT / "envs" / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_sound_environment_passes(install):
    for check in contract(install(SOUND)):
        check()


@pytest.mark.parametrize("mutant", first_of_each(), ids=lambda mutant: mutant.check)
def test_a_check_finds_what_is_broken(install, monkeypatch, mutant):
    if mutant.check != "sessions":
        # Refusals in the first state are rare.
        monkeypatch.setattr(random_play, "_PLAYS", 60 if mutant.check == "outcomes" else 12)
    name = made(install, mutant, monkeypatch)
    [bound] = [bound for bound in contract(name) if bound.check.name == mutant.check]
    with pytest.raises(ContractViolation) as caught:
        bound()
    assert_found(mutant, name, caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(MUTANTS)), ids=lambda n: f"{MUTANTS[n].check} {n}")
def test_one_thing_that_is_broken_is_one_failure(install, monkeypatch, number):
    mutant = MUTANTS[number]
    if mutant.check != "sessions":
        monkeypatch.setattr(isolation_checks, "SESSIONS", 200)
    name = made(install, mutant, monkeypatch)
    found = {}
    for bound in contract(name):
        try:
            bound()
        except SkipTest:
            continue
        except ContractViolation as broken:
            found[bound.check.name] = broken
    assert list(found) == [mutant.check], "\n".join(map(str, found.values()))
    assert_found(mutant, name, found[mutant.check])


@pytest.fixture
def desk():
    return Session.load(["TicketAPI"], {"TicketAPI": {"current_user": "ann"}})


def test_a_success_gives_the_value(desk):
    assert succeed(desk, "logout", current_user=None) == {"success": True}
    assert state(desk)["current_user"] is None


def test_a_success_that_changes_something_else(desk):
    with pytest.raises(AssertionError):
        succeed(desk, "logout")


def test_a_success_that_changes_nothing(desk):
    with pytest.raises(AssertionError):
        succeed(desk, "ticket_get_login_status", current_user=None)


def test_a_refusal_where_a_success_is_asserted(desk):
    with pytest.raises(AssertionError, match="no ticket with the id 5"):
        succeed(desk, "get_ticket", 5)


def test_an_argument_that_is_passed_by_name(desk):
    with pytest.raises(AssertionError, match="no field ticket_id; pass arguments without names"):
        succeed(desk, "get_ticket", ticket_id=5)


def test_a_refusal(desk):
    refuse(desk, NotFound, "no ticket with the id 5", "get_ticket", 5)


@pytest.mark.parametrize(
    ("kind", "message", "call"),
    [
        (InvalidArgument, "no ticket", ("get_ticket", 5)),
        (NotFound, "no user", ("get_ticket", 5)),
        (NotFound, "no ticket", ("logout",)),
    ],
)
def test_another_refusal_or_none(desk, kind, message, call):
    with pytest.raises(AssertionError):
        refuse(desk, kind, message, *call)
