"""The figures of runs as text: lines of ``eval``, tables of runs, CSV."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from checkers.profile import BFCL
from checkers.statistics import cluster_interval, pass_at_1, sampling_error
from envs.lazy import lazily
from runner.analysis.figures import (
    MACHINE_FIGURES,
    MOST_ERRORS,
    REQUEST_FIGURES,
    Acts,
    CategoryScore,
    RunFigures,
    SelectionFigures,
    ToldFigures,
    told_columns,
)
from runner.analysis.groups import Row
from runner.show.terminal import clipped, table, visible

if TYPE_CHECKING:
    from runner.analysis.run_scores import RunScores
    from trajectories.errata import record
    from trajectories.errata.readings import Readings
else:
    # Most runs are summed up as published.
    record = lazily("trajectories.errata.record")

CSV_HEADING = ("run", "name", "figure", "value", "low", "high", "entries", "field")

_LONGEST_NAME = 50
_FIELD = "BFCL's"
"""Heading of the figures in which what was not run counts as 0."""
_ABREAST = 8
"""Runs that there is room for in 100 columns."""


def summary(figures: RunFigures, trials: int, population: int, *, field: bool) -> Iterator[str]:
    """Yield the lines that sum a run up.

    Args:
        figures: Its figures.
        trials: How often each entry was to be done.
        population: How many entries the run was sampled from.
        field: Whether BFCL's figures stand beside ours in the table of groups.
    """
    heading = ["category", "entries", "passed", "failed", "errors", "not run", "score", "95%"]
    told = told_columns(score.told for score in figures.scores)
    rows = [[*_cells(score, trials), *told_cells(score.told, told)] for score in figures.scores]
    yield table(_without_zeros([[*heading, "turns", *told], *rows], "not run"))
    if figures.irreversible:
        yield irreversible_line(figures.irreversible)
    if figures.hallucinations:
        yield hallucination_line(figures.hallucinations)
    if figures.selection:
        yield selection_line(figures.selection)
    if figures.errors:
        yield from _bounds(figures)
    attempts, entries = figures.attempts, len(figures.planned)
    if figures.scored and attempts and population > entries:
        margin = sampling_error(pass_at_1(attempts), entries, population)
        yield f"a sample of {entries} of {population}: the sample adds ±{percent(margin)}"
    if figures.scored and trials > 1:
        yield from _trial_lines(figures, trials)
    if figures.grouped:
        yield ""
        yield from group_lines(figures.rows, field=field)


def irreversible_line(found: Acts) -> str:
    """Return the line on deeds that cannot be taken back and that nobody had asked for."""
    episodes = f"{found.episodes} of {found.judged} episodes ({percent(found.share)})"
    return f"irreversible acts that the ground truth does not have: {found.acts}, in {episodes}"


def selection_line(found: SelectionFigures) -> str:
    """Return the line on how well functions were chosen and called."""
    return (
        f"function right {percent(found.function_right)} of {found.needed} calls needed, arguments "
        f"right {percent(found.arguments_right)} of these; distractors called "
        f"{found.distractors} ({percent(found.share)})"
    )


def hallucination_line(found: Mapping[str, Acts]) -> str:
    """Return the line on what was made up, each with the share of the episodes that did."""
    judged = max((acts.judged for acts in found.values()), default=0)
    shown = [f"{_spaced(name)} {_acts(acts)}" for name, acts in found.items()]
    return f"hallucinated, and share of {judged} episodes: {', '.join(shown)}"


def _acts(found: Acts | None) -> str:
    return f"{found.acts} ({percent(found.share)})" if found else "-"


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def both_lines(published: RunFigures, mended: RunFigures, readings: Readings) -> Iterator[str]:
    """Yield the lines that put the scores as published and as mended by errata side by side."""
    rows = [["category", "entries", "as published", "95%", "entries", "as mended", "95%", "change"]]
    found = {score.name: score for score in mended.scores}
    for score in published.scores:
        now = found.get(score.name)
        sides = [*_short(score), *(_short(now) if now else ("0", "-", "-"))]
        rates = [each.rate for each in (score, now) if each and each.rate is not None]
        change = f"{100 * (rates[1] - rates[0]):+.1f}" if len(rates) == 2 else "-"
        rows.append([score.name, *sides, change])
    yield ""
    yield table(rows)
    yield errata_line(readings)


def errata_line(readings: Readings) -> str:
    """Return the line that says what errata make of the entries that they judge."""
    counts = Counter(readings.judged.values())
    judged = ", ".join(f"{counts[kind]} {kind}" for kind in record.Assessment if counts[kind])
    others = f"{len(readings.right)} are judged otherwise"
    return f"errata {readings.name}: {judged or 'none of these entries'}; {others}"


def table_lines(runs: Sequence[RunScores]) -> Iterator[str]:
    """Yield the lines that show what runs scored, at most 100 characters each."""
    for number, run in enumerate(runs, start=1):
        name = clipped(visible(run.name), _LONGEST_NAME)
        count = len(run.figures.outcomes)
        episodes = f"{count} {'episode' if count == 1 else 'episodes'}"
        yield f"{number}  {name}: {episodes}, profile {visible(run.profile)}"
        if run.figures.errors:
            yield f"   {run.figures.errors} of them are left out: errors that are not the model's"
    yield ""
    fields = [run.profile == BFCL.name for run in runs]
    if len(runs) == 1:
        yield from group_lines(runs[0].figures.rows, field=fields[0])
    else:
        yield from group_lines_of_several([run.figures.rows for run in runs], fields)
        yield from _unequal(runs)
    yield from _selection(runs)
    yield from _made_up(runs)
    yield from _telling(runs)
    for number, run in enumerate(runs, start=1):
        if found := run.figures.irreversible:
            yield f"{irreversible_line(found)}, run {number}"
    yield from _usage(runs)


def csv_cell(text: str) -> str:
    """Return a text as a cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def csv_rows(runs: Sequence[RunScores]) -> Iterator[Sequence[object]]:
    """Yield the rows of a CSV file: one per run and line of the table, or figure of its requests.

    What was not run has no value.
    """
    yield CSV_HEADING
    for number, run in enumerate(runs, start=1):
        head, totals = (number, csv_cell(visible(run.name))), run.figures.totals
        for row in run.figures.rows:
            rate = row.rate
            scored = (rate.value, *rate.interval, rate.entries) if rate else ("", "", "", 0)
            field = "" if row.field is None else row.field
            yield (*head, "/".join(row.path), *scored, field)
        for name, share in (run.figures.told.shares if run.figures.told else {}).items():
            yield (
                *head,
                f"told/{name.replace(' ', '_')}",
                "" if share is None else share,
                *[""] * 4,
            )
        if found := run.figures.irreversible:
            yield (*head, "irreversible", found.share, *[""] * 2, found.judged, "")
        if chosen := run.figures.selection:
            rates = {
                "function_right": (chosen.function_right, chosen.needed),
                "arguments_right": (chosen.arguments_right, chosen.functions),
                "distractors": (chosen.share, chosen.judged),
            }
            for name, (share, count) in rates.items():
                known = "" if share is None else share
                yield (*head, f"selection/{name}", known, *[""] * 2, count, "")
        for name, acts in run.figures.hallucinations.items():
            yield (*head, f"hallucinations/{name}", acts.share, *[""] * 2, acts.judged, "")
        timed = MACHINE_FIGURES if totals and totals.machine else ()
        for figure in (*REQUEST_FIGURES, *timed):
            value = totals and figure.value(totals)
            yield (*head, f"requests/{figure.name}", "" if value is None else value, *[""] * 4)


