"""How often an interval contains the true value. Run as a module, it prints a table."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from random import Random

import pytest

from checkers.statistics import (
    EntryPair,
    TrialCounts,
    cluster_interval,
    compare,
    pass_at_1,
    strata_interval,
)
from runner.analysis.bfcl_table import GroupScore, table

CORRELATION = 0.5
"""Correlation of two episodes of one scenario."""
RATES = (0.02, 0.1, 0.5, 0.98)
WEIGHTS = (3, 1, 1, 1)
"""Weights of a scenario's variants in a weighted mean."""
DRAWS = 1000


class Draw:
    """Entries whose scenarios differ in difficulty."""

    def __init__(
        self, source: Random, rate: float, entries: int, variants: int = 1, trials: int = 1
    ) -> None:
        """Draw the difficulty of each scenario."""
        spread = (1 - CORRELATION) / CORRELATION
        shape = rate * spread, (1 - rate) * spread
        self.source, self.rate, self.variants, self.trials = source, rate, variants, trials
        self.eases = [source.betavariate(*shape) for _ in range(entries // variants)]

    def entries(self, factor: float = 1.0) -> list[TrialCounts]:
        """Draw the trials of a run; ``factor`` multiplies each chance to pass."""
        return [
            TrialCounts(
                str(cluster),
                self.trials,
                sum(self.source.random() < factor * ease for _ in range(self.trials)),
            )
            for cluster, ease in enumerate(self.eases)
            for _ in range(self.variants)
        ]

    def score(self) -> bool:
        """Tell whether the interval of a score contains the true score."""
        low, high = cluster_interval(self.entries())
        return low <= self.rate <= high

    def weighted(self) -> bool:
        """Tell whether the interval of a weighted mean contains the true mean."""
        found, size = self.entries(), self.variants
        low, high = strata_interval(
            [(weight, found[at::size]) for at, weight in enumerate(WEIGHTS[:size])]
        )
        return low <= self.rate <= high

    def grouped(self) -> bool:
        """Tell whether the interval of two groups without common scenarios contains the mean."""
        found = self.entries()
        parts = [[each for each in found if int(each.cluster) % 2 == odd] for odd in range(2)]
        scores = [
            GroupScore(pass_at_1(part), cluster_interval(part), len(part), ((1.0, part),))
            for part in parts
        ]
        overall = table(dict(zip(("multiple", "base"), scores, strict=True)))[0].rate
        assert overall is not None
        low, high = overall.interval
        return low <= self.rate <= high

    def compared(self, factor: float) -> bool:
        """Tell whether the interval of a difference contains the true difference."""
        pairs = [*map(EntryPair, self.entries(), self.entries(factor))]
        low, high = compare(pairs).interval
        return low <= self.rate * (factor - 1) <= high

    def equal(self) -> bool:
        """Compare two equal runs."""
        return self.compared(1.0)

    def halved(self) -> bool:
        """Compare a run with one of half its score."""
        return self.compared(0.5)


def coverage(held: Callable[[Draw], bool], draws: int, rate: float, *sizes: int) -> float:
    """Return the share of draws whose interval contains the true value."""
    source = Random(1)
    return sum(held(Draw(source, rate, *sizes)) for _ in range(draws)) / draws


HELD = (Draw.score, Draw.weighted, Draw.grouped, Draw.equal, Draw.halved)


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize(
    ("variants", "trials"),
    [(4, 1), *(pytest.param(1, trials, marks=pytest.mark.slow) for trials in (1, 3))],
)
@pytest.mark.parametrize("rate", [0.02, 0.5])
def test_nine_in_ten_intervals_contain_the_true_value(
    held: Callable[[Draw], bool], variants: int, trials: int, rate: float
) -> None:
    assert coverage(held, 200, rate, 200, variants, trials) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize(("variants", "trials"), [*product((1, 4), (1, 3))])
@pytest.mark.parametrize("entries", [20, 50, 200, 1000])
def test_scores_of_few_and_many_entries_are_covered(
    entries: int, variants: int, trials: int, rate: float
) -> None:
    assert coverage(Draw.score, 500, rate, entries, variants, trials) >= 0.89


if __name__ == "__main__":
    heads = ["variants", "trials", "entries", *(f"{rate:.0%}" for rate in RATES)]
    print(f"| {' | '.join([*heads, *(held.__name__ for held in HELD[1:])])} |")
    for variants, trials, entries in product((1, 4), (1, 3), (20, 50, 200, 1000)):
        cells = []
        for held in HELD:
            found = [coverage(held, DRAWS, rate, entries, variants, trials) for rate in RATES]
            shares = [f"{share:.1%}" for share in (found if held is Draw.score else sorted(found))]
            cells += shares if held is Draw.score else [f"{shares[0]} to {shares[-1]}"]
        print(f"| {variants} | {trials} | {entries:,} | {' | '.join(cells)} |", flush=True)
