"""Widgets of the debugger: panes, help, prompt and state tree."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Footer, Input, OptionList, Static, Tree
from textual.widgets.tree import TreeNode

from envs.calls import MAX_TEXT
from envs.state import Difference, Snapshot
from extensions.debugger.state_tree import StateNode, children, whole
from extensions.debugger.views import label, place_text
from runner.analysis.episode_view import EpisodeMoment
from runner.show.terminal import escape_unprintable

TERMINATED = 128 + signal.SIGTERM
"""Exit status after the signal SIGTERM."""
MIN_COLUMNS = 20
"""Columns that are drawn in a narrower terminal, too; a dialog in few columns has no layout and
would be drawn again and again."""
MAX_COLUMNS = 500
"""Columns of a terminal that are used; drawing millions of cells takes many seconds."""
MAX_ROWS = 250
"""Rows of a terminal that are used."""
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


class HelpWindow(ModalScreen[None]):
    """Help window with keys and symbols."""

    CSS = """
    HelpWindow { align: center middle; }
    HelpWindow VerticalScroll { width: 64; max-width: 100%; height: auto; max-height: 100%;
                                padding: 0 1; background: $surface; border: solid $primary; }
    """
    BINDINGS = [Binding("escape,question_mark,q", "dismiss")]

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        """Create the window."""
        with VerticalScroll():
            yield Static(Content(self._text))


class _EscapingInput(Input):
    """Input line that escapes pasted control characters."""

    def replace(self, text: str, start: int, end: int) -> None:
        """Replace a part of the value."""
        super().replace(escape_unprintable(text), start, end)


class InputPrompt(ModalScreen[str | None]):
    """Input line with completion; returns the entered text, or None if the user cancels."""

    CSS = """
    InputPrompt { align: left bottom; background: transparent; }
    InputPrompt Vertical { height: 2; background: $surface; }
    """
    BINDINGS = [Binding("escape", "dismiss(None)")]

    def __init__(self, question: str, text: str = "", suggestions: Sequence[str] = ()) -> None:
        super().__init__()
        # Widgets pass control characters on to the terminal.
        self._question = escape_unprintable(question)
        self._text = escape_unprintable(text)
        self._suggestions = [*map(escape_unprintable, suggestions)]

    def compose(self) -> ComposeResult:
        """Create the input line."""
        with Vertical():
            keys = "enter, escape, → to complete" if self._suggestions else "enter, escape"
            yield Static(Content(f"{self._question}   ({keys})"))
            line = _EscapingInput(
                self._text,
                max_length=MAX_TEXT,
                select_on_focus=False,
                suggester=SuggestFromList(self._suggestions),
                compact=True,
            )
            line.cursor_blink = False
            yield line

    def on_input_submitted(self, submitted: Input.Submitted) -> None:
        """Return the typed text."""
        self.dismiss(submitted.value)


class PaneScreen(App[None]):
    """Base screen of the debugger: heading, list, right pane, status line and key hints."""

    ENABLE_COMMAND_PALETTE = False
    CSS = PANES
    KEYS: ClassVar[str]
    FAR_ACTIONS: ClassVar[tuple[tuple[object, ...], ...]]
    """Arguments of the Home and End actions. An open dialog disables these actions."""

    def __init__(self) -> None:
        super().__init__()
        self.animation_level = "none"
        self.has_unreadable_input = False

    def compose(self) -> ComposeResult:
        """Create the panes."""
        yield Static(id="heading")
        with Horizontal():
            yield OptionList(id="moments", markup=False, compact=True)
            with Vertical(id="right"):
                yield from self.compose_right()
        yield Static(id="status")
        yield Footer(compact=True, show_command_palette=False)

    def compose_right(self) -> ComposeResult:
        """Create the right pane."""
        raise NotImplementedError

    def draw(self, said: str = "") -> None:
        """Redraw the screen, with a message in the status line."""
        raise NotImplementedError

    async def on_event(self, event: events.Event) -> None:
        """Use the top left part of a huge terminal; in a narrow one, draw beyond its edge."""
        if isinstance(event, events.Resize):
            columns = min(max(event.size.width, MIN_COLUMNS), MAX_COLUMNS)
            used = Size(columns, min(event.size.height, MAX_ROWS))
            event = events.Resize(used, used) if used != event.size else event
        await super().on_event(event)

    def on_mount(self) -> None:
        """Show the first row. The signal SIGTERM then restores the terminal."""
        loop, end = asyncio.get_running_loop(), partial(self.exit, return_code=TERMINATED)
        with suppress(NotImplementedError, RuntimeError, ValueError):
            # Not on Windows, and only in the main thread.
            loop.add_signal_handler(signal.SIGTERM, end)
        self.query_one("#moments").focus()
        self.draw()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys Home and End while a dialog is open."""
        return not (isinstance(self.screen, ModalScreen) and parameters in self.FAR_ACTIONS)

    def panic(self, *_: object) -> None:
        """End the application; the terminal has sent input that Textual cannot read."""
        self.has_unreadable_input = True
        self.exit()

    def action_help(self) -> None:
        """Show the help."""
        self.push_screen(HelpWindow(self.KEYS))


