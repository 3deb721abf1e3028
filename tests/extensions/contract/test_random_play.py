"""Arguments that are made up fit the schema, and come from what was shown where that fits."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Annotated, Any, Literal, NotRequired

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from envs.backend import Backend, reads
from envs.schema import check_arguments, make_spec
from extensions.contract.generated_values import ShownValue, draw_arguments, list_near, shown_in


class Point(TypedDict):
    x: float
    label: NotRequired[str]


class Line(BaseModel):
    points: Annotated[list[Point], Field(min_length=2, max_length=3)]
    width: Annotated[int, Field(gt=0, lt=4)] = 1


class AtlasConfig(TypedDict, total=False):
    pass


class Atlas(Backend):
    """Functions with every kind of parameter."""

    Config = AtlasConfig

    @reads
    def show(
        self,
        flag: bool,
        size: Annotated[int, Field(ge=3, le=9, multiple_of=3)],
        share: Annotated[float, Field(ge=0, lt=1)],
        code: Annotated[str, Field(pattern=r"^[A-Z]{3}-\d$")],
        name: Annotated[str, Field(min_length=2, max_length=5)],
        mode: Literal["a", 1, None],
        line: Line,
        scores: dict[str, int],
        anything: Any,
        path: Sequence[Point] = (),
        note: str | None = None,
    ) -> None:
        """Show.

        Args:
            flag: A.
            size: A.
            share: A.
            code: A.
            name: A.
            mode: A.
            line: A.
            scores: A.
            anything: A.
            path: A.
            note: A.
        """


TOLD = make_spec(Atlas.TOOLS["show"])
KNOWN = list(shown_in({"codes": ["ABC-1", "ABC-12"], "size": 6, "other": [7, 0.5], "name": "Ann"}))


def test_arguments_fit_the_schema():
    for seed in range(300):
        check_arguments(Atlas.TOOLS["show"], (), draw_arguments(Random(seed), TOLD, KNOWN))


@pytest.mark.parametrize(
    ("name", "value"), [("code", "ABC-1"), ("size", 6), ("name", "Ann"), ("share", 0.5)]
)
def test_what_was_shown_is_used(name, value):
    made = [draw_arguments(Random(seed), TOLD, KNOWN)[name] for seed in range(100)]
    assert value in made
    assert {*made} > {value}


def test_equal_seeds_give_equal_arguments():
    once, again = (draw_arguments(Random(7), TOLD, KNOWN) for _ in range(2))
    assert once == again != draw_arguments(Random(8), TOLD, KNOWN)


@pytest.mark.parametrize(
    ("value", "near"),
    [
        ("2024-02-28", "2024-02-29"),
        ("2026-03-02T23:59", "2026-03-03T00:59"),
        ("9999-12-31", "0001-01-01"),
        (5, 4),
        ("Ann", "it's"),
    ],
)
def test_values_near_a_value(value, near):
    assert near in list_near(value)


def test_what_is_shown_comes_with_the_words_on_the_way_to_it():
    assert list(shown_in({"user_ids": [5, True, None], "b": {"c": "x"}})) == [
        ShownValue(frozenset(), "user_ids", frozenset()),
        ShownValue(frozenset({"user", "id"}), 5, frozenset({"user", "id"})),
        ShownValue(frozenset(), "b", frozenset()),
        ShownValue(frozenset({"b"}), "c", frozenset({"b"})),
        ShownValue(frozenset({"b", "c"}), "x", frozenset({"c"})),
    ]


@given(st.recursive(st.integers() | st.text(), lambda inner: st.lists(inner) | st.sets(st.text())))
def test_all_texts_and_numbers_are_shown(value):
    assert [shown.value for shown in shown_in([value])] == [s.value for s in shown_in((value,))]