def group_lines(rows: Sequence[Row], *, field: bool) -> Iterator[str]:
    """Yield the lines of one run's table, with BFCL's figures beside ours if so wanted."""
    [field] = _with_overall([rows], [field])
    shown = [row for (row,) in worth_showing([rows])]
    cells = [[_label(row), *_scored(row), _field(row)] for row in shown]
    heading = ["group", "score", "95%", "entries", _FIELD]
    yield table([row if field else row[:-1] for row in [heading, *cells]])
    yield from notes([rows], [field])


def group_lines_of_several(
    tables: Sequence[Sequence[Row]], fields: Sequence[bool]
) -> Iterator[str]:
    """Yield the lines of several runs' tables, in columns that are numbered from 1.

    Below our overall figure stands BFCL's, of those runs of which ``fields`` wants it.
    """
    fields = _with_overall(tables, fields)
    across = worth_showing(tables)
    for first in range(0, len(tables), _ABREAST):
        columns = slice(first, first + _ABREAST)
        numbers = [str(number) for number in range(1, len(tables) + 1)][columns]
        cells = [[_label(rows[0]), *map(_score, rows[columns])] for rows in across]
        if any(fields):
            pairs = zip(tables[columns], fields[columns], strict=True)
            figures = [_field(rows[0]) if field else "-" for rows, field in pairs]
            cells.insert(1, [f"overall, {_FIELD}", *figures])
        yield table([["group", *numbers], *cells])
        yield ""
    yield from notes(tables, fields)


