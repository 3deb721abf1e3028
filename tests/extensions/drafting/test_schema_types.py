"""Defaults of parameters in drafted functions."""

from __future__ import annotations

import pytest

from extensions.drafting.schema_types import PythonType


@pytest.mark.parametrize(
    ("source", "value", "taken"),
    [
        ("int | str", 0, True),
        ("int | str", 0.5, False),
        ("float | None", 0.5, True),
        ("int | str", True, False),
        ("list[int] | str", [1], False),
        ("Any", 0, False),
    ],
)
def test_a_union_takes_values_of_its_types(source: str, value: object, taken: bool) -> None:
    assert PythonType(source, None).takes(value) is taken
