"""Broker between the episodes of a run and clients. The clients' answers drive the turn loop.

The run uses the broker as its model: each request waits for a client's answer. A client selects its
episode by a secret name, which the server stores at the start of the episode. The name is still
valid after a restart of the server.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_urlsafe
from typing import Any, NamedTuple

from runner.live.episode_player import EpisodePlayer, ModelAnswer
from runner.live.live_run import EpisodeJob
from runner.models.model_types import AgentError, Reply, Request, ToolCall
from runner.records.durable_files import LineFile, write_whole
from runner.records.episode_record import EpisodeRecord, Key
from runner.records.json_codec import members_of, read
from runner.records.recorded_run import read_records

CLAIMS_FILE = "claims.jsonl"
"""Name of the file that assigns episodes to clients."""


class EpisodeNotFound(Exception):
    """No client has an episode of this name."""


class NoEpisodeLeft(Exception):
    """All episodes are finished or assigned to clients."""


class TooManyEpisodes(Exception):
    """The maximum number of concurrent episodes is reached."""


class WrongStep(Exception):
    """The answer does not belong to the current step."""


class StoredClaim(NamedTuple):
    """Assignment of an episode to a client: a line of ``claims.jsonl``."""

    id: str
    trial: int
    episode: str
    """Secret name that a client sends to select the episode."""

    @property
    def key(self) -> Key:
        """Entry id and trial."""
        return self.id, self.trial


class RequestLinkedPlayer(EpisodePlayer):
    """Player that puts a reference to itself into each request."""

    @property
    def has_single_turn(self) -> bool:
        """Whether the entry has a single turn, whose calls are judged but not executed."""
        return self._setup.prepared.trajectory.expects is not None

    async def answer(self, request: Request) -> ModelAnswer:
        """Return the next answer: the recorded one in a resumed run, or else the client's."""
        return await super().answer(request._replace(conversation=self))

    @property
    def shown(self) -> int:
        """Number of messages that the client has read or written."""
        return self.steps[-1].request_messages + 1 if self.steps else 0


class _Signal:
    """Wakes all waiting tasks."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def send(self) -> None:
        self._event.set()
        self._event = asyncio.Event()

    async def wait(self, seconds: float | None = None) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._event.wait(), seconds)


@dataclass(eq=False)
class ServedEpisode:
    """An episode that a client plays."""

    key: Key
    name: str = ""
    """Secret name of the episode; empty until a client takes the episode."""
    used: float = 0.0
    """Time of the client's last message."""
    request: Request | None = None
    """Request that the client has to answer; None while the answer is executed."""
    record: EpisodeRecord | None = None
    """Record of the finished episode; None before the end."""
    collected: list[ToolCall] = field(default_factory=list)
    """Calls that an MCP client has made for a single-turn entry."""
    changed: _Signal = field(default_factory=_Signal)
    turns: asyncio.Lock = field(default_factory=asyncio.Lock)
    _reply: Reply | None = None
    _last_reply: Reply | None = None
    """Last answer that this server accepted."""

    @property
    def player(self) -> RequestLinkedPlayer:
        """Player that waits for the client's answer."""
        assert self.request is not None
        assert isinstance(self.request.conversation, RequestLinkedPlayer)
        return self.request.conversation

    @property
    def step(self) -> int:
        """Index of the step that the client has to answer."""
        return len(self.record.steps if self.record else self.player.steps)

    def view(self, *, with_tools: bool = True, hides_verdict: bool = False) -> dict[str, Any]:
        """Return the current step, or the end of the episode, as JSON for the client."""
        id, trial = self.key
        known = {"episode": self.name, "entry": id, "trial": trial, "step": self.step}
        if self.record is not None:
            ended = {} if hides_verdict else {"verdict": self.record.verdict_line()}
            return {**known, "done": True, **ended}
        assert self.request is not None
        player, request = self.player, self.request
        tools = request.tools.tools if request.tools else []
        before = player.steps[-1].tools if player.steps else None
        is_new = with_tools or before != (request.tools.digest if request.tools else None)
        return {
            **known,
            "done": False,
            "turn": player.dialogue.episode.turn,
            "messages": request.messages[player.shown :],
            **({"tools": tools} if is_new else {}),
        }

    async def ready(self) -> None:
        """Wait for the next step or the end of the episode."""
        while self.request is None and self.record is None:
            await self.changed.wait()

    async def take(self, reply: Reply, step: int | None = None) -> None:
        """Pass the client's answer to the run, and wait for the next step.

        If the client repeats its last answer, the run ignores the repetition.

        Raises:
            WrongStep: The answer belongs to neither the current nor the last step, differs from the
                accepted answer of the last step, or the episode is over.
        """
        async with self.turns:
            await self.ready()
            if step is not None and step == self.step - 1:
                if self._last_reply not in (None, reply):
                    raise WrongStep(f"Step {step} was answered with another message.")
                return
            if self.record is not None:
                raise WrongStep("The episode is over.")
            if step not in (None, self.step):
                raise WrongStep(f"The episode is at step {self.step}, not {step}.")
            self.request, self._reply, self._last_reply = None, reply, reply
            self.changed.send()
            await self.ready()

    def show(self, request: Request) -> None:
        """Offer the client a request of the run."""
        self._reply, self.request = None, request
        self.changed.send()

    async def answer(self, seconds_left: Callable[[], float | None]) -> Reply:
        """Return the client's answer. Raises AgentError after the timeout."""
        while self._reply is None:
            left = seconds_left()
            if left is not None and left <= 0:
                raise AgentError("the client did not answer in time")
            await self.changed.wait(left)
        return self._reply

    def finish(self, record: EpisodeRecord) -> None:
        """Show the end of the episode to the client."""
        self.request, self.record = None, record
        self.changed.send()


