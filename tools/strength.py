"""What a data set tells apart: the scores of scripted models of known strength.

``python -m tools.strength`` writes them into the README of the data, between two marks;
``--check`` only says whether they are up to date, and ``--choose`` chooses the small part anew
beforehand that ranks models as the whole does.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import correlation

from checkers.profile import STRICT
from runner.analysis.figure_lines import percent
from runner.episodes.evaluate import evaluate
from runner.episodes.offline import run_scripted
from runner.episodes.scripted import POLICIES, ScriptedBehaviour
from tools.figures import README, written
from trajectories.dataset import Dataset, load_embedded, sample
from trajectories.schema import MULTI_TURN, Split, Tier, Trajectory
from trajectories.splits import MINI, of_split

OPENING = "<!-- strength: written by python -m tools.strength -->"
CLOSING = "<!-- end of strength -->"

RATES = (0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.7)
"""Error rates of the models; with the policies they are twenty."""
SHOWN = ("0.05", "0.1", "0.2", *POLICIES)
"""Of which models the scores are shown."""
MINI_SIZE = 60
_TRIED = 200
"""How many samples are tried for the one that ranks models best."""
_OTHERS = 1000
"""What is added to the seeds of the models by which nothing was chosen."""

Passed = Mapping[str, frozenset[str]]
"""By what comes after ``scripted:``, the ids that a model passes."""


def passed(dataset: Dataset, entries: Sequence[Trajectory], seed: int = 0) -> Passed:
    """Return what twenty models pass, each of which errs elsewhere with another seed."""
    models = {f"{rate}": ScriptedBehaviour(None, rate) for rate in RATES}
    models |= {policy: ScriptedBehaviour(policy) for policy in POLICIES}
    found = {}
    for at, (name, scripted) in enumerate(models.items()):
        run = partial(run_scripted, scripted=scripted, profile=STRICT, seed=seed + at)
        records = evaluate(dataset, entries, STRICT, run)
        found[name] = frozenset(record.id for record in records if record.outcome == "passed")
    return found


def rank_correlation(outcomes: Passed, part: Collection[str], whole: Collection[str]) -> float:
    """Return Spearman's between the scores of models on a part and on the whole, ties shared."""
    return correlation(
        _ranks([len(ids.intersection(part)) for ids in outcomes.values()]),
        _ranks([len(ids.intersection(whole)) for ids in outcomes.values()]),
    )


def _ranks(scores: Sequence[int]) -> list[float]:
    order = sorted(scores)
    return [order.index(score) + (order.count(score) - 1) / 2 for score in scores]


def choose_mini(outcomes: Passed, entries: Sequence[Trajectory]) -> list[str]:
    """Return the ids of the stratified sample that ranks models most like the whole."""
    whole = {entry.id for entry in entries}
    samples = [[t.id for t in sample(entries, MINI_SIZE, seed)] for seed in range(_TRIED)]
    return max(samples, key=lambda ids: rank_correlation(outcomes, ids, whole))


def lines(
    entries: Sequence[Trajectory], mini: Collection[str], outcomes: Passed, others: Passed
) -> list[str]:
    """Return the scores of models by tier as lines of Markdown, and how well the small part does.

    Args:
        entries: The trajectories.
        mini: Ids of the small part.
        outcomes: What models pass by which it was chosen.
        others: What models pass that err elsewhere.
    """
    parts = {tier.value: {t.id for t in entries if t.tier is tier} for tier in Tier}
    parts["mini"] = {*mini}
    shown = [f"{name}, {len(ids)}" for name, ids in parts.items()]
    rows = [f"| `--model scripted:` | {' | '.join(shown)} |", "|---" * (len(parts) + 1) + "|"]
    for name in SHOWN:
        shares = [percent(len(outcomes[name] & ids) / len(ids)) for ids in parts.values() if ids]
        rows.append(f"| `{name}` | {' | '.join(shares)} |")
    whole = {entry.id for entry in entries}
    by_these, by_others = (rank_correlation(each, mini, whole) for each in (outcomes, others))
    return [
        *rows,
        "",
        f"Spearman's rank correlation of mini with the whole, over {len(outcomes)} models: "
        f"{by_these:.3f}, and",
        f"{by_others:.3f} over as many that err elsewhere, by which it was not chosen.",
    ]


def main(arguments: Sequence[str], path: Path = README) -> str | None:
    """Write the scores, or compare them; return what is wrong."""
    if list(arguments) not in ([], ["--check"], ["--choose"]):
        return f"usage: python -m {__package__}.strength [--check | --choose]"
    dataset = load_embedded(list(MULTI_TURN))
    entries = list(dataset.trajectories.values())
    outcomes = passed(dataset, entries)
    if arguments == ["--choose"]:
        MINI.write_text(json.dumps(choose_mini(outcomes, entries), indent=0) + "\n")
    mini = [trajectory.id for trajectory in of_split(entries, Split.MINI)]
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
