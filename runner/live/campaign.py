"""A live run: a model's episodes, each judged and kept, until all are done or it is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from checkers.profile import Profile
from envs import __version__
from runner.data.wording import Wording, observations_for, wording_of
from runner.episodes.dialogue import Dialogue
from runner.episodes.evaluate import fault_of
from runner.extension import RunFeature, with_kept
from runner.live.budget import Budget
from runner.live.engine import Engine, Stopped
from runner.live.loop import Ask, EpisodePlayer, EpisodeSetup, ModelAnswer, run_live
from runner.live.settings import Settings
from runner.models.base import ChatMessage, Request
from runner.models.connect import names_a_provider, usual_api
from runner.models.conversation import Style
from runner.models.prompting import PromptTexts
from runner.models.settings import Observations
from runner.models.tools import OWN_FOOTNOTES, Footnotes, toolbox_of
from runner.records.definition import Asked, DatasetReference, RunDefinition, Selection
from runner.records.record import AnsweredStep, EpisodeRecord, Key, StepRecord
from runner.records.replies import ReplyCache
from runner.records.store import Keeps, RunStore
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.offering import DOCUMENT as FINDER
from trajectories.prepare import Prepared, prepare
from trajectories.schema import Trajectory

Feature = TypeVar("Feature", bound=RunFeature)


class Job(NamedTuple):
    """One episode to do."""

    trajectory: Trajectory
    trial: int
    course: Sequence[AnsweredStep] = ()
    """Answers that it got before, when it was not finished."""

    @property
    def expected_requests(self) -> int:
        """How many requests it still takes of a model that makes one call a step."""
        return max(1, _expected_steps(self.trajectory) - len(self.course))

    @property
    def key(self) -> Key:
        """How the run store knows it."""
        return self.trajectory.id, self.trial

    def lost(self, error: str) -> EpisodeRecord:
        """Return the record of an episode that ended in an error that is not the model's."""
        return EpisodeRecord.of(self.trajectory, None, error, trial=self.trial)


class Plan(NamedTuple):
    """Everything that decides what the episodes of a run are like."""

    model: str
    dataset: Dataset
    profile: Profile
    step_limit: int
    settings: Settings
    prompts: PromptTexts

    def feature(self, kind: type[Feature]) -> Feature | None:
        """Return what an extension changes, by its type; None where it changes nothing."""
        return next((each for each in self.settings.features if isinstance(each, kind)), None)

    def with_feature(self, feature: RunFeature) -> Plan:
        """Return a plan that an extension changes further."""
        settings = self.settings
        return self._replace(settings=replace(settings, features=(*settings.features, feature)))

    @property
    def observations(self) -> Observations:
        """Whose texts the model reads where calls are refused."""
        return observations_for(self.settings.observations, self.dataset, self.profile)

    def wording(self) -> Wording | None:
        """Return how refusals are worded; None for as they are.

        Raises:
            DataError: The texts are not there.
        """
        return wording_of(self.observations, self.dataset)

    def notes(self) -> Footnotes:
        """Return what is said of functions besides their documents.

        Raises:
            DataError: The texts are not there.
        """
        wording = self.wording()
        notes = wording.notes() if wording else OWN_FOOTNOTES
        if names_a_provider(self.model, self.settings.request_options()):
            # To a protocol of its own the member means something else, or nothing.
            notes = notes._replace(response=False)
        return notes

    def style(self, trajectory: Trajectory, trial: int = 0) -> Style:
        """Return how the model is talked to about a trajectory in a trial.

        Raises:
            DataError: The documents or texts to show are not there.
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
        style = Style(toolbox, prompts, settings.reasoning, observe=wording)
        for feature in settings.features:
            style = feature.style(style, settings)
        return style

    def _asked(self) -> Asked:
        """Return what defines how the model is asked, without what is so anyway."""
        settings = self.settings
        usual = usual_api(self.model, settings.request_options())
        asked: Asked = settings.defining()._replace(
            observations=None if self.observations == "own" else self.observations,
            api=None if settings.api == usual else settings.api,
        )
        return asked

    def definition(self, selection: Selection) -> RunDefinition:
        """Return what defines the run, for its folder."""
        data = self.dataset
        return RunDefinition(
            model=self.model,
            settings=self._asked(),
            prompts_sha256=self.prompts.sha256,
            dataset=DatasetReference(data.name, data.version, data.sha256),
            profile=self.profile.name,
            step_limit=self.step_limit,
            selection=selection,
            simulator=__version__,
            extensions={each.extension: each.definition() for each in self.settings.features},
        )


class Campaign:
    """Does episodes according to a plan and keeps them.

    Args:
        plan: What they are like.
        store: Where they are kept.
        goes_on: Whether the model can go on with an episode of another process, so that its
            answers are kept as they come.
        replies: Where answers are looked up before the model is asked, or None.
        player: Plays an episode.
    """

    def __init__(
        self,
        plan: Plan,
        store: Keeps,
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
        self._prepared: dict[str, Prepared] = {}

    async def run(
        self,
        engine: Engine[Job, EpisodeRecord],
        jobs: Iterable[Job],
        on_done: Callable[[EpisodeRecord], None],
    ) -> None:
        """Do jobs and keep what becomes of each."""

        def keep(record: EpisodeRecord) -> None:
            self._store.append(record)
            on_done(record)

        do = partial(self._do, engine.budget)
        await engine.run(jobs, do, keep, lambda job: job.expected_requests)

    async def _do(self, budget: Budget, job: Job, ask: Ask) -> EpisodeRecord:
        plan, trajectory = self._plan, job.trajectory

        def put_step(step: StepRecord, message: ChatMessage) -> None:
            self._store.put_step(AnsweredStep(*job.key, step, message), budget.spent)

        try:
            setup = EpisodeSetup(
                prepared=self._prepare(trajectory),
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
        except (Stopped, OSError):  # the run ends, or cannot be kept
            raise
        except Exception as error:
            return job.lost(fault_of(error))
        return with_kept(done._replace(trial=job.trial), plan.settings.features)

    async def _ask(self, ask: Ask, job: Job, request: Request) -> ModelAnswer:
        """Put a request of an episode, unless its answer is known."""
        replies = self._replies
        known = replies and replies.find(job.key, request)
        if known:
            # Whoever waits for a run to stop, say, gets a turn.
            await asyncio.sleep(0)
            return ModelAnswer(known, 0)
        # A single turn is one request, and the next entry's begins otherwise.
        grows = job.trajectory.expects is None
        answer = await ask(request._replace(trial=job.trial, grows=grows, entry=job.trajectory.id))
        if replies:
            replies.keep(job.key, request, answer.reply)
        return answer

    def _prepare(self, trajectory: Trajectory) -> Prepared:
        """Return a prepared trajectory; its ground truth is played once, not once per trial."""
        if trajectory.id not in self._prepared:
            plan = self._plan
            self._prepared[trajectory.id] = prepare(plan.dataset, trajectory, plan.profile)
        return self._prepared[trajectory.id]


def restore_tools(plan: Plan, store: RunStore) -> None:
    """Make the tool lists anew that a run has lost, as far as the data still give them.

    Raises:
        DataError: They cannot be kept.
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