def worth_showing(tables: Sequence[Sequence[Row]]) -> list[tuple[Row, ...]]:
    """Return the lines of tables, side by side, but for what is in a group that none has run."""
    run = {row.path for rows in tables for row in rows if row.rate}
    return [rows for rows in zip(*tables, strict=True) if run & {rows[0].path, rows[0].path[:-1]}]


def notes(tables: Sequence[Sequence[Row]], fields: Sequence[bool]) -> Iterator[str]:
    """Yield what there is to know of sums of which something was not run."""
    counted = [rows for rows in worth_showing(tables) if len(rows[0].path) > 1]
    if any(row.rate is None for rows in counted for row in rows):
        yield "what was not run is left out of a sum, and the weights of the rest are scaled up"
    if any(len({row.rate is None for row in rows}) > 1 for rows in counted):
        yield "sums of runs of which not the same was run do not compare"
    if any(fields):
        yield f"{_FIELD} is the same sum with what was not run as 0"


def _with_overall(tables: Sequence[Sequence[Row]], fields: Sequence[bool]) -> list[bool]:
    """Return of which tables BFCL's figures are shown: of those that count for it."""
    pairs = zip(tables, fields, strict=True)
    return [field and rows[0].rate is not None for rows, field in pairs]


def _label(row: Row) -> str:
    return "  " * (len(row.path) - 1) + row.name


def _score(row: Row) -> str:
    return percent(row.rate.value) if row.rate else "not run"


def _field(row: Row) -> str:
    return "" if row.field is None else percent(row.field)


def _scored(row: Row) -> list[str]:
    if row.rate is None:
        return ["not run", "", ""]
    return [_score(row), span(row.rate.interval), str(row.rate.entries)]


def percent(share: float | None) -> str:
    """Return a share as it is written everywhere; a dash where there is none."""
    return "-" if share is None else f"{100 * share:.1f}%"


def span(interval: tuple[float, float]) -> str:
    """Return an interval of shares as it is written everywhere."""
    low, high = interval
    return f"{percent(low)} to {percent(high)}"


def p_text(value: float, *, relation: bool = False) -> str:
    """Return a p-value as it is written everywhere, after a sign of relation if so wanted."""
    if value < 0.0001:
        return "< 0.0001"
    return f"{'= ' if relation else ''}{value:.4f}"


def _short(score: CategoryScore) -> tuple[str, str, str]:
    interval = span(score.interval) if score.interval else "-"
    return str(score.entries), percent(score.rate), interval


def _cells(score: CategoryScore, trials: int) -> list[str]:
    ended = score.passed, score.failed, score.errors
    entries, *rated = _short(score)
    counts = map(str, [*ended, score.entries * trials - sum(ended)])
    return [score.name, entries, *counts, *rated, f"{score.turns_passed} of {score.turns}"]


def _without_zeros(rows: Sequence[Sequence[str]], name: str) -> list[list[str]]:
    """Return rows without a column that says nothing but 0."""
    place = rows[0].index(name)
    keeps = any(row[place] != "0" for row in rows[1:])
    return [[cell for n, cell in enumerate(row) if keeps or n != place] for row in rows]


def _bounds(figures: RunFigures) -> Iterator[str]:
    outcomes, errors = figures.outcomes, figures.errors
    passed, total = sum(o.outcome == "passed" for o in outcomes), len(outcomes)
    low, high = percent(passed / total), percent((passed + errors) / total)
    yield (
        f"{errors} of {total} episodes ended in an error that is not the model's; the score of all "
        f"is {low} if these were failures, {high} if they were passes"
    )
    if not figures.scored:
        yield (
            f"no score is given with more than {100 * MOST_ERRORS:.0f}% errors: do them again with "
            "--only errors, or see --allow-errors"
        )


