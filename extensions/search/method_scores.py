"""Scores and costs of search methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from checkers.statistics import compare
from extensions.search.record import SearchRecord, search_of
from runner.analysis.figure_lines import format_interval, format_p_value, format_percent
from runner.analysis.figures import RunFigures
from runner.analysis.variant_table import pair_entries
from runner.records.episode_record import EpisodeRecord
from runner.show.terminal import table
from trajectories.schema import Trajectory

HEADING = ("method", "entries", "passed", "score", "95%", "requests", "steps", "undone", "cut")


class MethodEpisodes(NamedTuple):
    """Episodes that one method ran for one entry."""

    attempts: Sequence[EpisodeRecord]
    """Episodes in the order of their execution; at least one."""

    @property
    def deciding(self) -> EpisodeRecord:
        """Episode that decides the verdict.

        The first passed episode decides. If no episode passed, the last judged episode decides. If
        no episode was judged, the first episode decides.
        """
        judged = [each for each in self.attempts if each.verdict is not None]
        passed = [each for each in judged if each.outcome == "passed"]
        return (passed or judged[::-1] or [*self.attempts])[0]

    @property
    def effort(self) -> list[SearchRecord]:
        """Cost of each episode."""
        return [made for each in self.attempts if (made := search_of(each)) is not None]

    @property
    def exhausted(self) -> bool:
        """Whether the episode that decides the verdict used up the search budget."""
        search = search_of(self.deciding)
        return search is not None and search.exhausted

    def to_json(self) -> dict[str, Any]:
        """Return the outcome of the entry as one flat JSON object."""
        line = self.deciding.verdict_line()
        if self.deciding.verdict is None:
            return line
        more = {"attempts": len(self.attempts)} if len(self.attempts) > 1 else {}
        used = {
            "model_calls": sum(each.requests for each in self.effort),
            "nodes": sum(each.steps for each in self.effort),
            "undone": sum(each.undone for each in self.effort),
        }
        return {**line, **used, **more}


class SearchMethod:
    """A search method, with the outcomes of all its episodes.

    An entry can have several trials.
    """

    def __init__(
        self, name: str, records: Sequence[EpisodeRecord], trajectories: Sequence[Trajectory]
    ) -> None:
        self.name = name
        self._planned = trajectories
        found: dict[str, list[EpisodeRecord]] = {entry.id: [] for entry in trajectories}
        for record in sorted(records, key=lambda record: record.trial):
            found.setdefault(record.id, []).append(record)
        self.entries = [MethodEpisodes(attempts) for attempts in found.values() if attempts]

    @cached_property
    def judged(self) -> list[MethodEpisodes]:
        """Entries that have a verdict."""
        return [entry for entry in self.entries if entry.deciding.verdict is not None]

    @property
    def passed(self) -> int:
        """Number of passed entries."""
        return sum(entry.deciding.outcome == "passed" for entry in self.judged)

    def to_json(self) -> dict[str, Any]:
        """Return the method's metrics as a JSON object."""
        effort = [each for entry in self.judged for each in entry.effort]
        count, rate = len(self.judged), self.figures.overall
        return {
            "method": self.name,
            "entries": count,
            "passed": self.passed,
            "score": rate and rate.value,
            "interval": rate and rate.interval,
            "attempts": sum(len(entry.attempts) for entry in self.judged),
            "requests": sum(each.requests for each in effort),
            "steps": sum(each.steps for each in effort),
            "undone": sum(each.undone for each in effort),
            "cut": sum(entry.exhausted for entry in self.judged),
            "errors": len(self.entries) - count,
        }

    def cells(self) -> list[str]:
        """Return the search method's table cells, in the order of ``HEADING``."""
        found, count = self.to_json(), max(1, len(self.judged))
        low, high = found["interval"] or (0.0, 1.0)
        return [
            self.name,
            str(found["entries"]),
            str(found["passed"]),
            format_percent(found["score"]),
            format_interval((low, high)),
            *(f"{found[name] / count:.1f}" for name in ("requests", "steps", "undone")),
            str(found["cut"]),
        ]

    @property
    def figures(self) -> RunFigures:
        """Metrics for comparisons, with one episode per entry."""
        deciding = [entry.deciding._replace(trial=0) for entry in self.judged]
        return RunFigures(deciding, self._planned)


def search_lines(methods: Sequence[SearchMethod]) -> Iterator[str]:
    """Yield the table of search methods; requests and steps are sums over all episodes."""
    yield table([[*HEADING], *(method.cells() for method in methods)])


def difference_lines(methods: Sequence[SearchMethod]) -> Iterator[str]:
    """Yield the paired differences between the last method and every earlier method."""
    *others, last = methods
    for other in others:
        pairs = pair_entries(other.figures, last.figures)
        if pairs:
            run = compare(pairs)
            low, high = (100 * bound for bound in run.interval)
            yield (
                f"{last.name} less {other.name}: {100 * run.difference:+.1f} points, 95% "
                f"{low:+.1f} to {high:+.1f}, p {format_p_value(run.p_value, relation=True)}"
            )
