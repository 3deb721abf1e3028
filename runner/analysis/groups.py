"""BFCL's table: from the scores of categories to those of groups, and to one overall.

A category that was not run is left out, and the weights of those that were run are scaled to make
up for it. BFCL counts it as 0 instead; its figure is kept beside ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import hypot
from typing import NamedTuple, Self

from checkers.statistics import wilson
from trajectories.schema import FACTS, Category


class Rate(NamedTuple):
    """The score of a category, or of a group of them."""

    value: float
    """Share that passed, from 0 to 1."""
    interval: tuple[float, float]
    """95% interval of the value."""
    entries: int
    """Number of entries that were judged."""

    @classmethod
    def of(cls, passed: int, entries: int) -> Self:
        """Return the rate of entries that were judged once; there is at least one."""
        return cls(passed / entries, wilson(passed, entries), entries)


class Group(NamedTuple):
    """Categories and groups whose scores become one."""

    name: str
    members: tuple[Group | Category, ...]
    weights: tuple[int, ...] = ()
    """Those of the members; by default all the same."""
    by_entries: bool = False
    """Whether members that were run weigh as many entries as they have."""
    shares_scenarios: bool = False
    """Whether members are made from the same scenarios, so that they err in the same direction."""


def _in(group: str | None) -> tuple[Category, ...]:
    return tuple([category for category, facts in FACTS.items() if facts.group == group])


SIMPLE = Group("simple", _in("simple"))
NON_LIVE = Group("non-live", (SIMPLE, *_in("non-live")))
LIVE = Group("live", _in("live"), tuple([FACTS[c].weight for c in _in("live")]), by_entries=True)
IRRELEVANCE = Group("irrelevance", _in("irrelevance"))
MULTI_TURN = Group("multi-turn", _in("multi-turn"), shares_scenarios=True)
AGENTIC = Group("agentic", ())
"""BFCL's web search and memory, of which there is nothing here: never run."""
OVERALL = Group(
    "overall", (NON_LIVE, LIVE, IRRELEVANCE, MULTI_TURN, AGENTIC), weights=(10, 10, 10, 30, 40)
)
EXECUTABLE = Group("executable", _in("executable"))
"""Ours; no part of BFCL's overall score."""

CLASSIC: Mapping[str, Group | Category] = {
    "AST simple": SIMPLE,
    "AST multiple": Category.MULTIPLE,
    "AST parallel": Category.PARALLEL,
    "AST parallel multiple": Category.PARALLEL_MULTIPLE,
    "executable simple": Category.EXEC_SIMPLE,
    "executable multiple": Category.EXEC_MULTIPLE,
    "executable parallel": Category.EXEC_PARALLEL,
    "executable parallel multiple": Category.EXEC_PARALLEL_MULTIPLE,
    "irrelevance": Category.IRRELEVANCE,
}
"""The nine groups that BFCL began with."""


class Row(NamedTuple):
    """One line of the table."""

    path: tuple[str, ...]
    """The groups that it is in, from the outermost, and its own name."""
    rate: Rate | None
    """None where nothing of it was run."""
    field: float | None
    """BFCL's figure, which counts what was not run as 0; None of what BFCL has not."""
    missing: tuple[str, ...]
    """What of it was not run."""

    @property
    def name(self) -> str:
        """The name of the group or category."""
        return self.path[-1]


def table(rates: Mapping[str, Rate]) -> list[Row]:
    """Return the lines of the table for what was run, each group before its members."""
    executable = [row._replace(field=None) for row in _rows(EXECUTABLE, rates, ())]
    uncounted = [row for category in _in(None) for row in _rows(category, rates, ())]
    return [*_rows(OVERALL, rates, ()), *executable, *uncounted]


def classic(rates: Mapping[str, Rate]) -> dict[str, Rate | None]:
    """Return the scores of the nine classic groups, None for one of which nothing was run."""
    return {name: next(_rows(group, rates, ())).rate for name, group in CLASSIC.items()}


def _rows(
    member: Group | Category, rates: Mapping[str, Rate], above: tuple[str, ...]
) -> Iterator[Row]:
    if isinstance(member, Category):
        rate, name = rates.get(member), member.value
        yield Row((*above, name), rate, rate.value if rate else 0.0, () if rate else (name,))
        return
    path = (*above, member.name)
    inner = [list(_rows(each, rates, path)) for each in member.members]
    heads = [rows[0] for rows in inner]
    missing = [name for row in heads for name in row.missing]
    weights = _weights(member, heads)
    yield Row(
        path,
        _rate(member, weights, heads),
        _field(weights, heads),
        tuple(missing) if heads else (member.name,),
    )
    yield from (row for rows in inner for row in rows)


def _weights(group: Group, members: Sequence[Row]) -> Sequence[int]:
    weights = group.weights or [1] * len(members)
    if not group.by_entries:
        return weights
    pairs = zip(members, weights, strict=True)
    return [row.rate.entries if row.rate else weight for row, weight in pairs]


def _field(weights: Sequence[int], members: Sequence[Row]) -> float:
    pairs = zip(weights, members, strict=True)
    return sum(weight * (row.field or 0.0) for weight, row in pairs) / (sum(weights) or 1)


def _rate(group: Group, weights: Sequence[int], members: Sequence[Row]) -> Rate | None:
    """Return the weighted mean of the members that were run.

    Its interval is made of theirs: margins of independent members add up like the sides of a right
    triangle (Zou and Donner, 2008), those of members that share scenarios at worst in full.
    """
    run = [(weight, row.rate) for weight, row in zip(weights, members, strict=True) if row.rate]
    if not run:
        return None
    total = sum(weight for weight, _ in run)
    value = sum(weight * rate.value for weight, rate in run) / total
    below = [weight * (rate.value - rate.interval[0]) / total for weight, rate in run]
    above = [weight * (rate.interval[1] - rate.value) / total for weight, rate in run]
    low, high = (sum(m) if group.shares_scenarios else hypot(*m) for m in (below, above))
    interval = max(0.0, value - low), min(1.0, value + high)
    return Rate(value, interval, sum(rate.entries for _, rate in run))
