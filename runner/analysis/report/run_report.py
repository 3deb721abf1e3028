"""The report on runs: one page with the figures of each, its episodes, and every step of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from checkers.profile import BFCL
from checkers.why.diagnosis import SUB_REASONS, Cause
from envs.bounds import BOUNDS as EPISODE_BOUNDS
from envs.state import cut
from runner.analysis.figure_lines import errata_line, lines
from runner.analysis.figure_table import beside_scores, usage_list
from runner.analysis.figures import OwnMachine, RunFigures, totals_of
from runner.analysis.report.bounds import Bounds
from runner.analysis.report.cards import Card, Shared
from runner.analysis.report.pages import groups, packed, page
from runner.analysis.report.parts import PagePart, parts_of
from runner.analysis.runs import Viewed, ViewedRun
from runner.analysis.writing import Json
from runner.episodes.examined import ExaminedCalls, ExaminedTurns

_BUDGET = 4_400
"""Characters that an episode's pack may take on average; 1,000 of them stay under 5 MB."""
_FEWEST = 1_000
"""Number of episodes up to which all share what this many would have."""
_OPENING = 160
"""Characters of what the user says first that the list shows."""

BOUNDS = (
    Bounds(text=20_000, members=200),
    Bounds(text=3_000, members=50),
    Bounds(text=600, members=20),
    Bounds(text=120, members=8),
)
"""How much of texts and values is shown: the first if all fits, else less of the long ones."""

REPORT_ASSETS = (
    "report.css",
    "scores.css",
    "search.css",
    "radar.js",
    "groups.js",
    "overview.js",
    "table.js",
    "texts.js",
    "state.js",
    "answer.js",
    "search.js",
    "episode.js",
    "report.js",
)


def report(runs: Sequence[ViewedRun], gpu_price: float | None = None) -> str:
    """Return the page on runs, at least one; each gets a tab of its own.

    ``gpu_price`` is what a model's own machine costs per hour, if not what a run kept.
    """
    index: list[Json] = []
    shared: list[str] = []
    writers: list[Callable[[Bounds], str]] = []
    for run in runs:
        episodes = run.episodes
        common = Shared(
            run.source if run.source.definition else None,
            [episode.recorded.record for episode in episodes],
            [episode.examined for episode in episodes if episode.examined],
        )
        parts = parts_of(run)
        about = about_run(run, gpu_price, parts)
        index.append({**about, "first_pack": 1 + len(runs) + len(writers)})
        shared.append(packed(common.to_json(BOUNDS[0])))
        writers += [partial(_packed_card, episode, common, parts) for episode in episodes]
    title = f"Turnwise: {', '.join(run.source.name for run in runs)}"
    return page(title, [packed(index), *shared, *_fitting(writers)], REPORT_ASSETS)


def about_run(run: ViewedRun, gpu_price: float | None, parts: Sequence[PagePart]) -> Json:
    """Return what the page shows of a run besides its episodes."""
    dataset, definition = run.dataset, run.source.definition
    machine = OwnMachine.of(run.source.lives, len(run.episodes), gpu_price)
    return {
        "name": run.source.name,
        "data": f"{dataset.name} {dataset.version}, sha256 {dataset.sha256[:12]}",
        "profile": run.profile.name,
        "definition": BOUNDS[0].json(definition.to_json()) if definition else None,
        "overview": overview(run.episodes, machine),
        "mended": mended_scores(run),
        "groups": group_scores(run),
        "cards": [card for part in parts for card in part.cards()],
        "options": ["--run", str(run.source.path), "--profile", run.profile.name],
        "meanings": {**{cause: cause.meaning for cause in Cause}, **SUB_REASONS},
        "rows": [
            {**row(each), **_joined(part.row(each) for part in parts)} for each in run.episodes
        ],
        **_joined(part.about() for part in parts),
    }


def _packed_card(episode: Viewed, shared: Shared, parts: Sequence[PagePart], bounds: Bounds) -> str:
    return packed(card_json(episode, shared, parts, bounds))


def card_json(episode: Viewed, shared: Shared, parts: Sequence[PagePart], bounds: Bounds) -> Json:
    """Return what the page shows of an episode."""
    record, examined = episode.recorded.record, episode.examined
    if examined and examined.show(_Count())[1] > EPISODE_BOUNDS.calls:
        bounds = min(bounds, BOUNDS[-1])  # what was refused shows the same state again and again
    card = Card(record, shared, bounds)
    shown = examined.show(card) if examined else card.asked(episode.trajectory)
    return {**shown, **_joined(part.card(episode, bounds) for part in parts)}


def _joined(members: Iterable[Json]) -> Json:
    return {name: value for each in members for name, value in each.items()}


