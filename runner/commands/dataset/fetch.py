"""The command ``turnwise dataset fetch``: a data set into the cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from runner.commands import DONE
from runner.commands.options import argument
from runner.commands.shared import note
from runner.data import choose, fetch
from runner.show.terminal import say

EXAMPLE = "turnwise dataset fetch bfcl"


@dataclass(frozen=True, kw_only=True)
class Options:
    """What to fetch."""

    dataset: Literal["bfcl"] = argument("bfcl", "NAME")


def run(options: Options) -> int:
    """Download the data unless it is there, and print where it is."""
    choose.bfcl_folder(options.dataset, note)
    # An earlier version may have left out what a live run needs.
    say(fetch.fetch())
    return DONE
