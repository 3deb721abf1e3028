"""Table of metrics; each row defines how a metric is computed, named and formatted.

``eval``, ``table``, the report and the pages show the rows in the order of ``FIGURES``. Extensions
add further rows if the episodes have the necessary data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from runner import extension
from runner.analysis.figures import ActCounts, RunFigures
from runner.records.episode_record import EpisodeRecord

Value = float | ActCounts | None
"""Value of a metric; None if unknown."""
Form = Literal["count", "share", "acts", "seconds", "dollars"]

Cell = dict[str, Any]
Phrase = str | Callable[[RunFigures], str | None]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FigureSection:
    """Table of runs with a column for each metric."""

    title: str | None
    """Title of the section's card on pages, or None. Sections with equal titles share a card."""
    of_usage: bool = False
    """Whether the metrics describe requests or cost."""
    beside_scores: bool = False
    """Whether tables show the metrics as columns beside the scores."""
    as_lines: bool = False
    """Whether the command ``table`` prints these metrics as lines of text."""


class FigureRow(NamedTuple):
    """Row of the table; it defines one metric of a run."""

    name: str
    """Name in CSV."""
    section: FigureSection
    """Table of runs that shows the metric."""
    value: Callable[[RunFigures], Value]
    """Function that computes the metric of a run or of a category."""
    form: Form
    """Format of the value."""
    label: str = ""
    """Heading of the column; empty for a metric that ``table`` does not show."""
    of: Callable[[RunFigures], int | None] = lambda _: None
    """Denominator of a share."""
    interval: Callable[[RunFigures], Sequence[float] | None] = lambda _: None
    """Function that computes the 95% interval."""
    unit: str = "episodes"
    """Plural noun for the denominator."""
    holds: Callable[[EpisodeRecord], bool | None] | None = None
    """Function that tells whether an episode is in the numerator; None excludes the episode.
    ``compare`` tests the difference.
    """
    optional: bool = False
    """Whether tables omit the column if the metric is unknown for all runs."""
    json: str | Callable[[RunFigures], Mapping[str, Any]] = ""
    """Key of the value in JSON (default: ``name``), or a function that returns the JSON fields."""
    phrase: Phrase = ", {label} {text}"
    """Template or function for the metric's text in a line of ``eval``. The text begins with the
    separator, such as "; ". An unknown metric has no text.
    """
    caption: str = ""
    """Label in the report's usage list; empty if the metric is not in this list."""
    always_listed: bool = False

    def to_json(self, figures: RunFigures) -> Mapping[str, Any]:
        """Return the metric's fields in the JSON of a run."""
        if callable(self.json):
            return self.json(figures)
        value = self.value(figures)
        known = value._asdict() if isinstance(value, ActCounts) else value
        group, _, name = self.name.rpartition("/")
        if not group or self.section.of_usage:
            return {self.json or name: known}
        return {group: {} if known is None else {name: known}}

    def cell(self, figures: RunFigures) -> Cell:
        """Return the metric's fields for a page."""
        value = self.value(figures)
        shown = [value.acts, value.share] if isinstance(value, ActCounts) else value
        interval = self.interval(figures)
        known = {} if interval is None else {"interval": interval}
        return {"label": self.label, "form": self.form, "value": shown, **known}


def rows_of(runs: Sequence[RunFigures]) -> list[FigureRow]:
    """Return the rows of the core and of the runs' extensions."""
    return [*FIGURES, *extension.figures(record for run in runs for record in run.outcomes)]


def columns(runs: Sequence[RunFigures], rows: Sequence[FigureRow] | None = None) -> list[FigureRow]:
    """Return the metrics that tables of runs show as columns."""
    rows = [row for row in (rows_of(runs) if rows is None else rows) if row.label]
    known = [row for row in rows if any(row.value(run) is not None for run in runs)]
    sections = {row.section for row in known}
    return [row for row in rows if row in known or (row.section in sections and not row.optional)]


def beside_scores(runs: Sequence[RunFigures]) -> list[FigureRow]:
    """Return the metric rows that tables show beside the scores."""
    return columns(runs, [row for row in rows_of(runs) if row.section.beside_scores])


def figures_json(figures: RunFigures, *, beside: bool = False) -> dict[str, Any]:
    """Return all metrics as JSON; if ``beside`` is true, only the metrics of the score table."""
    found: dict[str, Any] = {}
    for row in rows_of([figures]):
        if beside and not row.section.beside_scores:
            continue
        for key, part in row.to_json(figures).items() if row.label else ():
            if isinstance(part, dict):
                part = {**(found.get(key) or {}), **part}
            found[key] = part
    return found


