"""Report on one or more runs: an HTML page with metrics and all steps of all episodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from checkers.causes.diagnosis import SUB_REASONS, Cause
from checkers.profile import BFCL
from envs.bounds import BOUNDS as EPISODE_BOUNDS
from envs.state import cut
from runner import extension
from runner.analysis.breakdowns import breakdowns
from runner.analysis.episode_output import Json
from runner.analysis.figure_lines import errata_line, headline
from runner.analysis.figure_table import behaviour_list, beside_scores, usage_list
from runner.analysis.figures import GpuServerUsage, RedundancyFigures, RunFigures, totals_of
from runner.analysis.replayed_runs import ReplayedEpisode, ReplayedRun
from runner.analysis.report.episode_cards import EpisodeCardRenderer, SharedValues
from runner.analysis.report.page_parts import PagePart, parts_of
from runner.analysis.report.pages import groups, packed, page
from runner.analysis.report.value_bounds import ValueBounds
from runner.episodes.rejudged_episode import RejudgedEpisode, RejudgedMultiTurn, RejudgedSingleTurn
from runner.records.annotations import NOTHING
from runner.records.episode_record import RunProgress

_BUDGET = 4_400
"""Average number of characters per episode; a report of 1,000 episodes stays below 5 MB."""
_FEWEST = 1_000
"""The size limit of a report assumes at least this number of episodes."""
_OPENING = 160

BOUNDS = (
    ValueBounds(text=20_000, members=200),
    ValueBounds(text=3_000, members=50),
    ValueBounds(text=600, members=20),
    ValueBounds(text=120, members=8),
)
"""Limits for shown values. In a report that is too large, long episodes get smaller limits."""

_ASSETS = (
    "report.css",
    "scores.css",
    "radar.js",
    "groups.js",
    "overview.js",
    "table.js",
    "texts.js",
    "state.js",
    "answer.js",
    "episode.js",
    "report.js",
)


def report_assets() -> tuple[str | Path, ...]:
    """Return the styles and scripts of the page of a run, with those of extensions."""
    own = extension.load_extensions().values()
    return *_ASSETS, *(path for each in own for path in each.page_assets)


def report(runs: Sequence[ReplayedRun], gpu_price: float | None = None) -> str:
    """Return an HTML page on one or more runs; each run has a tab.

    ``gpu_price`` in US dollars per hour overrides the recorded price of a GPU server.
    """
    index: list[Json] = []
    shared: list[str] = []
    writers: list[Callable[[ValueBounds], str]] = []
    for run in runs:
        episodes = run.episodes
        common = SharedValues(
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
    return page(title, [packed(index), *shared, *_fitting(writers)], report_assets())


def about_run(run: ReplayedRun, gpu_price: float | None, parts: Sequence[PagePart]) -> Json:
    """Return the page data of a run, without its episodes."""
    dataset, definition = run.dataset, run.source.definition
    notes = run.source.annotations
    ids = [each.trajectory.id for each in run.episodes]
    machine = GpuServerUsage.of(run.source.lives, ids, gpu_price)
    return {
        "name": run.source.name,
        **notes.get(None, NOTHING).to_json(),
        "data": f"{dataset.name} {dataset.version}, sha256 {dataset.sha256[:12]}",
        "profile": run.profile.name,
        "definition": BOUNDS[0].json(definition.to_json()) if definition else None,
        "overview": overview(run.episodes, machine, run.source.progress),
        "mended": mended_scores(run),
        "groups": group_scores(run),
        "breakdowns": [each.to_json() for each in breakdowns(run.episodes)],
        "cards": [card for part in parts for card in part.cards()],
        "options": ["--run", str(run.source.path), "--profile", run.profile.name],
        "meanings": {**{cause: cause.meaning for cause in Cause}, **SUB_REASONS},
        "rows": [
            {
                **row(each),
                **notes.get(each.recorded.record.key, NOTHING).to_json(),
                **_joined(part.row(each) for part in parts),
            }
            for each in run.episodes
        ],
        **_joined(part.about() for part in parts),
    }


def _packed_card(
    episode: ReplayedEpisode, shared: SharedValues, parts: Sequence[PagePart], bounds: ValueBounds
) -> str:
    return packed(card_json(episode, shared, parts, bounds))


def card_json(
    episode: ReplayedEpisode, shared: SharedValues, parts: Sequence[PagePart], bounds: ValueBounds
) -> Json:
    """Return the page data of an episode."""
    record, examined = episode.recorded.record, episode.examined
    if examined and examined.show(_CallCounter())[1] > EPISODE_BOUNDS.calls:
        bounds = min(bounds, BOUNDS[-1])  # refused calls repeat the same state
    card = EpisodeCardRenderer(record, shared, bounds)
    shown = examined.show(card) if examined else card.asked(episode.trajectory)
    return {**shown, **_joined(part.card(episode, bounds) for part in parts)}


def _joined(members: Iterable[Json]) -> Json:
    return {name: value for each in members for name, value in each.items()}


def overview(
    episodes: Sequence[ReplayedEpisode],
    machine: GpuServerUsage | None = None,
    progress: RunProgress | None = None,
) -> Json:
    """Return the metrics of a run; the score is left out if there are too many errors."""
    totals = totals_of(episode.recorded.record for episode in episodes)
    figures = replace(_figures(episodes, progress), totals=totals._replace(machine=machine))
    diagnoses = [episode.examined and episode.examined.diagnosis for episode in episodes]
    trials = max((episode.recorded.trial for episode in episodes), default=0) + 1
    return {
        "scores": _scores(figures),
        "headline": headline(figures),
        "unfinished": figures.is_unfinished,
        "told": figures.told is not None and figures.told.facts > 0,
        "behaviour": behaviour_list(figures),
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


def group_scores(run: ReplayedRun) -> Json | None:
    """Return BFCL's table, or None for a run without single-turn entries or with many errors."""
    figures = _figures(run.episodes, run.source.progress)
    return groups([figures], [run.profile is BFCL]) if figures.grouped else None


