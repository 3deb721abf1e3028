"""Types for variants, which are several runs of one command; ``eval_variants`` runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from runner.analysis.variant_table import VariantScore
from runner.live.live_run import RunInputs
from runner.live.run_control import RunEnding
from trajectories.schema import Trajectory


class Variant(NamedTuple):
    """One run of a command that makes several runs, such as ``eval --vary``."""

    name: str
    plan: RunInputs
    trajectories: Sequence[Trajectory]


class VariantSet(NamedTuple):
    """All runs of one command."""

    flag: str
    kind: str
    """Noun for one variant in the output, such as ``format``."""
    members: Sequence[Variant]
    lines: Callable[[Sequence[VariantScore]], Iterator[str]]
    begin: Callable[[Path], object] = lambda _: None
    report: Callable[[Path], Iterator[str]] | None = None
    """Alternative to ``lines`` that reads the folder of all variants."""


def with_budget(plan: RunInputs, requests: int | None, cost: float | None) -> RunInputs:
    """Return a copy of a plan with other limits on requests and cost."""
    return plan._replace(settings=replace(plan.settings, max_requests=requests, max_cost=cost))


def remaining_budget(
    requests: int | None, cost: float | None, ending: RunEnding
) -> tuple[int | None, float | None]:
    """Return the requests and dollars that remain after a run; None means no limit."""
    spent = ending.spent
    return (
        None if requests is None else requests - spent.requests,
        None if cost is None else cost - (spent.cost or 0.0),
    )
