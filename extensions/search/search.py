"""Tree search with undo: the model tries several steps per turn in separate sessions.

The algorithm is a depth-first search over a decision tree (DFSDT, Qin et al. 2023, "ToolLLM",
section 3.3). At each node, the model sees all steps tried at this node and proposes a new one. If
the model gives up a branch, the search returns to the previous node and asks again. Each node has
its own copy of the dialogue and the state.
With one child per node, the search is ReAct. The search never uses the verdict: the model decides
when a turn ends. The search never undoes a finished turn.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

from envs.calls import Call
from envs.errors import BackendFault, DataError
from extensions.search.record import FINISH, GIVE_UP
from runner.episodes.dialogue import Dialogue, ExecutedAnswer
from runner.models.model_types import Reply, Request, Usage
from runner.models.prompting import checked_texts, read_texts

GIVES_UP = "give_up_and_restart"
"""With this value of ``return_type``, the function ``finish`` gives up a branch."""
GIVES_UP_TURN = "give_up"
"""With this value of ``return_type``, the function ``finish`` gives up the turn."""
ANSWERS = "give_answer"
"""With this value of ``return_type``, the function ``finish`` ends the turn with an answer."""

PROMPTS = Path(__file__).parents[2] / "configs" / "prompts" / "search.toml"

Propose = Callable[[Request], Awaitable[Reply]]
"""Function that sends a request to the model."""

Trail = tuple[int, ...]
"""Indices of the answers from the root of the tree to a node."""


class SearchLimits(NamedTuple):
    """Limits of a search per entry."""

    children: int = 3
    """Maximum steps that are tried at a node; 1 is ReAct."""
    model_calls: int = 200
    nodes: int = 200
    """Maximum number of executed steps in all branches."""


class TriedAnswer(NamedTuple):
    """One answer of the model in a search, with the dialogues before and after the answer."""

    trail: Trail
    """Indices of the answers that precede this answer in its branch."""
    before: Dialogue
    request: Request
    reply: Reply
    """The answer of the model."""
    heard: Reply
    """The executed answer, without a call of ``finish``."""
    taken: ExecutedAnswer
    after: Dialogue | None
    """Dialogue after the answer; None if the answer gives up the branch."""


class SearchObserver:
    """Observer that receives the events of a search."""

    def tried(self, tried: TriedAnswer) -> None:
        """Handle an answer; the first answer has number 0."""

    def asks(self, trail: Trail, dialogue: Dialogue) -> None:
        """Handle a request; ``trail`` lists the indices of the earlier answers in the branch."""

    def turn_over(self, trail: Trail, dialogue: Dialogue, gone: Gone | None) -> None:
        """Handle the end of a turn."""


Gone = Literal["give_up", "exhausted"]
"""Reason why the search ended a turn: the model gave up every branch, or the budget was used up."""


async def search(
    dialogue: Dialogue,
    propose: Propose,
    limits: SearchLimits,
    *,
    finish: bool = False,
    texts: Mapping[str, str] | None = None,
    follows: SearchObserver,
) -> Dialogue:
    """Let a model search for the calls of an entry; return the kept branch.

    An exception in ``propose`` ends the search. If ``finish`` is true, the model can call a
    function to end a turn or to give up. Some calling formats offer this function even if
    ``finish`` is false. ``texts`` maps names to texts that the search adds to the conversation.
    """
    tree = _EntrySearch(
        propose=propose,
        limits=limits,
        finish=finish,
        texts=texts or search_texts(),
        follows=follows,
    )
    while not dialogue.episode.finished:
        dialogue = await tree.search_turn(dialogue)
    return dialogue


class _Node(NamedTuple):
    """Node of the tree: a state in a turn, and the steps that the model tried from this state."""

    dialogue: Dialogue
    trail: Trail
    tried: list[str]


@dataclass(kw_only=True)
class _EntrySearch:
    propose: Propose
    limits: SearchLimits
    finish: bool
    texts: Mapping[str, str]
    follows: SearchObserver
    trail: Trail = ()
    model_calls: int = 0
    nodes: int = 0

    @property
    def exhausted(self) -> bool:
        limits = self.limits
        return self.model_calls >= limits.model_calls or self.nodes >= limits.nodes

    async def search_turn(self, dialogue: Dialogue) -> Dialogue:
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
                continue
            node.tried.append(_shown(tried.taken.calls, tried.heard))
            child = _Node(tried.after, trail, [])
            if not tried.taken.calls:
                return self._over(child, None)
            self.nodes += 1
            if child.dialogue.episode.terminated:
                last = child
            else:
                path.append(child)
        return self._over(path[-1] if path else last, "exhausted" if path else "give_up")

    def _over(self, node: _Node, gone: Gone | None) -> Dialogue:
        self.trail = node.trail
        dialogue = node.dialogue
        if gone is not None and not dialogue.episode.finished:
            dialogue = dialogue.fork()
            dialogue.request()
            dialogue.take(_in_words(""))
        self.follows.turn_over(node.trail, dialogue, gone)
        return dialogue

    async def _try(self, node: _Node) -> TriedAnswer:
        asked = node.dialogue
        request = self._request(node)
        self.follows.asks(node.trail, asked)
        reply = asked.conversation.heard(await self.propose(request))
        self.model_calls += 1
        heard = self._heard(asked, reply)
        unread = ExecutedAnswer(asked.episode.turn, (), None)
        tried = TriedAnswer(
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
        """Remove search calls from an answer. If the answer gives up the branch, return None."""
        own = dialogue.conversation.finish
        if own or self.finish:
            given, rest = dialogue.conversation.apart(reply, own or FINISH)
            if given is None or rest is not None:
                # What it calls besides is done first; that all is done it may say again.
                return rest or reply
            if given.get("return_type") in (GIVES_UP, GIVES_UP_TURN):
                return None
            if own:
                return reply
            answer = given.get("final_answer")
            said = answer if isinstance(answer, str) else "" if answer is None else str(answer)
            return _in_words(said, reply)
        if self.limits.children <= 1:
            return reply
        return reply if dialogue.conversation.apart(reply, GIVE_UP).given is None else None

    def _request(self, node: _Node) -> Request:
        dialogue, texts = node.dialogue, self.texts
        dialogue.request()  # begins the turn, if need be
        notes = [texts["tried"].replace("{tried}", "\n".join(node.tried))] if node.tried else []
        several = self.limits.children > 1
        if dialogue.conversation.finish or not (several or self.finish):
            return dialogue.request(notes)
        call, note = _GIVE_UP_CALL, texts["give_up"]
        if self.finish:
            call, note = _FINISH_CALL, texts["finish" if several else "finish_alone"]
        written = dialogue.conversation.written(call)
        if written is not None:
            notes.append(note.replace("{call}", written))
        return dialogue.request(notes, [self._own_tool])

    @cached_property
    def _own_tool(self) -> dict[str, Any]:
        """Document of the function that the search offers: ``finish`` or ``give_up_branch``."""
        texts, several = self.texts, self.limits.children > 1
        if self.finish:
            kind = {"type": "string", "enum": [ANSWERS, GIVES_UP if several else GIVES_UP_TURN]}
            said = {"type": "string", "description": "The answer for the user, if there is one."}
            about = texts["finish_tool" if several else "finish_tool_alone"]
            return _tool(FINISH, about, {"return_type": kind, "final_answer": said}, "return_type")
        reason = {"type": "string", "description": "What was wrong, in a few words."}
        return _tool(GIVE_UP, texts["give_up_tool"], {"reason": reason}, "reason")


_GIVE_UP_CALL = Call(GIVE_UP, (), {"reason": "..."})
_FINISH_CALL = Call(FINISH, (), {"return_type": ANSWERS, "final_answer": "..."})


def _in_words(text: str, reply: Reply | None = None) -> Reply:
    if reply is None:
        return Reply(text, (), None, None, Usage(), 0.0)
    return reply._replace(text=text, tool_calls=(), verbatim=None)


def _shown(calls: Any, reply: Reply) -> str:
    return "; ".join(str(c) for c in calls if isinstance(c, Call)) or (reply.text or "")[:200]


@cache
def search_texts(path: Path | None = None) -> Mapping[str, str]:
    """Return a mapping from names to the texts that a search adds to the conversation.

    The table ``[search]`` of a prompt file replaces built-in texts. Raises DataError if a text is
    unknown or lacks a placeholder.
    """
    built_in = read_texts(PROMPTS)[0]
    own = {} if path is None else read_texts(path)[0].get("search", {})
    if not isinstance(own, dict):
        raise DataError(f"{path}: search", "is not a table")
    wanted = {name: re.findall(r"\{\w+\}", text) for name, text in built_in.items()}
    return checked_texts({**built_in, **own}, wanted, path or PROMPTS)


def texts_hash(path: Path | None = None) -> str:
    """Return the hex hash of the texts."""
    if path is None:
        return read_texts(PROMPTS)[1]
    return sha256(json.dumps(search_texts(path)).encode()).hexdigest()


def _tool(name: str, about: str, members: dict[str, Any], needed: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": members, "required": [needed]}
    function = {"name": name, "description": about, "parameters": parameters}
    return {"type": "function", "function": function}
