"""What extensions add to the pages on a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from runner import extension
from runner.analysis.report.bounds import Bounds
from runner.analysis.runs import Viewed, ViewedRun
from runner.analysis.writing import Json


class PageCard(NamedTuple):
    """A card of the overview: a table of labels and texts."""

    title: str
    rows: Sequence[tuple[str, str]]


class PagePart:
    """What an extension adds to the page on a run. Subclasses override what they add."""

    def cards(self) -> Sequence[PageCard]:
        """Return cards of the overview."""
        return ()

    def about(self) -> Json:
        """Return members of what the page knows of the run."""
        return {}

    def row(self, episode: Viewed) -> Json:
        """Return members of an episode's row in the list."""
        return {}

    def card(self, episode: Viewed, bounds: Bounds) -> Json:
        """Return members of what the page shows of an episode, as far as there is room."""
        return {}


def parts_of(run: ViewedRun) -> list[PagePart]:
    """Return what extensions add to the page on a run.

    Raises:
        DataError: Something beside the run cannot be read.
    """
    found = [each.page_part(run) for each in extension.extensions().values()]
    return [part for part in found if part is not None]
