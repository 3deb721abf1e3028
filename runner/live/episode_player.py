"""Execution of one episode with a live model: requests, answers, steps and the verdict."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from traceback import format_exception
from typing import Any, NamedTuple, cast

from checkers.calls.call_entry import UnjudgeableEntry
from checkers.profile import Mode, Profile
from envs.errors import BackendFault
from envs.state import ABSENT
from runner.episodes.dialogue import Dialogue, ExecutedAnswer
from runner.episodes.info_verdict import find_reported_info
from runner.live.step_recording import (
    answer_of,
    describe_step,
    end_of,
    step_of,
    user_answer_of,
    user_reply_of,
)
from runner.models.conversation import ConversationSettings
from runner.models.model_types import (
    FAULTS,
    AgentError,
    ChatMessage,
    ErrorKind,
    ModelError,
    Reply,
    Request,
    RequestError,
)
from runner.records.episode_record import (
    EpisodeRecord,
    ResumableStep,
    ServerRejection,
    StepRecord,
    TurnEnd,
    UserReply,
)
from trajectories.prepared_trajectory import PreparedTrajectory
from trajectories.schema import Trajectory


class ModelAnswer(NamedTuple):
    """A model's reply, and the number of requests that were sent to get the reply."""

    reply: Reply
    attempts: int


Ask = Callable[[Request], Awaitable[ModelAnswer]]
PutTools = Callable[[str, Sequence[Mapping[str, Any]]], object]
PutStep = Callable[[StepRecord, ChatMessage], object]


@dataclass(frozen=True, kw_only=True, eq=False)
class EpisodeSetup:
    """Inputs of an episode with a live model."""

    prepared: PreparedTrajectory
    style: ConversationSettings
    mode: Mode
    profile: Profile
    step_limit: int
    """Maximum steps with calls per turn."""
    ask: Ask
    """Function that sends a request. A ModelError becomes the error of the episode."""
    put_tools: PutTools
    """Function that writes the tool lists of the episode to the run."""
    put_step: PutStep | None = None
    """Function that records an answer and its results; None if answers are not recorded."""
    course: Sequence[ResumableStep] = ()
    """Answers of earlier run segments. The player replays these answers until a result differs."""
    failures: Collection[ErrorKind] = FAULTS
    """Kinds of request errors that count as a failure of the model."""

    def dialogue(self) -> Dialogue:
        """Return the dialogue in the state before the first request."""
        return Dialogue(self.prepared, self.style, self.mode, self.profile, self.step_limit)


