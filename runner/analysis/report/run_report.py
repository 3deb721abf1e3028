"""Report on one or more runs: an HTML page with metrics and all steps of all episodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from checkers.causes.diagnosis import SUB_REASONS, Cause
from checkers.profile import BFCL
from envs.bounds import BOUNDS as EPISODE_BOUNDS
from envs.state import cut
from runner import extension
from runner.analysis.breakdowns import breakdowns
from runner.analysis.corrected_judging import CorrectedJudging
from runner.analysis.episode_output import Json
from runner.analysis.figure_lines import errata_line, headline
from runner.analysis.figure_table import behaviour_list, beside_scores, usage_list
from runner.analysis.figures import GpuServerUsage, RedundancyFigures, RunFigures, totals_of
from runner.analysis.replayed_runs import ReplayedEpisode, ReplayedRun
from runner.analysis.report.episode_cards import EpisodeCardRenderer, SharedValues
from runner.analysis.report.page_parts import EpisodeOutline, PagePart, parts_of
from runner.analysis.report.pages import groups, packed, page_chunks
from runner.analysis.report.value_bounds import ValueBounds
from runner.episodes.rejudged_episode import RejudgedEpisode, RejudgedMultiTurn, RejudgedSingleTurn
from runner.records.annotations import NOTHING
from runner.records.episode_record import EpisodeRecord, ReplyRecord
from trajectories.schema import Trajectory

_BUDGET = 4_400
"""Average number of characters per episode; a report of 1,000 episodes stays below 5 MB."""
_MIN_EPISODES = 1_000
_OPENING = 160
_NO_REPLY = ReplyRecord(None, (), None, None)

BOUNDS = (
    ValueBounds(text=20_000, members=200),
    ValueBounds(text=3_000, members=50),
    ValueBounds(text=600, members=20),
    ValueBounds(text=120, members=8),
)
"""Limits for shown values. In a report that is too large, long episodes get smaller limits."""

_ASSETS = (
    *("report.css", "scores.css", "radar.js", "groups.js", "overview.js", "table.js"),
    *("texts.js", "state.js", "answer.js", "episode.js", "report.js"),
)


def report_assets() -> tuple[str | Path, ...]:
    """Return the styles and scripts of a report."""
    own = extension.load_extensions().values()
    return *_ASSETS, *(path for each in own for path in each.page_assets)


def report(runs: Sequence[ReplayedRun], gpu_price: float | None = None) -> Iterator[str]:
    """Return the parts of an HTML page on one or more runs; each run has a tab.

    ``gpu_price`` in US dollars per hour overrides the recorded price of a GPU server.
    """
    summaries = [_RunSummary(run, parts_of(run)) for run in runs]
    writers = (summary.writer(each) for summary in summaries for each in summary.scan())
    cards = _fitting(writers, sum(len(run.source.episodes) for run in runs))
    first, index = 1 + len(runs), []
    for summary in summaries:
        index.append({**summary.about(gpu_price), "first_pack": first})
        first += len(summary.rows)
    shared = [packed(summary.shared.to_json(BOUNDS[0])) for summary in summaries]
    title = f"Turnwise: {', '.join(run.source.name for run in runs)}"
    return page_chunks(title, [packed(index), *shared, *cards], report_assets())


def about_run(
    run: ReplayedRun, outlines: Iterable[EpisodeOutline], parts: Sequence[PagePart]
) -> Json:
    """Return the page data of a run from the outlines of its episodes, without executing any."""
    summary = _RunSummary(run, parts)
    for each in outlines:
        summary.add(each)
    return summary.about(None)


class _RunSummary:
    """Data of a run's page, collected from one episode after the other."""

    def __init__(self, run: ReplayedRun, parts: Sequence[PagePart]) -> None:
        self.shared = SharedValues(run.source if run.source.definition else None)
        self.rows: list[Json] = []
        self._run = run
        self._parts = parts
        self._entries: dict[str, Trajectory] = {}
        self._records: list[EpisodeRecord] = []

    def scan(self) -> Iterator[ReplayedEpisode]:
        """Yield the run's episodes; keep rows and records, but no conversation and no trace."""
        for each in self._run.episodes:
            self.add(outline(each))
            yield each

    def add(self, episode: EpisodeOutline) -> None:
        """Add an episode to the list of episodes and to the metrics."""
        trajectory, record, shown = episode
        note = self._run.source.annotations.get(record.key, NOTHING).to_json()
        self.rows.append({**shown, **note, **_joined(part.row(episode) for part in self._parts)})
        self._entries[trajectory.id] = trajectory
        self._records.append(record)

    def writer(self, episode: ReplayedEpisode) -> Callable[[ValueBounds], str]:
        """Return a function that writes the data of an episode."""
        self.shared.add(episode.recorded.record, episode.examined)
        return lambda bounds: packed(card_json(episode, self.shared, self._parts, bounds))

    def about(self, gpu_price: float | None) -> Json:
        """Return the page data of the run, without its episodes."""
        run, source, figures = self._run, self._run.source, self._figures(gpu_price)
        dataset, definition = run.dataset, source.definition
        return {
            "name": source.name,
            **source.annotations.get(None, NOTHING).to_json(),
            "data": f"{dataset.name} {dataset.version}, sha256 {dataset.sha256[:12]}",
            "profile": run.profile.name,
            "definition": BOUNDS[0].json(definition.to_json()) if definition else None,
            "overview": _overview(figures, self.rows),
            "mended": run.mend and _corrected_scores(run.mend, figures),
            "groups": groups([figures], [run.profile is BFCL]) if figures.grouped else None,
            "breakdowns": [each.to_json() for each in breakdowns(self._records, self._entries)],
            "cards": [card for part in self._parts for card in part.cards()],
            "options": ["--run", str(source.path), "--profile", run.profile.name],
            "meanings": {**{cause: cause.meaning for cause in Cause}, **SUB_REASONS},
            "rows": self.rows,
            **_joined(part.about() for part in self._parts),
        }

    def _figures(self, gpu_price: float | None) -> RunFigures:
        source, entries, records = self._run.source, self._entries, self._records
        machine = GpuServerUsage.of(source.lives, entries, gpu_price)
        totals = totals_of(records)._replace(machine=machine)
        made = (each["calls"] for each in self.rows)
        calls = RedundancyFigures.sum(map(RedundancyFigures.of, records, made))
        planned = [*entries.values()]
        return RunFigures(records, planned, totals=totals, progress=source.progress, calls=calls)


