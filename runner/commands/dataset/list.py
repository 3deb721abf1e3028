"""Command ``turnwise dataset list``: lists the data sets, or the entries of a data set."""

from __future__ import annotations

from dataclasses import dataclass

from runner.commands import DONE
from runner.commands.common_options import JsonOption, note
from runner.commands.options import argument, option
from runner.data import dataset_choice
from runner.show.terminal import cut_to_terminal, say, say_json, table

EXAMPLE = "turnwise dataset list turnwise --category base"

OWN = "turnwise"


@dataclass(frozen=True, kw_only=True)
class Options(JsonOption):
    """Options for the data set."""

    name: str | None = argument(
        f"list the entries of this data set: {OWN}, bfcl, held-back, a file or folder",
        "NAME",
        required=False,
    )
    category: str | None = option("only these categories or suites, separated by commas", "NAMES")


def run(options: Options) -> int:
    """Print all data sets with version, size, folder and review, or the entries of one data set."""
    if options.name is None and options.category is None:
        heading = ["data set", "version", "entries", "where", "reviews"]
        rows = dataset_choice.list_datasets()
        if options.json:
            say_json({"datasets": [dict(zip(heading, row, strict=True)) for row in rows]})
        else:
            say(table([heading, *rows]))
        return DONE
    name = None if options.name == OWN else options.name
    wanted = dataset_choice.parse_categories(options.category or "all,nested", name)
    entries = list(dataset_choice.open_dataset(name, wanted, note).trajectories.values())
    if options.json:
        members = ({"id": e.id, "category": e.category, "asks": e.opening} for e in entries)
        say_json({"entries": [*members]})
        return DONE
    longest = max(len(entry.id) for entry in entries)
    for entry in entries:
        say(cut_to_terminal(f"{entry.id:{longest}}  {entry.opening}"))
    return DONE