def cards(
    runs: Mapping[str, RunFigures], rows: Sequence[FigureRow] | None = None
) -> list[dict[str, Any]]:
    """Return the cards of a page. A card has one row per run; its label is the key in ``runs``."""
    found = []
    shown = columns([*runs.values()], rows)
    for title in dict.fromkeys(row.section.title for row in shown if row.section.title):
        mine = [row for row in shown if row.section.title == title]
        lines = [
            {"label": label, "figures": [row.cell(run) for row in mine]}
            for label, run in runs.items()
            if columns([run], mine) or not mine[0].section.of_usage
        ]
        found.append({"title": title, "rows": lines})
    return found


def behaviour_list(figures: RunFigures) -> list[Cell]:
    """Return the metrics that the report's score card shows."""
    found = []
    for row in rows_of([figures]):
        value, section = row.value(figures), row.section
        if row.label and value is not None and not (section.of_usage or section.beside_scores):
            of = value.judged if isinstance(value, ActCounts) else row.of(figures)
            found.append({**row.cell(figures), "of": of, "unit": row.unit})
    return found


def usage_list(figures: RunFigures) -> list[Cell] | None:
    """Return the usage metrics for the report; None for a run without recorded requests."""
    if not figures.totals or not figures.totals.requests:
        return None
    return [
        {**row.cell(figures), "label": row.caption}
        for row in rows_of([figures])
        if row.caption and (row.always_listed or row.value(figures) is not None)
    ]


def _member(part: str, name: str) -> Callable[[RunFigures], Any]:
    def get(figures: RunFigures) -> Any:
        known = getattr(figures, part)
        return known and getattr(known, name)

    return get


def _members(part: str, *names: str) -> Callable[[RunFigures], Mapping[str, Any]]:
    def get(figures: RunFigures) -> Mapping[str, Any]:
        known = getattr(figures, part)
        return {part: known and {name: getattr(known, name) for name in names}}

    return get


IRREVERSIBLE = FigureSection(title="Hallucinations and irreversible calls", as_lines=True)
HALLUCINATIONS = FigureSection(title="Hallucinations and irreversible calls")
SELECTION = FigureSection(title="Function choice")
REDUNDANCY = FigureSection(title="Function choice", as_lines=True)
REQUIRED_INFO = FigureSection(title="Required information", beside_scores=True)
REQUESTS = FigureSection(title="Requests", of_usage=True)
MACHINE = FigureSection(title="Requests", of_usage=True)


def _hallucination(kind: str, label: str, before: str = ", ") -> FigureRow:
    return FigureRow(
        name=f"hallucinations/{kind}",
        label=label,
        section=HALLUCINATIONS,
        value=lambda figures: figures.hallucinations.get(kind),
        form="acts",
        phrase=f"{before}{{label}} {{text}}",
    )


def _right(thing: str, of: str, unit: str, phrase: str, *members: str) -> FigureRow:
    return FigureRow(
        name=f"selection/{thing}_right",
        label="correct functions" if thing == "function" else f"correct {thing}",
        section=SELECTION,
        value=_member("selection", f"{thing}_right"),
        form="share",
        of=_member("selection", of),
        unit=unit,
        json=_members("selection", *members, f"{thing}_right"),
        phrase=phrase,
    )


def _required_info(share: str, label: str, *members: str) -> FigureRow:
    return FigureRow(
        name=f"told/{share.replace(' ', '_')}",
        label=label,
        section=REQUIRED_INFO,
        value=lambda figures: figures.told and figures.told.shares[share],
        form="share",
        optional=True,
        json=_members("told", *members),
    )


def _usage(
    member: str, label: str = "", caption: str = "", phrase: Phrase = "", **others: Any
) -> FigureRow:
    fields: dict[str, Any] = {
        "name": f"requests/{others.pop('csv', member)}",
        "section": REQUESTS,
        "value": _member("totals", member),
        "form": "count",
        "json": member,
    }
    return FigureRow(label=label, caption=caption, phrase=phrase, **{**fields, **others})


def _latency(member: str, label: str, caption: str, words: str) -> FigureRow:
    return _usage(
        f"latency_{member}",
        label,
        caption,
        f"{words} {{text}} s",
        value=_member("latency", member),
        form="seconds",
        json=_members("latency", member),
        always_listed=True,
    )


