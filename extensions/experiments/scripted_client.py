"""Models that know the ground truth.

The models have the same interface as live models and get the same functions, but need no server.
The seed of the errors depends on the entry, so a
resumed episode has the same errors.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random

from envs.calls import Call
from extensions.experiments.axes import Levels
from extensions.experiments.function_counts import list_needed_functions
from runner.episodes.judging import kind_of
from runner.episodes.script_playback import Script, make_truth_script
from runner.episodes.scripted_models import OfferFacts, ScriptedBehaviour, wrong_call
from runner.live.live_run import RunInputs
from runner.models.model_types import (
    CHARACTERS_PER_TOKEN,
    ChatMessage,
    Reply,
    Request,
    ToolCall,
    Usage,
)
from runner.models.toolbox import FunctionNameMapping
from trajectories.call_checker_tasks import make_call_entry
from trajectories.example_steps import make_expected_calls
from trajectories.prepared_trajectory import PreparedTrajectory, prepare
from trajectories.replay_queries import list_own_functions
from trajectories.schema import JudgingMethod, Trajectory

Steps = Sequence[Sequence[Sequence[ToolCall]]]
"""Calls by turn and step. The function names are the names in the model's tool list."""

_DONE = "Done."


class ScriptedModel:
    """The model ``oracle``, ``null`` or ``scripted:...`` for the entries of a plan."""

    def __init__(self, plan: RunInputs, levels: Levels) -> None:
        self._plan = plan
        self._levels = levels
        name = plan.model
        self._scripted = ScriptedBehaviour.named(name) if name.is_scripted else None
        self._known: dict[tuple[str, int], Steps] = {}

    async def ask(self, request: Request) -> Reply:
        """Return the calls of the next ground-truth step, or end the turn if no step is left."""
        turn, step = _count_steps(request.messages)
        steps = self._steps(request.entry, request.trial)
        due = turn < len(steps) and step < len(steps[turn])
        calls = tuple(steps[turn][step]) if due else ()
        usage = Usage(_count_tokens(request), 1 + len(str(calls)) // CHARACTERS_PER_TOKEN)
        if not calls:
            return Reply(_DONE, (), None, "stop", usage, 0.0)
        return Reply(None, calls, None, "tool_calls", usage, 0.0)

    async def close(self) -> None:
        """Do nothing, because no connection exists."""

    def _steps(self, entry: str, trial: int) -> Steps:
        trajectory = self._plan.dataset.trajectories.get(entry)
        if trajectory is None or not self._plan.model.makes_calls:
            return ()
        key = entry, trial
        if key not in self._known:
            prepared = prepare(self._plan.dataset, trajectory, self._plan.profile)
            names = self._plan.style(trajectory, trial).toolbox.names
            self._known[key] = _convert(self._script(prepared, trial), prepared, names)
        return self._known[key]

    def _script(self, prepared: PreparedTrajectory, trial: int) -> Script:
        trajectory, levels, scripted = prepared.trajectory, self._levels, self._scripted
        seed = f"{levels.seed}/{levels.name}/{trial}"
        if kind_of(trajectory).is_single_turn:
            right = _right_calls(trajectory, self._plan)
            if scripted is None:
                return [[right]] if right else [[]]
            context, seed = self._context(trajectory), f"{seed}/{trajectory.id}"
            made = _add_errors(right, scripted, context, seed)
            return [[made]] if made else [[]]
        if scripted is None:
            return make_truth_script(trajectory)
        return scripted.script(prepared, seed, self._context(trajectory))

    def _context(self, trajectory: Trajectory) -> OfferFacts:
        arrangement = self._levels.arrangement
        need, offered = list_needed_functions(trajectory), list_own_functions(trajectory)
        middle = arrangement is not None and arrangement.place == "middle"
        others = tuple([name for name in offered if name not in need])
        return OfferFacts(len(offered), len(need), middle, others)


def _right_calls(trajectory: Trajectory, plan: RunInputs) -> list[Call]:
    if trajectory.judged_by is JudgingMethod.CALLS:
        return make_expected_calls(make_call_entry(trajectory), plan.profile)
    steps = [step for turn in make_truth_script(trajectory) for step in turn]
    return [call for step in steps for call in step if isinstance(call, Call)]


def _add_errors(
    calls: Sequence[Call], scripted: ScriptedBehaviour, shown: OfferFacts, seed: str
) -> list[Call]:
    """Return the calls with added errors: wrong arguments, or calls of unneeded functions."""
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


def _convert(script: Script, prepared: PreparedTrajectory, names: FunctionNameMapping) -> Steps:
    """Return the calls of a script in the form of a server's tool calls."""

    def convert(call: Call) -> ToolCall:
        known = call.name in prepared.template.tools
        arguments = dict(prepared.scene.arguments(call) if known else call.kwargs)
        return ToolCall(None, names.shown(call.name), json.dumps(arguments))

    return [[[convert(c) for c in step if isinstance(c, Call)] for step in turn] for turn in script]


def _count_steps(messages: Sequence[ChatMessage]) -> tuple[int, int]:
    """Count the finished turns, and the steps with calls in the current turn."""
    turn = step = 0
    for message in messages:
        if message["role"] == "assistant":
            calls = message.get("tool_calls")
            turn, step = (turn, step + 1) if calls else (turn + 1, 0)
    return turn, step


def _count_tokens(request: Request) -> int:
    size = len(request.tools.encoded) if request.tools else 0
    size += sum(len(str(message.get("content") or "")) for message in request.messages)
    return size // CHARACTERS_PER_TOKEN
