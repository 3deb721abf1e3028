"""The table of figures: one row says how a figure of a run is computed, named and written.

The lines of ``eval``, the text, CSV and JSON of ``table``, the report and the pages show the rows
of ``FIGURES`` in their order, and then those of extensions that keep something of the episodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from runner import extension
from runner.analysis.figures import Acts, RunFigures

Value = float | Acts | None
"""A figure; None where it is unknown."""
Form = Literal["count", "share", "acts", "seconds", "dollars"]

Cell = dict[str, Any]
"""A figure as a page draws it: label, form and value."""
Phrase = str | Callable[[RunFigures], str | None]


@dataclass(frozen=True, kw_only=True, eq=False)
class Section:
    """A table of runs, in which each figure has a column.

    Attributes:
        title: Title of its card on pages, which sections may share; None for no card.
        of_usage: Whether it shows requests and cost; runs of which it knows nothing are left out.
        beside_scores: Whether its figures are columns beside the scores of categories and of
            compared runs, in place of a line.
        as_lines: Whether ``table`` writes its line in place of a table.
    """

    title: str | None
    of_usage: bool = False
    beside_scores: bool = False
    as_lines: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class FigureRow:
    """A row of the table: one figure of a run.

    Attributes:
        name: Name in CSV.
        label: Heading of its column; empty for a figure that ``table`` does not show.
        section: Table of runs that shows it.
        value: Computes the figure of a run, or of one category.
        form: How the value is written.
        of: Number of things that a share is of.
        optional: Whether its column is left out where no run knows it.
        json: Key of the value in JSON, by default its name, or a function of all its members.
        phrase: Template of its part of the section's line of ``eval``, or a function that returns
            it; begins with the separator. An unknown figure has no part.
        caption: Label in the report's list of usage; empty for a figure that the list lacks.
        always_listed: Whether the list has it where it is unknown.
    """

    name: str
    label: str = ""
    section: Section
    value: Callable[[RunFigures], Value]
    form: Form
    of: Callable[[RunFigures], int | None] = lambda _: None
    optional: bool = False
    json: str | Callable[[RunFigures], Mapping[str, Any]] = ""
    phrase: Phrase = ", {label} {text}"
    caption: str = ""
    always_listed: bool = False

    def to_json(self, figures: RunFigures) -> Mapping[str, Any]:
        """Return its members of the JSON of a run, in which usage has no group."""
        if callable(self.json):
            return self.json(figures)
        value = self.value(figures)
        known = value._asdict() if isinstance(value, Acts) else value
        group, _, name = self.name.rpartition("/")
        if not group or self.section.of_usage:
            return {self.json or name: known}
        return {group: {} if known is None else {name: known}}

    def cell(self, figures: RunFigures) -> Cell:
        """Return the figure as a page draws it."""
        value = self.value(figures)
        shown = [value.acts, value.share] if isinstance(value, Acts) else value
        return {"label": self.label, "form": self.form, "value": shown}


def rows_of(runs: Sequence[RunFigures]) -> list[FigureRow]:
    """Return the rows of the figures that runs may have."""
    return [*FIGURES, *extension.figures(record for run in runs for record in run.outcomes)]


def columns(runs: Sequence[RunFigures], rows: Sequence[FigureRow] | None = None) -> list[FigureRow]:
    """Return the rows, by default of all, that tables of runs have a column for."""
    rows = [row for row in (rows_of(runs) if rows is None else rows) if row.label]
    known = [row for row in rows if any(row.value(run) is not None for run in runs)]
    sections = {row.section for row in known}
    return [row for row in rows if row in known or (row.section in sections and not row.optional)]


def beside_scores(runs: Sequence[RunFigures]) -> list[FigureRow]:
    """Return the rows of runs that have a column beside scores."""
    return columns(runs, [row for row in rows_of(runs) if row.section.beside_scores])


def figures_json(figures: RunFigures, *, beside: bool = False) -> dict[str, Any]:
    """Return the JSON of the figures that ``table`` shows, or of those that stand beside scores."""
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
    """Return the cards of a page on runs, given by the labels of their lines."""
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


def usage_list(figures: RunFigures) -> list[Cell] | None:
    """Return the report's list of usage; None of a run that recorded no request."""
    if not figures.totals or not figures.totals.requests:
        return None
    return [
        {**row.cell(figures), "label": row.caption}
        for row in rows_of([figures])
        if row.caption and (row.always_listed or row.value(figures) is not None)
    ]


def _member(part: str, name: str) -> Callable[[RunFigures], Any]:
    """Return a function that gets a member of a part of the figures; None without the part."""

    def get(figures: RunFigures) -> Any:
        known = getattr(figures, part)
        return known and getattr(known, name)

    return get


def _members(part: str, *names: str) -> Callable[[RunFigures], Mapping[str, Any]]:
    """Return a function that gives members of a part of the figures as JSON."""

    def get(figures: RunFigures) -> Mapping[str, Any]:
        known = getattr(figures, part)
        return {part: known and {name: getattr(known, name) for name in names}}

    return get


