"""Outcomes of users' check functions, and refused functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from checkers.user_checks import EpisodeCheck, check
from envs.calls import parse_call
from envs.errors import DataError, SimulatorError

STATE = {"Shop": {"orders": 2}}
CALLS = [parse_call("buy(item='tea')")]


def find_failure(function: Callable[..., object]) -> str | None:
    """Return the error that a check finds in the same episode."""
    return check(function).find_failure(STATE, CALLS, ["Done."], "entry_1")


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
    assert find_failure(function) == failure


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: 1, r"returned int; return True, False or a string$"),
        (lambda: 0, r"returned int"),
        (lambda state: state["x"], r"test_user_checks:<lambda> raised KeyError: 'x'$"),
        (lambda: (_ for _ in ()).throw(ValueError("y" * 600)), r"raised ValueError: y{488}$"),
    ],
)
def test_another_result_or_exception_is_an_error_of_the_check(
    function: Callable[..., object], message: str
) -> None:
    with pytest.raises(SimulatorError, match=message):
        find_failure(function)


async def waits() -> bool:
    """Wait."""
    return True


@pytest.mark.parametrize(
    ("function", "weight", "error", "message"),
    [
        (waits, 1, TypeError, "check waits is a coroutine function; use plain def"),
        (
            lambda state, cost: True,
            1,
            TypeError,
            "check <lambda> has an unknown parameter 'cost'; the parameters can be "
            "state, calls, words, entry",
        ),
        (lambda: True, 0, TypeError, "check <lambda>: weight must be above 0, but is 0"),
        (lambda: True, -1, TypeError, "weight must be above 0, but is -1"),
        (lambda: True, float("nan"), TypeError, "weight must be above 0, but is nan"),
        (5, 1, DataError, "function: must be a function, but is 5"),
    ],
)
def test_a_function_that_is_no_check_is_refused(
    function: Any, weight: float, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        check(weight=weight)(function)
    assert message in str(caught.value)


def test_a_check_has_a_weight_and_can_be_called_directly() -> None:
    made = check(weight=0.5)(documented)
    assert made == EpisodeCheck(documented, ("entry",), 0.5)
    assert check(documented).weight == 1.0
    assert made.path.endswith("test_user_checks:documented")
    assert made("entry_2") is made(entry="entry_2") is True
