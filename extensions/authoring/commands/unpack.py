"""The command ``turnwise dataset unpack``: the entries that are held back, in clear text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from extensions.authoring.held_back import NAME, NOTE, unpack, unpacked_folder
from runner.commands import DONE
from runner.commands.options import option
from runner.commands.shared import note
from runner.records.files import write_whole
from runner.show.terminal import say

EXAMPLE = "turnwise dataset unpack"


@dataclass(frozen=True, kw_only=True)
class Options:
    """Where to put what is held back."""

    to: Path | None = option(f"a folder (default: the cache, where --dataset {NAME} looks)", "DIR")


def run(options: Options) -> int:
    """Write the held-back entries and the scenarios they are made of, and print where they are."""
    folder = options.to or unpacked_folder()
    # The base comes last: where that is, everything is.
    for name, text in sorted(unpack().items(), reverse=True):
        write_whole(folder / name, [text.encode()])
    note(NOTE)
    say(folder)
    return DONE
