"""Trajectories for verifiers: a taskset, and the harness that takes a model through its tasks.

The library looks for them in the ``__all__`` of a top-level module, for ``vf-eval MODULE``.
"""

from __future__ import annotations

from typing import Any

from checkers.profile import Mode
from extensions.adapters.rollouts import extra, suite

with extra():
    import verifiers.v1 as vf
    from openai import AsyncOpenAI, omit


class TrajectoryConfig(vf.TasksetConfig):
    """The names that ``suite`` takes, and how the model calls functions."""

    dataset: str | None = None
    category: str | None = None
    profile: str | None = None
    mode: Mode = "fc"


class TrajectoryData(vf.TaskData):
    """A trajectory by its id, and where it is from."""

    source: TrajectoryConfig


class TrajectoryTask(vf.Task[TrajectoryData]):
    """One trajectory."""

    @vf.reward
    async def passed(self, trace: vf.Trace) -> float:
        """Return 1 if every turn passed; one that was cut short has no verdict."""
        return float(trace.info.get("verdict", {}).get("valid", False))


class TrajectoryTaskset(vf.Taskset[TrajectoryTask, TrajectoryConfig]):
    """The trajectories of a suite."""

    def load(self) -> list[TrajectoryTask]:
        """Return a task per trajectory."""
        c = self.config
        return [
            TrajectoryTask(
                TrajectoryData(id=t.id, prompt=t.turns[0].messages[0].content, source=c), c.task
            )
            for t in suite(c.dataset, c.category, c.profile).dataset.trajectories.values()
        ]


class TurnLoop(vf.Harness[vf.HarnessConfig]):
    """The turn loop as the program that drives the model."""

    NEEDS_CONTAINER = EXECUTES_CODE = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: TrajectoryData,
    ) -> vf.ProgramResult:
        """Play the trajectory and leave its verdict in the trace."""
        c = data.source
        env = suite(c.dataset, c.category, c.profile).env(data.id or "", mode=c.mode)
        shown = env.reset()
        async with AsyncOpenAI(base_url=endpoint, api_key=secret) as client:
            while env.verdict is None:
                asked: dict[str, Any] = {"messages": env.messages, "tools": shown.tools or omit}
                answer = await client.chat.completions.create(model=ctx.model, **asked)
                shown, *_ = env.step(answer.choices[0].message.model_dump())
        trace.info["verdict"] = env.verdict.to_json()
        trace.record_metric("turns_passed", env.verdict.turns_passed / env.verdict.turns)
        return vf.ProgramResult(0, "", "")