def mended_scores(run: ReplayedRun) -> Json | None:
    """Return the scores with errata; ``None`` if no errata are selected."""
    if run.mend is None:
        return None
    figures = run.mend.figures(_figures(run.episodes, run.source.progress))
    return {"errata": errata_line(run.mend.readings), "scores": _scores(figures)}


def _scores(figures: RunFigures) -> list[Json]:
    scores = figures.scores
    beside = beside_scores([score.figures for score in scores])
    return [
        {**each._asdict(), "figures": [row.cell(each.figures) for row in beside]} for each in scores
    ]


def _figures(episodes: Sequence[ReplayedEpisode], progress: RunProgress | None) -> RunFigures:
    entries = {each.trajectory.id: each.trajectory for each in episodes}
    # The recorded calls count as made, even if the verdict is new.
    judged = [each.judged._replace(steps=each.recorded.record.steps) for each in episodes]
    made = [each.examined.show(_CallCounter())[1] if each.examined else 0 for each in episodes]
    redundancy = RedundancyFigures.sum(map(RedundancyFigures.of, judged, made))
    return RunFigures(judged, [*entries.values()], progress=progress, calls=redundancy)


def row(episode: ReplayedEpisode) -> Json:
    """Return an episode's row in the table."""
    trajectory, recorded, judged, examined = episode
    diagnosis = examined.diagnosis if examined else None
    made = [step.calls for step in recorded.record.steps if step.calls]
    steps, calls = examined.show(_CallCounter()) if examined else (len(made), sum(map(len, made)))
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
        "sentence": diagnosis and diagnosis.sentence,
        "detail": judged.error or (diagnosis and diagnosis.detail),
        "told": told and told.facts and [told.facts - len(told.untold), told.facts],
        "turns": len(trajectory.turns),
        "turns_passed": judged.turns_passed,
        "place": examined and _place(examined),
        "data_error": examined and examined.data_error,
        "where": diagnosis and diagnosis.place and str(diagnosis.place),
        "steps": steps,
        "calls": calls,
        "cost": used.cost,
        "latency": sum(used.latencies) if used.latencies else None,
    }


def _place(examined: RejudgedEpisode) -> list[int | None] | None:
    place = examined.place
    if place is None or examined.model is None or isinstance(examined, RejudgedSingleTurn):
        return None
    if place.kind == "call":
        return [place.turn, place.step, place.call]
    return [place.turn, len(examined.model.turns[place.turn].steps), None]


def _recorded_otherwise(episode: ReplayedEpisode) -> str | None:
    then, now = episode.recorded.record.outcome, episode.judged.outcome
    return None if then in (None, now) else then


class _CallCounter:
    def turns(self, examined: RejudgedMultiTurn) -> tuple[int, int]:
        turns = examined.model.turns if examined.model else ()
        return sum(len(turn.steps) for turn in turns), sum(len(turn.calls) for turn in turns)

    def pairs(self, examined: RejudgedSingleTurn) -> tuple[int, int]:
        calls = sum(pair.call is not None for pair in examined.paired.pairs)
        return min(1, calls), calls


def _fitting(writers: Sequence[Callable[[ValueBounds], str]]) -> list[str]:
    """Return the JSON texts of all episodes; shorten the largest if the total is too large."""
    budget = _BUDGET * max(_FEWEST, len(writers))
    fair = budget / max(1, len(writers))
    packs: list[list[str]] = []
    limits: Sequence[ValueBounds] = BOUNDS
    totals = [0] * len(BOUNDS)
    for write in writers:
        text = write(limits[0])
        if len(text) <= fair:
            # A short episode keeps its largest limits, also where the total is too large for them.
            wider = map(write, BOUNDS[: -len(limits)])
            text = next((each for each in wider if len(each) <= fair), text)
        texts = [text]
        for bounds in limits[1:]:
            texts.append(texts[-1] if len(texts[-1]) <= fair else write(bounds))
        packs.append(texts)
        totals = [total + len(text) for total, text in zip(totals, texts, strict=True)]
        while len(totals) > 1 and totals[0] > budget:
            limits, totals, packs = limits[1:], totals[1:], [texts[1:] for texts in packs]
    return [texts[0] for texts in packs]
