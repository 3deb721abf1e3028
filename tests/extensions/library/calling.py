"""Calls as texts, made on a session of one environment."""

from __future__ import annotations

from typing import Any

from envs.calls import parse_call
from envs.results import Result
from envs.session import Session


def result(environment: str, text: str) -> Result:
    """Return the result of one call in a fresh default world."""
    session = Session.load([environment], {}, checks_arguments=True)
    return session.call(parse_call(text))


def value(environment: str, text: str) -> Any:
    """Return what a call gives, which must succeed; of an object with one member, that member."""
    given = result(environment, text)
    assert given.ok, given.text
    members = given.value
    return next(iter(members.values())) if len(members) == 1 else members


def refusal(environment: str, text: str) -> str:
    """Return why a call is refused."""
    given = result(environment, text)
    assert given.error is not None, given.text
    return given.error.message
