"""Command ``turnwise dataset unpack``: writes the held-back entries as plain text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from extensions.authoring.held_back import NAME, NOTE, unpack, unpacked_folder
from runner.commands import DONE
from runner.commands.common_options import note
from runner.commands.options import option
from runner.records.durable_files import write_files
from runner.show.terminal import say

EXAMPLE = "turnwise dataset unpack"


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options for the output folder."""

    to: Path | None = option(
        f"output folder (default: the cache, where --dataset {NAME} finds it)", "DIR"
    )


def run(options: Options) -> int:
    """Write the held-back entries with their scenarios, and print the folder."""
    folder = options.to or unpacked_folder()
    # The base appears last; if it exists, all files do.
    write_files({folder / name: [text.encode()] for name, text in sorted(unpack().items())})
    note(NOTE)
    say(folder)
    return DONE
