"""A live run: a model's episodes, each judged and kept, until all are done or it is stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from checkers.calls.errors import CannotJudge
from checkers.profile import Profile
from envs import __version__
from envs.errors import BackendFault
from runner.live.engine import Engine
from runner.live.loop import Ask, LiveRun, run_live
from runner.live.settings import Settings
from runner.models.base import AgentError, ModelError
from runner.models.conversation import Style
from runner.models.prompting import PromptFormat, PromptTexts
from runner.models.tools import toolbox_of
from runner.records.store import Key, Record
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.prepare import Prepared, prepare
from trajectories.schema import Trajectory


class Job(NamedTuple):
    """One episode to do."""

    trajectory: Trajectory
    trial: int

    @property
    def key(self) -> Key:
        """How the run store knows it."""
        return self.trajectory.id, self.trial


class Plan(NamedTuple):
    """Everything that decides what the episodes of a run are like."""

    model: str
    dataset: Dataset
    profile: Profile
    step_limit: int
    settings: Settings
    prompts: PromptTexts
    format: PromptFormat | None = None
    """How a prompting model is asked, where not as ``prompts`` says."""

    def definition(self, selection: Mapping[str, Any]) -> dict[str, Any]:
        """Return what defines the run, for its folder.

        Args:
            selection: Which entries, and how many trials.
        """
        prompt_format = self.format and {"name": self.format.name, "sha256": self.format.sha256}
        return {
            "model": self.model,
            "settings": self.settings.defining(),
            "prompts_sha256": self.prompts.sha256,
            "dataset": {
                "name": self.dataset.name,
                "version": self.dataset.version,
                "sha256": self.dataset.sha256,
            },
            "profile": self.profile.name,
            "step_limit": self.step_limit,
            "selection": dict(selection),
            "simulator": __version__,
            **({"prompt_format": prompt_format} if prompt_format else {}),
        }


class Keeps(Protocol):
    """Takes episodes as they are done: a run store, or what passes them on to one."""

    def append(self, record: Record) -> None:
        """Keep an episode."""
        ...

    def put_tools(self, digest: str, tools: Sequence[Mapping[str, Any]]) -> None:
        """Keep a tool list that episodes name by its digest."""
        ...


class Campaign:
    """Does episodes according to a plan and keeps them.

    Args:
        plan: What they are like.
        store: Where they are kept.
    """

    def __init__(self, plan: Plan, store: Keeps) -> None:
        self._plan = plan
        self._store = store
        self._prepared: dict[str, Prepared] = {}

    async def run(
        self,
        engine: Engine[Job, Record],
        jobs: Iterable[Job],
        on_done: Callable[[Record], None],
    ) -> None:
        """Do jobs and keep what becomes of each.

        Args:
            engine: Asks the model.
            jobs: What to do.
            on_done: Told of every episode that has been kept.
        """

        def keep(record: Record) -> None:
            self._store.append(record)
            on_done(record)

        await engine.run(jobs, self._do, keep)

    async def _do(self, job: Job, ask: Ask) -> Record:
        plan, trajectory = self._plan, job.trajectory
        about = {"id": trajectory.id, "trial": job.trial, "category": trajectory.category.value}
        try:
            toolbox = toolbox_of(trajectory, function_docs_folder(plan.settings, plan.dataset))
            style = Style(toolbox, plan.prompts, plan.settings.reasoning, plan.format)
            run = await run_live(
                self._prepare(trajectory),
                style,
                plan.settings.mode,
                plan.profile,
                plan.step_limit,
                ask,
            )
        except (ModelError, BackendFault, CannotJudge) as error:
            raised = error.traceback if isinstance(error, AgentError) else None
            about |= {"outcome": "error", "verdict": None, "error": str(error)}
            return about if raised is None else {**about, "traceback": raised}
        return {**about, **self._record(run)}

    def _record(self, run: LiveRun) -> Record:
        for digest, tools in run.tools.items():
            self._store.put_tools(digest, tools)
        return {
            "outcome": "passed" if run.verdict.valid else "failed",
            "verdict": run.verdict.to_json(),
            "error": None,
            "messages": run.messages,
            "steps": run.steps,
            "turn_ends": run.turn_ends,
            "result": run.result,
        }

    def _prepare(self, trajectory: Trajectory) -> Prepared:
        """Return a prepared trajectory; its ground truth is played once, not once per trial."""
        if trajectory.id not in self._prepared:
            plan = self._plan
            self._prepared[trajectory.id] = prepare(plan.dataset, trajectory, plan.profile)
        return self._prepared[trajectory.id]


def function_docs_folder(settings: Settings, dataset: Dataset) -> Path | None:
    """Return where the function documents to show are read from, or None for our own.

    Raises:
        DataError: BFCL's are wanted, and the data set does not come with them.
    """
    if settings.function_docs == "bfcl" and dataset.folder is None:
        raise DataError("--function-docs", f"{dataset.name} comes without the documents of bfcl")
    return None if settings.function_docs == "own" else dataset.folder


def jobs_of(trajectories: Sequence[Trajectory], trials: int) -> list[Job]:
    """Return the episodes of a run: all entries once, then all of them again.

    The longest come first, so that a run does not end with a few of them and nothing beside.
    """
    ordered = sorted(trajectories, key=_expected_steps, reverse=True)
    return [Job(trajectory, trial) for trial in range(trials) for trajectory in ordered]


def _expected_steps(trajectory: Trajectory) -> int:
    return sum(len(turn.ground_truth) + 1 for turn in trajectory.turns)
