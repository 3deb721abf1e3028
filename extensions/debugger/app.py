"""Screen of the debugger: maps keys to actions of the stepper and draws the views."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import ContentSwitcher, OptionList, Static

from envs.calls import Call
from extensions.debugger import views
from extensions.debugger.stepper import Stepper
from extensions.debugger.timeline import Timeline
from extensions.debugger.widgets import InputPrompt, PaneScreen, StateView
from runner.episodes.rejudged_episode import RejudgedMultiTurn
from runner.show.terminal import escape_unprintable

_TEXTS = {"call": views.call_view, "truth": views.truth_view, "talk": views.transcript}
_VIEWS = ("call", "state", "truth", "talk")
_WAYS: Mapping[str, Callable[[Stepper], str | None]] = {
    "next call": lambda stepper: stepper.move(1),
    "previous call": lambda stepper: stepper.move(-1),
    "first": lambda stepper: stepper.move(-len(stepper.timeline.moments)),
    "last": lambda stepper: stepper.move(len(stepper.timeline.moments)),
    "next turn": lambda stepper: stepper.move_turn(1),
    "previous turn": lambda stepper: stepper.move_turn(-1),
    "next match": lambda stepper: stepper.search_on(1),
    "previous match": lambda stepper: stepper.search_on(-1),
    "divergence": Stepper.go_to_divergence,
    "end of turn": Stepper.end_turn,
    "rest": Stepper.play_rest,
    "out of branch": Stepper.drop,
    "next timeline": Stepper.switch,
}
"""Methods of actions without input. A method may return a message for the status line."""
HELP = """\
j k  down up    next, previous call
J K             next, previous turn
home end        first, last moment
d               cause of the failure; in a branch, the first divergence
/  n N          search messages, calls, results and state
                changes; next, previous match
1 2 3 4  v      view call, state, truth, talk; next view
tab             switch between list and right pane: arrows
                scroll it; enter toggles a state node

What-if changes open a branch; the recording never changes.
e               edit this call; an empty text deletes it
c               add a call after this moment
t               end the turn here
r               play the remaining calls of the recording
x               delete the branch
b               next timeline: recording, truth, branches

≠ cause, or divergence   ! refused call   * state change
+ call of the branch    ✓ ✗ turn passed, failed
q               quit; escape, ? or q closes this help"""

WHAT_IF = "what if:  e edit  c add call  t end turn  r play rest  x delete  b next timeline"


class Debugger(PaneScreen):
    """Application that steps through an episode, its ground truth and what-if branches."""

    KEYS = HELP
    FAR_ACTIONS = (("first",), ("last",))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "go('next call')", "call", key_display="j/k"),
        Binding("k", "go('previous call')", show=False),
        Binding("J", "go('next turn')", "turn", key_display="J/K"),
        Binding("K", "go('previous turn')", show=False),
        Binding("d", "go('divergence')", "divergence"),
        Binding("slash", "search", "search", key_display="/"),
        Binding("n", "go('next match')", "match", key_display="n/N"),
        Binding("N", "go('previous match')", show=False),
        *(Binding(str(i), f"view({name!r})", show=False) for i, name in enumerate(_VIEWS, 1)),
        Binding("v", "next_view", "view"),
        # These take priority over the scroll keys of the panes.
        Binding("home", "go('first')", show=False, priority=True),
        Binding("end", "go('last')", show=False, priority=True),
        Binding("e", "edit", show=False),
        Binding("c", "call", show=False),
        Binding("t", "go('end of turn')", show=False),
        Binding("r", "go('rest')", show=False),
        Binding("x", "go('out of branch')", show=False),
        Binding("b", "go('next timeline')", show=False),
        Binding("question_mark", "help", "help", key_display="?"),
        Binding("q,ctrl+c", "quit", "quit", key_display="q"),
    ]

    def __init__(self, examined: RejudgedMultiTurn, source: str) -> None:
        super().__init__()
        self.stepper = Stepper(examined)
        self._source = source
        self._listed: Timeline | None = None
        self._marked = ""

    def compose_right(self) -> ComposeResult:
        """Create the views."""
        yield Static(id="names")
        with ContentSwitcher(id="views", initial="call"):
            for name in _VIEWS:
                yield StateView(name) if name == "state" else VerticalScroll(Static(), id=name)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the selected moment."""
        self.stepper.cursor = event.option_index
        self._draw_moment()

    def action_go(self, where: str) -> None:
        """Move to another moment; ``_WAYS`` lists the possible moves."""
        self.draw(_WAYS[where](self.stepper) or "")

    def action_search(self) -> None:
        """Prompt for a search string and go to its first match."""
        self._ask(InputPrompt("search"), self.stepper.search)

    def action_view(self, name: str) -> None:
        """Show another view."""
        self.query_one("#views", ContentSwitcher).current = name
        self._draw_moment()

    def action_next_view(self) -> None:
        """Show the next view."""
        following = _VIEWS.index(self._view) + 1
        self.action_view(_VIEWS[following % len(_VIEWS)])

    def action_edit(self) -> None:
        """Ask the user for a call that replaces the current one."""
        traced = self.stepper.moment.traced
        if traced is None:
            self.draw("No call to edit; press j or k to select a call.")
        else:
            text = str(traced.call) if isinstance(traced.call, Call) else ""
            self._ask_call(
                "edit the call; an empty input deletes it",
                text,
                partial(self.stepper.call, instead=True),
            )

    def action_call(self) -> None:
        """Ask the user for a call, and start a what-if branch with this additional call."""
        self._ask_call("call to add after this moment", "", self.stepper.call)

    @property
    def _view(self) -> str:
        return self.query_one("#views", ContentSwitcher).current or _VIEWS[0]

    def _ask_call(self, question: str, text: str, then: Callable[[str], str]) -> None:
        def made(typed: str) -> str:
            problem = self.stepper.slip(typed)
            if not problem:
                return then(typed)
            self._ask_call(problem, typed, then)
            return ""

        self._ask(InputPrompt(question, text, self.stepper.completions), made)

    def _ask(self, prompt: InputPrompt, then: Callable[[str], str]) -> None:
        def answered(text: str | None) -> None:
            if text is not None:
                self.draw(then(text))

        self.push_screen(prompt, answered)

    def draw(self, said: str = "") -> None:
        """Redraw the screen, with a message in the status line."""
        moments = self.query_one("#moments", OptionList)
        # A highlight that the program sets is not a selection by the user.
        with self.prevent(OptionList.OptionHighlighted):
            if (self._listed, self._marked) != (self.stepper.timeline, self.stepper.wanted):
                self._listed = self.stepper.timeline
                self._marked = self.stepper.wanted
                rows = views.rows(self.stepper)
                moments.set_options([views.marked(row, self._marked) for row in rows])
            moments.highlighted = self.stepper.cursor
        self._draw_moment()
        status = Content.styled(escape_unprintable(said), "$text-warning") if said else WHAT_IF
        self.query_one("#status", Static).update(status)

    def _draw_moment(self) -> None:
        stepper, view = self.stepper, self._view
        self.query_one("#heading", Static).update(views.heading(stepper, self._source))
        self.query_one("#names", Static).update(views.tabs(_VIEWS, view))
        if view == "state":
            self.query_one(StateView).show(stepper.moment, stepper.turn.truth.after)
            return
        pane = self.query_one(f"#{view}", VerticalScroll)
        shown = views.marked(_TEXTS[view](stepper), stepper.wanted)
        pane.query_one(Static).update(shown)
        if view == "talk":
            pane.scroll_end(animate=False)
        else:
            pane.scroll_home(animate=False)
