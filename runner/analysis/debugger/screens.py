"""What comes up over the debugger: the help, and the line in which something is typed."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from envs.calls import MAX_TEXT

HELP = """\
j k  down up    next, previous call
J K             next, previous turn
home end        first, last moment
d               where it first leaves the ground truth
/  n N          search messages, calls, results and state
                changes; next, previous match
1 2 3 4  v      call, state, truth, talk; the next of them
tab             to the right side and back: arrows scroll
                there; in the state, enter opens and closes

What if? In a branch; recording and truth stay as they are.
e               edit this call; an empty text leaves it out
c               make another call after this moment
t               make no more calls in this turn
r               go on as the recording did
x               drop the branch
b               next timeline: recording, truth, branches

≠ leaves the ground truth   ! refused   * changed the state
+ own call of a branch      ✓ ✗ what the checks say
q               quit; escape, ? or q close this help"""


class Help(ModalScreen[None]):
    """The keys and the signs."""

    CSS = """
    Help { align: center middle; }
    Help VerticalScroll { width: 64; max-width: 100%; height: auto; max-height: 100%; padding: 0 1;
                          background: $surface; border: solid $primary; }
    """
    BINDINGS = [Binding("escape,question_mark,q", "dismiss")]

    def compose(self) -> ComposeResult:
        """Make the page."""
        with VerticalScroll():
            yield Static(Content(HELP))


class Prompt(ModalScreen[str | None]):
    """One line to type in; gives its text, or None when it was left.

    Args:
        question: What is asked for.
        text: What to begin with.
        suggestions: Texts to complete to.
    """

    CSS = """
    Prompt { align: left bottom; background: transparent; }
    Prompt Vertical { height: 2; background: $surface; }
    """
    BINDINGS = [Binding("escape", "dismiss(None)")]

    def __init__(self, question: str, text: str = "", suggestions: Sequence[str] = ()) -> None:
        super().__init__()
        self._question = question
        self._text = text
        self._suggestions = suggestions

    def compose(self) -> ComposeResult:
        """Make the line."""
        with Vertical():
            keys = "enter, escape, → completes" if self._suggestions else "enter, escape"
            yield Static(Content(f"{self._question}   ({keys})"))
            line = Input(
                self._text,
                max_length=MAX_TEXT,
                select_on_focus=False,
                suggester=SuggestFromList(self._suggestions),
                compact=True,
            )
            line.cursor_blink = False
            yield line

    def on_input_submitted(self, submitted: Input.Submitted) -> None:
        """Give what was typed."""
        self.dismiss(submitted.value)
