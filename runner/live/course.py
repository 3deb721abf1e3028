"""What is written down of an episode with a live model: its steps, and why its turns ended."""

from __future__ import annotations

from typing import Any

from checkers.why.answers import unread_calls
from envs.calls import MAX_TEXT, parse_calls
from envs.errors import MalformedCall
from envs.state import ABSENT, Snapshot
from runner.episodes.dialogue import Taken
from runner.episodes.episode import Episode
from runner.models.base import Reply, Request, Verbatim
from runner.records.record import (
    AnsweredStep,
    Change,
    ReplyRecord,
    StepRecord,
    TurnEnd,
    Why,
    call_text,
)

_OUR_MEMBERS = ("role", "content", "tool_calls")
"""Members of an answer among the messages that we put there."""
_OUR_MEMBERS_OF_CALLS = ("id", "type", "function")


def step_of(
    request: Request,
    reply: Reply,
    attempts: int,
    taken: Taken,
    states: tuple[Snapshot, Snapshot],
    *,
    messages: int,
    number: Any = ABSENT,
) -> StepRecord:
    """Return the record of one request, its reply, and what the calls in it led to."""
    before, after = states
    return StepRecord(
        turn=taken.turn,
        request_messages=messages,
        tools=request.tools.digest if request.tools else None,
        reply=ReplyRecord(reply.text, reply.tool_calls, reply.reasoning, reply.finish_reason),
        calls=[call_text(call) for call in taken.calls],
        results=[result.text for result in taken.results],
        changes=[Change.of(each) for each in before.differences(after)],
        usage=reply.usage,
        latency=reply.latency,
        cost=reply.cost,
        attempts=attempts,
        asked=number,
    )


def end_of(taken: Taken, reply: Reply, episode: Episode) -> TurnEnd:
    """Return why a turn ended without calls."""
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
    # What was too long to be read may have held anything.
    said = why in ("cut_off", "unreadable") or len(reply.text or "") > MAX_TEXT
    detail = problem if said else None
    return TurnEnd(turn, why, detail)


def answer_of(earlier: AnsweredStep) -> Reply:
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
    return Reply(
        said.text,
        tuple(said.tool_calls),
        reasoning=said.reasoning,
        finish_reason=said.finish_reason,
        usage=step.usage,
        latency=step.latency,
        cost=step.cost,
        verbatim=verbatim,
    )


def led(step: StepRecord) -> tuple[object, ...]:
    """Return what a step was asked with and led to."""
    return step.turn, step.request_messages, step.tools, [*step.calls], [*step.results]


def _looks_like_calls(text: str | None) -> bool:
    """Tell whether a text that did not decode was meant as calls and not as an answer."""
    try:
        # Of one that is too long to be read, the end says what it was meant as.
        return bool(parse_calls((text or "")[-MAX_TEXT:]))
    except MalformedCall:
        return True
