"""Search with real undo: several ways through a turn are tried, each in a session of its own.

Depth-first search over a decision tree (DFSDT, Qin et al. 2023, "ToolLLM", section 3.3): the model
proposes a step at a node, is told which steps were tried there before, and may give a branch up, on
which the search goes back to the node before and asks again. A node is a fork of the dialogue, so
going back undoes calls for good. With one child a node this is ReAct. The verdict is never looked
at: the model decides when it is done, and what a turn came to stands once the user has seen it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from envs.calls import Call
from envs.errors import BackendFault
from extensions.search.record import FINISH, GIVE_UP
from runner.episodes.dialogue import Dialogue, Taken
from runner.models.base import Reply, Request, Usage
from runner.models.prompting import read_texts

GIVES_UP = "give_up_and_restart"
"""What ``finish`` returns where the model gives a branch up."""
GIVES_UP_TURN = "give_up"
"""What it returns where nothing is undone, and the model gives up the turn."""
ANSWERS = "give_answer"
"""What it returns where the turn is over."""

PROMPTS = Path(__file__).parents[2] / "configs" / "prompts" / "search.toml"

Propose = Callable[[Request], Awaitable[Reply]]
"""Puts a request to the model."""

Trail = tuple[int, ...]
"""The answers that lead to a point of a search, by number."""


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


class Tried(NamedTuple):
    """One answer in a search, and what it led to."""

    trail: Trail
    """The answers before it."""
    before: Dialogue
    request: Request
    reply: Reply
    """The answer as it came."""
    heard: Reply
    """The answer as it was taken: what ``finish`` was given is said in words."""
    taken: Taken
    after: Dialogue | None
    """None where the answer gave the branch up."""


class Follower:
    """Is told how a search goes."""

    def tried(self, tried: Tried) -> None:
        """Take note of an answer; its number is how many came before."""

    def asks(self, trail: Trail, dialogue: Dialogue) -> None:
        """Take note of where the search asks next."""

    def turn_over(self, trail: Trail, dialogue: Dialogue, gone: Gone | None) -> None:
        """Take note of a turn that is over, and of why, where it was not by its last answer."""


Gone = Literal["give_up", "exhausted"]
"""Why a search ended a turn: the model gave up all that it tried, or might be asked no more."""


async def search(
    dialogue: Dialogue,
    propose: Propose,
    limits: SearchLimits,
    *,
    finish: bool = False,
    follows: Follower | None = None,
) -> tuple[Dialogue, Effort]:
    """Let a model search its way through a trajectory; return the branch that stands.

    What ``propose`` raises ends the search. With ``finish`` there is a function by which the model
    ends a turn or gives up.
    """
    tree = _Tree(propose=propose, limits=limits, finish=finish, follows=follows or Follower())
    while not dialogue.episode.finished:
        dialogue = await tree.search_turn(dialogue)
    return dialogue, Effort(tree.model_calls, tree.nodes, tree.given_up, tree.exhausted)


class _Node(NamedTuple):
    """One state of a turn, and what was tried in it."""

    dialogue: Dialogue
    trail: Trail
    tried: list[str]


@dataclass(kw_only=True)
class _Tree:
    """The search of one trajectory, and what it has used."""

    propose: Propose
    limits: SearchLimits
    finish: bool
    follows: Follower
    trail: Trail = ()
    model_calls: int = 0
    nodes: int = 0
    given_up: int = 0

    @property
    def exhausted(self) -> bool:
        """Whether the budget is used up."""
        limits = self.limits
        return self.model_calls >= limits.model_calls or self.nodes >= limits.nodes

    async def search_turn(self, dialogue: Dialogue) -> Dialogue:
        """Return the dialogue after the turn it is in, on the branch that stands."""
        path = [_Node(dialogue, self.trail, [])]
        last = path[0]
        while path and not self.exhausted:
            node = path[-1]
            if len(node.tried) >= self.limits.children:
                path.pop()
                continue
            tried = await self._try(node)
            trail = (*node.trail, self.model_calls - 1)
            if tried.after is None:
                last = path.pop()
                self.given_up += 1
                continue
            node.tried.append(_shown(tried.taken.calls, tried.heard))
            child = _Node(tried.after, trail, [])
            if not tried.taken.calls:
                return self._over(child, None)
            self.nodes += 1
            if child.dialogue.episode.terminated:
                last = child
                self.given_up += 1
            else:
                path.append(child)
        return self._over(path[-1] if path else last, "exhausted" if path else "give_up")

    def _over(self, node: _Node, gone: Gone | None) -> Dialogue:
        """Return the dialogue at a node once the turn is over, which it may be as it stands."""
        self.trail = node.trail
        dialogue = node.dialogue
        if gone is not None and not dialogue.episode.finished:
            dialogue = dialogue.fork()
            dialogue.request()
            dialogue.take(_in_words(""))
        self.follows.turn_over(node.trail, dialogue, gone)
        return dialogue

    async def _try(self, node: _Node) -> Tried:
        """Ask for one answer at a node, and take it in a session of its own."""
        asked = node.dialogue
        request = self._request(node)
        self.follows.asks(node.trail, asked)
        reply = asked.conversation.heard(await self.propose(request))
        self.model_calls += 1
        heard = self._heard(asked, reply)
        unread = Taken(asked.episode.turn, (), None)
        tried = Tried(
            node.trail,
            asked,
            request=request,
            reply=reply,
            heard=heard or reply,
            taken=unread,
            after=None,
        )
        if heard is not None:
            child = asked.fork()
            tried = tried._replace(after=child)
            try:
                tried = tried._replace(taken=child.take(heard))
            except BackendFault:
                # The answer was given, and paid for, whatever its calls ran into.
                self.follows.tried(tried)
                raise
        self.follows.tried(tried)
        return tried

    def _heard(self, dialogue: Dialogue, reply: Reply) -> Reply | None:
        """Return an answer as it is taken; None of one that gives the branch up."""
        if self.finish:
            given, rest = dialogue.conversation.apart(reply, FINISH)
            if given is None or rest is not None:
                # What it calls besides is done first; that all is done it may say again.
                return rest or reply
            if given.get("return_type") in (GIVES_UP, GIVES_UP_TURN):
                return None
            answer = given.get("final_answer")
            said = answer if isinstance(answer, str) else "" if answer is None else str(answer)
            return _in_words(said, reply)
        if self.limits.children <= 1:
            return reply
        return reply if dialogue.conversation.apart(reply, GIVE_UP).given is None else None

    def _request(self, node: _Node) -> Request:
        """Return what to ask at a node: the next request, and what a search adds to it."""
        dialogue, texts = node.dialogue, search_texts()
        dialogue.request()  # begins the turn, if need be
        notes = [texts["tried"].replace("{tried}", "\n".join(node.tried))] if node.tried else []
        several = self.limits.children > 1
        if not (several or self.finish):
            return dialogue.request(notes)
        call, note = _GIVE_UP_CALL, texts["give_up"]
        if self.finish:
            call, note = _FINISH_CALL, texts["finish" if several else "finish_alone"]
        written = dialogue.conversation.written(call)
        if written is not None:
            notes.append(note.replace("{call}", written))
        return dialogue.request(notes, [_own_tool(self.finish, several)])


_GIVE_UP_CALL = Call(GIVE_UP, (), {"reason": "..."})
_FINISH_CALL = Call(FINISH, (), {"return_type": ANSWERS, "final_answer": "..."})


def _in_words(text: str, reply: Reply | None = None) -> Reply:
    """Return an answer that says something, with what the model's own answer took."""
    if reply is None:
        return Reply(text, (), None, None, Usage(), 0.0)
    return reply._replace(text=text, tool_calls=(), verbatim=None)