IRREVERSIBLE = Section(title="Made up, and done for good", as_lines=True)
MADE_UP = Section(title="Made up, and done for good")
SELECTION = Section(title=None)
TOLD = Section(title="What answers told", beside_scores=True)
REQUESTS = Section(title="Requests", of_usage=True)
MACHINE = Section(title="Requests", of_usage=True)


def _made_up(kind: str, before: str = ", ") -> FigureRow:
    return FigureRow(
        name=f"hallucinations/{kind}",
        label=kind.replace("_", " "),
        section=MADE_UP,
        value=lambda figures: figures.hallucinations.get(kind),
        form="acts",
        phrase=f"{before}{{label}} {{text}}",
    )


def _right(thing: str, of: str, phrase: str, *members: str) -> FigureRow:
    return FigureRow(
        name=f"selection/{thing}_right",
        label=f"{thing} right",
        section=SELECTION,
        value=_member("selection", f"{thing}_right"),
        form="share",
        of=_member("selection", of),
        json=_members("selection", *members, f"{thing}_right"),
        phrase=phrase,
    )


def _told(label: str, *members: str) -> FigureRow:
    return FigureRow(
        name=f"told/{label.replace(' ', '_')}",
        label=label,
        section=TOLD,
        value=lambda figures: figures.told and figures.told.shares[label],
        form="share",
        optional=True,
        json=_members("told", *members),
    )


def _usage(
    member: str, label: str = "", caption: str = "", phrase: Phrase = "", **others: Any
) -> FigureRow:
    """Return a row on a member of the totals, which gives its name and its key in JSON."""
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
        f"{words} {{value:.3f}} s",
        value=_member("latency", member),
        form="seconds",
        json=_members("latency", member),
        always_listed=True,
    )


def _prompt_phrase(figures: RunFigures) -> str | None:
    if (totals := figures.totals) is None:
        return None
    parts = (
        (totals.cached_tokens, "read from a cache"),
        (totals.written_tokens, "written to one"),
    )
    cached = ", ".join(f"{count} {what}" for count, what in parts if count is not None)
    return f", {totals.prompt_tokens} tokens in{cached and f' ({cached})'}"


def _cost_phrase(figures: RunFigures) -> str | None:
    if (totals := figures.totals) is None:
        return None
    if totals.cost is None:
        return ", cost unknown"
    return f", cost ${totals.cost:.4f}, ${totals.cost_per_1000:.4f} per 1,000 requests"


FIGURES = (
    FigureRow(
        name="irreversible",
        label="acts for good",
        section=IRREVERSIBLE,
        value=lambda figures: figures.irreversible,
        form="acts",
        phrase="irreversible acts that the ground truth does not have: {value.acts}, in "
        "{value.episodes} of {value.judged} episodes ({value.share:.1%})",
    ),
    _made_up("invented_functions", "hallucinated, and share of {value.judged} episodes: "),
    _made_up("invented_parameters"),
    _made_up("calls_where_none_fits"),
    _right("function", "needed", "{label} {text} of {of} calls needed", "needed", "functions"),
    _right("arguments", "functions", ", {label} {text} of these", "arguments"),
    FigureRow(
        name="selection/distractors",
        label="distractors called",
        section=SELECTION,
        value=_member("selection", "distractor_calls"),
        form="acts",
        json=_members("selection", "distractors", "episodes", "judged"),
        phrase="; {label} {text}",
    ),
    _told("facts told", "facts", "facts_told"),
    _told("turns told", "turns", "turns_told"),
    _told("asked", "waiting", "asked"),
    _usage("requests", "requests", "Requests", "{value} requests"),
    _usage("prompt_tokens", "", "Tokens in", _prompt_phrase),
    _usage("cached_tokens", "cache reads", "Read from a cache", csv="cache_reads", optional=True),
    _usage(
        "written_tokens", "cache writes", "Written to a cache", csv="cache_writes", optional=True
    ),
    _usage("completion_tokens", "", "Tokens out", ", {value} out"),
    _usage("cost", "", "Cost", _cost_phrase, form="dollars", always_listed=True),
    _usage("cost_per_1000", "$ per 1,000", form="dollars", json="cost_per_1000_requests"),
    _usage(
        "kept",
        phrase="\n{value} more answers came from the reply cache: no requests, no cost",
        value=lambda figures: (figures.totals and figures.totals.kept) or None,
    ),
    _latency("mean", "latency s", "", "\nlatency of a request: mean"),
    _latency("deviation", "deviation", "", ", standard deviation"),
    _latency("p50", "p50", "Latency, median", ", p50"),
    _latency("p95", "p95", "Latency, 95th percentile", ", p95"),
    _usage(
        "seconds_per_entry",
        "s per entry",
        "By the clock, an entry",
        "{totals.machine.seconds:.1f} s by the clock, {value:.3f} s an entry with "
        "{totals.machine.concurrency} at once",
        section=MACHINE,
        form="seconds",
    ),
    _usage(
        "gpu_cost",
        "$ GPU, clock",
        "Machine, by the clock",
        "\ncost of the machine: ${value:.4f} by the clock",
        section=MACHINE,
        form="dollars",
    ),
    _usage(
        "gpu_cost_by_latency",
        "$ GPU, latency",
        "Machine, by latencies",
        ", ${value:.4f} by latencies over the concurrency",
        section=MACHINE,
        form="dollars",
    ),
)
