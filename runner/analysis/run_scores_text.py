"""The scores of runs for people and for programs: lines of text, and rows of CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checkers.profile import BFCL
from runner.analysis import group_table
from runner.analysis.run_scores import RunScores
from runner.show.table import table
from runner.show.terminal import clipped, visible

CSV_HEADING = ("run", "name", "figure", "value", "low", "high", "entries", "field")

_LONGEST_NAME = 50


def lines(runs: Sequence[RunScores]) -> Iterator[str]:
    """Yield the lines that show what runs scored, at most 100 characters each."""
    for number, run in enumerate(runs, start=1):
        name = clipped(visible(run.name), _LONGEST_NAME)
        count = len(run.outcomes)
        episodes = f"{count} {'episode' if count == 1 else 'episodes'}"
        yield f"{number}  {name}: {episodes}, profile {visible(run.profile)}"
        if run.errors:
            yield f"   {run.errors} of them are left out: errors that are not the model's"
    yield ""
    fields = [run.profile == BFCL.name for run in runs]
    if len(runs) == 1:
        yield from group_table.lines(runs[0].rows, field=fields[0])
    else:
        yield from group_table.lines_of_several([run.rows for run in runs], fields)
        yield from _unequal(runs)
    yield from _usage(runs)


def csv_rows(runs: Sequence[RunScores]) -> Iterator[Sequence[object]]:
    """Yield the rows of a CSV file: one per run and line of the table, or figure of its requests.

    What was not run has no value.
    """
    yield CSV_HEADING
    for number, run in enumerate(runs, start=1):
        head = (number, visible(run.name))
        for row in run.rows:
            rate = row.rate
            scored = (rate.value, *rate.interval, rate.entries) if rate else ("", "", "", 0)
            field = "" if row.field is None else row.field
            yield (*head, "/".join(row.path), *scored, field)
        for name, value in _figures(run).items():
            yield (*head, f"requests/{name}", "" if value is None else value, "", "", "", "")


def _unequal(runs: Sequence[RunScores]) -> Iterator[str]:
    """Yield a line for each category of which runs have judged different numbers of entries."""
    for name in dict.fromkeys(name for run in runs for name in run.rates):
        counts = [run.rates[name].entries for run in runs if name in run.rates]
        if len(set(counts)) > 1:
            yield f"{name}: the runs have {min(counts)} to {max(counts)} entries, not the same ones"


def _usage(runs: Sequence[RunScores]) -> Iterator[str]:
    rows = [
        [str(number), *map(_shown, _figures(run).values())]
        for number, run in enumerate(runs, start=1)
        if run.totals
    ]
    if rows:
        heading = ["run", "requests", "$ per 1,000", "latency s", "deviation", "p50", "p95"]
        yield ""
        yield table([heading, *rows])


def _figures(run: RunScores) -> dict[str, float | None]:
    """Return what a run's requests took."""
    totals, latency = run.totals, run.latency
    return {
        "requests": totals and totals.requests,
        "cost_per_1000": totals and totals.cost_per_1000,
        "latency_mean": latency and latency.mean,
        "latency_deviation": latency and latency.deviation,
        "latency_p50": latency and latency.p50,
        "latency_p95": latency and latency.p95,
    }


def _shown(figure: float | None) -> str:
    if figure is None:
        return "unknown"
    return str(figure) if isinstance(figure, int) else f"{figure:.3f}"
