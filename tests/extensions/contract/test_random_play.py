"""Arguments that are made up fit the schema, and come from what was shown where that fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from envs.backend import Backend, reads
from envs.schema import check_arguments, make_spec
from extensions.contract.boundary_plays import list_boundary_times
from extensions.contract.checked_environment import CheckedEnvironment
from extensions.contract.generated_values import (
    ShownValue,
    ShownValues,
    ValueRandom,
    draw_arguments,
    list_near,
    shown_in,
    vary_arguments,
)


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


class Till(Backend):
    """A till."""

    Config = AtlasConfig

    @reads
    def pay(self, member: str, cents: int) -> None:
        """Pay.

        Args:
            member: A.
            cents: A.
        """


TOLD = make_spec(Atlas.TOOLS["show"])
KNOWN = ShownValues(
    shown_in({"codes": ["ABC-1", "ABC-12"], "size": 6, "other": [7, 0.5], "name": "Ann"})
)


def test_arguments_fit_the_schema():
    for seed in range(300):
        check_arguments(Atlas.TOOLS["show"], (), draw_arguments(ValueRandom(seed), TOLD, KNOWN))


@pytest.mark.parametrize(
    ("name", "value"), [("code", "ABC-1"), ("size", 6), ("name", "Ann"), ("share", 0.5)]
)
def test_what_was_shown_is_used(name, value):
    made = [draw_arguments(ValueRandom(seed), TOLD, KNOWN)[name] for seed in range(100)]
    assert value in made
    assert {*made} > {value}


def test_equal_seeds_give_equal_arguments():
    once, again = (draw_arguments(ValueRandom(7), TOLD, KNOWN) for _ in range(2))
    assert once == again != draw_arguments(ValueRandom(8), TOLD, KNOWN)


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
        ShownValue(frozenset(), "user_ids", frozenset(), (0,)),
        ShownValue(frozenset({"user", "id"}), 5, frozenset({"user", "id"}), (0,)),
        ShownValue(frozenset(), "b", frozenset(), (1,)),
        ShownValue(frozenset({"b"}), "c", frozenset({"b"}), (2,)),
        ShownValue(frozenset({"b", "c"}), "x", frozenset({"c"}), (1, 2)),
    ]


def test_arguments_of_one_record_occur_together():
    known = ShownValues(shown_in({"debts": {"Ann": 17, "Bo": 29}}))
    spec = make_spec(Till.TOOLS["pay"])
    drawn = [draw_arguments(ValueRandom(seed), spec, known) for seed in range(60)]
    assert sum(each == {"member": "Ann", "cents": 17} for each in drawn) > 1


def test_successful_calls_are_varied():
    known = ShownValues(shown_in({"debts": {"Ann": 17}}))
    proven = [{"member": "Ann", "cents": 987_654}]
    spec = make_spec(Till.TOOLS["pay"])
    drawn = [vary_arguments(ValueRandom(seed), spec, known, proven) for seed in range(60)]
    assert any(each == proven[0] for each in drawn)
    assert any(each["cents"] == 987_654 and each["member"] != "Ann" for each in drawn)


@given(st.recursive(st.integers() | st.text(), lambda inner: st.lists(inner) | st.sets(st.text())))
def test_all_texts_and_numbers_are_shown(value):
    assert [shown.value for shown in shown_in([value])] == [s.value for s in shown_in((value,))]


def test_all_times_of_one_field_become_the_last_time():
    subject = CheckedEnvironment("TelecomDesk")
    starts = list_boundary_times(subject, subject.starts)[:6]
    assert "9999-12-31" not in repr(subject.starts)
    assert len(starts) == 6
    for start in starts:
        assert not subject.find_problems(start)
        assert "9999-12-31" in repr(start)