def _shown(calls: Any, reply: Reply) -> str:
    return "; ".join(str(c) for c in calls if isinstance(c, Call)) or (reply.text or "")[:200]


@cache
def search_texts() -> Mapping[str, str]:
    """Return the texts that a search adds to the conversation, by name."""
    return {name: text.strip() for name, text in read_texts(PROMPTS)[0].items()}


def texts_hash() -> str:
    """Return the hash of the file of these texts, in hex."""
    return read_texts(PROMPTS)[1]


@cache
def _own_tool(finish: bool, several: bool) -> dict[str, Any]:
    """Return the function that a search offers: to finish, or to give a branch up."""
    texts = search_texts()
    if finish:
        kind = {"type": "string", "enum": [ANSWERS, GIVES_UP if several else GIVES_UP_TURN]}
        said = {"type": "string", "description": "What the user is told, where it is an answer."}
        about = texts["finish_tool" if several else "finish_tool_alone"]
        return _tool(FINISH, about, {"return_type": kind, "final_answer": said}, "return_type")
    reason = {"type": "string", "description": "What was wrong, in a few words."}
    return _tool(GIVE_UP, texts["give_up_tool"], {"reason": reason}, "reason")


def _tool(name: str, about: str, members: dict[str, Any], needed: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": members, "required": [needed]}
    function = {"name": name, "description": about, "parameters": parameters}
    return {"type": "function", "function": function}
