"""The command ``turnwise dataset list``: which data sets there are."""

from __future__ import annotations

from dataclasses import dataclass

from runner.commands import DONE
from runner.data import choose
from runner.show.terminal import say, table

EXAMPLE = "turnwise dataset list"


@dataclass(frozen=True, kw_only=True)
class Options:
    """Nothing to choose."""


def run(_: Options) -> int:
    """Print every data set, with its version, size, place and standing."""
    heading = ["data set", "version", "trajectories", "where", "as read"]
    say(table([heading, *choose.known_datasets()]))
    return DONE
