"""Output of runs' metrics as text: lines of ``eval``, tables of runs, and CSV."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import TYPE_CHECKING

from checkers.profile import BFCL
from checkers.statistics import pass_at_1, sampling_error
from envs.lazy_modules import lazy_module
from envs.state import cut
from runner.analysis.bfcl_table import OVERALL, BfclTableRow, GroupScore
from runner.analysis.figure_table import REQUESTS, FigureRow, beside_scores, columns, rows_of
from runner.analysis.figures import MAX_ERROR_SHARE, ActCounts, CategoryScore, RunFigures
from runner.records.episode_record import RunProgress, SampleProgress
from runner.show.terminal import escape_unprintable, format_count, table

if TYPE_CHECKING:
    from runner.analysis.run_scores import RunScores
    from trajectories.errata import erratum
    from trajectories.errata.corrections import CorrectedEntries
else:
    # Most runs use the data as published.
    erratum = lazy_module("trajectories.errata.erratum")

CSV_HEADING = ("run", "name", "figure", "value", "low", "high", "entries", "field")

_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""First characters of formulas; some spreadsheets skip tabs or read full-width signs."""
_MAX_NAME_CHARS = 50
_FIELD = "BFCL's"
"""Heading of the scores that count missing categories as 0."""
_MAX_COLUMNS = 3


def summary(figures: RunFigures, trials: int, population: int, *, field: bool) -> Iterator[str]:
    """Yield the summary of a run; ``field`` adds a score that counts missing categories as 0."""
    heading = ["category", "entries", "episodes", "passed", "failed", "errors", "not run"]
    beside = beside_scores([score.figures for score in figures.scores])
    scores = [
        [*_cells(score, trials), *(format_figure(row, score.figures) for row in beside)]
        for score in figures.scores
    ]
    heading = [*heading, "score", "95%", "turns", *(row.label for row in beside)]
    rows = _without_zeros([heading, *scores], "not run")
    yield table(rows if trials > 1 else [[*row[:2], *row[3:]] for row in rows])
    yield from _tag_lines(figures)
    yield headline(figures)
    yield from lines(figures)
    if figures.errors:
        yield from _bounds(figures)
    attempts, entries = figures.attempts, len(figures.planned)
    if figures.scored and attempts and population > entries:
        margin = sampling_error(pass_at_1(attempts), len(attempts), population)
        error = format_percent(margin)
        yield f"sample of {entries} of {population} entries: sampling error ±{error}"
    if figures.scored and trials > 1:
        yield from _trial_lines(figures, trials)
    if figures.grouped:
        yield ""
        yield from group_lines(figures.rows, field=field)


def headline(figures: RunFigures) -> str:
    """Return the line with a run's score, and the progress of an unfinished run."""
    rate, part = figures.overall, progress_text(figures.progress)
    if rate is None:
        return f"no score{part and f': {part}'}"
    scenarios = len(rate.scenarios)
    in_scenarios = f" in {format_count(scenarios, 'scenario')}" if scenarios < rate.entries else ""
    mean = f"mean over {format_count(rate.entries, 'entry')}{in_scenarios}"
    return (
        f"score {format_percent(rate.value)} (95% {format_interval(rate.interval)}), {part or mean}"
    )


def progress_text(progress: RunProgress | None) -> str:
    """Return a note for the score of an unfinished run; return "" for other runs."""
    if progress is None or not progress.is_unfinished:
        return ""
    state = "the run is unfinished; its entries ran without random order, so its score is biased"
    if isinstance(progress, SampleProgress):
        state = "the run is unfinished; its entries ran in random order, as a sample of all entries"
    return f"of {progress.done} of {progress.planned} episodes: {state}"


def format_figure(row: FigureRow, figures: RunFigures) -> str:
    """Format the value of a metric."""
    value = row.value(figures)
    if value is None:
        return "unknown" if row.section.of_usage else "-"
    if isinstance(value, ActCounts):
        return f"{value.acts} ({format_percent(value.share)})"
    if row.form == "share":
        return format_percent(value)
    return str(value) if row.form == "count" else f"{value:.{3 if row.form == 'seconds' else 4}f}"


