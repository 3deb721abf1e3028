"""One trajectory with a live model: the turn loop's machine on one side, the chat on the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from checkers.calls.documents import CannotJudge
from checkers.profile import Mode, Profile
from envs.errors import BackendFault
from runner.episodes.dialogue import Dialogue, Taken
from runner.episodes.telling import telling_of
from runner.live.course import answer_of, end_of, led, step_of
from runner.models.base import (
    FAULTS,
    AgentError,
    ChatMessage,
    ErrorKind,
    ModelError,
    Reply,
    Request,
    RequestError,
)
from runner.models.conversation import Style
from runner.records.record import AnsweredStep, EpisodeRecord, Fault, StepRecord, TurnEnd
from trajectories.prepare import Prepared
from trajectories.schema import Trajectory


class ModelAnswer(NamedTuple):
    """A model's reply and what it took to get it."""

    reply: Reply
    attempts: int


Ask = Callable[[Request], Awaitable[ModelAnswer]]
"""Puts a request to a model, with whatever retries and limits the caller has."""


PutTools = Callable[[str, Sequence[Mapping[str, Any]]], object]
"""Keeps a tool list under its digest."""

PutStep = Callable[[StepRecord, ChatMessage], object]
"""Keeps a request that was answered, with the answer as it stands among the messages."""


@dataclass(frozen=True, kw_only=True, eq=False)
class EpisodeSetup:
    """What an episode with a live model is played with.

    Attributes:
        prepared: The trajectory.
        style: How the model is talked to.
        mode: How it calls functions.
        profile: How its steps are decoded, executed and judged.
        step_limit: Steps with calls that a turn may take.
        ask: Puts a request to the model; a ModelError that it raises is the episode's.
        put_tools: Keeps the tool lists that the record names.
        put_step: Keeps every answer as soon as its calls are executed; None to keep none.
        course: Answers that it got before, from the first on. They are taken once more, as far as
            they lead where they led; from there on the model is asked.
        failures: What keeps a request from being answered and counts as the model's doing.
    """

    prepared: Prepared
    style: Style
    mode: Mode
    profile: Profile
    step_limit: int
    ask: Ask
    put_tools: PutTools
    put_step: PutStep | None = None
    course: Sequence[AnsweredStep] = ()
    failures: Collection[ErrorKind] = FAULTS

    def dialogue(self) -> Dialogue:
        """Return the dialogue before the first request."""
        return Dialogue(self.prepared, self.style, self.mode, self.profile, self.step_limit)


