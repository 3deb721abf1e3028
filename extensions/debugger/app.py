"""The debugger's screen: keys in, panes out. Everything else is in the stepper and the views."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import ContentSwitcher, Footer, OptionList, Static

from envs.calls import Call
from extensions.debugger import views
from extensions.debugger.stepper import Stepper
from extensions.debugger.timeline import Timeline
from extensions.debugger.widgets import HELP, Help, Prompt, StateView
from runner.episodes.examined import ExaminedTurns
from runner.show.terminal import visible

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
"""What keys do that need nothing typed; what they return is said."""
WHAT_IF = "what if:  e edit  c call  t end turn  r play rest  x drop  b next timeline"

PANES = """
#heading { height: 2; text-wrap: nowrap; text-overflow: ellipsis; background: $panel; }
#moments { width: 2fr; height: 1fr; border: none; padding: 0; scrollbar-size-vertical: 1;
           text-wrap: nowrap; text-overflow: ellipsis; }
#right { width: 3fr; border-left: solid $panel-lighten-2; }
#right:focus-within { border-left: heavy $accent; }
#names { height: 1; }
#views, #state { height: 1fr; }
#views VerticalScroll { scrollbar-size-vertical: 1; }
#status { height: 1; background: $panel; text-wrap: nowrap; text-overflow: ellipsis; }
"""
"""How the panes of a debugger lie and look."""


class Debugger(App[None]):
    """Steps through an episode, which is from a named source, its ground truth, and branches."""

    ENABLE_COMMAND_PALETTE = False
    CSS = PANES
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "go('next call')", "call", key_display="j/k"),
        Binding("k", "go('previous call')", show=False),
        Binding("J", "go('next turn')", "turn", key_display="J/K"),
        Binding("K", "go('previous turn')", show=False),
        Binding("d", "go('divergence')", "diverge"),
        Binding("slash", "search", "search", key_display="/"),
        Binding("n", "go('next match')", "match", key_display="n/N"),
        Binding("N", "go('previous match')", show=False),
        *(Binding(str(i), f"view({name!r})", show=False) for i, name in enumerate(_VIEWS, 1)),
        Binding("v", "next_view", "view"),
        # They go before the panes' own, which scroll.
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

    def __init__(self, examined: ExaminedTurns, source: str) -> None:
        super().__init__()
        self.animation_level = "none"
        self.stepper = Stepper(examined)
        self._source = source
        self._listed: Timeline | None = None
        self._marked = ""

    def compose(self) -> ComposeResult:
        """Make the panes."""
        yield Static(id="heading")
        with Horizontal():
            yield OptionList(id="moments", markup=False, compact=True)
            with Vertical(id="right"):
                yield Static(id="names")
                with ContentSwitcher(id="views", initial="call"):
                    for name in _VIEWS:
                        yield (
                            StateView(name)
                            if name == "state"
                            else VerticalScroll(Static(), id=name)
                        )
        yield Static(id="status")
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Show the first moment."""
        self.query_one("#moments").focus()
        self._draw()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Follow the list, which arrows and the mouse move by themselves."""
        self.stepper.cursor = event.option_index
        self._draw_moment()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave Home and End to what lies over the panes, where something does."""
        far = parameters in (("first",), ("last",))
        return not (far and isinstance(self.screen, ModalScreen))

    def action_go(self, where: str) -> None:
        """Go elsewhere, as one of ``_WAYS``."""
        self._draw(_WAYS[where](self.stepper) or "")

    def action_search(self) -> None:
        """Ask for a text and go to it."""
        self._ask(Prompt("search"), self.stepper.search)

    def action_view(self, name: str) -> None:
        """Show another view."""
        self.query_one("#views", ContentSwitcher).current = name
        self._draw_moment()

    def action_next_view(self) -> None:
        """Show the next view."""
        following = _VIEWS.index(self._view) + 1
        self.action_view(_VIEWS[following % len(_VIEWS)])

    def action_edit(self) -> None:
        """Ask for another call in place of the one here, and make it in a branch."""
        traced = self.stepper.moment.traced
        if traced is None:
            self._draw("There is no call here to edit.")
        else:
            text = str(traced.call) if isinstance(traced.call, Call) else ""
            self._ask_call(
                "edit the call; nothing leaves it out",
                text,
                partial(self.stepper.call, instead=True),
            )

    def action_call(self) -> None:
        """Ask for a call and make it in a branch."""
        self._ask_call("call after this moment", "", self.stepper.call)

    def action_help(self) -> None:
        """Show the keys."""
        self.push_screen(Help(HELP))

    @property
    def _view(self) -> str:
        return self.query_one("#views", ContentSwitcher).current or _VIEWS[0]

    def _ask_call(self, question: str, text: str, then: Callable[[str], str]) -> None:
        """Ask for a call, again where it cannot be read, and do something with it."""

        def made(typed: str) -> str:
            problem = self.stepper.slip(typed)
            if not problem:
                return then(typed)
            self._ask_call(problem, typed, then)
            return ""

        self._ask(Prompt(question, text, self.stepper.completions), made)

    def _ask(self, prompt: Prompt, then: Callable[[str], str]) -> None:
        """Ask for a text, do something with it, and say what came of that."""

        def answered(text: str | None) -> None:
            if text is not None:
                self._draw(then(text))

        self.push_screen(prompt, answered)

    def _draw(self, said: str = "") -> None:
        """Show where the stepper stands, and a line about what was done."""
        moments = self.query_one("#moments", OptionList)
        # What is set here is no wish of the person's to go somewhere.
        with self.prevent(OptionList.OptionHighlighted):
            if (self._listed, self._marked) != (self.stepper.timeline, self.stepper.wanted):
                self._listed = self.stepper.timeline
                self._marked = self.stepper.wanted
                rows = views.rows(self.stepper)
                moments.set_options([views.marked(row, self._marked) for row in rows])
            moments.highlighted = self.stepper.cursor
        self._draw_moment()
        status = Content.styled(visible(said), "$text-warning") if said else WHAT_IF
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
