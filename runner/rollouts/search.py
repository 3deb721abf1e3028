"""Search with real undo: several ways through a turn are tried, each in a session of its own.

Depth-first search over a decision tree (DFSDT, Qin et al. 2023, "ToolLLM", section 3.3): the model
proposes a step at a node, is told which steps were tried there before, and may give a branch up, on
which the search goes back to the node before and asks again. A node is a fork of the dialogue, so
going back undoes calls for good. With one child a node this is ReAct. The verdict is never looked
at: the model decides when it is done, and what a turn came to stands once the user has seen it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from checkers.profile import Mode, Profile
from envs.calls import Call
from runner.episodes.dialogue import Dialogue
from runner.models.base import Reply, Request, Usage
from runner.models.conversation import Style
from trajectories.prepare import Prepared

GIVE_UP = "give_up_branch"
"""The function by which a model gives a branch up."""

PROMPTS = Path(__file__).parents[2] / "configs" / "prompts" / "search.toml"

Propose = Callable[[Request], Awaitable[Reply]]
"""Puts a request to the model."""


class SearchLimits(NamedTuple):
    """What a search may use for one trajectory."""

    children: int = 3
    """Steps that are tried at a node; 1 is ReAct."""
    model_calls: int = 200
    nodes: int = 200
    """Steps that are executed, in all branches."""


class Effort(NamedTuple):
    """What a search took."""

    model_calls: int = 0
    nodes: int = 0
    """Steps that were executed, in all branches."""
    given_up: int = 0
    """Branches that were given up or came to nothing."""
    exhausted: bool = False
    """Whether the budget ended it."""


class Texts(NamedTuple):
    """What a search adds to the conversation."""

    tried: str
    give_up: str
    give_up_tool: str


async def search(
    prepared: Prepared,
    style: Style,
    mode: Mode,
    profile: Profile,
    propose: Propose,
    limits: SearchLimits,
    step_limit: int | None = None,
) -> tuple[Dialogue, Effort]:
    """Let a model search its way through a trajectory; return the branch that stands.

    Args:
        prepared: The trajectory.
        style: How the model is talked to.
        mode: How it calls functions.
        profile: How steps are decoded, executed and judged.
        propose: Puts a request to the model; what it raises ends the search.
        limits: What may be used.
        step_limit: Steps with calls on one branch of a turn, or None for no limit.
    """
    tree = _Tree(propose, limits)
    dialogue = Dialogue(prepared, style, mode, profile, step_limit)
    while not dialogue.episode.finished:
        dialogue = await tree.search_turn(dialogue)
    return dialogue, Effort(tree.model_calls, tree.nodes, tree.given_up, tree.exhausted)


class _Node:
    """One state of a turn, and what was tried in it."""

    def __init__(self, dialogue: Dialogue) -> None:
        self.dialogue = dialogue
        self.tried: list[str] = []


class _Tree:
    """The search of one trajectory, and what it has used."""

    def __init__(self, propose: Propose, limits: SearchLimits) -> None:
        self.model_calls = self.nodes = self.given_up = 0
        self._propose = propose
        self._limits = limits

    @property
    def exhausted(self) -> bool:
        """Whether the budget is used up."""
        limits = self._limits
        return self.model_calls >= limits.model_calls or self.nodes >= limits.nodes

    async def search_turn(self, dialogue: Dialogue) -> Dialogue:
        """Return the dialogue after the turn it is in, on the branch that stands."""
        path = [_Node(dialogue)]
        last = dialogue
        while path and not self.exhausted:
            node = path[-1]
            if len(node.tried) >= self._limits.children:
                path.pop()
                continue
            reply = await self._ask(node)
            if self._gives_up(node, reply):
                last = path.pop().dialogue
                self.given_up += 1
                continue
            child = node.dialogue.fork()
            taken = child.take(reply)
            node.tried.append(_shown(taken.calls, reply))
            if not taken.calls:
                return child
            self.nodes += 1
            if child.episode.terminated:
                last = child
                self.given_up += 1
            else:
                path.append(_Node(child))
        return _ended(path[-1].dialogue if path else last)

    async def _ask(self, node: _Node) -> Reply:
        self.model_calls += 1
        return await self._propose(_with_notes(node, self._limits.children > 1))

    def _gives_up(self, node: _Node, reply: Reply) -> bool:
        if self._limits.children == 1:
            return False
        return node.dialogue.conversation.calls(reply, GIVE_UP)


def _with_notes(node: _Node, may_give_up: bool) -> Request:
    """Return what to ask at a node: the next request, and what a search adds to it."""
    node.dialogue.request()  # begins the turn, if need be
    texts = search_texts()
    notes = []
    if node.tried:
        notes.append(texts.tried.replace("{tried}", "\n".join(node.tried)))
    if not may_give_up:
        return node.dialogue.request(notes)
    written = node.dialogue.conversation.written(Call(GIVE_UP, (), {"reason": "..."}))
    if written is not None:
        notes.append(texts.give_up.replace("{call}", written))
    return node.dialogue.request(notes, [_give_up_tool(texts.give_up_tool)])


def _ended(dialogue: Dialogue) -> Dialogue:
    """Return a dialogue whose turn, for want of a better branch, is over as it stands."""
    if dialogue.episode.finished:
        return dialogue
    ended = dialogue.fork()
    ended.request()
    ended.take(Reply("", (), None, None, Usage(), 0.0))
    return ended


def _shown(calls: Any, reply: Reply) -> str:
    return "; ".join(str(c) for c in calls if isinstance(c, Call)) or (reply.text or "")[:200]


@cache
def search_texts() -> Texts:
    """Return the texts that a search adds."""
    texts = tomllib.loads(PROMPTS.read_text(encoding="utf-8"))
    return Texts(**{name: text.strip() for name, text in texts.items()})


def _give_up_tool(description: str) -> dict[str, Any]:
    reason = {"type": "string", "description": "What was wrong, in a few words."}
    parameters = {"type": "object", "properties": {"reason": reason}, "required": ["reason"]}
    function = {"name": GIVE_UP, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}
