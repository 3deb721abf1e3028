"""What a fact may be."""

from __future__ import annotations

import pytest

from checkers.required_info import Date, Fact, Items, Number, Text, YesNo


@pytest.mark.parametrize(
    ("kind", "members", "message"),
    [
        (Number, {"number": float("nan")}, "`number` must be from"),
        (Number, {"number": 1, "decimals": -1}, "`decimals` must be from 0 to 12"),
        (Number, {"number": 1, "decimals": 13}, "`decimals` must be from 0 to 12"),
        (Number, {"number": 1, "tolerance": -0.5}, "tolerance"),
        (Number, {"number": 1, "tolerance": float("inf")}, "tolerance"),
        (Text, {"text": " - "}, "letter or digit"),
        (Text, {"text": "Open", "alternatives": ("",)}, "letter or digit"),
        (Items, {"items": ()}, "empty"),
        (Items, {"items": ("a", "")}, "letter or digit"),
        (Items, {"items": (float("inf"),)}, "finite"),
        (YesNo, {"yes": True, "about": ()}, "about"),
        (YesNo, {"yes": True, "about": ("locked",), "opposite": ("!",)}, "letter or digit"),
        (Date, {"date": "1 June"}, "2024-06-01"),
        (Date, {"date": "2024-13-01"}, "2024-06-01"),
        (Date, {"date": "2024-06-01 "}, "2024-06-01"),
    ],
)
def test_a_fact_that_nothing_could_tell_is_refused(kind, members, message):
    with pytest.raises(ValueError, match=message):
        kind(**members)


@pytest.mark.parametrize(
    ("fact", "shown"),
    [
        (Number(24.5), "24.5"),
        (Number(900, "USD"), "900 USD"),
        (Text("Parts ordered"), "'Parts ordered'"),
        (Items(("F", 2)), "F, 2"),
        (Items(("b", "a"), ordered=True), "b > a"),
        (YesNo(True, ("locked", "secured")), "locked"),
        (YesNo(False, ("locked",), subject="rear left"), "rear left: not locked"),
        (Date("2024-06-01"), "2024-06-01"),
    ],
)
def test_a_fact_is_shown_in_a_line(fact: Fact, shown: str):
    assert str(fact) == shown
