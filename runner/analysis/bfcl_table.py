"""BFCL's table: scores of categories and groups, and the overall score.

A category that was not run is left out, and the remaining weights are rescaled to a sum of 1. In
BFCL, a category that was not run has the score 0; the attribute ``field`` contains BFCL's score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import hypot
from typing import NamedTuple

from checkers.statistics import Stratum, strata_interval
from trajectories.schema import FACTS, Category


class GroupScore(NamedTuple):
    """Score of a category or group."""

    value: float
    interval: tuple[float, float]
    entries: int
    strata: tuple[Stratum, ...] = ()
    """Weight and judged entries of each category; empty if only the counts are known."""

    @property
    def scenarios(self) -> frozenset[str]:
        """Scenarios of the rated entries."""
        return frozenset(each.cluster for _, entries in self.strata for each in entries)


class CategoryGroup(NamedTuple):
    """Group with a combined score; its members are categories or other groups."""

    name: str
    members: tuple[CategoryGroup | Category, ...]
    weights: tuple[int, ...] = ()
    by_entries: bool = False
    """Whether members are weighted by their numbers of judged entries."""


def _in(group: str | None) -> tuple[Category, ...]:
    return tuple([category for category, facts in FACTS.items() if facts.group == group])


SIMPLE = CategoryGroup("simple", _in("simple"))
NON_LIVE = CategoryGroup("non-live", (SIMPLE, *_in("non-live")))
LIVE = CategoryGroup(
    "live", _in("live"), tuple([FACTS[c].weight for c in _in("live")]), by_entries=True
)
IRRELEVANCE = CategoryGroup("irrelevance", _in("irrelevance"))
MULTI_TURN = CategoryGroup("multi-turn", _in("multi-turn"))
AGENTIC = CategoryGroup("agentic", ())
"""BFCL's groups for web search and memory, which Turnwise does not have."""
OVERALL = CategoryGroup(
    "overall", (NON_LIVE, LIVE, IRRELEVANCE, MULTI_TURN, AGENTIC), weights=(10, 10, 10, 30, 40)
)
EXECUTABLE = CategoryGroup("executable", _in("executable"))
"""Groups that are not part of BFCL's overall score."""
CATEGORY_MEAN = CategoryGroup("mean of categories", tuple(Category))
HEADLINE = "all"
"""Name of the row with the run's score, which is the mean score of all entries."""

CLASSIC: Mapping[str, CategoryGroup | Category] = {
    "AST simple": SIMPLE,
    "AST multiple": Category.MULTIPLE,
    "AST parallel": Category.PARALLEL,
    "AST parallel multiple": Category.PARALLEL_MULTIPLE,
    "executable simple": CategoryGroup("executable simple", (Category.EXEC_SIMPLE, Category.REST)),
    "executable multiple": Category.EXEC_MULTIPLE,
    "executable parallel": Category.EXEC_PARALLEL,
    "executable parallel multiple": Category.EXEC_PARALLEL_MULTIPLE,
    "irrelevance": Category.IRRELEVANCE,
}
"""BFCL's nine original groups."""


class BfclTableRow(NamedTuple):
    """Row of the table."""

    path: tuple[str, ...]
    rate: GroupScore | None
    field: float | None
    """BFCL's value, with 0 for categories that were not run; None if BFCL has no such row."""
    missing: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the group or category."""
        return self.path[-1]

    @property
    def label(self) -> str:
        """Name of the row in tables. BFCL's weighted score is named ``weighted overall``."""
        return "weighted overall" if self.path == (OVERALL.name,) else self.name


def score_rows(score: GroupScore | None, rates: Mapping[str, GroupScore]) -> list[BfclTableRow]:
    """Return the rows of a run: its score, the mean of its categories, and BFCL's table."""
    (mean, *_) = _rows(CATEGORY_MEAN, rates, ())
    means = [mean._replace(field=None, missing=())] if len(rates) > 1 else []
    return [BfclTableRow((HEADLINE,), score, None, ()), *means, *table(rates)]


def table(rates: Mapping[str, GroupScore]) -> list[BfclTableRow]:
    """Return the rows of the table; the row of a group comes before the rows of its members."""
    executable = [row._replace(field=None) for row in _rows(EXECUTABLE, rates, ())]
    uncounted = [row for category in _in(None) for row in _rows(category, rates, ())]
    return [*_rows(OVERALL, rates, ()), *executable, *uncounted]


def classic(rates: Mapping[str, GroupScore]) -> dict[str, GroupScore | None]:
    """Return the scores of BFCL's nine original groups; None for a group that was not run."""
    return {name: next(_rows(group, rates, ())).rate for name, group in CLASSIC.items()}


def _rows(
    member: CategoryGroup | Category, rates: Mapping[str, GroupScore], above: tuple[str, ...]
) -> Iterator[BfclTableRow]:
    if isinstance(member, Category):
        rate, name = rates.get(member), member.value
        yield BfclTableRow(
            (*above, name), rate, rate.value if rate else 0.0, () if rate else (name,)
        )
        return
    path = (*above, member.name)
    inner = [list(_rows(each, rates, path)) for each in member.members]
    heads = [rows[0] for rows in inner]
    missing = [name for row in heads for name in row.missing]
    weights = _weights(member, heads)
    yield BfclTableRow(
        path,
        _rate(weights, heads),
        _field(weights, heads),
        tuple(missing) if heads else (member.name,),
    )
    yield from (row for rows in inner for row in rows)


def _weights(group: CategoryGroup, members: Sequence[BfclTableRow]) -> Sequence[int]:
    weights = group.weights or [1] * len(members)
    if not group.by_entries:
        return weights
    pairs = zip(members, weights, strict=True)
    return [row.rate.entries if row.rate else weight for row, weight in pairs]


def _field(weights: Sequence[int], members: Sequence[BfclTableRow]) -> float:
    pairs = zip(weights, members, strict=True)
    return sum(weight * (row.field or 0.0) for weight, row in pairs) / (sum(weights) or 1)


def _rate(weights: Sequence[int], members: Sequence[BfclTableRow]) -> GroupScore | None:
    """Return the weighted mean of the group members that the run contains.

    The interval combines the margins of the members (Zou and Donner, 2008).
    """
    run = [(weight, row.rate) for weight, row in zip(weights, members, strict=True) if row.rate]
    if not run:
        return None
    total = sum(weight for weight, _ in run)
    value = sum(weight * rate.value for weight, rate in run) / total
    entries = sum(rate.entries for _, rate in run)
    strata = tuple([(w * share / total, some) for w, rate in run for share, some in rate.strata])
    pairs = combinations([rate.scenarios for _, rate in run], 2)
    if not all(one.isdisjoint(other) for one, other in pairs):
        return GroupScore(value, strata_interval(strata), entries, strata)
    below = [weight * (rate.value - rate.interval[0]) / total for weight, rate in run]
    above = [weight * (rate.interval[1] - rate.value) / total for weight, rate in run]
    interval = max(0.0, value - hypot(*below)), min(1.0, value + hypot(*above))
    return GroupScore(value, interval, entries, strata)
