from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.causes.wrong_amounts import classify_wrong_amount


@pytest.mark.parametrize(
    ("expected", "got", "how"),
    [
        (0.05, 5, "scale"),
        (5, 0.05, "scale"),
        (1250, 12.5, "scale"),
        (90, 1.5, "unit"),
        (2, 2000, "unit"),
        (100, 62.14, "unit"),
        (10, 37.85, "unit"),
        (25, 77, "unit"),
        (77, 25, "unit"),
        (10, 16, "unit"),
        (5, 19, "unit"),
        *((10_000, 10_000 * factor, "unit") for factor in (0.3048, 0.9144, 4.54609, 0.45359237)),
        *((10_000, 10_000 * factor, "unit") for factor in (28.349523125, 6.894757293)),
        *((10_000, 10_000 * factor, "unit") for factor in (14.503773773, 30.48, 1.609344)),
        (10_000, 271_495.23, None),
        (40, 44, None),
        (0.05, "5%", "scale"),
        (0.05, " 5 % ", "scale"),
        (5, "5%", None),
        (5, "five", None),
        (5, 6, None),
        (5, 5, None),
        (5, 0, None),
        (0, 100, None),
        (True, 100, None),
        ("5", 500, None),
        (10**400, 10**402, None),
    ],
)
def test_how_a_number_was_miscounted(expected, got, how):
    assert classify_wrong_amount(expected, got) == how


@given(st.one_of(st.integers(), st.floats()), st.one_of(st.integers(), st.floats()))
def test_any_two_numbers_have_an_answer_that_does_not_hang_on_their_order_by_hundreds(one, other):
    assert (classify_wrong_amount(one, other) == "scale") == (
        classify_wrong_amount(other, one) == "scale"
    )
