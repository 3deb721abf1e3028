"""A search as an episode of a run: recorded with all its branches, and gone on with where it was.

What the record has of the episode is the branch that stands, so that everything that looks at runs
reads it like any other; the tree beside it has what was undone.
"""

from __future__ import annotations

from typing import Literal

from envs.state import Snapshot
from extensions.search.record import SearchRecord, TriedStep
from extensions.search.search import Follower, Gone, SearchLimits, Trail, Tried, search
from runner.episodes.dialogue import Dialogue
from runner.live.course import end_of, step_of
from runner.live.loop import EpisodePlayer, EpisodeSetup
from runner.models.base import ChatMessage, Reply, Request
from runner.records.record import EpisodeRecord, TurnEnd


class SearchPlayer(EpisodePlayer, Follower):
    """Lets a model search its way through a trajectory; the branch that stands is judged.

    The dialogue is the one of the branch that the search is in; steps are those of all branches,
    ends of turns those of the branch that stands.

    With ``finish`` there is a function by which the model ends a turn or gives up.
    """

    def __init__(self, limits: SearchLimits, finish: bool, setup: EpisodeSetup) -> None:
        super().__init__(setup)
        self._limits = limits
        self._finish = finish
        self._trail: Trail = ()
        self._attempts = 0
        self._last: Tried | None = None
        self._tree: list[TriedStep] = []
        self._undone = 0
        self._states: dict[int | None, Snapshot] = {None: setup.prepared.template.snapshot()}

    async def play(self) -> None:
        """Put requests to the model until the search is over."""
        await search(self.dialogue, self._propose, self._limits, finish=self._finish, follows=self)

    def record(self, ended: EpisodeRecord) -> EpisodeRecord:
        """Return the record of the branch that stands, with the tree."""
        steps = [self.steps[number] for number in self._trail]
        tree = {"search": self._searched()}
        return super().record(ended)._replace(steps=steps, extensions=tree)

    async def _propose(self, request: Request) -> Reply:
        answer = await self.answer(request)
        self._attempts = answer.attempts
        return answer.reply

    def asks(self, trail: Trail, dialogue: Dialogue) -> None:
        """Take note of where the search is."""
        self._trail, self.dialogue = trail, dialogue

    def tried(self, tried: Tried) -> None:
        """Note an answer and what it led to.

        Raises:
            LedElsewhere: It is an earlier one, and does not lead where it led.
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
        """Note why a turn ended."""
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
        """Return the tree, and what it took."""
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
