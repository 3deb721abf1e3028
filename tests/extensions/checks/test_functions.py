"""Outcomes of check functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from checkers.user_checks import check
from envs.calls import parse_call
from envs.errors import SimulatorError
from extensions.checks.declared_checks import find_failure

STATE = {"Shop": {"orders": 2}}
CALLS = [parse_call("buy(item='tea')")]


def failure_of(function: Callable[..., object]) -> str | None:
    """Return the error that a check finds in the same episode."""
    return find_failure(check(function), STATE, CALLS, ["Done."], "entry_1")


def documented(entry: str) -> bool:
    """Orders   stay
    below two.
    """
    return entry != "entry_1"


def failing_assertion(words: Any) -> None:
    """Orders stay below two."""
    raise AssertionError(*words[1:])


@pytest.mark.parametrize(
    ("function", "failure"),
    [
        (lambda: True, None),
        (lambda: None, None),
        (lambda: False, "<lambda>"),
        (lambda: "too many", "too many"),
        (lambda: "", ""),
        (lambda words, state: words == ["Done."] and state is STATE, None),
        (lambda entry, calls: f"{entry} {calls[0]}", "entry_1 buy(item='tea')"),
        (documented, "Orders stay"),
        (failing_assertion, "Orders stay below two."),
        (lambda words: failing_assertion([*words, "two orders"]), "two orders"),
    ],
)
def test_a_result_is_a_success_or_an_error(
    function: Callable[..., object], failure: str | None
) -> None:
    assert failure_of(function) == failure


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: 1, r"returned int; return True, False or a string$"),
        (lambda: 0, r"returned int"),
        (lambda state: state["x"], r"test_functions:<lambda> raised KeyError: 'x'$"),
        (lambda: (_ for _ in ()).throw(ValueError("y" * 600)), r"raised ValueError: y{488}$"),
    ],
)
def test_another_result_or_exception_is_an_error_of_the_check(
    function: Callable[..., object], message: str
) -> None:
    with pytest.raises(SimulatorError, match=message):
        failure_of(function)