class StateView(Vertical):
    """Tree of a state, expanded at changes and at differences from the ground truth."""

    DEFAULT_CSS = """
    StateView Tree { height: 1fr; padding: 0; scrollbar-size: 1 1; background: $background; }
    StateView VerticalScroll { height: auto; max-height: 7; scrollbar-size-vertical: 1;
                               border-top: solid $panel-lighten-2; }
    """

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self._off: Sequence[Difference] = ()
        # Keeps nodes open or closed across moments.
        self._opened: dict[str, bool] = {}

    def compose(self) -> ComposeResult:
        """Create the tree and the detail pane below it."""
        tree: Tree[StateNode] = Tree("")
        tree.show_root = False
        tree.guide_depth = 2
        yield tree
        yield VerticalScroll(Static())

    def show(self, moment: EpisodeMoment, expected: Snapshot) -> None:
        """Show the state at a moment. ``expected`` is the ground truth's state after the turn."""
        self._off = moment.off_path
        tree = self.query_one(Tree)
        at = tree.cursor_node.data.path if tree.cursor_node and tree.cursor_node.data else ""
        tree.clear()
        added = self._add_below(tree.root, whole(moment.before, moment.after, expected))
        tree.root.expand()
        tree.move_cursor_to_line(_to_look_at([line.data for line in added if line.data], at))

    def on_tree_node_highlighted(self, highlighted: Tree.NodeHighlighted[StateNode]) -> None:
        """Show the details of the selected node."""
        node = highlighted.node.data
        self.query_one(Static).update(Content("") if node is None else place_text(node))

    def on_tree_node_expanded(self, expanded: Tree.NodeExpanded[StateNode]) -> None:
        """Load the children of a node, and keep the node open."""
        if expanded.node.data is not None:
            self._opened[expanded.node.data.path] = True
            if not expanded.node.children:
                self._add_below(expanded.node, expanded.node.data)

    def on_tree_node_collapsed(self, collapsed: Tree.NodeCollapsed[StateNode]) -> None:
        """Keep a node closed."""
        if collapsed.node.data is not None:
            self._opened[collapsed.node.data.path] = False

    def _add_below(
        self, parent: TreeNode[StateNode], state: StateNode
    ) -> list[TreeNode[StateNode]]:
        added = []
        for node in children(state, self._off):
            is_open = self._opened.get(node.path, node.noteworthy or not state.path)
            line = parent.add(label(node), node, expand=is_open, allow_expand=node.has_members)
            added.append(line)
            if is_open:
                added += self._add_below(line, node)
        return added


def _to_look_at(lines: list[StateNode], at: str) -> int:
    for wanted in (
        [node for node in lines if node.changed and not node.noteworthy],
        [node for node in lines if node.path == at],
        [node for node in lines if node.off],
    ):
        if wanted:
            return lines.index(wanted[0])
    return 0
