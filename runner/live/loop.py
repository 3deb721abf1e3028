"""One trajectory with a live model: the turn loop's machine on one side, the chat on the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from checkers.calls.documents import CannotJudge
from checkers.profile import Mode, Profile
from checkers.why.answers import unread_calls
from envs.calls import parse_calls
from envs.errors import BackendFault, MalformedCall
from envs.state import Snapshot
from runner.episodes.dialogue import Dialogue, Taken
from runner.episodes.episode import Episode
from runner.episodes.telling import telling_of
from runner.models.base import (
    FAULTS,
    AgentError,
    ChatMessage,
    ErrorKind,
    ModelError,
    Reply,
    Request,
    RequestError,
    Verbatim,
)
from runner.models.conversation import Style
from runner.records.record import (
    AnsweredStep,
    Change,
    EpisodeRecord,
    Fault,
    ReplyRecord,
    StepRecord,
    TurnEnd,
    Why,
    call_text,
)
from trajectories.prepare import Prepared
from trajectories.schema import Trajectory

_OUR_MEMBERS = ("role", "content", "tool_calls")
"""Members of an answer among the messages that we put there."""
_OUR_MEMBERS_OF_CALLS = ("id", "type", "function")


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
            ended = _judged(prepared.trajectory, dialogue)
        except _LedElsewhere as place:
            course = course[: place.step]
            continue
        except (ModelError, BackendFault, CannotJudge) as error:
            if course and _is_refused(error) and len(log.steps) == len(course):
                # The provider does not go on with what it said in an earlier life.
                course = ()
                continue
            ended = _broken_off(prepared.trajectory, dialogue, error, failures)
        return ended._replace(
            messages=dialogue.conversation.messages, steps=log.steps, turn_ends=log.turn_ends
        )


def _judged(
    trajectory: Trajectory, dialogue: Dialogue, fault: Fault | None = None
) -> EpisodeRecord:
    """Return what became of an episode that is over, or that the model's own doing ended."""
    return EpisodeRecord.of(trajectory, dialogue.verdict(fault))._replace(
        result=dialogue.result, telling=telling_of(trajectory, dialogue.result), fault=fault
    )


def _broken_off(
    trajectory: Trajectory, dialogue: Dialogue, error: Exception, failures: Collection[ErrorKind]
) -> EpisodeRecord:
    """Return what became of an episode that an error ended, by whose doing it was."""
    if isinstance(error, ModelError) and error.kind is not None and error.kind in failures:
        return _judged(trajectory, dialogue, Fault(error.kind, str(error)))
    return EpisodeRecord.of(trajectory, None, str(error))._replace(
        traceback=error.traceback if isinstance(error, AgentError) else None
    )


def _is_refused(error: Exception) -> bool:
    return isinstance(error, RequestError) and error.kind == "refused"


class _LedElsewhere(Exception):
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
        _LedElsewhere: The course does not lead where it led.
    """
    episode, known = dialogue.episode, iter(course)
    while not episode.finished:
        request = dialogue.request()
        asked = len(request.messages)
        earlier = next(known, None)
        reply, attempts = await ask(request) if earlier is None else _answer(earlier)
        reply = dialogue.conversation.heard(reply)
        if request.tools:
            put_tools(request.tools.digest, request.tools.tools)
        turn = episode.turn
        try:
            taken = dialogue.take(reply)
        except BackendFault:
            # The answer was given, and paid for, whatever its calls ran into.
            log.step(asked, request, reply, attempts, Taken(turn, (), None), episode)
            raise
        step = log.step(asked, request, reply, attempts, taken, episode)
        if earlier is None and put_step is not None:
            put_step(step, dialogue.conversation.messages[asked])
        if earlier is not None and _led(earlier.step) != _led(step):
            raise _LedElsewhere(len(log.steps) - 1)
        if episode.terminated:
            log.turn_ends.append(TurnEnd(taken.turn, "step_limit", None))
        elif not taken.calls:
            log.end(taken, reply, episode)


def _answer(earlier: AnsweredStep) -> ModelAnswer:
    """Return an answer of an earlier life as it was when it came."""
    step, message = earlier.step, earlier.message
    said = step.reply
    # All that is not ours in the message is what the server wants to see again.
    ours = ("role", "tool_calls") if isinstance(message["content"], list) else _OUR_MEMBERS
    members = {name: value for name, value in message.items() if name not in ours}
    calls = tuple(
        [
            {name: value for name, value in call.items() if name not in _OUR_MEMBERS_OF_CALLS}
            for call in message.get("tool_calls", ())
        ]
    )
    verbatim = Verbatim(members, calls) if members or any(calls) else None
    reply = Reply(
        said.text,
        tuple(said.tool_calls),
        said.reasoning,
        said.finish_reason,
        step.usage,
        step.latency,
        step.cost,
        verbatim,
    )
    return ModelAnswer(reply, step.attempts)


def _led(step: StepRecord) -> tuple[object, ...]:
    """Return what a step was asked with and led to."""
    return step.turn, step.request_messages, step.tools, [*step.calls], [*step.results]


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
        reply: Reply,
        attempts: int,
        taken: Taken,
        episode: Episode,
    ) -> StepRecord:
        """Note one request, its reply, and what the calls in it led to."""
        after = episode.session.snapshot() if taken.results else self._before
        step = StepRecord(
            turn=taken.turn,
            request_messages=asked,
            tools=request.tools.digest if request.tools else None,
            reply=ReplyRecord(reply.text, reply.tool_calls, reply.reasoning, reply.finish_reason),
            calls=[call_text(call) for call in taken.calls],
            results=[result.text for result in taken.results],
            changes=[Change.of(each) for each in self._before.differences(after)],
            usage=reply.usage,
            latency=reply.latency,
            cost=reply.cost,
            attempts=attempts,
        )
        self.steps.append(step)
        self._before = after
        return step

    def end(self, taken: Taken, reply: Reply, episode: Episode) -> None:
        """Note why a turn ended without calls."""
        why: Why
        turn, problem = taken.turn, taken.problem
        offered = episode.trajectory.offered(tuple(episode.session.tools), turn)
        if reply.finish_reason == "length":
            why = "cut_off"
        elif problem and (taken.meant or _looks_like_calls(reply.text)):
            why = "unreadable"
        elif form := unread_calls(reply.text or "", offered):
            why, problem = "unreadable", f"calls in the text: {form.replace('_', ' ')}"
        elif not (reply.text or "").strip():
            why = "empty"
        else:
            why = "answer"
        detail = problem if why in ("cut_off", "unreadable") else None
        self.turn_ends.append(TurnEnd(turn, why, detail))


def _looks_like_calls(text: str | None) -> bool:
    """Tell whether a text that did not decode was meant as calls and not as an answer."""
    try:
        return bool(parse_calls(text or ""))
    except MalformedCall:
        return True
