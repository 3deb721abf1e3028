"""The assertions about one call fail where they should."""

from __future__ import annotations

import pytest

from envs.errors import InvalidArgument, NotFound
from envs.session import Session
from envs.testing import refuse, state, succeed


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
