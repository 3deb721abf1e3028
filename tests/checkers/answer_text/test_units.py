from __future__ import annotations

import pytest

from checkers.answer_text.units import singular


@pytest.mark.parametrize(
    ("word", "single"),
    [
        ("messages", "message"),
        ("cities", "city"),
        ("boxes", "box"),
        ("dishes", "dish"),
        ("watches", "watch"),
        ("glasses", "glass"),
        ("glass", "glass"),
        ("city", "city"),
        ("as", "as"),
    ],
)
def test_a_plural_has_its_singular(word: str, single: str) -> None:
    assert singular(word) == single
