"""Command ``turnwise dataset fetch``: downloads a data set into the cache."""

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
    """The data set."""

    dataset: Literal["bfcl"] = argument("bfcl", "NAME")


def run(options: Options) -> int:
    """Download the data unless it is cached, and print its folder."""
    choose.bfcl_folder(options.dataset, note)
    # A cache of an earlier version may lack texts that live runs need.
    say(fetch.fetch())
    return DONE
