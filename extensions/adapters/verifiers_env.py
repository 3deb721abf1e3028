"""Taskset and harness for the verifiers library.

``vf-eval MODULE`` needs a top-level module whose ``__all__`` names the taskset and the harness.
"""

from __future__ import annotations

from typing import Any

from checkers.profile import Mode
from extensions.adapters.suite import extra, suite

with extra("verifiers"):
    import verifiers.v1 as vf
    from openai import AsyncOpenAI, omit


class TrajectoryConfig(vf.TasksetConfig):
    """Config of a taskset: the arguments of ``suite`` and the calling format."""

    dataset: str | None = None
    category: str | None = None
    profile: str | None = None
    mode: Mode = "fc"


class TrajectoryData(vf.TaskData):
    """Id and source of an entry."""

    source: TrajectoryConfig


class TrajectoryTask(vf.Task[TrajectoryData]):
    """Task of one entry."""

    @vf.reward
    async def passed(self, trace: vf.Trace) -> float:
        """Return 1 if every turn passed; return 0 if a turn failed or no verdict exists."""
        return float(trace.info.get("verdict", {}).get("valid", False))


class TrajectoryTaskset(vf.Taskset[TrajectoryTask, TrajectoryConfig]):
    """Tasks of a suite."""

    def load(self) -> list[TrajectoryTask]:
        """Return one task per entry."""
        c = self.config
        return [
            TrajectoryTask(
                TrajectoryData(id=t.id, prompt=t.turns[0].messages[0].content, source=c), c.task
            )
            for t in suite(c.dataset, c.category, c.profile).dataset.trajectories.values()
        ]


class TurnHarness(vf.Harness[vf.HarnessConfig]):
    """Harness that drives a model through the turns of an entry."""

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
        """Play the entry and store its verdict in the trace."""
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
