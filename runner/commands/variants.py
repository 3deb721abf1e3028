"""What several runs of one command are: made by an option, done by ``eval_variants``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from runner.analysis.variants import VariantScore
from runner.live.campaign import Plan
from runner.live.conduct import Ending
from trajectories.schema import Trajectory


class Variant(NamedTuple):
    """One of several runs of one command."""

    name: str
    """What it is called in the table, and its folder below the common one."""
    plan: Plan
    """What its episodes are like."""
    trajectories: Sequence[Trajectory]
    """What it asks."""


class Variants(NamedTuple):
    """All runs of one command."""

    flag: str
    """The option that made them."""
    kind: str
    """What one of them is called, such as ``format``."""
    members: Sequence[Variant]
    """In the order in which they are done; none has another's name."""
    lines: Callable[[Sequence[VariantScore]], Iterator[str]]
    """Makes the table."""
    begin: Callable[[Path], object] = lambda _: None
    """Told where the runs are kept, before the first."""
    report: Callable[[Path], Iterator[str]] | None = None
    """Makes the table in place of ``lines``, from where they are kept."""


def with_budget(plan: Plan, requests: int | None, cost: float | None) -> Plan:
    """Return a plan that may use what is left."""
    return plan._replace(settings=replace(plan.settings, max_requests=requests, max_cost=cost))


def left_of(
    requests: int | None, cost: float | None, ending: Ending
) -> tuple[int | None, float | None]:
    """Return what a run has left of requests and dollars, where they are bounded."""
    spent = ending.spent
    return (
        None if requests is None else requests - spent.requests,
        None if cost is None else cost - (spent.cost or 0.0),
    )