def _prompt_phrase(figures: RunFigures) -> str | None:
    if (totals := figures.totals) is None:
        return None
    if totals.prompt_tokens is None:
        return ", input tokens unknown"
    parts = (
        (totals.cached_tokens, "read from a cache"),
        (totals.written_tokens, "written to a cache"),
    )
    cached = ", ".join(f"{count} {what}" for count, what in parts if count is not None)
    return f", {totals.prompt_tokens} input tokens{cached and f' ({cached})'}"


def _cost_phrase(figures: RunFigures) -> str | None:
    if (totals := figures.totals) is None:
        return None
    if totals.cost is None:
        return ", cost unknown"
    return f", cost ${totals.cost:.4f}, ${totals.cost_per_1000:.4f} per 1,000 requests"


FIGURES = (
    FigureRow(
        name="irreversible",
        label="irreversible calls",
        section=IRREVERSIBLE,
        value=lambda figures: figures.irreversible,
        form="acts",
        phrase="unrequested irreversible calls: {value.acts}, in {value.episodes} of "
        "{value.judged} episodes ({value.share:.1%})",
    ),
    _hallucination(
        "invented_functions",
        "invented functions",
        "hallucinations (calls, and share of {value.judged} episodes): ",
    ),
    _hallucination("invented_parameters", "invented parameters"),
    _hallucination("calls_where_none_fits", "unneeded calls"),
    _right(
        "function",
        "needed",
        "needed calls",
        "{label}: {text} of {of} needed calls",
        "needed",
        "functions",
    ),
    _right(
        "arguments", "functions", "correct functions", ", {label} in {text} of these", "arguments"
    ),
    FigureRow(
        name="selection/distractors",
        label="calls of other functions",
        section=SELECTION,
        value=_member("selection", "distractor_calls"),
        form="acts",
        json=_members("selection", "distractors", "episodes", "judged"),
        phrase="; {label}: {value.acts}, in {value.share:.1%} of episodes",
    ),
    FigureRow(
        name="redundancy",
        label="redundant calls",
        section=REDUNDANCY,
        value=_member("redundancy", "share"),
        form="share",
        of=_member("redundancy", "needed"),
        unit="needed calls in passed episodes",
        json=_members("redundancy", "redundant", "needed", "share"),
        phrase="{label} in passed episodes: {text} of {of} needed calls",
        optional=True,
    ),
    _required_info("facts told", "facts reported", "facts", "facts_told"),
    _required_info("turns told", "turns reported", "turns", "turns_told"),
    _required_info("asked", "asked", "waiting", "asked"),
    _usage("requests", "requests", "Requests", "{value} answered requests"),
    _usage("prompt_tokens", "", "Input tokens", _prompt_phrase),
    _usage("cached_tokens", "cache reads", "Cached input tokens", csv="cache_reads", optional=True),
    _usage(
        "written_tokens",
        "cache writes",
        "Input tokens written to a cache",
        csv="cache_writes",
        optional=True,
    ),
    _usage("completion_tokens", "", "Output tokens", ", {value} output tokens"),
    _usage("cost", "", "Cost", _cost_phrase, form="dollars", always_listed=True),
    _usage("cost_per_1000", "$ per 1,000", form="dollars", json="cost_per_1000_requests"),
    _usage(
        "kept",
        phrase="\nanswers from the reply cache: {value}, without requests and cost",
        value=lambda figures: (figures.totals and figures.totals.kept) or None,
    ),
    _latency("mean", "latency s", "", "\nlatency per request: mean"),
    _latency("deviation", "deviation", "", ", standard deviation"),
    _latency("p50", "p50", "Latency, median", ", p50"),
    _latency("p95", "p95", "Latency, 95th percentile", ", p95"),
    _usage(
        "seconds_per_entry",
        "s per entry",
        "Wall clock per entry",
        "wall clock: {totals.machine.seconds:.1f} s, {text} s per entry with concurrency "
        "{totals.machine.concurrency}",
        section=MACHINE,
        form="seconds",
    ),
    _usage(
        "gpu_cost",
        "GPU $ by wall clock",
        "GPU cost by wall clock",
        "\ncost of the GPU server: ${text} by wall clock",
        section=MACHINE,
        form="dollars",
    ),
    _usage(
        "gpu_cost_by_latency",
        "GPU $ by busy time",
        "GPU cost by busy time",
        ", ${text} by busy time",
        section=MACHINE,
        form="dollars",
    ),
)