class EpisodePlayer:
    """Player of an episode with a live model; it also records the steps and how each turn ended."""

    def __init__(self, setup: EpisodeSetup) -> None:
        self.dialogue = setup.dialogue()
        self.steps: list[StepRecord] = []
        self.turn_ends: list[TurnEnd] = []
        self._setup = setup
        self._before = setup.prepared.template.snapshot()

    async def play(self) -> None:
        """Send requests to the model until the episode is over.

        Raises:
            ModelError: A request got no answer.
            BackendFault: A call failed because of a bug in an environment.
            UnjudgeableEntry: A library that the checkers need is missing.
            ReplayMismatch: The results of a replayed answer differ from the record.
        """
        dialogue, episode = self.dialogue, self.dialogue.episode
        while not episode.finished:
            request = dialogue.request()
            size = len(request.messages)  # the list grows
            answer = await self.answer(request)
            reply = dialogue.conversation.heard(answer.reply)
            answer = ModelAnswer(reply, answer.attempts)
            turn = episode.turn
            try:
                taken, replies = await self._hear(reply)
            except BackendFault:
                # The answer was paid for, so it is recorded.
                self.steps.append(
                    self._make_step(size, request, answer, ExecutedAnswer(turn, (), None))
                )
                raise
            step = self._make_step(size, request, answer, taken)
            step = step._replace(user=replies) if replies else step
            self.keep(step, dialogue.conversation.messages[size])
            if episode.terminated:
                self.turn_ends.append(TurnEnd(taken.turn, "step_limit", None))
            elif not taken.calls or episode.turn > turn:
                self.turn_ends.append(end_of(taken, reply, episode))

    async def _hear(self, reply: Reply) -> tuple[ExecutedAnswer, list[UserReply]]:
        number, course = len(self.steps), self._setup.course
        known: Any = course[number].step.user if number < len(course) else ABSENT
        earlier: Sequence[UserReply] = () if known is ABSENT else known
        replies: list[UserReply] = []
        hearing = self.dialogue.hear(reply)
        given: Reply | None = None
        while True:
            try:
                request = hearing.send(cast(Reply, given))
            except StopIteration as end:
                return end.value, replies
            if len(replies) < len(earlier):
                given, attempts = user_answer_of(earlier[len(replies)])
            else:
                given, attempts = await self._setup.ask(request)
            replies.append(user_reply_of(given, attempts))

    def record(self, ended: EpisodeRecord) -> EpisodeRecord:
        """Return the record of the episode with its messages and steps."""
        messages = self.dialogue.conversation.messages
        ended = ended._replace(extensions={**ended.extensions, **self.dialogue.members})
        return ended._replace(messages=messages, steps=self.steps, turn_ends=self.turn_ends)

    async def answer(self, request: Request) -> ModelAnswer:
        """Return the next recorded answer; if no recorded answer is left, send the request.

        Raises ModelError if the request got no answer.
        """
        number, course = len(self.steps), self._setup.course
        if number >= len(course):
            return await self._setup.ask(request)
        return ModelAnswer(answer_of(course[number]), course[number].step.attempts)

    def keep(self, step: StepRecord, message: ChatMessage) -> None:
        """Store a step and the message of its answer.

        Raises ReplayMismatch if the results of a replayed answer differ from the record.
        """
        number, setup = len(self.steps), self._setup
        self.steps.append(step)
        if number < len(setup.course):
            if describe_step(setup.course[number].step) != describe_step(step):
                raise ReplayMismatch(number)
        elif setup.put_step is not None:
            setup.put_step(step, message)

    def put_tools(self, request: Request) -> None:
        """Store the tool list of a request."""
        if request.tools:
            self._setup.put_tools(request.tools.digest, request.tools.tools)

    def _make_step(
        self, size: int, request: Request, answer: ModelAnswer, taken: ExecutedAnswer
    ) -> StepRecord:
        self.put_tools(request)
        session = self.dialogue.episode.session
        after = session.snapshot() if taken.results else self._before
        states = self._before, after
        self._before = after
        return step_of(request, answer.reply, answer.attempts, taken, states, messages=size)


async def run_live(
    setup: EpisodeSetup, player: Callable[[EpisodeSetup], EpisodePlayer] = EpisodePlayer
) -> EpisodeRecord:
    """Play and judge an episode; return its record with trial 0.

    If the model caused an error, the episode fails. Other errors are stored in the record.
    """
    trajectory = setup.prepared.trajectory
    while True:
        played = player(setup)
        try:
            await played.play()
            ended = judged_of(trajectory, played.dialogue)
        except ReplayMismatch as place:
            setup = replace(setup, course=setup.course[: place.step])
            continue
        except (ModelError, BackendFault, UnjudgeableEntry) as error:
            is_refused = isinstance(error, RequestError) and error.kind == "refused"
            if setup.course and is_refused and len(played.steps) == len(setup.course):
                # The provider does not accept its answers of an earlier run segment.
                setup = replace(setup, course=())
                continue
            ended = broken_off(trajectory, played.dialogue, error, setup.failures)
        return played.record(ended)


def judged_of(
    trajectory: Trajectory, dialogue: Dialogue, fault: ServerRejection | None = None
) -> EpisodeRecord:
    """Return the record of a finished episode."""
    return EpisodeRecord.of(trajectory, dialogue.verdict(fault))._replace(
        result=dialogue.result, telling=find_reported_info(trajectory, dialogue.result), fault=fault
    )


def broken_off(
    trajectory: Trajectory, dialogue: Dialogue, error: Exception, failures: Collection[ErrorKind]
) -> EpisodeRecord:
    """Return the record of an episode that ended in an error."""
    if isinstance(error, ModelError) and error.kind is not None and error.kind in failures:
        return judged_of(trajectory, dialogue, ServerRejection(error.kind, str(error)))
    traced = error.traceback if isinstance(error, AgentError) else None
    if isinstance(error, BackendFault) and error.__cause__:
        traced = "".join(format_exception(error.__cause__))
    return EpisodeRecord.of(trajectory, None, str(error))._replace(traceback=traced)


class ReplayMismatch(Exception):
    """The request or the results of a replayed step differ from the record."""

    def __init__(self, step: int) -> None:
        super().__init__(step)
        self.step = step