def lines(figures: RunFigures, *, usage: bool = False) -> Iterator[str]:
    """Yield the metrics below the scores; with ``usage``, yield tokens, cost and latency."""
    rows = [row for row in rows_of([figures]) if row.section.of_usage is usage]
    yield from _section_lines(figures, [row for row in rows if not row.section.beside_scores])


def _section_lines(figures: RunFigures, rows: Sequence[FigureRow]) -> Iterator[str]:
    for section in dict.fromkeys(row.section for row in rows):
        parts = "".join(_part(row, figures) for row in rows if row.section is section)
        yield from parts.lstrip(",; \n").splitlines()


def _part(row: FigureRow, figures: RunFigures) -> str:
    if callable(row.phrase):
        return row.phrase(figures) or ""
    value, of = row.value(figures), row.of(figures)
    if value is None and of is None:
        return ""
    text, totals = format_figure(row, figures), figures.totals
    return row.phrase.format(label=row.label, text=text, value=value, of=of, totals=totals)


def both_lines(
    published: RunFigures, corrected: RunFigures, readings: CorrectedEntries
) -> Iterator[str]:
    """Yield a table with two scores per category: on the published entries, and with errata."""
    rows = [["category", "entries", "published", "95%", "entries", "corrected", "95%", "change"]]
    found = {score.name: score for score in corrected.scores}
    for score in published.scores:
        now = found.get(score.name)
        sides = [*_short(score), *(_short(now) if now else ("0", "-", "-"))]
        rates = [each.rate for each in (score, now) if each and each.rate is not None]
        change = f"{100 * (rates[1] - rates[0]):+.1f}" if len(rates) == 2 else "-"
        rows.append([score.name, *sides, change])
    yield ""
    yield table(rows)
    yield errata_line(readings)


def errata_line(readings: CorrectedEntries) -> str:
    """Return a line with the number of entries for each assessment in the errata."""
    counts = Counter(readings.judged.values())
    judged = ", ".join(f"{counts[kind]} {kind}" for kind in erratum.Assessment if counts[kind])
    others = f"{len(readings.right)} have alternative answers"
    return f"errata {readings.name}: {judged or 'none of these entries'}; {others}"


def table_lines(runs: Sequence[RunScores]) -> Iterator[str]:
    """Yield the lines of ``table``, at most 100 characters each."""
    for number, run in enumerate(runs, start=1):
        name = cut(escape_unprintable(run.name), _MAX_NAME_CHARS)
        count = len(run.figures.outcomes)
        episodes = f"{count} {'episode' if count == 1 else 'episodes'}"
        yield f"{number}  {name}: {episodes}, profile {escape_unprintable(run.profile)}"
        if run.figures.errors:
            yield (
                f"   {run.figures.errors} of these episodes "
                "are left out because they ended in errors"
            )
        yield f"   {headline(run.figures)}"
    yield ""
    fields = [run.profile == BFCL.name for run in runs]
    if len(runs) == 1:
        yield from group_lines(runs[0].figures.rows, field=fields[0])
    else:
        yield from group_lines_of_several([run.figures.rows for run in runs], fields)
        yield from _unequal(runs)
    figures = [run.figures for run in runs]
    for each in figures:
        yield from _tag_lines(each)
    yield from _tables(figures, usage=False)
    for number, each in enumerate(figures, start=1):
        rows = [row for row in rows_of([each]) if row.section.as_lines]
        for line in _section_lines(each, rows):
            yield f"{line}, run {number}"
    yield from _tables(figures, usage=True)


