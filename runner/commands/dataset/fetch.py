"""Command ``turnwise dataset fetch``: downloads a data set into the cache."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from envs.errors import DataError
from runner import extension
from runner.commands import DONE
from runner.commands.common_options import note
from runner.commands.options import argument, option
from runner.data import bfcl_download, dataset_choice
from runner.show.terminal import say

EXAMPLE = "turnwise dataset fetch bfcl"


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options for the data set."""

    dataset: str = argument("bfcl, or a data set of an extension, such as tau2", "NAME")
    source: Path | None = option(
        "checkout or archive to use instead of a download", "PATH", flags=("--from",)
    )


def run(options: Options) -> int:
    """Download the data unless it is cached, and print its folder."""
    if options.dataset == "bfcl":
        if options.source is not None:
            raise DataError(
                "--from", "`bfcl` is always downloaded; for a folder, use --dataset bfcl:FOLDER"
            )
        dataset_choice.find_bfcl_folder(options.dataset, note)
        # A cache of an earlier version may lack texts that live runs need.
        say(bfcl_download.fetch())
        return DONE
    for each in extension.load_extensions().values():
        folder = each.fetch(options.dataset, options.source, note)
        if folder is not None:
            say(folder)
            return DONE
    raise DataError("NAME", f"{options.dataset!r:.80} cannot be fetched; use `bfcl` or `tau2`")
