"""Steps of several runs of one trajectory side by side; the first difference is marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import zip_longest
from textwrap import TextWrapper
from typing import NamedTuple

from checkers.causes.trace import TracedCall
from envs.state import cut
from runner.analysis.episode_output import Json, executed
from runner.analysis.episode_view import TurnView, view
from runner.episodes.rejudged_episode import RejudgedMultiTurn
from runner.records.episode_record import call_text
from runner.show.terminal import OutputLine, Tone, cut_to_terminal, escape_unprintable

MAX_RUNS = 5

_LABEL = 10
"""Width of the label before the columns, in characters."""
_GAP = "  "
_MAX_CELL_CHARS = 120


class AlignedRun(NamedTuple):
    """One run of the trajectory."""

    name: str
    examined: RejudgedMultiTurn

    @property
    def summary(self) -> str:
        """The verdict in one line."""
        verdict = self.examined.verdict
        turns = f"{verdict.turns_passed} of {verdict.turns} turns"
        return f"passed: {turns}" if verdict.valid else f"FAILED: {turns} passed"


class AlignedRow(NamedTuple):
    """One step in all runs."""

    turn: int
    step: int
    cells: tuple[tuple[TracedCall, ...] | None, ...]
    """Calls of each run in this step; None if the run has fewer steps."""

    def agree(self, one: int, other: int) -> bool:
        """Tell whether two runs have the same calls, results and states in this step."""
        ours, theirs = self.cells[one], self.cells[other]
        if ours is None or theirs is None:
            return ours is theirs
        return len(ours) == len(theirs) and all(
            (call_text(one.call), one.result.text) == (call_text(two.call), two.result.text)
            and one.after == two.after
            for one, two in zip(ours, theirs, strict=True)
        )


class AlignedTurn(NamedTuple):
    """One turn in all runs."""

    views: tuple[TurnView, ...]
    """View of the turn in each run."""
    rows: tuple[AlignedRow, ...]


class AlignedEpisodes(NamedTuple):
    """Aligned runs of one trajectory."""

    columns: tuple[AlignedRun, ...]
    turns: tuple[AlignedTurn, ...]

    def parting(self, one: int, other: int) -> AlignedRow | None:
        """Return the first step at which two runs differ, or None."""
        rows = (row for turn in self.turns for row in turn.rows)
        return next((row for row in rows if not row.agree(one, other)), None)

    @property
    def first_parting(self) -> AlignedRow | None:
        """First step that differs between the runs; None if all steps are equal."""
        found = filter(None, (self.parting(0, other) for other in range(1, len(self.columns))))
        return min(found, key=lambda row: row[:2], default=None)


def align(columns: Sequence[AlignedRun]) -> AlignedEpisodes:
    """Align two or more runs of one trajectory."""
    turns = []
    for views in zip(*[view(column.examined) for column in columns], strict=True):
        steps = zip_longest(*[turn.model.steps if turn.model else () for turn in views])
        rows = [AlignedRow(views[0].number, step, cells) for step, cells in enumerate(steps)]
        turns.append(AlignedTurn(views, tuple(rows)))
    return AlignedEpisodes(tuple(columns), tuple(turns))


def lines(alignment: AlignedEpisodes, width: int) -> Iterator[OutputLine]:
    """Yield the lines of aligned runs; ``width`` is the maximum width, and must be 80 or more.

    A step that is equal in all runs is shown once.
    """
    columns = alignment.columns
    trajectory = columns[0].examined.trajectory
    yield OutputLine(
        f"{trajectory.id} ({trajectory.category}; {', '.join(trajectory.environments)})"
    )
    for letter, column in zip(_letters(columns), columns, strict=True):
        yield OutputLine(f"  {letter}  {column.name}: {column.summary}")
        if column.examined.diagnosis:
            # Not wrapped here: the terminal wraps the sentence.
            yield OutputLine(f"     cause: {column.examined.diagnosis.sentence}")
    if columns[0].examined.data_error:
        yield OutputLine(f"  {columns[0].examined.data_error}")
    yield from _parting_lines(alignment)
    parting = alignment.first_parting
    for turn in alignment.turns:
        yield OutputLine("")
        yield OutputLine(f"turn {turn.views[0].number + 1}", "strong")
        for message in turn.views[0].asked.messages:
            yield OutputLine(
                cut_to_terminal(escape_unprintable(f"  {message.role}: {message.content}"), width)
            )
        if any(not _is_identical(row) for row in turn.rows):
            yield from _cells("", [[letter] for letter in _letters(columns)], width, "faint")
        for row in turn.rows:
            yield from _row_lines(row, width, parts=row is parting)
        yield from _end_lines(turn, width)


def document(alignment: AlignedEpisodes) -> Json:
    """Return aligned runs as a JSON object; see ``runner/README.md``."""
    columns = alignment.columns
    partings = [alignment.parting(0, other) for other in range(len(columns))]
    first, *from_first = [
        row and {"turn": row.turn, "step": row.step} for row in (alignment.first_parting, *partings)
    ]
    return {
        "id": columns[0].examined.trajectory.id,
        "data_error": columns[0].examined.data_error,
        "runs": [
            {
                "name": name,
                "trial": examined.recorded.trial if examined.recorded else None,
                "verdict": examined.verdict.to_json(),
                "diagnosis": examined.diagnosis and examined.diagnosis.to_json(),
            }
            for name, examined in columns
        ],
        "parts": first,
        "parts_from_first": from_first,
        "turns": [_turn_json(turn) for turn in alignment.turns],
    }


def _letters(columns: Sequence[AlignedRun]) -> str:
    return "ABCDE"[: len(columns)]


def _parting_lines(alignment: AlignedEpisodes) -> Iterator[OutputLine]:
    letters = _letters(alignment.columns)
    for index, letter in enumerate(letters[1:], start=1):
        row = alignment.parting(0, index)
        if row is None:
            yield OutputLine(f"A and {letter} are identical in every step")
        else:
            yield OutputLine(
                f"A and {letter} first differ in turn {row.turn + 1}, step {row.step + 1}", "bad"
            )


def _is_identical(row: AlignedRow) -> bool:
    return all(row.agree(0, other) for other in range(1, len(row.cells)))


def _row_lines(row: AlignedRow, width: int, *, parts: bool) -> Iterator[OutputLine]:
    label = f"{'>' if parts else ' '} step {row.step + 1}"
    texts = [_texts(cell) for cell in (row.cells[:1] if _is_identical(row) else row.cells)]
    if len(texts) > 1 and all(text == texts[0] for text in texts):
        texts = [[*text, "(states differ)"] for text in texts]
    yield from _cells(label, texts, width, "bad" if parts else "plain")


def _texts(calls: Sequence[TracedCall] | None) -> list[str]:
    if calls is None:
        return ["-"]
    texts = []
    for traced in calls:
        arrow = "->" if traced.result.ok else "-> refused:"
        texts += [call_text(traced.call), f"{arrow} {traced.result.observation}"]
    return texts


def _end_lines(turn: AlignedTurn, width: int) -> Iterator[OutputLine]:
    states = [_describe_state(view) for view in turn.views]
    shown = states[:1] if len(set(states)) == 1 else states
    yield from _cells("  end", [[state] for state in shown], width, "faint")


def _describe_state(turn: TurnView) -> str:
    if turn.model is None:
        return "not reached"
    wrong = len(turn.differences)
    differences = "1 difference" if wrong == 1 else f"{wrong} differences"
    return f"state: {differences} from ground truth" if wrong else "state: same as ground truth"


def _cells(
    label: str, texts: Sequence[Sequence[str]], width: int, tone: Tone
) -> Iterator[OutputLine]:
    share = (width - _LABEL - len(_GAP) * (len(texts) - 1)) // len(texts)
    wrapper = TextWrapper(share, subsequent_indent="  ", break_on_hyphens=False)
    cells = [
        [
            part
            for text in cell
            for part in wrapper.wrap(escape_unprintable(cut(text, _MAX_CELL_CHARS)))
        ]
        for cell in texts
    ]
    for parts in zip_longest(*cells, fillvalue=""):
        columns = _GAP.join([part.ljust(share) for part in parts])
        yield OutputLine(f"{label:{_LABEL}}{columns}".rstrip(), tone)
        label = ""


def _turn_json(turn: AlignedTurn) -> Json:
    steps = [[cell and [*map(executed, cell)] for cell in row.cells] for row in turn.rows]
    return {
        "turn": turn.views[0].number,
        "messages": [asdict(message) for message in turn.views[0].asked.messages],
        "steps": [
            {"step": row.step, "alike": _is_identical(row), "runs": runs}
            for row, runs in zip(turn.rows, steps, strict=True)
        ],
        "ends": [
            run.model
            and {
                "answer": run.closing,
                "differences": [each.to_json() for each in run.differences],
            }
            for run in turn.views
        ],
    }