class EpisodePlayer:
    """Plays an episode with a live model once, and keeps what its record has of it.

    Attributes:
        dialogue: The dialogue; the record has its messages.
        steps: One per answer.
        turn_ends: How the turns ended.
    """

    def __init__(self, setup: EpisodeSetup) -> None:
        self.dialogue = setup.dialogue()
        self.steps: list[StepRecord] = []
        self.turn_ends: list[TurnEnd] = []
        self._setup = setup
        self._before = setup.prepared.template.snapshot()

    async def play(self) -> None:
        """Put requests to the model until the episode is over.

        Raises:
            ModelError: There is no answer.
            BackendFault: A call ran into a fault of ours.
            CannotJudge: Something that judges is missing.
            LedElsewhere: The course does not lead where it led.
        """
        dialogue, episode = self.dialogue, self.dialogue.episode
        while not episode.finished:
            request = dialogue.request()
            asked = len(request.messages)  # the list grows
            answer = await self.answer(request)
            reply = dialogue.conversation.heard(answer.reply)
            answer = answer._replace(reply=reply)
            turn = episode.turn
            try:
                taken = dialogue.take(reply)
            except BackendFault:
                # The answer was given, and paid for, whatever its calls ran into.
                self.steps.append(self._step(asked, request, answer, Taken(turn, (), None)))
                raise
            step = self._step(asked, request, answer, taken)
            self.keep(step, dialogue.conversation.messages[asked])
            if episode.terminated:
                self.turn_ends.append(TurnEnd(taken.turn, "step_limit", None))
            elif not taken.calls:
                self.turn_ends.append(end_of(taken, reply, episode))

    def record(self, ended: EpisodeRecord) -> EpisodeRecord:
        """Return the record of the episode, given what became of it."""
        messages = self.dialogue.conversation.messages
        return ended._replace(messages=messages, steps=self.steps, turn_ends=self.turn_ends)

    async def answer(self, request: Request) -> ModelAnswer:
        """Put a request to the model, unless its answer is known.

        Raises:
            ModelError: There is no answer.
        """
        number, course = len(self.steps), self._setup.course
        if number >= len(course):
            return await self._setup.ask(request)
        return ModelAnswer(answer_of(course[number]), course[number].step.attempts)

    def keep(self, step: StepRecord, message: ChatMessage) -> None:
        """Keep an answer, and how it stands among the messages.

        Raises:
            LedElsewhere: It is an earlier one, and does not lead where it led.
        """
        number, setup = len(self.steps), self._setup
        self.steps.append(step)
        if number < len(setup.course):
            if led(setup.course[number].step) != led(step):
                raise LedElsewhere(number)
        elif setup.put_step is not None:
            setup.put_step(step, message)

    def put_tools(self, request: Request) -> None:
        """Keep the tool list of a request."""
        if request.tools:
            self._setup.put_tools(request.tools.digest, request.tools.tools)

    def _step(self, asked: int, request: Request, answer: ModelAnswer, taken: Taken) -> StepRecord:
        """Return the record of one request, its reply, and what the calls in it led to."""
        self.put_tools(request)
        session = self.dialogue.episode.session
        after = session.snapshot() if taken.results else self._before
        states = self._before, after
        self._before = after
        return step_of(request, answer.reply, answer.attempts, taken, states, messages=asked)


async def run_live(
    setup: EpisodeSetup, player: Callable[[EpisodeSetup], EpisodePlayer] = EpisodePlayer
) -> EpisodeRecord:
    """Let a model do a trajectory and judge it; what is returned is its first trial's.

    What ends it that is not the model's doing is its error, with the course so far; what is, fails
    it.

    Args:
        setup: What it is played with.
        player: Plays it; another one lets the model search.
    """
    trajectory = setup.prepared.trajectory
    while True:
        played = player(setup)
        try:
            await played.play()
            ended = judged_of(trajectory, played.dialogue)
        except LedElsewhere as place:
            setup = replace(setup, course=setup.course[: place.step])
            continue
        except (ModelError, BackendFault, CannotJudge) as error:
            if setup.course and is_refused(error) and len(played.steps) == len(setup.course):
                # The provider does not go on with what it said in an earlier life.
                setup = replace(setup, course=())
                continue
            ended = broken_off(trajectory, played.dialogue, error, setup.failures)
        return played.record(ended)


def judged_of(
    trajectory: Trajectory, dialogue: Dialogue, fault: Fault | None = None
) -> EpisodeRecord:
    """Return what became of an episode that is over, or that the model's own doing ended."""
    return EpisodeRecord.of(trajectory, dialogue.verdict(fault))._replace(
        result=dialogue.result, telling=telling_of(trajectory, dialogue.result), fault=fault
    )


def broken_off(
    trajectory: Trajectory, dialogue: Dialogue, error: Exception, failures: Collection[ErrorKind]
) -> EpisodeRecord:
    """Return what became of an episode that an error ended, by whose doing it was."""
    if isinstance(error, ModelError) and error.kind is not None and error.kind in failures:
        return judged_of(trajectory, dialogue, Fault(error.kind, str(error)))
    return EpisodeRecord.of(trajectory, None, str(error))._replace(
        traceback=error.traceback if isinstance(error, AgentError) else None
    )


def is_refused(error: Exception) -> bool:
    """Tell whether an error is a server's refusal of one request."""
    return isinstance(error, RequestError) and error.kind == "refused"


class LedElsewhere(Exception):
    """An answer of an earlier life was given to another request, or its calls give other results.

    Args:
        step: Its number, from 0.
    """

    def __init__(self, step: int) -> None:
        super().__init__(step)
        self.step = step
