"""The state as a tree that one can walk, with what there is to say about the place one is at."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static, Tree
from textual.widgets.tree import TreeNode

from envs.state import Difference, Snapshot
from runner.analysis.debugger.state_tree import Node, children, whole
from runner.analysis.debugger.timeline import Moment
from runner.analysis.debugger.views import label, place_text


class StateView(Vertical):
    """The state at a moment; opens where something was changed or is off."""

    DEFAULT_CSS = """
    StateView Tree { height: 1fr; padding: 0; scrollbar-size: 1 1; background: $background; }
    StateView VerticalScroll { height: auto; max-height: 7; scrollbar-size-vertical: 1;
                               border-top: solid $panel-lighten-2; }
    """

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self._off: list[Difference] = []
        # What the person opened and closed stays so from moment to moment.
        self._opened: dict[str, bool] = {}

    def compose(self) -> ComposeResult:
        """Make the tree and the lines below it."""
        tree: Tree[Node] = Tree("")
        tree.show_root = False
        tree.guide_depth = 2
        yield tree
        yield VerticalScroll(Static())

    def show(self, moment: Moment, expected: Snapshot, off: list[Difference]) -> None:
        """Show the state at a moment.

        Args:
            moment: Where one stands.
            expected: What the ground truth has at the end of the turn.
            off: Where the state is off the ground truth's path.
        """
        self._off = off
        tree = self.query_one(Tree)
        at = tree.cursor_node.data.path if tree.cursor_node and tree.cursor_node.data else ""
        tree.clear()
        added = self._add_below(tree.root, whole(moment.before, moment.after, expected))
        tree.root.expand()
        tree.move_cursor_to_line(_to_look_at([line.data for line in added if line.data], at))

    def on_tree_node_highlighted(self, highlighted: Tree.NodeHighlighted[Node]) -> None:
        """Say what there is to say about a place."""
        node = highlighted.node.data
        self.query_one(Static).update(Content("") if node is None else place_text(node))

    def on_tree_node_expanded(self, expanded: Tree.NodeExpanded[Node]) -> None:
        """Fill in what is below a place, and keep it open."""
        if expanded.node.data is not None:
            self._opened[expanded.node.data.path] = True
            if not expanded.node.children:
                self._add_below(expanded.node, expanded.node.data)

    def on_tree_node_collapsed(self, collapsed: Tree.NodeCollapsed[Node]) -> None:
        """Keep a place closed."""
        if collapsed.node.data is not None:
            self._opened[collapsed.node.data.path] = False

    def _add_below(self, parent: TreeNode[Node], state: Node) -> list[TreeNode[Node]]:
        """Add what is below a place, as far down as it is open; return it in the tree's order."""
        added = []
        for node in children(state, self._off):
            is_open = self._opened.get(node.path, node.noteworthy or not state.path)
            line = parent.add(label(node), node, expand=is_open, allow_expand=node.has_members)
            added.append(line)
            if is_open:
                added += self._add_below(line, node)
        return added


def _to_look_at(lines: list[Node], at: str) -> int:
    """Return the line to go to: what was changed, else where one was, else what is off."""
    for wanted in (
        [node for node in lines if node.changed and not node.noteworthy],
        [node for node in lines if node.path == at],
        [node for node in lines if node.off],
    ):
        if wanted:
            return lines.index(wanted[0])
    return 0