def outline(episode: ReplayedEpisode) -> EpisodeOutline:
    """Return the outline of an episode, which needs little memory."""
    return EpisodeOutline(episode.trajectory, shorten_steps(episode), row(episode))


def shorten_steps(episode: ReplayedEpisode) -> EpisodeRecord:
    """Return the new record with shortened steps."""
    record = episode.recorded.record
    steps = [
        step._replace(
            tools=None, reply=_NO_REPLY, calls=("",) * len(step.calls), results=(), changes=()
        )
        for step in record.steps
    ]
    return episode.judged._replace(steps=steps, result=None if steps else record.result)


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


def _overview(figures: RunFigures, rows: Sequence[Json]) -> Json:
    failed = [each for each in rows if each["cause"]]
    trials = max((each["trial"] for each in rows), default=0) + 1
    return {
        "scores": _scores(figures),
        "headline": headline(figures),
        "unfinished": figures.is_unfinished,
        "told": figures.told is not None and figures.told.facts > 0,
        "behaviour": behaviour_list(figures),
        "outcomes": Counter(outcome.outcome for outcome in figures.outcomes),
        "causes": Counter(each["cause"] for each in failed).most_common(),
        "sub_reasons": Counter(
            (each["cause"], each["sub_reason"]) for each in failed if each["sub_reason"]
        ).most_common(),
        "turns_passed": figures.turns_passed,
        "trials": [score._asdict() for score in figures.trial_scores(trials) if figures.scored],
        "disagreeing": sum(each["recorded"] is not None for each in rows),
        "usage": usage_list(figures),
    }


def _corrected_scores(mend: CorrectedJudging, figures: RunFigures) -> Json:
    return {"errata": errata_line(mend.readings), "scores": _scores(mend.figures(figures))}


def _scores(figures: RunFigures) -> list[Json]:
    beside = beside_scores([score.figures for score in figures.scores])
    return [
        {**each._asdict(), "figures": [row.cell(each.figures) for row in beside]}
        for each in figures.scores
    ]


def row(episode: ReplayedEpisode) -> Json:
    """Return an episode's row in the table."""
    trajectory, recorded, judged, examined = episode
    diagnosis = examined.diagnosis if examined else None
    made = [step.calls for step in recorded.record.steps if step.calls]
    steps, calls = examined.show(_CallCounter()) if examined else (len(made), sum(map(len, made)))
    used = totals_of([recorded.record])
    failure = judged.verdict and judged.verdict.failure
    told, then = judged.telling, recorded.record.outcome
    return {
        "id": trajectory.id,
        "trial": recorded.trial,
        "category": trajectory.category,
        "opening": cut(trajectory.opening, _OPENING),
        "outcome": judged.outcome,
        "recorded": None if then in (None, judged.outcome) else then,
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


class _CallCounter:
    def turns(self, examined: RejudgedMultiTurn) -> tuple[int, int]:
        turns = examined.model.turns if examined.model else ()
        return sum(len(turn.steps) for turn in turns), sum(len(turn.calls) for turn in turns)

    def pairs(self, examined: RejudgedSingleTurn) -> tuple[int, int]:
        calls = sum(pair.call is not None for pair in examined.paired.pairs)
        return min(1, calls), calls


def _fitting(writers: Iterable[Callable[[ValueBounds], str]], number: int) -> list[str]:
    """Return the JSON texts of all episodes; shorten the largest if the total is too large."""
    budget = _BUDGET * max(_MIN_EPISODES, number)
    fair = budget / max(1, number)
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
