"""Models that know the ground truth, asked as live ones are: for experiments that need no server.

They make tool calls, are shown the functions that a live model would be shown, and err by a seed of
the entry, so that an episode that goes on errs as it would have.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random

from envs.calls import Call
from extensions.experiments.vary import Levels
from runner.episodes.evaluate import kind_of
from runner.episodes.scripted import ScriptedBehaviour, Sight, wrong_call
from runner.episodes.scripts import Script, oracle
from runner.live.campaign import Plan
from runner.models.base import CHARACTERS_PER_TOKEN, ChatMessage, Reply, Request, ToolCall, Usage
from runner.models.model_name import Null, Scripted, parsed
from runner.models.tools import Names
from trajectories.prepare import Prepared, prepare
from trajectories.right_step import right_calls
from trajectories.scene import needed, own_functions
from trajectories.schema import JudgedBy, Trajectory
from trajectories.task import task_of

Steps = Sequence[Sequence[Sequence[ToolCall]]]
"""Turns of steps of calls, under the names that the model is shown."""

_DONE = "Done."


class ScriptedModel:
    """One of the models ``oracle``, ``null`` and ``scripted:...``, for the entries of a plan."""

    def __init__(self, plan: Plan, levels: Levels) -> None:
        self._plan = plan
        self._levels = levels
        named = isinstance(parsed(plan.model), Scripted)
        self._scripted = ScriptedBehaviour.named(plan.model) if named else None
        self._known: dict[tuple[str, int], Steps] = {}

    async def ask(self, request: Request) -> Reply:
        """Make the calls that are due, or say that all is done."""
        turn, step = _progress(request.messages)
        steps = self._steps(request.entry, request.trial)
        due = turn < len(steps) and step < len(steps[turn])
        calls = tuple(steps[turn][step]) if due else ()
        usage = Usage(_tokens(request), 1 + len(str(calls)) // CHARACTERS_PER_TOKEN)
        if not calls:
            return Reply(_DONE, (), None, "stop", usage, 0.0)
        return Reply(None, calls, None, "tool_calls", usage, 0.0)

    async def close(self) -> None:
        """Release nothing."""

    def _steps(self, entry: str, trial: int) -> Steps:
        trajectory = self._plan.dataset.trajectories.get(entry)
        if trajectory is None or isinstance(parsed(self._plan.model), Null):
            return ()
        key = entry, trial
        if key not in self._known:
            prepared = prepare(self._plan.dataset, trajectory, self._plan.profile)
            names = self._plan.style(trajectory, trial).toolbox.names
            self._known[key] = _named(self._script(prepared, trial), prepared, names)
        return self._known[key]

    def _script(self, prepared: Prepared, trial: int) -> Script:
        trajectory, levels, scripted = prepared.trajectory, self._levels, self._scripted
        seed = f"{levels.seed}/{levels.name}/{trial}"
        if kind_of(trajectory).is_single_turn:
            right = _right(trajectory, self._plan)
            if scripted is None:
                return [[right]] if right else [[]]
            made = _erring(right, scripted, self._shown(trajectory), f"{seed}/{trajectory.id}")
            return [[made]] if made else [[]]
        if scripted is None:
            return oracle(trajectory)
        return scripted.script(prepared, seed, self._shown(trajectory))

    def _shown(self, trajectory: Trajectory) -> Sight:
        arrangement = self._levels.arrangement
        need, there = needed(trajectory), own_functions(trajectory)
        middle = arrangement is not None and arrangement.place == "middle"
        others = tuple([name for name in there if name not in need])
        return Sight(len(there), len(need), middle, others)


def _right(trajectory: Trajectory, plan: Plan) -> list[Call]:
    """Return the calls that are right for an entry of one turn."""
    if trajectory.judged_by is JudgedBy.CALLS:
        return right_calls(task_of(trajectory), plan.profile)
    return [
        call
        for turn in oracle(trajectory)
        for step in turn
        for call in step
        if isinstance(call, Call)
    ]


def _erring(
    calls: Sequence[Call], scripted: ScriptedBehaviour, shown: Sight, seed: str
) -> list[Call]:
    """Return calls of which some are wrong, or of a function that is not needed."""
    random, made = Random(seed), []
    confused = scripted.confused(shown)
    for call in calls:
        drawn = random.random()
        if drawn < confused:
            made += [Call(random.choice(shown.strangers))] if shown.strangers else []
        elif drawn < confused + scripted.error_rate and not call.args:
            others = [(other.name, dict(other.kwargs)) for other in calls if other is not call]
            name, given = wrong_call((call.name, dict(call.kwargs)), others, random)
            made.append(Call(name, (), given))
        else:
            made.append(call)
    return made


def _named(script: Script, prepared: Prepared, names: Names) -> Steps:
    """Return calls as a model makes them that is shown functions under these names."""
    return [
        [
            [
                ToolCall(None, names.shown(call.name), _arguments(call, prepared))
                for call in step
                if isinstance(call, Call)
            ]
            for step in turn
        ]
        for turn in script
    ]


def _arguments(call: Call, prepared: Prepared) -> str:
    """Return the arguments of a call by name, as JSON text as servers send it."""
    known = call.name in prepared.template.tools
    return json.dumps(dict(prepared.scene.arguments(call) if known else call.kwargs))


def _progress(messages: Sequence[ChatMessage]) -> tuple[int, int]:
    """Return the turn, and how many steps with calls it has had."""
    turn = step = 0
    for message in messages:
        if message["role"] == "assistant":
            calls = message.get("tool_calls")
            turn, step = (turn, step + 1) if calls else (turn + 1, 0)
    return turn, step


def _tokens(request: Request) -> int:
    size = len(request.tools.encoded) if request.tools else 0
    size += sum(len(str(message.get("content") or "")) for message in request.messages)
    return size // CHARACTERS_PER_TOKEN
