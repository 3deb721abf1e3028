"""A model that knows the ground truth and errs at a set rate, so that a search can be measured."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from envs.calls import Call, parse_call
from envs.tool import bind
from runner.episodes.scripted import Made, wrong_call
from runner.live.campaign import Plan
from runner.models.base import ChatMessage, Reply, Request, ToolCall, ToolList, Usage
from runner.records.record import FINISH, GIVE_UP
from runner.rollouts.search import ANSWERS, GIVES_UP
from trajectories.prepare import prepare


class Errors(NamedTuple):
    """How often the model errs, as shares from 0 to 1."""

    wrong_call: float
    """Of all calls: another value for one argument, or a call that belongs elsewhere."""
    noticed: float = 0.8
    """Of all requests after a wrong call that went through: it sees what it has done."""


class FallibleModel:
    """Makes one call a step; by seed, entry, trial and what it is asked always the same.

    A wrong call that is refused it makes right in the next step. One that goes through it can only
    take back by giving the branch up, where it is offered to.

    Args:
        plan: Whose entries it is asked about.
        errors: How often it errs.
    """

    def __init__(self, plan: Plan, errors: Errors) -> None:
        self._plan = plan
        self._errors = errors
        self._truths: dict[str, list[list[Made]]] = {}

    async def ask(self, request: Request) -> Reply:
        """Make the call that is due or a wrong one, give the branch up, or say that all is done."""
        truth = self._truth(request.entry)
        turn, made = _read(request.messages)
        due, mistaken = _progress(truth[turn], made)
        random = self._random(request, turn, made)
        own = _own_functions(request.tools)
        if mistaken and own and random.random() < self._errors.noticed:
            return _gives_up(own)
        if due is None:
            return _done(own)
        if random.random() < self._errors.wrong_call:
            elsewhere = [call for t, calls in enumerate(truth) if t != turn for call in calls]
            return _calls(wrong_call(due, elsewhere, random))
        return _calls(due)

    async def close(self) -> None:
        """Release nothing."""

    def _truth(self, entry: str) -> list[list[Made]]:
        """Return the calls that are due in each turn."""
        if entry not in self._truths:
            plan = self._plan
            prepared = prepare(plan.dataset, plan.dataset.trajectories[entry], plan.profile)
            tools = prepared.template.tools
            self._truths[entry] = [
                [_named(parse_call(text), tools) for text in turn.ground_truth]
                for turn in prepared.trajectory.turns
            ]
        return self._truths[entry]

    def _random(self, request: Request, turn: int, made: Sequence[tuple[Made, bool]]) -> Random:
        # By what it is asked, so that an episode that goes on errs as it would have; and in one
        # point of a search otherwise where it is told what it tried there before.
        last = request.messages[-1].get("content")
        seed = self._plan.settings.seed or 0
        return Random(f"{seed}/{request.entry}/{request.trial}/{turn}/{made}/{last}")


def _own_functions(tools: ToolList | None) -> frozenset[str]:
    """Return those functions that a search offers."""
    offered = tools.tools if tools else ()
    return frozenset(tool["function"]["name"] for tool in offered) & {GIVE_UP, FINISH}


def _gives_up(own: frozenset[str]) -> Reply:
    if FINISH in own:
        return _calls((FINISH, {"return_type": GIVES_UP}))
    return _calls((GIVE_UP, {"reason": "The last call was wrong."}))


def _done(own: frozenset[str]) -> Reply:
    if FINISH in own:
        return _calls((FINISH, {"return_type": ANSWERS, "final_answer": "Done."}))
    return Reply("Done.", (), None, "stop", Usage(), 0.0)


def _read(messages: Sequence[ChatMessage]) -> tuple[int, list[tuple[Made, bool]]]:
    """Return the turn, and the calls made in it with whether each went through."""
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
    """Return the call that is due, or None, and whether a wrong one went through."""
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
