"""The command ``turnwise dataset build``: the four harder categories anew."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runner.commands import DONE
from runner.commands.options import argument, option, positive
from runner.records.files import written
from trajectories.making.build import FOLDER, ITEMS, texts

EXAMPLE = "turnwise dataset build out --size 500"


@dataclass(frozen=True, kw_only=True)
class Options:
    """What to build, from what, and where."""

    folder: Path = argument("where to write them", "FOLDER")
    source: Path = option("base.jsonl and notes.jsonl (default: ours)", "DIR", default=FOLDER)
    size: int = option("items of each kind in long contexts", "N", default=ITEMS, read=positive)
    seed: int | None = option("of the bulk (default: by entry)", "S")


def run(options: Options) -> int:
    """Build the categories and write their files."""
    for path, text in texts(options.source, options.seed, options.size).items():
        with written(options.folder / path.name) as file:
            file.write(text)
        print(options.folder / path.name)
    return DONE
