"""Chat of a person with a model in an environment; the model's calls are executed.

Each message of the person creates a new entry with one more turn. The episode player of live runs
plays this entry: it replays the earlier answers and asks the model only in the last turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from threading import Lock, Thread
from typing import Any

from envs.errors import DataError
from envs.state import Difference
from runner.analysis.episode_output import describe_change
from runner.episodes.judging import describe_error
from runner.live.budget import Budget
from runner.live.engine import JobEngine
from runner.live.live_run import EpisodeJob, LiveRun, RunInputs
from runner.live.run_control import limits_of
from runner.models.model_types import Model
from runner.records.episode_record import EpisodeRecord, ResumableStep, RunSpending, StepRecord
from trajectories.schema import Message, Trajectory, Turn

_MAX_MESSAGES = 100
_MAX_MESSAGE_CHARS = 100_000
_STOPPED = "stopped by the user"
_MAX_CHANGES = 100
"""Maximum number of listed state changes per step."""

MakePlan = Callable[[Trajectory], RunInputs]
Connect = Callable[[RunInputs, int], Model]
"""Function that returns the client for one turn."""


class Chat:
    """One chat: its messages, and the model's steps so far."""

    def __init__(self, world: Trajectory, plan: MakePlan, connect: Connect, budget: Budget) -> None:
        self.world = world
        """Entry with the environments and the initial config of the chat; it has no turns."""
        self.messages: list[str] = []
        """Messages of the person."""
        self.steps: list[ResumableStep] = []
        """Answers of the model, with the results of their calls."""
        self._plan = plan
        self._connect = connect
        self._budget = budget
        self.thread: Thread | None = None
        """Thread that runs while the model answers the last message."""
        self._ends: list[str] = []
        self._problem: str | None = None
        self._changing = Lock()
        self._running = False
        self._stop: Callable[[], object] | None = None

    @property
    def entry(self) -> Trajectory:
        """The chat as an entry without ground truth."""
        turns = tuple(Turn((Message("user", text),), ()) for text in self.messages)
        return replace(self.world, turns=turns)

    @property
    def is_running(self) -> bool:
        """Whether the model is answering."""
        return self._running

    def send(self, text: str) -> None:
        """Send a message; the model answers in another thread.

        Raises DataError if the message cannot be sent now.
        """
        text = text.encode("utf-8", "replace").decode()
        if not text.strip() or len(text) > _MAX_MESSAGE_CHARS:
            raise DataError("message", f"must have 1 to {_MAX_MESSAGE_CHARS:,} characters")
        with self._changing:
            self._check_idle()
            if self.messages and not self._is_answered:
                raise DataError("message", "the last message has no answer; ask again")
            if len(self.messages) == _MAX_MESSAGES:
                raise DataError("message", f"a chat has at most {_MAX_MESSAGES} messages")
            self.messages.append(text)
            self._start()

    def ask_again(self) -> None:
        """Let the model continue its answer to the last message, after a stop or an error.

        Raises DataError if the last message has an answer.
        """
        with self._changing:
            self._check_idle()
            if not self.messages or self._is_answered:
                raise DataError("message", "the last message has an answer; send another message")
            self._start()

    def take_back(self) -> None:
        """Remove the last message with its answers. Raises DataError if there is no message."""
        with self._changing:
            self._check_idle(may_be_over=True)
            if not self.messages:
                raise DataError("message", "there is no message to take back")
            self.messages.pop()
            kept = len(self.messages)
            self.steps = [each for each in self.steps if each.step.turn < kept]
            self._ends, self._problem = self._ends[:kept], None

    def stop(self) -> None:
        """Cancel the running request, if any, and keep the finished steps."""
        stop = self._stop
        if stop is not None:
            stop()

    # Receiver of the run's steps

    def append(self, record: EpisodeRecord) -> None:
        """Store the end reason of each answered turn, and the error of the last turn, if any."""
        self._ends = [end.why for end in record.turn_ends]
        self._problem = record.fault.said if record.fault else record.error

    def put_tools(self, digest: str, tools: Sequence[Mapping[str, Any]]) -> None:
        """Ignore the tool list, because ``ChatRoom.save`` creates it."""

    def put_step(self, step: ResumableStep, spent: RunSpending) -> None:
        """Add a step, and remove the stored steps with the same or a later place."""
        self.steps = [*(each for each in self.steps if each.place < step.place), step]

    def to_json(self) -> dict[str, Any]:
        """Return the chat for a page."""
        steps = [each.step for each in self.steps]
        return {
            "id": self.world.id,
            "environments": list(self.world.environments),
            "running": self._running,
            "error": self._problem,
            "unanswered": bool(self.messages) and not self._running and not self._is_answered,
            "ended": self._is_over,
            "turns": [
                {"message": text, "steps": [_step_json(s) for s in steps if s.turn == number]}
                for number, text in enumerate(self.messages)
            ],
        }

    @property
    def _is_answered(self) -> bool:
        return len(self._ends) == len(self.messages)

    @property
    def _is_over(self) -> bool:
        return self._ends[-1:] == ["step_limit"]

    def _check_idle(self, *, may_be_over: bool = False) -> None:
        if self._running:
            raise DataError("chat", "the model is still answering; wait or stop it")
        if self._is_over and not may_be_over:
            raise DataError("chat", "the step limit ended this chat; press *Take back*")

    def _start(self) -> None:
        self._running, self._problem = True, None
        self.thread = Thread(target=self._play, daemon=True)
        self.thread.start()

    def _play(self) -> None:
        try:
            asyncio.run(self._answer())
        except Exception as error:
            self._problem = describe_error(error)
        finally:
            self._stop, self._running = None, False

    async def _answer(self) -> None:
        plan = self._plan(self.entry)
        model = self._connect(plan, len(self.messages) - 1)
        limits = limits_of(plan.settings)._replace(concurrency=1, waits_for_server=False)
        engine: JobEngine[EpisodeJob, EpisodeRecord] = JobEngine(
            model, limits, Random(0), self._budget
        )
        loop = asyncio.get_running_loop()
        stop = partial(engine.stop, _STOPPED, at_once=True)
        self._stop = partial(loop.call_soon_threadsafe, stop)
        job = EpisodeJob(self.entry, 0, course=tuple(self.steps))
        try:
            await LiveRun(plan, self).run(engine, [job], lambda _: None)
        finally:
            await model.close()
        self._problem = engine.stop_reason or self._problem


def _step_json(step: StepRecord) -> dict[str, Any]:
    changes = [describe_change(Difference(*change)) for change in step.changes[:_MAX_CHANGES]]
    usage = step.usage
    return {
        "text": step.reply.text,
        "reasoning": step.reply.reasoning,
        "calls": [
            {"call": call, "result": result}
            for call, result in zip(step.calls, step.results, strict=False)
        ],
        "changes": changes,
        "more": max(0, len(step.changes) - _MAX_CHANGES),
        "latency": step.latency,
        "tokens": usage.completion,
    }
