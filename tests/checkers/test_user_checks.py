"""Functions that become checks, and refused functions."""

from __future__ import annotations

from typing import Any

import pytest

from checkers.user_checks import EpisodeCheck, check
from envs.errors import DataError


def documented(entry: str) -> bool:
    """Orders   stay
    below two.
    """
    return entry != "entry_1"


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
        (lambda: True, "2", TypeError, "weight must be above 0, but is '2'"),
        (lambda: True, float("inf"), TypeError, "weight must be above 0, but is inf"),
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
