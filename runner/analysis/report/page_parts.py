"""Interface for the parts that extensions add to the page of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from runner import extension
from runner.analysis.episode_output import Json
from runner.analysis.replayed_runs import ReplayedEpisode, ReplayedRun
from runner.analysis.report.value_bounds import ValueBounds
from runner.records.episode_record import EpisodeRecord
from trajectories.schema import Trajectory


class PageCard(NamedTuple):
    """Card of the overview: a table of labels and values."""

    title: str
    rows: Sequence[tuple[str, str]]


class EpisodeOutline(NamedTuple):
    """What the list of episodes shows of an episode; it stays in memory."""

    trajectory: Trajectory
    record: EpisodeRecord
    """New record with shortened steps."""
    row: Json


class PagePart:
    """Base class for the additions of an extension to the page of a run.

    Each episode is executed once and then dropped: ``row``, then ``card``. ``cards`` and ``about``
    are called after the last episode.
    """

    def cards(self) -> Sequence[PageCard]:
        """Return cards for the overview."""
        return ()

    def about(self) -> Json:
        """Return additional fields of the run's data."""
        return {}

    def row(self, episode: EpisodeOutline) -> Json:
        """Return additional fields for the episode in the list of episodes."""
        return {}

    def card(self, episode: ReplayedEpisode, bounds: ValueBounds) -> Json:
        """Return additional fields for an episode; values longer than ``bounds`` are cut."""
        return {}


def parts_of(run: ReplayedRun) -> list[PagePart]:
    """Return the page parts that all extensions add for a run.

    Raises DataError if a file in the run folder cannot be read.
    """
    found = [each.page_part(run) for each in extension.load_extensions().values()]
    return [part for part in found if part is not None]
