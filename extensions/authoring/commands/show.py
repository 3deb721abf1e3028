"""The command ``turnwise dataset show``: what is in a data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from extensions.authoring.reading_lines import reader_rows, standing_lines, state_rows
from extensions.authoring.standing import (
    agreements,
    changed,
    read_record,
    standings,
    summary,
    tallies,
)
from extensions.authoring.statistics import Statistics, figures_of, statistics
from extensions.authoring.statistics_page import statistics_page
from runner.commands import DONE
from runner.commands.options import argument, option, switch
from runner.commands.shared import note
from runner.data import choose
from runner.records.files import written
from runner.show.terminal import say, say_json, table
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.schema import Split
from trajectories.validation import to_json

EXAMPLE = "turnwise dataset show --category base"


@dataclass(frozen=True, kw_only=True)
class Options:
    """Which data to show."""

    dataset: str | None = argument(
        "bfcl, bfcl:FOLDER, or a trajectory file or folder (default: what comes along)",
        "NAME",
        required=False,
    )
    category: str | None = option("only these categories", "NAMES")
    split: str | None = option(
        "only the plain or the hard ones, or mini: 60 that rank models as all do",
        choices=[split.value for split in Split],
    )
    ids: str | None = option("print these trajectories as JSON, and what readers found", "IDS")
    warnings: bool = switch("list what is irregular in the initial configs")
    readings: bool = switch("of what comes along: what readers found, and how far they agree")
    statistics: bool = switch("count what it is like: sizes, mixture, and where it is hard")
    against: str | None = option("with --statistics: another data set beside it", "NAME")
    html: Path | None = option("with --statistics: also write a page with plots", "FILE")


def run(options: Options) -> int:
    """Print a data set's contents, or some of its trajectories."""
    for flag, value in (("--against", options.against), ("--html", options.html)):
        if value is not None and not options.statistics:
            raise DataError(flag, "is for --statistics; add it")
    if options.readings and options.dataset is not None:
        raise DataError("--readings", "is for the data set that comes along; name no other")
    dataset = choose.dataset_named(options.dataset, options.category, note)
    some = choose.trajectories(dataset, None, options.split)
    dataset = replace(dataset, trajectories={trajectory.id: trajectory for trajectory in some})
    if options.readings:
        return _show_readings(dataset)
    if options.statistics:
        others = [options.against] if options.against is not None else []
        more = [choose.dataset_named(name, options.category, note) for name in others]
        return _show_statistics([statistics(each) for each in (dataset, *more)], options.html)
    if options.ids:
        for id in options.ids.split(","):
            say_json(to_json(choose.trajectory(dataset, id.strip())))
        if options.dataset is None:
            _note_standing(dataset, [id.strip() for id in options.ids.split(",")])
        return DONE
    say(table(choose.contents(dataset)))
    problems = choose.irregularities(dataset)
    if options.warnings:
        for id, problem in problems:
            say(f"warning: {id}: {problem}")
    say(
        f"{dataset.name} {dataset.version}, sha256 {dataset.sha256}; "
        f"{len(problems)} irregularities in {len({id for id, _ in problems})} initial configs"
    )
    if options.dataset is None:
        say(f"as read: {summary(standings(dataset.trajectories, read_record()))}")
    return DONE


def _note_standing(dataset: Dataset, ids: Sequence[str]) -> None:
    """Say where trajectories stand, apart from the JSON, which can be read again as it is."""
    chosen = {id: dataset.trajectories[id] for id in ids}
    for standing in standings(chosen, read_record()):
        if standing.entry in chosen:
            for line in standing_lines(standing):
                note(line)


def _show_readings(dataset: Dataset) -> int:
    """Print what readers found, where the entries stand, and how far readers agree."""
    entries = standings(dataset.trajectories, read_record())
    readings = [reading for standing in entries for reading in standing.readings]
    say(table(reader_rows(tallies(readings))), end="\n\n")
    say(table(state_rows(entries)), end="\n\n")
    for agreement in agreements(readings):
        say(agreement.text)
    say(f"as read: {summary(entries)}; {len(changed(entries))} not since their last change")
    return DONE


def _show_statistics(sets: Sequence[Statistics], page: Path | None) -> int:
    """Print the figures of data sets side by side, and write the page where that is wanted."""
    rows = [["", *(found.name for found in sets)]]
    rows += [[figure.name, *(figure.text(found) for found in sets)] for figure in figures_of(sets)]
    say(table(rows))
    for found in sets:
        if found.unplayable:
            note(f"{found.name}: {found.unplayable} entries cannot be played and are left out")
    if page is not None:
        with written(page) as file:
            file.write(statistics_page(sets))
        note(f"wrote {page}")
    return DONE
