"""One trajectory with a live model: the turn loop's machine on one side, the chat on the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from checkers.calls.documents import CannotJudge
from checkers.profile import Mode, Profile
from envs.errors import BackendFault
from envs.state import Snapshot
from runner.episodes.dialogue import Dialogue, Taken
from runner.episodes.episode import Episode
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


class Playing(Protocol):
    """Lets a model do a trajectory and judges it: ``run_live``, or a search."""

    async def __call__(
        self,
        prepared: Prepared,
        style: Style,
        mode: Mode,
        profile: Profile,
        step_limit: int,
        ask: Ask,
        put_tools: PutTools,
        put_step: PutStep | None = None,
        course: Sequence[AnsweredStep] = (),
        failures: Collection[ErrorKind] = FAULTS,
    ) -> EpisodeRecord:
        """Return the record of its first trial; the arguments are those of ``run_live``."""
        ...


async def run_live(
    prepared: Prepared,
    style: Style,
    mode: Mode,
    profile: Profile,
    step_limit: int,
    ask: Ask,
    put_tools: PutTools,
    put_step: PutStep | None = None,
    course: Sequence[AnsweredStep] = (),
    failures: Collection[ErrorKind] = FAULTS,
) -> EpisodeRecord:
    """Let a model do a trajectory and judge it; what is returned is its first trial's.

    What ends it that is not the model's doing is its error, with the course so far; what is, fails
    it.

    Args:
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
    while True:
        dialogue = Dialogue(prepared, style, mode, profile, step_limit)
        log = _Log(prepared.template.snapshot())
        try:
            await _converse(dialogue, log, ask, put_tools, put_step, course)
            ended = judged_of(prepared.trajectory, dialogue)
        except LedElsewhere as place:
            course = course[: place.step]
            continue
        except (ModelError, BackendFault, CannotJudge) as error:
            if course and is_refused(error) and len(log.steps) == len(course):
                # The provider does not go on with what it said in an earlier life.
                course = ()
                continue
            ended = broken_off(prepared.trajectory, dialogue, error, failures)
        return ended._replace(
            messages=dialogue.conversation.messages, steps=log.steps, turn_ends=log.turn_ends
        )


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


async def _converse(
    dialogue: Dialogue,
    log: _Log,
    ask: Ask,
    put_tools: PutTools,
    put_step: PutStep | None,
    course: Sequence[AnsweredStep],
) -> None:
    """Put requests to the model until the episode is over, and write down what they led to.

    Raises:
        LedElsewhere: The course does not lead where it led.
    """
    episode, known = dialogue.episode, iter(course)
    while not episode.finished:
        request = dialogue.request()
        asked = len(request.messages)
        earlier = next(known, None)
        if earlier is None:
            answer = await ask(request)
        else:
            answer = ModelAnswer(answer_of(earlier), earlier.step.attempts)
        reply = dialogue.conversation.heard(answer.reply)
        answer = answer._replace(reply=reply)
        if request.tools:
            put_tools(request.tools.digest, request.tools.tools)
        turn = episode.turn
        try:
            taken = dialogue.take(reply)
        except BackendFault:
            # The answer was given, and paid for, whatever its calls ran into.
            log.step(asked, request, answer, Taken(turn, (), None), episode)
            raise
        step = log.step(asked, request, answer, taken, episode)
        if earlier is None and put_step is not None:
            put_step(step, dialogue.conversation.messages[asked])
        if earlier is not None and led(earlier.step) != led(step):
            raise LedElsewhere(len(log.steps) - 1)
        if episode.terminated:
            log.turn_ends.append(TurnEnd(taken.turn, "step_limit", None))
        elif not taken.calls:
            log.turn_ends.append(end_of(taken, reply, episode))


class _Log:
    """What is written down while an episode runs."""

    def __init__(self, before: Snapshot) -> None:
        self.steps: list[StepRecord] = []
        self.turn_ends: list[TurnEnd] = []
        self._before = before

    def step(
        self,
        asked: int,
        request: Request,
        answer: ModelAnswer,
        taken: Taken,
        episode: Episode,
    ) -> StepRecord:
        """Note one request, its reply, and what the calls in it led to."""
        after = episode.session.snapshot() if taken.results else self._before
        states = self._before, after
        step = step_of(request, answer.reply, answer.attempts, taken, states, messages=asked)
        self.steps.append(step)
        self._before = after
        return step
