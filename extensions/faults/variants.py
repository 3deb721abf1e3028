"""Two runs: one without faults and drift, one with faults and drift."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from extensions.faults.faults import FaultsAndDrift
from extensions.faults.feature import ALL_KINDS, FaultsFeature, count_injected
from runner.analysis.variant_table import ExtraColumn, VariantScore, variant_lines
from runner.commands.variant_types import Variant, VariantSet
from runner.live.live_run import RunInputs
from runner.records.episode_record import EpisodeRecord
from trajectories.schema import Trajectory


def make_variants(
    disturbances: FaultsAndDrift, plan: RunInputs, trajectories: Sequence[Trajectory]
) -> VariantSet:
    """Return two variants: a run without faults and drift, and a run with both."""
    members = [
        Variant(name, plan.with_feature(FaultsFeature(how)), trajectories)
        for name, how in (("without", FaultsAndDrift()), ("with", disturbances))
    ]
    flag = "--faults" if disturbances.faults.rate else "--drift"
    return VariantSet(flag, "run", members, _lines)


def _lines(scores: Sequence[VariantScore]) -> Iterator[str]:
    yield from variant_lines("run", scores, [ExtraColumn("injected", _count)])
    yield f"injected faults: {count_injected(scores[-1].figures.outcomes) or 'none'}"
    with_faults = [each for each in scores[-1].figures.outcomes if _kinds(each)]
    for kind in ALL_KINDS:
        hit = [each for each in with_faults if kind in _kinds(each)]
        if hit:
            passed = sum(each.outcome == "passed" for each in hit)
            yield f"  episodes with {kind}: {passed} of {len(hit)} passed"


def _kinds(record: EpisodeRecord) -> set[str]:
    member = record.extensions.get("faults")
    return {fault.kind for fault in member.injected} if member else set()


def _count(score: VariantScore) -> str:
    found = [each.extensions.get("faults") for each in score.figures.outcomes]
    return str(sum(len(member.injected) for member in found if member))
