"""The command ``turnwise dataset list``: which data sets there are, or what is in one."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

from envs.state import cut
from runner.commands import DONE
from runner.commands.options import argument, option
from runner.commands.shared import JsonOption, note
from runner.data import choose
from runner.show.terminal import WIDTH, say, say_json, table

EXAMPLE = "turnwise dataset list turnwise --category base"

OWN = "turnwise"
"""What the data set is called that comes along."""


@dataclass(frozen=True, kw_only=True)
class Options(JsonOption):
    """What to list."""

    name: str | None = argument(
        f"list the entries of this data set: {OWN}, bfcl, held-back, a file or folder",
        "NAME",
        required=False,
    )
    category: str | None = option("only these categories or suites, between commas", "NAMES")


def run(options: Options) -> int:
    """Print every data set with its version, size, place and standing; or one's entries."""
    if options.name is None and options.category is None:
        heading = ["data set", "version", "trajectories", "where", "as read"]
        rows = choose.known_datasets()
        if options.json:
            say_json({"datasets": [dict(zip(heading, row, strict=True)) for row in rows]})
        else:
            say(table([heading, *rows]))
        return DONE
    name = None if options.name == OWN else options.name
    wanted = choose.categories(options.category or "all,nested", name)
    entries = list(choose.dataset(name, wanted, note).trajectories.values())
    if options.json:
        members = ({"id": e.id, "category": e.category, "asks": e.opening} for e in entries)
        say_json({"entries": [*members]})
        return DONE
    width = max(WIDTH, shutil.get_terminal_size().columns)
    longest = min(max(len(entry.id) for entry in entries), width // 2)
    for entry in entries:
        say(cut(f"{cut(entry.id, longest):{longest}}  {entry.opening}", width))
    return DONE
