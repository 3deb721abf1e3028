"""View of a search tree: tried steps, undone steps and cost."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from envs.state import cut
from extensions.search.record import SearchRecord, search_of
from runner.analysis.episode_output import Json
from runner.analysis.figures import StepUsage, UsageTotals, totals_of
from runner.analysis.replayed_runs import ReplayedEpisode
from runner.analysis.report.page_parts import PagePart
from runner.analysis.report.value_bounds import ValueBounds
from runner.records.episode_record import EpisodeRecord, ReplyRecord, StepRecord
from runner.show.terminal import OutputLine, Tone

_MIN_POINTS = 60
"""A page shows at least this number of answers per search, even if the run is large."""
_WIDTH = 160
"""Maximum characters of a shown answer or result."""
_MAX_DEPTH = 12
"""Maximum depth of indented branches."""
_MARKS: dict[str, tuple[str, Tone]] = {
    "stands": ("+", "plain"),
    "undone": ("-", "faint"),
    "given_up": ("^", "new"),
}


class TreePoint(NamedTuple):
    """One answer of a search."""

    number: int
    parent: int | None
    depth: int
    """Indentation level in the printed tree."""
    became: Literal["stands", "undone", "given_up"]
    step: StepRecord

    @property
    def said(self) -> str:
        """Calls of the answer, or the text of an answer without calls."""
        if self.step.calls:
            return "; ".join(self.step.calls)
        return _words(self.step.reply)

    def to_json(self) -> dict[str, Any]:
        """Return the answer as a JSON object."""
        return {
            "number": self.number,
            "parent": self.parent,
            "depth": self.depth,
            "turn": self.step.turn,
            "became": self.became,
            "said": self.said,
            "results": [*self.step.results],
        }


class SearchView(NamedTuple):
    """View of a search, with its totals and all answers in order."""

    record: SearchRecord
    points: Sequence[TreePoint]
    totals: UsageTotals

    @property
    def summary(self) -> str:
        """Usage of the search in one line."""
        made = self.record
        undone = sum(point.became != "stands" for point in self.points)
        parts = [
            f"{made.requests} of at most {made.most_requests} requests",
            f"{made.steps} of {made.most_steps} steps",
            f"{_counted(made.undone, 'branch', 'branches')} abandoned or finished",
            f"{_counted(undone, 'answer', 'answers')} undone",
        ]
        if self.totals.prompt_tokens and self.totals.completion_tokens:
            spent = f"{self.totals.prompt_tokens} tokens in, {self.totals.completion_tokens} out"
            parts.append(spent)
        if self.totals.cost:
            parts.append(f"${self.totals.cost:.4f}")
        if made.exhausted:
            parts.append("budget exhausted")
        return "; ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Return the search as a JSON object."""
        made = self.record._asdict()
        used = ("requests", "most_requests", "steps", "most_steps", "undone", "exhausted")
        return {
            **{name: made[name] for name in used},
            "prompt_tokens": self.totals.prompt_tokens,
            "completion_tokens": self.totals.completion_tokens,
            "cost": self.totals.cost,
            "tree": [point.to_json() for point in self.points],
        }

    def lines(self, turn: int | None = None) -> Iterator[OutputLine]:
        """Yield the search, or one of its turns, as lines of text."""
        yield OutputLine("")
        yield OutputLine(f"search: {self.summary}", "strong")
        yield OutputLine("  + kept step, - undone step, ^ end of an abandoned branch", "faint")
        before = None
        for point in self.points:
            number = point.step.turn
            if turn is not None and number != turn:
                continue
            if number != before:
                yield OutputLine(f"  turn {number + 1}")
                before = number
            yield from _point_lines(point)


class SearchTreePagePart(PagePart):
    """Part of the report with the tree of each episode."""

    def card(self, episode: ReplayedEpisode, bounds: ValueBounds) -> Json:
        """Return the search's token usage and tree; ``bounds`` limits the size of the tree."""
        searched = view_of(episode.recorded.record)
        return {"search": _search_json(searched, bounds)} if searched else {}


def _search_json(searched: SearchView, bounds: ValueBounds) -> Json:
    points = searched.points[: max(bounds.members, _MIN_POINTS)]
    tree = [
        {
            "number": point.number,
            "turn": point.step.turn,
            "depth": min(point.depth, _MAX_DEPTH),
            "became": point.became,
            "said": bounds.cut(point.said),
            # Those of what stands are in the turns.
            "results": [bounds.cut(text) for text in point.step.results[: bounds.members]]
            if point.became == "undone"
            else [],
        }
        for point in points
    ]
    left = len(searched.points) - len(points)
    return {"summary": searched.summary, "tree": tree, "left": left}


class AnswerUsage(NamedTuple):
    """Token usage of an answer. If the answer was kept, ``step`` is None."""

    step: StepUsage | None = None


class UsageByAnswer(NamedTuple):
    """Token usage in a search record."""

    tree: Sequence[AnswerUsage] = ()


def view_of(record: EpisodeRecord) -> SearchView | None:
    """Return the view of the search in an episode; None without a search."""
    search = search_of(record)
    if search is None:
        return None
    steps = list(search.all_steps(record.steps))
    children = Counter(tried.parent for tried in search.tree)
    points: list[TreePoint] = []
    # Of several answers after the same one the last goes on; those before it are branches.
    for number, (tried, step) in enumerate(zip(search.tree, steps, strict=True)):
        above = points[tried.parent].depth if tried.parent is not None else 0
        children[tried.parent] -= 1
        depth = above + (children[tried.parent] > 0)
        points.append(TreePoint(number, tried.parent, depth, tried.became, step))
    return SearchView(search, points, totals_of([record]))


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _point_lines(point: TreePoint) -> Iterator[OutputLine]:
    mark, tone = _MARKS[point.became]
    indent = "  " * min(point.depth, _MAX_DEPTH)
    yield OutputLine(f"  {point.number:>4}  {indent}{mark} {cut(point.said, _WIDTH)}", tone)
    if point.became == "undone":
        for result in point.step.results:
            yield OutputLine(f"        {indent}  -> {cut(result, _WIDTH)}", tone)


def _words(reply: ReplyRecord) -> str:
    """Return the text of an answer, or the first call of an answer without text."""
    if reply.text:
        return reply.text
    for call in reply.tool_calls:
        given = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
        return f"{call.name}({given})"
    return "(empty answer)"
