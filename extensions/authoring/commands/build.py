"""Command ``turnwise dataset build``: builds a data set from scenarios."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from envs.errors import DataError
from extensions.authoring.making.build import texts
from extensions.authoring.making.scenarios import SCENARIOS, read_scenarios
from extensions.authoring.review_status import RECORD
from runner.commands import DONE
from runner.commands.options import argument, index, option, positive
from runner.records.durable_files import write_files
from runner.show.terminal import say

EXAMPLE = "turnwise dataset build out --chars 100000"


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options for the scenarios and the output folder."""

    folder: Path = argument("folder for the entries", "FOLDER")
    source: Path = option(
        "folder of scenarios NAME.json (default: the built-in ones)", "DIR", default=SCENARIOS
    )
    chars: int | None = option(
        "total characters of results per long-context entry (default: 24000 or 60000)",
        "N",
        read=positive,
    )
    seed: int | None = option("seed of long contexts (default: one per entry)", "S", read=index)


def run(options: Options) -> int:
    """Build the categories and write their files."""
    if not options.folder.is_dir():
        raise DataError(str(options.folder), "is not a folder; create it first")
    # Withdrawn entries of the built-in scenarios are left out.
    record = RECORD if options.source == SCENARIOS else None
    made = texts(read_scenarios(options.source), options.seed, options.chars, record)
    files = {options.folder / name: map(str.encode, [text]) for name, text in made.items()}
    write_files(files, named=True)
    for path in files:
        say(path)
    return DONE
