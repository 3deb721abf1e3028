"""Task for inspect_ai: ``inspect eval turnwise/turnwise -T category=base``.

The log has the chat with all calls and results. For each sample, the log also has the verdict, the
state differences and the scores.
"""

from __future__ import annotations

from typing import Any, get_args

from pydantic import TypeAdapter

from checkers.profile import Mode
from extensions.adapters.suite import extra, suite
from runner.data.api_parameters import require_choice

with extra("inspect"):
    from inspect_ai import Task, task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.log import transcript
    from inspect_ai.model import ChatMessage, ChatMessageAssistant, get_model
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
    from inspect_ai.solver import Generate, Solver, TaskState, solver
    from inspect_ai.tool import ToolInfo

_MESSAGES = TypeAdapter(list[ChatMessage])
_VERDICT = "turnwise_verdict"
# inspect_ai adds the name of the package itself, but not in a checkout.
_TASK = "turnwise" if __name__.startswith("turnwise.") else "turnwise/turnwise"


@task(name=_TASK)
def turnwise(*, mode: Mode = "fc", **names: str) -> Task:
    """Return the task for the entries of a ``suite``."""
    require_choice("mode", mode, get_args(Mode))
    samples = [
        Sample(t.turns[0].messages[0].content, id=t.id, metadata={"category": t.category.value})
        for t in suite(**names).dataset.trajectories.values()
    ]
    return Task(MemoryDataset(samples), solver=play(mode=mode, **names), scorer=judged())


@solver
def play(*, mode: Mode = "fc", **names: str) -> Solver:
    """Play a sample's entry turn by turn."""

    async def solve(state: TaskState, _generate: Generate) -> TaskState:
        env = suite(**names).env(str(state.sample_id), mode=mode)
        observation = env.reset()
        state.messages = []
        while env.verdict is None:
            state.messages += _MESSAGES.validate_python(observation.messages)
            tools = [ToolInfo(**tool["function"]) for tool in observation.tools]
            state.output = await get_model().generate(state.messages, tools)
            state.messages.append(state.output.message)
            observation, *_, info = env.step(_action(state.output.message))
            transcript().info(info, source="turnwise")
        state.store.set(_VERDICT, env.verdict.to_json())
        return state

    return solve


@scorer(metrics={"*": [mean(), stderr()]})
def judged() -> Scorer:
    """Score a sample by its verdict; a sample without a verdict has score 0."""

    async def score(state: TaskState, _target: Target) -> Score:
        verdict = state.store.get(_VERDICT)
        if verdict is None:
            return Score(value={"passed": 0.0, "turns": 0.0}, explanation="not finished")
        turns = verdict["turns_passed"] / verdict["turns"]
        values = {"passed": float(verdict["valid"]), "turns": turns}
        return Score(value=values, explanation=verdict["error_type"], metadata=verdict)

    return score


def _action(message: ChatMessageAssistant) -> dict[str, Any]:
    calls = [
        {"id": call.id, "function": {"name": call.function, "arguments": call.arguments}}
        for call in message.tool_calls or ()
    ]
    return {"role": "assistant", "content": message.text, "tool_calls": calls}