def csv_cell(text: str) -> str:
    """Escape a string that a spreadsheet would interpret as a formula."""
    return f"'{text}" if text.startswith(_FORMULA_SIGNS) else text


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Return the text of a CSV file."""
    file = StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()


def csv_rows(runs: Sequence[RunScores]) -> Iterator[Sequence[object]]:
    """Yield the rows of a CSV file, one for each group and each metric of a run.

    The value is empty for a group without episodes in the run.
    """
    yield CSV_HEADING
    rows = rows_of([run.figures for run in runs])
    for number, run in enumerate(runs, start=1):
        head = (number, csv_cell(escape_unprintable(run.name)))
        for group in run.figures.rows:
            rate = group.rate
            scored = (rate.value, *rate.interval, rate.entries) if rate else ("", "", "", 0)
            field = "" if group.field is None else group.field
            yield (*head, "/".join(group.path), *scored, field)
        for row in rows:
            section = [other for other in rows if other.section is row.section]
            known = row.section is REQUESTS or columns([run.figures], section)
            if row.label and known:
                yield (*head, row.name, *_csv_value(row, run.figures), "")


def _csv_value(row: FigureRow, figures: RunFigures) -> tuple[object, ...]:
    value, of = row.value(figures), row.of(figures)
    if isinstance(value, ActCounts):
        return value.share, "", "", value.judged
    return "" if value is None else value, "", "", "" if of is None else of


def group_lines(rows: Sequence[BfclTableRow], *, field: bool) -> Iterator[str]:
    """Yield the table of one run, optionally with BFCL's scores."""
    [field] = _with_overall([rows], [field])
    shown = [row for (row,) in worth_showing([rows])]
    cells = [[_label(row), *_scored(row), _field(row)] for row in shown]
    heading = ["group", "score", "95%", "entries", _FIELD]
    yield table([row if field else row[:-1] for row in [heading, *cells]])
    yield from notes([rows], [field])


def group_lines_of_several(
    tables: Sequence[Sequence[BfclTableRow]], fields: Sequence[bool]
) -> Iterator[str]:
    """Yield a table with one column per run, numbered from 1.

    ``fields`` tells for each run whether the table also shows BFCL's overall score.
    """
    fields = _with_overall(tables, fields)
    across = worth_showing(tables)
    for first in range(0, len(tables), _MAX_COLUMNS):
        columns = slice(first, first + _MAX_COLUMNS)
        numbers = [str(number) for number in range(1, len(tables) + 1)][columns]
        cells = [
            [_label(rows[0]), *(score_cell(row.rate) for row in rows[columns])] for rows in across
        ]
        if any(fields):
            pairs = zip(tables[columns], fields[columns], strict=True)
            figures = [_field(_overall(rows)) if field else "-" for rows, field in pairs]
            place = [rows[0].path for rows in across].index((OVERALL.name,)) + 1
            cells.insert(place, [f"weighted overall, {_FIELD}", *figures])
        yield table([["group", *numbers], *cells])
        yield ""
    yield from notes(tables, fields)


def worth_showing(tables: Sequence[Sequence[BfclTableRow]]) -> list[tuple[BfclTableRow, ...]]:
    """Return the rows of several tables; omit groups that are missing in all runs."""
    run = {row.path for rows in tables for row in rows if row.rate}
    shown = [row.path for row in max(tables, key=len) if run & {row.path, row.path[:-1]}]
    # A run of one category has no row for the mean of categories, which is its score.
    found = [{**dict.fromkeys(shown, rows[0]), **{r.path: r for r in rows}} for rows in tables]
    return [tuple(rows[path]._replace(path=path) for rows in found) for path in shown]


def notes(tables: Sequence[Sequence[BfclTableRow]], fields: Sequence[bool]) -> Iterator[str]:
    """Yield a note for each total that does not include all categories."""
    counted = [rows for rows in worth_showing(tables) if len(rows[0].path) > 1]
    if any(row.rate is None for rows in counted for row in rows):
        yield "totals cover only categories that were run; their weights are scaled to a sum of 1"
    if any(len({row.rate is None for row in rows}) > 1 for rows in counted):
        yield "these totals cover different entries and cannot be compared"
    if any(fields):
        yield f"{_FIELD}: in this total, categories that were not run count as 0"


def _with_overall(tables: Sequence[Sequence[BfclTableRow]], fields: Sequence[bool]) -> list[bool]:
    pairs = zip(tables, fields, strict=True)
    return [field and _overall(rows).rate is not None for rows, field in pairs]


def _overall(rows: Sequence[BfclTableRow]) -> BfclTableRow:
    return next(row for row in rows if row.path == (OVERALL.name,))


def _label(row: BfclTableRow) -> str:
    return "  " * (len(row.path) - 1) + row.label


def score_cell(rate: GroupScore | None) -> str:
    """Format a score and its interval as one table cell."""
    if rate is None:
        return "not run"
    low, high = (format_percent(bound).removesuffix("%") for bound in rate.interval)
    return f"{format_percent(rate.value)} ({low} to {high})"


def _field(row: BfclTableRow) -> str:
    return "" if row.field is None else format_percent(row.field)


