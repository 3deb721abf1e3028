"""Debugger for single-turn entries: compares calls with expected calls and judges edited calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static

from envs.state import cut
from extensions.debugger import views
from extensions.debugger.widgets import InputPrompt, PaneScreen
from runner.analysis.episode_output import answer_ending, answered_lines, asked_lines, pair_lines
from runner.episodes.offline import examine_recorded
from runner.episodes.rejudged_episode import RejudgedSingleTurn
from runner.records.episode_record import EpisodeRecord, RecordedEpisode, call_text
from runner.show.terminal import OutputLine, escape_unprintable

HELP = """\
j k  down up    next, previous part
home end        first, last part
/  n N          search the parts; next, previous match
tab             switch between list and right pane; arrows
                scroll the right pane

e               edit the answer and judge it
x               restore the recorded answer

✓ ✗             call is right, call is wrong
q               quit; escape, ? or q closes this help"""

_FAR = 1_000
"""The keys Home and End move the list by this many rows. No entry has more rows."""
_MAX_CHARS = 20_000
_TONES = {"good": "$text-success", "bad": "$text-error", "strong": "bold", "faint": "dim"}


class AnswerRow(NamedTuple):
    """A row of the list with its detail lines."""

    row: OutputLine
    lines: tuple[OutputLine, ...]


def parts(examined: RejudgedSingleTurn) -> Iterator[AnswerRow]:
    """Yield the rows: the question, every call, the answer's text, the verdict."""
    yield AnswerRow(OutputLine("question", "strong"), tuple(asked_lines(examined)))
    for pair in examined.paired.pairs:
        called = f"missing: {pair.expected}" if pair.call is None else call_text(pair.call)
        row = (
            OutputLine(f"✗ {called}", "bad") if pair.problem else OutputLine(f"✓ {called}", "good")
        )
        yield AnswerRow(row, tuple(pair_lines(pair, _MAX_CHARS)))
    if said := tuple(answered_lines(examined)):
        yield AnswerRow(OutputLine("text"), said)
    ending = tuple(answer_ending(examined))
    yield AnswerRow(
        OutputLine(f"verdict: {'passed' if examined.verdict.valid else 'FAILED'}"), ending
    )


def tried(examined: RejudgedSingleTurn, answer: str) -> RejudgedSingleTurn:
    """Judge an edited answer: a list of calls in the entry's language.

    Raises UnjudgeableEntry if the entry cannot be judged.
    """
    record = EpisodeRecord(examined.trajectory.id, 0, "", None, None, None, result=[[answer]])
    found = examine_recorded(
        examined.prepared, RecordedEpisode(record, "prompt"), examined.profile, 1
    )
    assert isinstance(found, RejudgedSingleTurn)
    return found


class SingleTurnDebugger(PaneScreen):
    """Application that shows an answer with its verdict and judges edited answers."""

    KEYS = HELP
    FAR_ACTIONS = ((-_FAR,), (_FAR,))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "move(1)", "part", key_display="j/k"),
        Binding("k", "move(-1)", show=False),
        Binding("home", f"move({-_FAR})", show=False, priority=True),
        Binding("end", f"move({_FAR})", show=False, priority=True),
        Binding("slash", "search", "search", key_display="/"),
        Binding("n", "search_on(1)", "match", key_display="n/N"),
        Binding("N", "search_on(-1)", show=False),
        Binding("e", "edit", "edit"),
        Binding("x", "drop", "recorded"),
        Binding("question_mark", "help", "help", key_display="?"),
        Binding("q,ctrl+c", "quit", "quit", key_display="q"),
    ]

    def __init__(self, examined: RejudgedSingleTurn, source: str) -> None:
        super().__init__()
        self.recorded = self.examined = examined
        self.cursor = 0
        self.wanted = ""
        self._source = source
        self._parts: Sequence[AnswerRow] = [*parts(examined)]

    def compose_right(self) -> ComposeResult:
        """Create the text pane."""
        with VerticalScroll(id="views"):
            yield Static(id="text")

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the selected row."""
        self.cursor = event.option_index
        self._draw_part()

    def action_move(self, by: int) -> None:
        """Move by a number of rows."""
        self.cursor = min(max(self.cursor + by, 0), len(self._parts) - 1)
        self.draw()

    def action_search(self) -> None:
        """Prompt for a search string and go to its first match."""

        def search(text: str | None) -> None:
            self.wanted = text or self.wanted
            self._find(self.cursor, 1)

        self.push_screen(InputPrompt("search"), search)

    def action_search_on(self, by: int) -> None:
        """Go to the next or previous match."""
        self._find(self.cursor + by, by)

    def action_edit(self) -> None:
        """Ask for an edited answer, and judge the new answer."""
        calls = [pair.call for pair in self.examined.paired.pairs if pair.call is not None]

        def judge(text: str | None) -> None:
            if text is not None:
                self._show(tried(self.examined, text), f"judged: {text}")

        question = "answer to judge: a list of calls, or plain text"
        self.push_screen(InputPrompt(question, f"[{', '.join(map(str, calls))}]"), judge)

    def action_drop(self) -> None:
        """Restore the recorded answer."""
        self._show(self.recorded, "recorded answer restored")

    def _show(self, examined: RejudgedSingleTurn, said: str) -> None:
        self.examined, self._parts = examined, [*parts(examined)]
        self.cursor = len(self._parts) - 1
        self.draw(said)

    def _find(self, start: int, by: int) -> None:
        wanted, count = self.wanted.casefold(), len(self._parts)
        for index in ((start + by * offset) % count for offset in range(count)):
            lines = self._parts[index].lines
            if wanted and any(wanted in line.text.casefold() for line in lines):
                self.cursor = index
                self.draw()
                return
        self.draw(f"No match for {cut(self.wanted, 40)!r}." if wanted else "Press / to search.")

    def draw(self, said: str = "") -> None:
        """Redraw the screen, with a message in the status line."""
        moments = self.query_one("#moments", OptionList)
        with self.prevent(OptionList.OptionHighlighted):
            moments.set_options([self._styled(part.row) for part in self._parts])
            moments.highlighted = self.cursor
        self._draw_part()
        what_if = "what if:  e edit the answer  x restore the recorded answer"
        self.query_one("#status", Static).update(Content(escape_unprintable(said) or what_if))

    def _draw_part(self) -> None:
        trajectory, verdict = self.examined.trajectory, self.examined.verdict
        outcome = ("passed", _TONES["good"]) if verdict.valid else ("FAILED", _TONES["bad"])
        id, source = escape_unprintable(trajectory.id), escape_unprintable(self._source)
        heading = f"{id} ({trajectory.category})  {source}\n"
        self.query_one("#heading", Static).update(Content.assemble((heading, "bold"), outcome))
        lines = [self._styled(line) for line in self._parts[self.cursor].lines]
        self.query_one("#text", Static).update(Content("\n").join(lines))
        self.query_one("#views", VerticalScroll).scroll_home(animate=False)

    def _styled(self, line: OutputLine) -> Content:
        text = Content.styled(escape_unprintable(line.text), _TONES.get(line.tone, ""))
        return views.marked(text, self.wanted)