def overview(episodes: Sequence[Viewed], machine: OwnMachine | None = None) -> Json:
    """Return the figures of a run; with too many errors there is no score among them."""
    totals = totals_of(episode.recorded.record for episode in episodes)
    figures = replace(_figures(episodes), totals=replace(totals, machine=machine))
    diagnoses = [episode.examined and episode.examined.diagnosis for episode in episodes]
    trials = max((episode.recorded.trial for episode in episodes), default=0) + 1
    return {
        "scores": _scores(figures),
        "told": figures.told is not None and figures.told.facts > 0,
        "lines": list(lines(figures)),
        "outcomes": Counter(outcome.outcome for outcome in figures.outcomes),
        "causes": Counter(each.cause for each in diagnoses if each).most_common(),
        "sub_reasons": Counter(
            (each.cause, each.sub_reason) for each in diagnoses if each and each.sub_reason
        ).most_common(),
        "turns_passed": figures.turns_passed,
        "trials": [score._asdict() for score in figures.trial_scores(trials) if figures.scored],
        "disagreeing": sum(_recorded_otherwise(episode) is not None for episode in episodes),
        "usage": usage_list(figures),
    }


def group_scores(run: ViewedRun) -> Json | None:
    """Return BFCL's table; None of a run without single turns, or with too many errors."""
    figures = _figures(run.episodes)
    return groups([figures.rates], [run.profile is BFCL]) if figures.grouped else None


def mended_scores(run: ViewedRun) -> Json | None:
    """Return the scores as errata have them, to stand beside those as published."""
    if run.mend is None:
        return None
    figures = run.mend.figures(_figures(run.episodes))
    return {"errata": errata_line(run.mend.readings), "scores": _scores(figures)}


def _scores(figures: RunFigures) -> list[Json]:
    scores = figures.scores
    beside = beside_scores([score.figures for score in scores])
    return [
        {**vars(each), "figures": [row.cell(each.figures) for row in beside]} for each in scores
    ]


def _figures(episodes: Sequence[Viewed]) -> RunFigures:
    """Return the figures of what executing the episodes again gives."""
    trajectories = {episode.trajectory.id: episode.trajectory for episode in episodes}
    return RunFigures([episode.judged for episode in episodes], list(trajectories.values()))


def row(episode: Viewed) -> Json:
    """Return what the table of episodes shows of one."""
    trajectory, recorded, judged, examined = episode
    divergence, diagnosis = (examined.divergence, examined.diagnosis) if examined else (None, None)
    steps, calls = examined.show(_Count()) if examined else (0, 0)
    used = totals_of([recorded.record])
    failure = judged.verdict and judged.verdict.failure
    told = judged.telling
    return {
        "id": trajectory.id,
        "trial": recorded.trial,
        "category": trajectory.category,
        "opening": cut(trajectory.opening, _OPENING),
        "outcome": judged.outcome,
        "recorded": _recorded_otherwise(episode),
        "reason": failure and failure.reason,
        "meaning": failure and failure.reason.meaning,
        "failed_turn": judged.verdict and judged.verdict.failed_turn,
        "cause": diagnosis and diagnosis.cause,
        "sub_reason": diagnosis and diagnosis.sub_reason,
        "cause_at": diagnosis and [diagnosis.turn, diagnosis.step],
        "detail": judged.error or (diagnosis and diagnosis.detail),
        "told": told and told.facts and [told.facts - len(told.untold), told.facts],
        "turns": len(trajectory.turns),
        "turns_passed": judged.turns_passed,
        "divergence": divergence and [divergence.turn, divergence.step, divergence.call],
        "steps": steps,
        "calls": calls,
        "cost": used.cost,
        "latency": sum(used.latencies) if used.latencies else None,
    }


def _recorded_otherwise(episode: Viewed) -> str | None:
    """Return the outcome that was recorded, where executing the calls again gives another one."""
    then, now = episode.recorded.record.outcome, episode.judged.outcome
    return None if then in (None, now) else then


class _Count:
    """Counts steps with calls and calls."""

    def turns(self, examined: ExaminedTurns) -> tuple[int, int]:
        """Count those of all turns."""
        turns = examined.model.turns if examined.model else ()
        return sum(len(turn.steps) for turn in turns), sum(len(turn.calls) for turn in turns)

    def pairs(self, examined: ExaminedCalls) -> tuple[int, int]:
        """Count those of one answer, which is at most one step."""
        calls = sum(pair.call is not None for pair in examined.paired.pairs)
        return min(1, calls), calls


def _fitting(writers: Sequence[Callable[[Bounds], str]]) -> list[str]:
    """Return what writers write, where need be with less of those that write most."""
    packs = [write(BOUNDS[0]) for write in writers]
    budget = _BUDGET * max(_FEWEST, len(writers))
    for bounds in BOUNDS[1:]:
        if sum(map(len, packs)) <= budget:
            break
        fair = budget / len(writers)
        packs = [
            pack if len(pack) <= fair else write(bounds)
            for pack, write in zip(packs, writers, strict=True)
        ]
    return packs
