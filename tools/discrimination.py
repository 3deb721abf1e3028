"""Discriminating power of a data set: scores of scripted models with known error rates.

``python -m tools.discrimination`` writes the scores into the README of the data set. ``--check``
writes nothing; it reports whether the scores are up to date. ``--choose`` first makes a new choice
of entries for the subset ``mini``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import correlation

from checkers.profile import STRICT
from runner.analysis.figure_lines import format_percent
from runner.episodes.judging import evaluate
from runner.episodes.offline import run_scripted
from runner.episodes.scripted_models import POLICIES, ScriptedBehaviour
from tools.figures import README, written
from trajectories.dataset import Dataset, draw_sample, load_embedded
from trajectories.schema import MULTI_TURN, Subset, Tier, Trajectory
from trajectories.subsets import MINI_FILE, entries_of_subset

OPENING = "<!-- strength: written by python -m tools.discrimination -->"
CLOSING = "<!-- end of strength -->"

RATES = (0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.7)
"""Error rates of 16 scripted models. The four policies are further scripted models."""
SHOWN = ("0.05", "0.1", "0.2", *POLICIES)
"""Models whose scores are shown."""
MINI_SIZE = 60
_TRIED = 200
"""Number of samples from which the best sample is chosen."""
_OTHERS = 1000
"""Seed offset for the models that do not take part in the choice of the sample."""

Passed = Mapping[str, frozenset[str]]
"""Maps a model (``0.2`` stands for ``scripted:0.2``) to the ids of the passed entries."""


def passed(dataset: Dataset, entries: Sequence[Trajectory], seed: int = 0) -> Passed:
    """Map each of 20 scripted models to the entries that it passes; the seed selects the errors."""
    models = {f"{rate}": ScriptedBehaviour(None, rate) for rate in RATES}
    models |= {policy: ScriptedBehaviour(policy) for policy in POLICIES}
    found = {}
    for at, (name, scripted) in enumerate(models.items()):
        run = partial(run_scripted, scripted=scripted, profile=STRICT, seed=seed + at)
        records = evaluate(dataset, entries, STRICT, run)
        found[name] = frozenset(record.id for record in records if record.outcome == "passed")
    return found


def rank_correlation(outcomes: Passed, part: Collection[str], whole: Collection[str]) -> float:
    """Return Spearman's rank correlation between models' scores on a part and on all entries."""
    return correlation(
        _ranks([len(ids.intersection(part)) for ids in outcomes.values()]),
        _ranks([len(ids.intersection(whole)) for ids in outcomes.values()]),
    )


def _ranks(scores: Sequence[int]) -> list[float]:
    order = sorted(scores)
    return [order.index(score) + (order.count(score) - 1) / 2 for score in scores]


def choose_mini(outcomes: Passed, entries: Sequence[Trajectory]) -> list[str]:
    """Return the ids of the sample that ranks the models most like the full data set."""
    whole = {entry.id for entry in entries}
    samples = [[t.id for t in draw_sample(entries, MINI_SIZE, seed)] for seed in range(_TRIED)]
    return max(samples, key=lambda ids: rank_correlation(outcomes, ids, whole))


def lines(
    entries: Sequence[Trajectory], mini: Collection[str], outcomes: Passed, others: Passed
) -> list[str]:
    """Return Markdown with the models' scores on each subset and the rank correlation of ``mini``.

    Args:
        entries: All entries of the data set.
        mini: Ids of the subset ``mini``.
        outcomes: Passed entries of the models that were used for the choice.
        others: Passed entries of models that were not used for the choice.
    """
    parts = {tier.value: {t.id for t in entries if t.tier is tier} for tier in Tier}
    parts["mini"] = {*mini}
    shown = [f"{name}, {len(ids)}" for name, ids in parts.items()]
    rows = [f"| `--model scripted:` | {' | '.join(shown)} |", "|---" * (len(parts) + 1) + "|"]
    for name in SHOWN:
        shares = [
            format_percent(len(outcomes[name] & ids) / len(ids)) for ids in parts.values() if ids
        ]
        rows.append(f"| `{name}` | {' | '.join(shares)} |")
    whole = {entry.id for entry in entries}
    by_these, by_others = (rank_correlation(each, mini, whole) for each in (outcomes, others))
    return [
        *rows,
        "",
        f"Across {len(outcomes)} models, Spearman's rank correlation between the scores on `mini` "
        f"and on all entries is {by_these:.3f}.",
        f"Across {len(others)} other models, which were not used to choose `mini`, the correlation "
        f"is {by_others:.3f}.",
    ]


def main(arguments: Sequence[str], path: Path = README) -> str | None:
    """Write the scores; with ``--check``, return an error message if the page has other scores."""
    if list(arguments) not in ([], ["--check"], ["--choose"]):
        return f"usage: python -m {__package__}.strength [--check | --choose]"
    dataset = load_embedded(list(MULTI_TURN))
    entries = list(dataset.trajectories.values())
    outcomes = passed(dataset, entries)
    if arguments == ["--choose"]:
        MINI_FILE.write_text(json.dumps(choose_mini(outcomes, entries), indent=0) + "\n")
    mini = [trajectory.id for trajectory in entries_of_subset(entries, Subset.MINI)]
    found = lines(entries, mini, outcomes, passed(dataset, entries, _OTHERS))
    text = path.read_text(encoding="utf-8")
    try:
        wanted = written(text, found, OPENING, CLOSING)
    except ValueError as error:
        return f"{path}: {error}"
    if arguments == ["--check"]:
        return None if text == wanted else f"{path.name}: run python -m {__package__}.strength"
    path.write_text(wanted, encoding="utf-8")
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
