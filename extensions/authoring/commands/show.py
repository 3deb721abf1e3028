"""Command ``turnwise dataset show``: shows the contents of a data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from envs.errors import DataError
from extensions.authoring.author.entry_file import EntryFile
from extensions.authoring.review_lines import (
    describe_status,
    make_agreement_rows,
    make_reviewer_rows,
    make_state_rows,
)
from extensions.authoring.review_status import (
    EntryReviewStatus,
    changed,
    compute_agreements,
    compute_statuses,
    read_record,
    summary,
    tallies,
)
from extensions.authoring.statistics import Statistics, select_figures, statistics
from extensions.authoring.statistics_page import statistics_page
from runner.commands import DONE
from runner.commands.common_options import note, write_pages
from runner.commands.options import argument, option, switch
from runner.data import dataset_choice
from runner.records.durable_files import check_writable
from runner.show.terminal import say, say_json, table
from trajectories.dataset import Dataset
from trajectories.record_validation import to_json
from trajectories.schema import Category, Subset, Trajectory

EXAMPLE = "turnwise dataset show --category base"


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options for the data set and the entries to show."""

    dataset: str | None = argument(
        "bfcl, bfcl:FOLDER, held-back, or a file or folder (default: built-in)",
        "NAME",
        required=False,
    )
    category: str | None = option("only these categories or suites, separated by commas", "NAMES")
    subset: str | None = option(
        "plain, hard, expert or mini (60 fixed entries)",
        choices=[subset.value for subset in Subset],
    )
    ids: str | None = option("print these entries as JSON, with their reviews", "IDS")
    warnings: bool = switch("list irregularities of the initial configs")
    readings: bool = switch(
        "show the reviews of the built-in entries, and how often reviewers agree"
    )
    statistics: bool = switch("show statistics: sizes, mixture and difficulty")
    against: str | None = option(
        "with --statistics: second data set, for a comparison", "NAME", needs="--statistics"
    )
    html: Path | None = option(
        "with --statistics: also write an HTML page with plots", "FILE", needs="--statistics"
    )


def run(options: Options) -> int:
    """Print the contents of a data set, or some of its entries."""
    check_writable(options.html)
    if options.readings and options.dataset is not None:
        raise DataError("--readings", "is for the built-in data set; leave NAME out")
    dataset = dataset_choice.load_named(options.dataset, options.category, note)
    some = dataset_choice.list_entries(dataset, None, options.subset)
    dataset = replace(dataset, trajectories={trajectory.id: trajectory for trajectory in some})
    if options.readings:
        return _show_readings(dataset)
    if options.statistics:
        others = [options.against] if options.against is not None else []
        more = [dataset_choice.load_named(name, options.category, note) for name in others]
        return _show_statistics([statistics(each) for each in (dataset, *more)], options.html)
    if options.ids:
        chosen: dict[str, Trajectory] = {}
        for id in options.ids.split(","):
            entry = dataset_choice.get_entry(dataset, id.strip())
            chosen[entry.id] = entry
            say_json(to_json(entry))
        known = compute_statuses(chosen, read_record()) if options.dataset is None else ()
        # To standard error, because standard output is JSON.
        for status in (*known, *_file_statuses(options.dataset, dataset)):
            for line in describe_status(status) if status.entry in chosen else ():
                note(line)
        return DONE
    say(table(count_contents(dataset)))
    problems = dataset_choice.find_irregularities(dataset)
    if options.warnings:
        for id, problem in problems:
            say(f"warning: {id}: {problem}")
    say(
        f"{dataset.name} {dataset.version}, sha256 {dataset.sha256}; "
        f"{len(problems)} irregularities in {len({id for id, _ in problems})} initial configs"
    )
    if options.dataset is None:
        say(f"reviews: {summary(compute_statuses(dataset.trajectories, read_record()))}")
    elif statuses := _file_statuses(options.dataset, dataset):
        say(f"reviews: {summary(statuses)}; {len(changed(statuses))} changed since their review")
    return DONE


def _file_statuses(name: str | None, dataset: Dataset) -> list[EntryReviewStatus]:
    """Return the review status of a data file's entries, or [] if nobody has reviewed them."""
    if name is None or not Path(name).is_file():
        return []
    file = EntryFile(Path(name))
    found = [*file.statuses(dataset.trajectories).values()] if file.folder.is_dir() else []
    return found if any(status.readings for status in found) else []


def _show_readings(dataset: Dataset) -> int:
    entries = compute_statuses(dataset.trajectories, read_record())
    readings = [reading for standing in entries for reading in standing.readings]
    say(table(make_reviewer_rows(tallies(readings))), end="\n\n")
    say(table(make_state_rows(entries)), end="\n\n")
    say(table(make_agreement_rows(compute_agreements(readings))), end="\n\n")
    say(
        f"reviews: {summary(entries)}; {len(changed(entries))} entries changed since their "
        "last review"
    )
    return DONE


def _show_statistics(sets: Sequence[Statistics], page: Path | None) -> int:
    rows = [["", *(found.name for found in sets)]]
    rows += [
        [figure.name, *(figure.text(found) for found in sets)] for figure in select_figures(sets)
    ]
    say(table(rows))
    for found in sets:
        if found.unplayable:
            note(f"{found.name}: skipped {found.unplayable} entries that cannot be executed")
    write_pages((page, partial(statistics_page, sets)))
    return DONE


def count_contents(data: Dataset) -> list[list[str]]:
    """Return table rows: a heading, and the numbers of entries, turns and calls per category."""
    rows = [["category", "entries", "turns", "ground-truth calls"]]
    for category in Category:
        found = [t for t in data.trajectories.values() if t.category is category]
        turns = sum(len(t.turns) for t in found)
        calls = sum(t.known_calls for t in found)
        if found:
            rows.append([category, str(len(found)), str(turns), str(calls)])
    return rows
