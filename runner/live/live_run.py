"""Live runs: the plan of a run, its jobs, and the execution of episodes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeVar

from checkers.profile import Profile
from envs import __version__
from envs.errors import DataError
from runner.data.bfcl_wording import BfclWording, observations_for, wording_of
from runner.episodes.dialogue import Dialogue
from runner.episodes.judging import describe_error, kind_of
from runner.extension import RunFeature, add_members
from runner.live.budget import Budget
from runner.live.engine import JobEngine, RunStopped
from runner.live.episode_player import Ask, EpisodePlayer, EpisodeSetup, ModelAnswer, run_live
from runner.live.run_settings import Settings
from runner.models.conversation import ConversationSettings
from runner.models.model_connection import names_a_provider, usual_api
from runner.models.model_name import ModelName
from runner.models.model_types import ChatMessage, Request
from runner.models.prompting import PromptTexts
from runner.models.settings import Observations
from runner.models.toolbox import OWN_FOOTNOTES, FunctionNotes, toolbox_of
from runner.records.episode_record import EpisodeRecord, Key, ResumableStep, StepRecord
from runner.records.reply_cache import ReplyCache
from runner.records.run_definition import DatasetReference, ModelSettings, RunDefinition, Selection
from runner.records.run_store import EpisodeSink, RunStore
from trajectories.dataset import Dataset
from trajectories.offered_functions import DOCUMENT as FINDER
from trajectories.prepared_trajectory import PreparedTrajectory, prepare
from trajectories.replay_queries import PlayedTruths
from trajectories.schema import Trajectory

Feature = TypeVar("Feature", bound=RunFeature)


class EpisodeJob(NamedTuple):
    """One episode to play."""

    trajectory: Trajectory
    trial: int
    course: Sequence[ResumableStep] = ()
    is_last: bool = True
    """Whether this job is the last trial of its entry."""

    @property
    def expected_requests(self) -> int:
        """Number of requests that the episode still needs if each step makes one call."""
        return max(1, _count_steps(self.trajectory) - len(self.course))

    @property
    def key(self) -> Key:
        """Key of the episode in the run store."""
        return self.trajectory.id, self.trial

    def lost(self, error: str) -> EpisodeRecord:
        """Return the record of an episode that ended in an error."""
        return EpisodeRecord.of(self.trajectory, None, error, trial=self.trial)


class RunInputs(NamedTuple):
    """Plan of a run: all inputs of its episodes."""

    model: ModelName
    dataset: Dataset
    profile: Profile
    step_limit: int
    settings: Settings
    prompts: PromptTexts

    def feature(self, kind: type[Feature]) -> Feature | None:
        """Return the feature of the given type, or None."""
        return next((each for each in self.settings.features if isinstance(each, kind)), None)

    def with_feature(self, feature: RunFeature) -> RunInputs:
        """Return the plan with a further feature."""
        settings = self.settings
        return self._replace(settings=replace(settings, features=(*settings.features, feature)))

    @property
    def order_seed(self) -> int | None:
        """Seed for a random order of entries, if the run has a budget.

        If a run in random order stops early, its finished entries are a random sample.
        """
        settings = self.settings
        may_end = settings.max_requests is not None or settings.max_cost is not None
        return (settings.seed or 0) if may_end else None

    @property
    def observations(self) -> Observations:
        """Source of the messages for refused calls."""
        return observations_for(self.settings.observations, self.dataset, self.profile)

    def wording(self) -> BfclWording | None:
        """Return the wording of messages for refused calls, or None for Turnwise's own wording.

        Raises DataError if the wording does not exist.
        """
        return wording_of(self.observations, self.dataset)

    def notes(self) -> FunctionNotes:
        """Return notes for function documents. Raises DataError if the wording does not exist."""
        wording = self.wording()
        notes = wording.notes() if wording else OWN_FOOTNOTES
        if names_a_provider(self.model, self.settings.request_options()):
            # In the provider's own API, the field has another meaning or no meaning.
            notes = notes._replace(response=False)
        return notes

    def style(self, trajectory: Trajectory, trial: int = 0) -> ConversationSettings:
        """Return the style of an episode's conversation.

        Raises DataError if the documents or the wording do not exist.
        """
        folder = function_docs_folder(self.settings, self.dataset)
        wording, prompts = self.wording(), self.prompts
        if wording is not None and self.settings.prompts is None:
            prompts = wording.prompts(prompts)
        notes, settings = self.notes(), self.settings
        found = [each.toolbox(trajectory, folder, notes, trial) for each in settings.features]
        toolbox = next((each for each in found if each), None)
        toolbox = toolbox or toolbox_of(trajectory, folder, notes)
        offering = self.dataset.offering_of(trajectory)
        if offering and offering.find:
            toolbox = toolbox.with_function(FINDER)
        user = kind_of(trajectory).user(trajectory, trial)
        style = ConversationSettings(
            toolbox, prompts, settings.reasoning, observe=wording, user=user
        )
        for feature in settings.features:
            style = style._replace(observe=feature.observe(style.observe))
            style = feature.style(style, settings)
            style = style._replace(user=feature.user(trajectory, trial) or style.user)
        return style

    def definition(self, selection: Selection) -> RunDefinition:
        """Return the run definition."""
        data, settings = self.dataset, self.settings
        default_api = usual_api(self.model, settings.request_options())
        recorded: ModelSettings = settings.defining()._replace(
            observations=None if self.observations == "own" else self.observations,
            api=None if settings.api == default_api else settings.api,
        )
        return RunDefinition(
            model=str(self.model),
            settings=recorded,
            prompts_sha256=self.prompts.sha256,
            dataset=DatasetReference(data.name, data.version, data.sha256),
            profile=self.profile.name,
            step_limit=self.step_limit,
            selection=selection,
            simulator=__version__,
            extensions={each.extension: each.definition() for each in settings.features},
        )


class LiveRun:
    """Execution of a plan's episodes.

    ``goes_on`` tells whether a later process can resume an unfinished episode. Runs with
    ``goes_on`` store each answer of the model immediately.
    """

    def __init__(
        self,
        plan: RunInputs,
        store: EpisodeSink,
        *,
        goes_on: bool = True,
        replies: ReplyCache | None = None,
        player: Callable[[EpisodeSetup], EpisodePlayer] = EpisodePlayer,
    ) -> None:
        self._player = player
        self._plan = plan
        self._store = store
        self._goes_on = goes_on
        self._replies = replies
        self._prepared: dict[str, PreparedTrajectory] = {}
        # Variants of an entry have about as many steps, so they run at about the same time.
        self._truths = PlayedTruths(64)

    async def run(
        self,
        engine: JobEngine[EpisodeJob, EpisodeRecord],
        jobs: Collection[EpisodeJob],
        on_done: Callable[[EpisodeRecord], None],
    ) -> None:
        """Do jobs and store the records."""

        def keep(record: EpisodeRecord) -> None:
            self._store.append(record)
            on_done(record)

        do = partial(self._do, engine.budget)
        await engine.run(jobs, do, keep, lambda job: job.expected_requests)

    async def _do(self, budget: Budget, job: EpisodeJob, ask: Ask) -> EpisodeRecord:
        plan, trajectory = self._plan, job.trajectory

        def put_step(step: StepRecord, message: ChatMessage) -> None:
            self._store.put_step(ResumableStep(*job.key, step, message), budget.spent)

        try:
            setup = EpisodeSetup(
                prepared=self._prepare(job),
                style=plan.style(trajectory, job.trial),
                mode=plan.settings.mode,
                profile=plan.profile,
                step_limit=plan.step_limit,
                ask=partial(self._ask, ask, job),
                put_tools=self._store.put_tools,
                put_step=put_step if self._goes_on else None,
                course=job.course if self._goes_on else (),
                failures=plan.settings.failures(),
            )
            done = await run_live(setup, self._player)
        except (RunStopped, OSError):  # the run ends, or cannot be stored
            raise
        except Exception as error:
            return job.lost(describe_error(error))
        return add_members(done._replace(trial=job.trial), plan.settings.features)

    async def _ask(self, ask: Ask, job: EpisodeJob, request: Request) -> ModelAnswer:
        replies = self._replies
        known = replies and replies.find(job.key, request)
        if known:
            # Other tasks get a turn, such as one that waits for the run to stop.
            await asyncio.sleep(0)
            return ModelAnswer(known, 0)
        # A single turn has only one request, so no later request repeats its messages.
        grows = job.trajectory.expects is None
        answer = await ask(request._replace(trial=job.trial, grows=grows, entry=job.trajectory.id))
        if replies:
            replies.keep(job.key, request, answer.reply)
        return answer

    def _prepare(self, job: EpisodeJob) -> PreparedTrajectory:
        plan, trajectory = self._plan, job.trajectory
        prepared = self._prepared.pop(trajectory.id, None)
        if prepared is None:
            prepared = prepare(plan.dataset, trajectory, plan.profile, self._truths)
        if not job.is_last:
            self._prepared[trajectory.id] = prepared
        return prepared


def restore_tools(plan: RunInputs, store: RunStore) -> None:
    """Rebuild missing tool lists of a run from the data set.

    Raises DataError if a tool list cannot be stored.
    """
    for trajectory in plan.dataset.trajectories.values():
        if not store.lost_tools:
            return
        prepared = prepare(plan.dataset, trajectory, plan.profile)
        dialogue = Dialogue(prepared, plan.style(trajectory), plan.settings.mode, plan.profile, 0)
        while not dialogue.episode.finished:
            tools = dialogue.request().tools
            if tools and tools.digest in store.lost_tools:
                store.put_tools(tools.digest, tools.tools)
            dialogue.episode.end_turn()


def function_docs_folder(settings: Settings, dataset: Dataset) -> Path | None:
    """Return the folder of BFCL's function documents, or None for Turnwise's documents.

    Raises DataError if the settings select BFCL's documents but the data set has none.
    """
    if settings.function_docs == "bfcl" and dataset.folder is None:
        why = f"{dataset.name} has no function documents of BFCL; use `own`"
        raise DataError("--function-docs", why)
    return None if settings.function_docs == "own" else dataset.folder


def jobs_of(
    trajectories: Sequence[Trajectory], trials: int, seed: int | None = None
) -> list[EpisodeJob]:
    """Return the jobs of a run: all jobs of trial 0, then all jobs of trial 1, and so on.

    A ``seed`` puts the entries in random order. Without a seed, long entries come first.
    """
    ordered = sorted(trajectories, key=_count_steps, reverse=True)
    if seed is not None:
        Random(seed).shuffle(ordered)
    return [
        EpisodeJob(trajectory, trial, is_last=trial == trials - 1)
        for trial in range(trials)
        for trajectory in ordered
    ]


def _count_steps(trajectory: Trajectory) -> int:
    return sum(len(turn.ground_truth) + 1 for turn in trajectory.turns)