def _trial_lines(figures: RunFigures, trials: int) -> Iterator[str]:
    complete = figures.complete(trials)
    if not complete:
        return
    yield (
        f"pass@1 {percent(pass_at_1(complete))} ({span(cluster_interval(complete))}), "
        f"over {len(complete)} entries with all {trials} trials"
    )
    scores = figures.trial_scores(trials)
    yield f"pass@k: {', '.join(f'k={score.k} {percent(score.any)}' for score in scores)}"
    yield f"pass^k: {', '.join(f'k={score.k} {percent(score.all)}' for score in scores)}"


def _unequal(runs: Sequence[RunScores]) -> Iterator[str]:
    """Yield a line for each category of which runs have judged different numbers of entries."""
    rates = [run.figures.rates for run in runs]
    for name in dict.fromkeys(name for of_run in rates for name in of_run):
        counts = [of_run[name].entries for of_run in rates if name in of_run]
        if len(set(counts)) > 1:
            yield f"{name}: the runs have {min(counts)} to {max(counts)} entries, not the same ones"


def told_cells(figures: ToldFigures | None, columns: Sequence[str]) -> list[str]:
    """Return the cells of columns on what was told."""
    shares = figures.shares if figures else {}
    return [percent(shares.get(name)) for name in columns]


def _telling(runs: Sequence[RunScores]) -> Iterator[str]:
    """Yield the table of what the answers of runs told, where their words are on record."""
    told = [run.figures.told for run in runs]
    if columns := told_columns(told):
        rows = [
            [str(number), *told_cells(each, columns)] for number, each in enumerate(told, start=1)
        ]
        yield ""
        yield table([["run", *columns], *rows])


def _selection(runs: Sequence[RunScores]) -> Iterator[str]:
    """Yield the table of how well functions were chosen and called, where that was counted."""
    found = [run.figures.selection for run in runs]
    if any(found):
        rows = [
            [
                str(number),
                percent(each.function_right) if each else "-",
                percent(each.arguments_right) if each else "-",
                f"{each.distractors} ({percent(each.share)})" if each else "-",
            ]
            for number, each in enumerate(found, start=1)
        ]
        yield ""
        yield table([["run", "function right", "arguments right", "distractors called"], *rows])


def _made_up(runs: Sequence[RunScores]) -> Iterator[str]:
    """Yield the table of what models made up, where anything of runs was judged."""
    found = [made_up_texts(run.figures) for run in runs]
    names = [*dict.fromkeys(name for of_run in found for name in of_run)]
    if names:
        rows = [
            [str(number), *(of_run.get(name, "-") for name in names)]
            for number, of_run in enumerate(found, start=1)
        ]
        yield ""
        yield table([["run", *names], *rows])


def acts_texts(figures: RunFigures) -> dict[str, str]:
    """Return what a model made up, and what it did for good beyond the ground truth."""
    irreversible = {"acts for good": _acts(figures.irreversible)} if figures.irreversible else {}
    return {**made_up_texts(figures), **irreversible}


def made_up_texts(figures: RunFigures) -> dict[str, str]:
    """Return how much of each kind a model made up, and in what share of its episodes."""
    return {_spaced(name): _acts(acts) for name, acts in figures.hallucinations.items()}


def _usage(runs: Sequence[RunScores]) -> Iterator[str]:
    totals = [run.figures.totals for run in runs]
    for figures, shown in (
        (REQUEST_FIGURES, totals),
        (MACHINE_FIGURES, [each if each and each.machine else None for each in totals]),
    ):
        used = [(number, each) for number, each in enumerate(shown, start=1) if each]
        columns = [
            figure
            for figure in figures
            if not figure.only_where_known or any(figure.value(t) is not None for _, t in used)
        ]
        if used:
            rows = [[str(number), *(_shown(f.value(t)) for f in columns)] for number, t in used]
            yield ""
            yield table([["run", *(figure.heading for figure in columns)], *rows])


def _shown(figure: float | None) -> str:
    if figure is None:
        return "unknown"
    return str(figure) if isinstance(figure, int) else f"{figure:.3f}"
