"""Conversion of a live episode's steps and turn ends to records."""

from __future__ import annotations

from typing import Any

from checkers.causes.answer_patterns import classify_plain_calls
from envs.calls import MAX_TEXT, parse_calls
from envs.errors import MalformedCall
from envs.state import ABSENT, Snapshot
from runner.episodes.dialogue import ExecutedAnswer
from runner.episodes.turn_loop import TurnLoop
from runner.models.model_types import Reply, Request, VerbatimParts
from runner.records.episode_record import (
    STOPS,
    ReplyRecord,
    ResumableStep,
    StateChange,
    StepRecord,
    TurnEnd,
    UserReply,
    Why,
    call_text,
)

_OUR_MEMBERS = ("role", "content", "tool_calls")
_OUR_MEMBERS_OF_CALLS = ("id", "type", "function")


def step_of(
    request: Request,
    reply: Reply,
    attempts: int,
    taken: ExecutedAnswer,
    states: tuple[Snapshot, Snapshot],
    *,
    messages: int,
    number: Any = ABSENT,
) -> StepRecord:
    """Return the record of a step: the request, the reply, and the effects of the calls."""
    before, after = states
    return StepRecord(
        turn=taken.turn,
        request_messages=messages,
        tools=request.tools.digest if request.tools else None,
        reply=_record_reply(reply),
        calls=[call_text(call) for call in taken.calls],
        results=[result.text for result in taken.results],
        changes=[StateChange.of(each) for each in before.differences(after)],
        usage=reply.usage,
        latency=reply.latency,
        cost=reply.cost,
        attempts=attempts,
        asked=number,
    )


def _record_reply(reply: Reply) -> ReplyRecord:
    return ReplyRecord(reply.text, reply.tool_calls, reply.reasoning, reply.finish_reason)


def user_reply_of(reply: Reply, attempts: int) -> UserReply:
    """Return the record of a reply from the model that simulates the user."""
    return UserReply(_record_reply(reply), reply.usage, reply.latency, reply.cost, attempts)


def user_answer_of(earlier: UserReply) -> tuple[Reply, int]:
    """Return a recorded reply of the model that simulates the user, and the number of requests."""
    kept, usage, latency, cost, attempts = earlier
    text, calls, reasoning, reason = kept
    return Reply(text, tuple(calls), reasoning, reason, usage, latency, cost), attempts


def end_of(taken: ExecutedAnswer, reply: Reply, episode: TurnLoop) -> TurnEnd:
    """Return the record of a turn's end, with the reason for the end."""
    why: Why
    turn, problem = taken.turn, taken.problem
    offered = episode.trajectory.offered(tuple(episode.session.tools), turn)
    if (stop := STOPS.get(reply.finish_reason or "")) is not None:
        why = stop
    elif problem and (taken.meant or _looks_like_calls(reply.text)):
        why = "unreadable"
    elif form := classify_plain_calls(reply.text or "", offered):
        why, problem = "unreadable", f"calls in the text: {form.replace('_', ' ')}"
    elif not (reply.text or "").strip():
        why = "empty"
    else:
        why = "answer"
    # A text that is too long to be read may contain calls.
    has_detail = why in ("cut_off", "unreadable") or len(reply.text or "") > MAX_TEXT
    return TurnEnd(turn, why, problem if has_detail else None)


def answer_of(earlier: ResumableStep) -> Reply:
    """Return the recorded reply of a step."""
    step, message = earlier.step, earlier.message
    # The server expects the other members of the message back.
    ours = ("role", "tool_calls") if isinstance(message["content"], list) else _OUR_MEMBERS
    members = {name: value for name, value in message.items() if name not in ours}
    calls = [
        {name: value for name, value in call.items() if name not in _OUR_MEMBERS_OF_CALLS}
        for call in message.get("tool_calls", ())
    ]
    verbatim = VerbatimParts(members, tuple(calls)) if members or any(calls) else None
    return Reply(
        step.reply.text,
        tuple(step.reply.tool_calls),
        reasoning=step.reply.reasoning,
        finish_reason=step.reply.finish_reason,
        usage=step.usage,
        latency=step.latency,
        cost=step.cost,
        verbatim=verbatim,
    )


def describe_step(step: StepRecord) -> tuple[object, ...]:
    """Return the fields of a step that must not change in a replay."""
    return step.turn, step.request_messages, step.tools, [*step.calls], [*step.results]


def _looks_like_calls(text: str | None) -> bool:
    try:
        # The end of a text suffices, and is short enough to be read.
        return bool(parse_calls((text or "")[-MAX_TEXT:]))
    except MalformedCall:
        return True
