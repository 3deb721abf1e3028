"""Player of an episode with a tree search; the episode can be resumed.

The record stores the steps of the kept branch as the steps of the episode, so all commands can read
the record. The branches that the search undid are stored in the record's tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from envs.state import Snapshot
from extensions.search.record import SearchRecord, TriedStep
from extensions.search.search import Gone, SearchLimits, SearchObserver, Trail, TriedAnswer, search
from runner.episodes.dialogue import Dialogue
from runner.live.episode_player import EpisodePlayer, EpisodeSetup
from runner.live.step_recording import end_of, step_of
from runner.models.model_types import ChatMessage, Reply, Request
from runner.records.episode_record import EpisodeRecord, TurnEnd


class SearchPlayer(EpisodePlayer, SearchObserver):
    """Player that runs a tree search for an entry. Only the kept branch is judged.

    ``dialogue`` is the current branch of the search. ``steps`` covers all branches; ``turn_ends``
    covers only the kept branch. If ``finish`` is true, the model can call a function to end the
    turn or to give up the branch.
    """

    def __init__(
        self,
        limits: SearchLimits,
        finish: bool,
        setup: EpisodeSetup,
        *,
        texts: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(setup)
        self._texts = texts
        self._limits = limits
        self._finish = finish
        self._trail: Trail = ()
        self._attempts = 0
        self._last: TriedAnswer | None = None
        self._tree: list[TriedStep] = []
        self._undone = 0
        self._states: dict[int | None, Snapshot] = {None: setup.prepared.template.snapshot()}

    async def play(self) -> None:
        """Send requests to the model until the search ends."""
        await search(
            self.dialogue,
            self._propose,
            self._limits,
            finish=self._finish,
            texts=self._texts,
            follows=self,
        )

    def record(self, ended: EpisodeRecord) -> EpisodeRecord:
        """Return the record of the kept branch, with the tree."""
        steps = [self.steps[number] for number in self._trail]
        tree = {"search": self._searched()}
        return super().record(ended)._replace(steps=steps, extensions=tree)

    async def _propose(self, request: Request) -> Reply:
        answer = await self.answer(request)
        self._attempts = answer.attempts
        return answer.reply

    def asks(self, trail: Trail, dialogue: Dialogue) -> None:
        """Store the current position of the search."""
        self._trail, self.dialogue = trail, dialogue

    def tried(self, tried: TriedAnswer) -> None:
        """Store an answer and its result.

        Raises ReplayMismatch if the result of a replayed answer differs from the record.
        """
        self.put_tools(tried.request)
        number = len(self.steps)
        parent = tried.trail[-1] if tried.trail else None
        before = self._states[parent]
        after = before
        if tried.after is not None and tried.taken.results:
            after = tried.after.episode.session.snapshot()
        self._states[number] = after
        asked = len(tried.before.conversation.messages)
        step = step_of(
            *(tried.request, tried.reply, self._attempts, tried.taken, (before, after)),
            messages=asked,
            number=number,
        )
        message: ChatMessage = {"role": "assistant", "content": tried.reply.text or ""}
        if tried.after is not None:
            message = tried.after.conversation.messages[asked]
        self._last = tried
        became: Literal["given_up", "undone"] = "given_up" if tried.after is None else "undone"
        self._tree.append(TriedStep(parent, became, step, message))
        if tried.after is None or tried.after.episode.terminated:
            self._undone += 1
        self.keep(step, message)

    def turn_over(self, trail: Trail, dialogue: Dialogue, gone: Gone | None) -> None:
        """Store the reason for the end of a turn."""
        self._trail, self.dialogue = trail, dialogue
        episode = dialogue.episode
        if episode.terminated:
            end = TurnEnd(episode.turn, "step_limit", None)
        elif gone is not None:
            end = TurnEnd(episode.turn - 1, gone, None)
        else:
            assert self._last is not None
            end = end_of(self._last.taken, self._last.heard, episode)
        self.turn_ends.append(end)

    def _searched(self) -> SearchRecord:
        limits = self._limits
        executed = sum(bool(step.calls) for step in self.steps)
        requests, standing = len(self.steps), frozenset(self._trail)
        tree = [
            TriedStep(tried.parent, "stands") if number in standing else tried
            for number, tried in enumerate(self._tree[:requests])
        ]
        return SearchRecord(
            requests,
            executed,
            undone=self._undone,
            exhausted=requests >= limits.model_calls or executed >= limits.nodes,
            most_requests=limits.model_calls,
            most_steps=limits.nodes,
            tree=tree,
        )