class EpisodeBroker:
    """Model that gets its answers from the clients of a run.

    Args:
        folder: Run folder, with the claims of an earlier start.
        jobs: Open episodes of the run.
        restarted: Open episodes that start again for any client.
        limit: Maximum number of open episodes with clients.
        idle: Seconds after which a client's episode ends in an error.
        clock: Function that returns the time in seconds.
        hides_verdict: Whether clients do not see verdicts.
    """

    def __init__(
        self,
        folder: Path,
        jobs: Sequence[EpisodeJob],
        limit: int,
        idle: float,
        clock: Callable[[], float],
        *,
        restarted: Collection[Key] = (),
        hides_verdict: bool = False,
    ) -> None:
        self.hides_verdict = hides_verdict
        self._limit, self._idle, self._clock = limit, idle, clock
        self._episodes = {job.key: ServedEpisode(job.key) for job in jobs}
        self._claimed: dict[str, ServedEpisode] = {}
        self._changed = _Signal()
        claims = _read_claims(folder / CLAIMS_FILE, restarted)
        if claims:
            finished = {record.key: record for record in read_records(folder)}
            for claim in claims:
                self._restore(claim, finished.get(claim.key))
        self._file = LineFile(folder / CLAIMS_FILE)

    def _restore(self, claim: StoredClaim, record: EpisodeRecord | None) -> None:
        episode = self._episodes.get(claim.key) or ServedEpisode(claim.key, record=record)
        episode.name, episode.used = claim.episode, self._clock()
        self._claimed[claim.episode] = episode

    def in_order(self, jobs: Sequence[EpisodeJob]) -> list[EpisodeJob]:
        """Sort the jobs: episodes that have a client come first."""
        return sorted(jobs, key=lambda job: not self._episodes[job.key].name)

    async def claim(self) -> ServedEpisode:
        """Give the next episode to a client.

        Raises:
            NoEpisodeLeft: All episodes are finished or assigned to clients.
            TooManyEpisodes: Other clients have the maximum number of episodes.
        """
        while True:
            open_ones = [each for each in self._episodes.values() if each.record is None]
            free = [each for each in open_ones if not each.name]
            if not free:
                raise NoEpisodeLeft("All episodes are finished, or they belong to other clients.")
            if len(open_ones) - len(free) >= self._limit:
                raise TooManyEpisodes(
                    f"All {self._limit} concurrent episodes are in use; try again later."
                )
            episode = next((each for each in free if each.request), None)
            if episode is not None:
                return self._hand_out(episode)
            await self._changed.wait()

    def _hand_out(self, episode: ServedEpisode) -> ServedEpisode:
        claim = StoredClaim(*episode.key, token_urlsafe(16))
        self._file.append(json.dumps(members_of(claim)).encode() + b"\n")
        episode.name, episode.used = claim.episode, self._clock()
        self._claimed[claim.episode] = episode
        episode.changed.send()
        return episode

    def find(self, name: str) -> ServedEpisode:
        """Return a client's episode.

        Raises EpisodeNotFound if the client has no episode of this name.
        """
        if name not in self._claimed:
            raise EpisodeNotFound("No episode has this name; to begin an episode, omit the name.")
        episode = self._claimed[name]
        episode.used = self._clock()
        return episode

    def finish(self, record: EpisodeRecord) -> None:
        """Report the end of an episode to its client."""
        self._episodes[record.key].finish(record)
        self._changed.send()

    async def ask(self, request: Request) -> Reply:
        """Wait for the answer of the episode's client, and return it.

        Raises AgentError if the client stays idle.
        """
        episode, shown_at = self._episodes[request.entry, request.trial], self._clock()

        def seconds_left() -> float | None:
            return episode.used + self._idle - self._clock() if episode.name else None

        episode.show(request)
        self._changed.send()
        reply = await episode.answer(seconds_left)
        return reply._replace(latency=self._clock() - shown_at)

    async def close(self) -> None:
        """Close the file that assigns episodes to clients."""
        self._file.close()


def _read_claims(path: Path, restarted: Collection[Key]) -> list[StoredClaim]:
    file = LineFile(path)
    lines = list(file.mended())
    file.close()
    claims = [read(StoredClaim, line.value, line.where) for line in lines]
    kept = [claim.key not in restarted for claim in claims]
    if not all(kept):
        write_whole(path, (line.raw for line, stays in zip(lines, kept, strict=True) if stays))
    return [claim for claim, stays in zip(claims, kept, strict=True) if stays]
