"""One trajectory with a live model: the turn loop's machine on one side, the chat on the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from checkers.profile import Mode, Profile
from checkers.turn import judge
from checkers.verdict import Verdict
from envs.calls import Call, parse_calls
from envs.decoding import Step
from envs.errors import MalformedCall
from envs.state import ABSENT, Difference, Snapshot, to_json
from runner.episode import Episode
from runner.live.conversation import FunctionCalling, Prompting, Style
from runner.live.models.base import Reply, Request
from runner.prepare import Prepared


class Answer(NamedTuple):
    """A model's reply and what it took to get it."""

    reply: Reply
    attempts: int


Ask = Callable[[Request], Awaitable[Answer]]
"""Puts a request to a model, with whatever retries and limits the caller has."""


class LiveRun(NamedTuple):
    """What one episode with a live model came to."""

    verdict: Verdict
    messages: Sequence[dict[str, Any]]
    """The whole conversation; every request was a beginning of it."""
    steps: Sequence[dict[str, Any]]
    """One record per request."""
    turn_ends: Sequence[dict[str, Any]]
    """Why each turn ended."""
    result: Sequence[Sequence[Step]]
    """Turns of steps, in the form of the reference's result files."""
    tools: dict[str, Sequence[dict[str, Any]]]
    """The tool lists that were offered, by their digest."""


async def run_live(
    prepared: Prepared, style: Style, mode: Mode, profile: Profile, step_limit: int, ask: Ask
) -> LiveRun:
    """Let a model do a trajectory and judge it.

    Args:
        prepared: The trajectory.
        style: How the model is talked to.
        mode: How it calls functions.
        profile: How its steps are decoded, executed and judged.
        step_limit: Steps with calls that a turn may take.
        ask: Puts a request to the model; what it raises ends the episode.
    """
    conversation = FunctionCalling(style) if mode == "fc" else Prompting(style)
    episode = Episode(prepared.trajectory, prepared.template.fork(), profile, step_limit)
    log = _Log(prepared.template.snapshot())
    while not episode.finished:
        turn = episode.turn
        if turn == len(log.result):
            log.result.append([])
            conversation.start_turn(episode.messages, episode.offered, episode.offers)
        request = conversation.request()
        asked = len(request.messages)
        reply, attempts = await ask(request)
        step = conversation.read(reply)
        log.result[turn].append(step)
        log.tools |= {request.tools.digest: request.tools.tools} if request.tools else {}
        calls, problem = _decoded(step, mode, profile)
        results = episode.act(calls) if calls else []
        log.step(turn, asked, request, reply, attempts, calls, results, episode)
        if results:
            conversation.observe(calls, results)
        else:
            conversation.refuse(problem or "The turn is over.")
        if episode.terminated:
            log.turn_ends.append({"turn": turn, "why": "step_limit", "detail": None})
        elif not calls:
            log.end(turn, reply, problem)
            episode.end_turn()
    verdict = judge(prepared.truth, episode.outcomes, profile, terminated=episode.terminated)
    return LiveRun(verdict, conversation.messages, log.steps, log.turn_ends, log.result, log.tools)


def _decoded(
    step: Step, mode: Mode, profile: Profile
) -> tuple[list[Call | MalformedCall], str | None]:
    """Return the calls of a step, and why there are none if it was not plain text."""
    try:
        return profile.decoders[mode](step), None
    except MalformedCall as error:
        answered: list[Call | MalformedCall] = [error] if profile.answers_unreadable_steps else []
        return answered, error.message


class _Log:
    """What is written down while an episode runs."""

    def __init__(self, before: Snapshot) -> None:
        self.steps: list[dict[str, Any]] = []
        self.turn_ends: list[dict[str, Any]] = []
        self.result: list[list[Step]] = []
        self.tools: dict[str, Sequence[dict[str, Any]]] = {}
        self._before = before

    def step(
        self,
        turn: int,
        asked: int,
        request: Request,
        reply: Reply,
        attempts: int,
        calls: Sequence[Call | MalformedCall],
        results: Sequence[Any],
        episode: Episode,
    ) -> None:
        """Note one request, its reply, and what the calls in it led to."""
        after = episode.session.snapshot() if results else self._before
        self.steps.append(
            {
                "turn": turn,
                "request_messages": asked,
                "tools": request.tools.digest if request.tools else None,
                "reply": {
                    "text": reply.text,
                    "tool_calls": [call._asdict() for call in reply.tool_calls],
                    "reasoning": reply.reasoning,
                    "finish_reason": reply.finish_reason,
                },
                "calls": [_shown(call) for call in calls],
                "results": [result.text for result in results],
                "changes": [_change(difference) for difference in self._before.differences(after)],
                "usage": reply.usage._asdict(),
                "latency": reply.latency,
                "cost": reply.cost,
                "attempts": attempts,
            }
        )
        self._before = after

    def end(self, turn: int, reply: Reply, problem: str | None) -> None:
        """Note why a turn ended without calls."""
        if reply.finish_reason == "length":
            why = "cut_off"
        elif problem and (reply.tool_calls or _looks_like_calls(reply.text)):
            why = "unreadable"
        elif not (reply.text or "").strip():
            why = "empty"
        else:
            why = "answer"
        detail = problem if why in ("cut_off", "unreadable") else None
        self.turn_ends.append({"turn": turn, "why": why, "detail": detail})


def _change(difference: Difference) -> dict[str, Any]:
    """Return a change as a JSON object; what was or is not there has no member."""
    shown = {"path": difference.path}
    if difference.expected is not ABSENT:
        shown["before"] = to_json(difference.expected)
    if difference.actual is not ABSENT:
        shown["after"] = to_json(difference.actual)
    return shown


def _looks_like_calls(text: str | None) -> bool:
    """Tell whether a text that did not decode was meant as calls and not as an answer."""
    try:
        return bool(parse_calls(text or ""))
    except MalformedCall:
        return True


def _shown(call: Call | MalformedCall) -> str:
    return f"(unreadable: {call.message})" if isinstance(call, MalformedCall) else str(call)
