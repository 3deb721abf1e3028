"""Scripted model for search tests: knows the ground truth, and makes errors at a given rate."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from envs.calls import Call
from envs.tool import bind
from extensions.search.record import FINISH, GIVE_UP
from extensions.search.search import ANSWERS, GIVES_UP
from runner.episodes.scripted_models import Made, wrong_call
from runner.live.live_run import RunInputs
from runner.models.model_types import ChatMessage, Reply, Request, ToolCall, ToolList, Usage
from runner.records.episode_record import Key
from trajectories.prepared_trajectory import PreparedTrajectory, prepare
from trajectories.replay_queries import retried_calls


class ErrorRates(NamedTuple):
    """Error rates of the model, from 0 to 1."""

    wrong_call: float
    """Share of wrong calls. A wrong call has one changed argument, or is another call of the ground
    truth."""
    noticed: float = 0.8
    """Probability that the model notices a wrong call that succeeded."""


class FallibleModel:
    """Deterministic model for one entry; the model makes one call per step.

    In the step after a refused call, the model corrects the call. If a wrong call succeeded, the
    model gives up the branch, and the search undoes the call.
    """

    def __init__(self, prepared: PreparedTrajectory, errors: ErrorRates, seed: int | str) -> None:
        tools = prepared.template.tools
        self._truth = [
            [_named(call, tools) for call in retried_calls(turn)]
            for turn in prepared.trajectory.turns
        ]
        self._errors = errors
        self._seed = f"{seed}/{prepared.trajectory.id}"

    async def __call__(self, request: Request) -> Reply:
        """Make the next right call or a wrong call, give up the branch, or end the turn."""
        turn, made = _read(request.messages)
        due, mistaken = _progress(self._truth[turn], made)
        # The request is part of the seed, so a resumed episode makes the same errors. At a node of
        # a search, the last message lists the tried steps, so the model makes other errors.
        last = request.messages[-1].get("content")
        random = Random(f"{self._seed}/{turn}/{made}/{last}")
        gives_up = _gives_up(request.tools)
        if mistaken and gives_up and random.random() < self._errors.noticed:
            return gives_up
        if due is None:
            return _done(request.tools)
        if random.random() < self._errors.wrong_call:
            truth = enumerate(self._truth)
            elsewhere = [call for t, calls in truth if t != turn for call in calls]
            return _calls(wrong_call(due, elsewhere, random))
        return _calls(due)


class FallibleModelRouter:
    """Model for all episodes of a run; each episode has a separate ``FallibleModel``."""

    def __init__(self, plan: RunInputs, errors: ErrorRates) -> None:
        self._plan = plan
        self._errors = errors
        self._minds: dict[Key, FallibleModel] = {}

    async def ask(self, request: Request) -> Reply:
        """Return the answer of the fallible model for the request's entry and trial."""
        key, plan = (request.entry, request.trial), self._plan
        if key not in self._minds:
            trajectory = plan.dataset.trajectories[request.entry]
            prepared = prepare(plan.dataset, trajectory, plan.profile)
            seed = f"{plan.settings.seed or 0}/{request.trial}"
            self._minds[key] = FallibleModel(prepared, self._errors, seed)
        return await self._minds[key](request)

    async def close(self) -> None:
        """Release nothing."""


def _gives_up(tools: ToolList | None) -> Reply | None:
    """Return a reply that gives up the branch; None if no offered function can do so."""
    offered = {tool["function"]["name"]: tool["function"] for tool in tools.tools} if tools else {}
    if GIVE_UP in offered:
        return _calls((GIVE_UP, {"reason": "The last call was wrong."}))
    if FINISH in offered and GIVES_UP in str(offered[FINISH]["parameters"]):
        return _calls((FINISH, {"return_type": GIVES_UP}))
    return None


def _done(tools: ToolList | None) -> Reply:
    if any(tool["function"]["name"] == FINISH for tool in (tools.tools if tools else ())):
        return _calls((FINISH, {"return_type": ANSWERS, "final_answer": "Done."}))
    return Reply("Done.", (), None, "stop", Usage(), 0.0)


def _read(messages: Sequence[ChatMessage]) -> tuple[int, list[tuple[Made, bool]]]:
    turn = 0
    made: list[tuple[Made, bool]] = []
    results = {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
    for message in messages:
        if message["role"] != "assistant":
            continue
        if not message.get("tool_calls"):
            turn, made = turn + 1, []
        for call in message.get("tool_calls", ()):
            function = call["function"]
            call_made = function["name"], json.loads(function["arguments"])
            made.append((call_made, not _is_error(results[call["id"]])))
    return turn, made


def _progress(truth: Sequence[Made], made: Sequence[tuple[Made, bool]]) -> tuple[Made | None, bool]:
    """Return the next right call (None after the last one), and whether a wrong call succeeded."""
    done, mistaken = 0, False
    for call, went_through in made:
        if done < len(truth) and call == truth[done]:
            done += 1
        elif went_through:
            mistaken = True
    return (truth[done] if done < len(truth) else None), mistaken


def _is_error(text: str) -> bool:
    try:
        shown = json.loads(text)
    except ValueError:
        return False
    return isinstance(shown, dict) and "error" in shown


def _calls(*made: Made) -> Reply:
    calls = tuple(ToolCall(None, name, arguments) for name, arguments in made)
    return Reply(None, calls, None, "tool_calls", Usage(), 0.0)


def _named(call: Call, tools: Mapping[str, Any]) -> Made:
    # As the conversation shows it later: tuples, for one, come back as lists.
    arguments = bind(tools[call.name], call.args, call.kwargs)
    return call.name, json.loads(json.dumps(arguments))