def _scored(row: BfclTableRow) -> list[str]:
    if row.rate is None:
        return ["not run", "", ""]
    share = format_percent(row.rate.value)
    return [share, format_interval(row.rate.interval), str(row.rate.entries)]


def format_percent(share: float | None) -> str:
    """Format a share in percent; None gives a dash."""
    return "-" if share is None else f"{100 * share:.1f}%"


def format_interval(interval: tuple[float, float]) -> str:
    """Format an interval of shares in percent."""
    low, high = interval
    return f"{format_percent(low)} to {format_percent(high)}"


def format_p_value(value: float, *, relation: bool = False) -> str:
    """Format a p-value, optionally after ``=``."""
    if value < 0.0001:
        return "< 0.0001"
    return f"{'= ' if relation else ''}{value:.4f}"


def _short(score: CategoryScore) -> tuple[str, str, str]:
    interval = format_interval(score.interval) if score.interval else "-"
    return str(score.entries), format_percent(score.rate), interval


def _tag_lines(figures: RunFigures) -> Iterator[str]:
    rows = [
        [score.name, *map(str, (score.passed, score.failed, score.errors)), *_short(score)[1:]]
        for score in figures.tag_scores
    ]
    if rows:
        yield table([["tag", "passed", "failed", "errors", "score", "95%"], *rows])


def _cells(score: CategoryScore, trials: int) -> list[str]:
    ended = score.passed, score.failed, score.errors
    entries, *rated = _short(score)
    episodes = score.entries * trials
    counts = map(str, [episodes, *ended, episodes - sum(ended)])
    return [score.name, entries, *counts, *rated, f"{score.turns_passed} of {score.turns}"]


def _without_zeros(rows: Sequence[Sequence[str]], name: str) -> list[list[str]]:
    place = rows[0].index(name)
    keeps = any(row[place] != "0" for row in rows[1:])
    return [[cell for n, cell in enumerate(row) if keeps or n != place] for row in rows]


def _bounds(figures: RunFigures) -> Iterator[str]:
    errors, (low, high) = figures.errors, map(format_percent, figures.bounds)
    yield (
        f"not scored: {errors} of {len(figures.outcomes)} episodes ended in an error; the score is "
        f"{low} if they count as failed, and {high} if they count as passed"
    )
    if not figures.scored:
        yield (
            f"no score: more than {100 * MAX_ERROR_SHARE:.0f}% of the episodes ended in errors; "
            "repeat them with --only errors, or pass --allow-errors"
        )


def _trial_lines(figures: RunFigures, trials: int) -> Iterator[str]:
    complete = figures.complete(trials)
    if not complete:
        return
    yield f"{format_count(len(complete), 'entry')} with all {trials} trials:"
    # Beyond 16, a line has only the powers of two and the number of trials.
    shown = [k for k in range(1, trials + 1) if k <= 16 or k == trials or k & (k - 1) == 0]
    scores = [score for score in figures.trial_scores(trials) if score.k in shown]
    yield f"pass@k: {', '.join(f'k={score.k} {format_percent(score.any)}' for score in scores)}"
    yield f"pass^k: {', '.join(f'k={score.k} {format_percent(score.all)}' for score in scores)}"


def _unequal(runs: Sequence[RunScores]) -> Iterator[str]:
    rates = [run.figures.rates for run in runs]
    for name in dict.fromkeys(name for of_run in rates for name in of_run):
        counts = [of_run[name].entries for of_run in rates if name in of_run]
        if len(set(counts)) > 1:
            yield (
                f"{name}: the runs have different numbers of entries, {min(counts)} to "
                f"{max(counts)}"
            )


def _tables(runs: Sequence[RunFigures], *, usage: bool) -> Iterator[str]:
    shown = columns(runs, [row for row in rows_of(runs) if not row.section.as_lines])
    for section in dict.fromkeys(r.section for r in shown if r.section.of_usage is usage):
        mine = [row for row in shown if row.section is section]
        cells = [
            [str(number), *(format_figure(row, run) for row in mine)]
            for number, run in enumerate(runs, start=1)
            if columns([run], mine) or not section.of_usage
        ]
        yield ""
        yield table([["run", *(row.label for row in mine)], *cells])
