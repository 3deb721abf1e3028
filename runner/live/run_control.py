"""Functions that estimate, check, start and resume a live run, and mask its secrets."""

from __future__ import annotations

import asyncio
import os
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple, Protocol

from runner.data.cache import replies_folder
from runner.live.activity import RunActivity
from runner.live.budget import Budget
from runner.live.engine import FIRST_ATTEMPTS, JobEngine, RequestLimits
from runner.live.episode_player import EpisodePlayer, EpisodeSetup
from runner.live.live_run import EpisodeJob, LiveRun, RunInputs, jobs_of, restore_tools
from runner.live.run_settings import Settings
from runner.models.agent_model import AgentModel
from runner.models.calling_formats.format_types import TextFormat
from runner.models.conversation import conversation_of
from runner.models.model_name import ModelName
from runner.models.model_types import (
    CHARACTERS_PER_TOKEN,
    ChatMessage,
    Model,
    Request,
    ToolList,
    TransientError,
)
from runner.models.reply_reader import secrets_in_addresses
from runner.models.toolbox import FunctionNameMapping, as_tool
from runner.records.episode_record import (
    EpisodeRecord,
    Outcome,
    RunSpending,
    SampleProgress,
    progress_type,
)
from runner.records.reply_cache import ReplyCache
from runner.records.run_definition import Selection
from runner.records.run_file_mask import SecretMask
from runner.records.run_files import read_run_file
from runner.records.run_store import RunStore
from runner.records.secret_finder import is_secret_header, redact_command, secrets_in_body
from trajectories.schema import Message, Trajectory

Only = Literal["errors", "failed"]
"""With ``--resume``: repeat the episodes that ended in an error, or the failed episodes."""

_CHARACTERS_OF_ANSWER = 200
_SECRET_VARIABLE = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL")
_VARIABLES_OF = {"bedrock": "AWS", "gemini": "GOOGLE", "huggingface": "HF", "sagemaker": "AWS"}
_UPDATE_SECONDS = 1.0
_QUESTION = "Are you ready?"
_PROBE: dict[str, Any] = {
    "name": "report_ready",
    "description": "Say that you are ready.",
    "parameters": {"type": "object", "properties": {}},
    "response": {"type": "dict", "properties": {"ready": {"type": "boolean"}}},
}


class RunEnding(NamedTuple):
    """Reason why a run ended, and what the run spent."""

    stop_reason: str | None
    failed: bool
    spent: RunSpending
    idle: bool = False


Connect = Callable[[RunInputs], Model]
"""Function that connects to a plan's model; defined at module level, so that pickle can find it."""


class RunObserver(Protocol):
    """Observer of a run's progress."""

    def count(self, outcome: Outcome | None, spent: RunSpending) -> None:
        """Count a finished episode."""

    def look(self, activity: RunActivity, spent: RunSpending) -> None:
        """Show the current state of the run."""

    def say(self, text: str) -> None:
        """Show a line to the user immediately."""

    def close(self) -> None:
        """End the display."""


class RunEstimate(NamedTuple):
    """Estimated size of a run, for a model that makes exactly the calls of the ground truth."""

    episodes: int
    requests: int
    tokens: int
    answered: int

    @classmethod
    def sum(cls, estimates: Iterable[RunEstimate]) -> RunEstimate:
        """Return the total of several runs."""
        return cls(*map(sum, zip(*estimates, strict=True)))


def estimate(jobs: Sequence[EpisodeJob], tools_size: Callable[[Trajectory], int]) -> RunEstimate:
    """Return the estimate for jobs; ``tools_size`` counts characters of function documents."""
    requests = tokens = answered = 0
    for job in jobs:
        turns = job.trajectory.turns
        steps = sum(len(turn.ground_truth) + 1 for turn in turns)
        written = sum(len(message.content) for turn in turns for message in turn.messages)
        requests += steps
        tokens += steps * (tools_size(job.trajectory) + written) // CHARACTERS_PER_TOKEN
        called = sum(len(call) for turn in turns for call in turn.ground_truth)
        answered += (called + len(turns) * _CHARACTERS_OF_ANSWER) // CHARACTERS_PER_TOKEN
    return RunEstimate(len(jobs), requests, tokens, answered)


def open_store(
    folder: Path,
    plan: RunInputs,
    selection: Selection,
    command: Sequence[str],
    *,
    episodes: int,
    resumes: bool,
) -> RunStore:
    """Open a new or a resumed run in a folder. Secrets are masked in the run's files.

    Raises DataError if the folder cannot be used.
    """
    begin = RunStore.resume if resumes else RunStore.create
    store = begin(
        folder,
        plan.definition(selection),
        note={
            "created": datetime.now().isoformat(timespec="seconds"),
            "command": redact_command(command),
            "episodes": episodes,
            **({} if plan.order_seed is None else {"order": "random"}),
        },
        secrets=secrets_of(plan.model, plan.settings, os.environ),
        said=lambda id: repr(plan.dataset.trajectories[id]),
    )
    restore_tools(plan, store)
    return store


def open_jobs(
    store: RunStore,
    trajectories: Sequence[Trajectory],
    trials: int,
    only: Only | None,
    seed: int | None = None,
) -> list[EpisodeJob]:
    """Return the unfinished jobs and the jobs to repeat.

    With a seed, the order of the jobs is random. An unfinished episode resumes after its last
    answer.

    Raises DataError if a file of the run cannot be written.
    """
    if only is not None:
        outcome = "error" if only == "errors" else "failed"
        keys = [key for key, done in store.done.items() if done == outcome]
        store.supersede(keys, go_on=only == "errors")
    return [
        job._replace(course=store.underway(job.key))
        for job in jobs_of(trajectories, trials, seed)
        if job.key not in store.done
    ]


def order_seed(plan: RunInputs, store: RunStore) -> int | None:
    """Return the seed of the order of jobs; a resumed run keeps its random order without budget."""
    is_random = progress_type(read_run_file(store.folder)["note"]) is SampleProgress
    return (plan.settings.seed or 0) if is_random else plan.order_seed


async def preflight(plan: RunInputs, connect: Connect) -> None:
    """Send one cheap request, to find a wrong key or name before a long run.

    Raises ModelError if the model cannot be used; the message has the remedy.
    """
    model = connect(plan)
    if isinstance(model, AgentModel):
        # An agent has no server, and expects only requests of entries.
        return await model.close()
    try:
        await _send_probe(model, _make_probe(plan))
    finally:
        await model.close()


def _make_probe(plan: RunInputs) -> Request:
    formats = (each.protocol for each in plan.settings.features if each.protocol)
    calling_format = next(formats, None)
    if plan.settings.mode == "prompt" or isinstance(calling_format, TextFormat):
        # With the system prompt, but without functions.
        entry = next(iter(plan.dataset.trajectories.values()))
        conversation = conversation_of(plan.style(entry), plan.settings.mode)
        conversation.start_turn([Message("user", _QUESTION)], frozenset(), ())
        return conversation.request()._replace(conversation=None)
    messages: list[ChatMessage] = [{"role": "user", "content": _QUESTION}]
    # A forced function must be in every request.
    probe = {**_PROBE, "name": plan.settings.forced or _PROBE["name"]}
    tools = [as_tool(probe, FunctionNameMapping([probe["name"]]), plan.notes())]
    if calling_format is not None:
        tools = calling_format.show(tools)
    return Request(messages, ToolList(tools))


async def _send_probe(model: Model, request: Request) -> None:
    for attempt in range(1, FIRST_ATTEMPTS + 1):
        try:
            await model.ask(request)
        except TransientError as error:
            if error.unreachable or error.kind == "timeout" or attempt == FIRST_ATTEMPTS:
                raise
            await asyncio.sleep(min(error.retry_after or 1.0, 10.0))
        else:
            return


def conduct_here(
    plan: RunInputs,
    store: RunStore,
    jobs: Sequence[EpisodeJob],
    connect: Connect,
    watch: RunObserver,
    player: Callable[[EpisodeSetup], EpisodePlayer] = EpisodePlayer,
) -> RunEnding:
    """Run ``execute_run`` from synchronous code."""
    coroutine = execute_run(plan, store, jobs, connect, watch, player)
    if asyncio._get_running_loop() is None:
        return asyncio.run(coroutine)
    # A notebook runs an event loop in this thread, which waits for the run.
    runner = asyncio.Runner()
    ended: list[RunEnding | BaseException] = []

    def run() -> None:
        try:
            with runner:
                ended.append(runner.run(coroutine))
        except BaseException as error:
            ended.append(error)

    thread = threading.Thread(target=run, name="turnwise.conduct")
    loop = runner.get_loop()
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        for task in asyncio.all_tasks(loop):
            loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    end = ended[-1]
    if isinstance(end, BaseException):
        raise end
    return end


def limits_of(settings: Settings) -> RequestLimits:
    """Return the limits that the settings contain."""
    return RequestLimits(
        concurrency=settings.concurrency,
        attempts=settings.retries + 1,
        requests=settings.rpm,
        tokens=settings.tpm,
        outage=settings.outage,
    )


async def execute_run(
    plan: RunInputs,
    store: RunStore,
    jobs: Sequence[EpisodeJob],
    connect: Connect,
    watch: RunObserver,
    player: Callable[[EpisodeSetup], EpisodePlayer] = EpisodePlayer,
) -> RunEnding:
    """Do the jobs of a run in this process."""
    settings = plan.settings
    budget = Budget(settings.max_requests, settings.max_cost, store.spent)
    model = connect(plan)
    # An agent may have state beyond the messages, so its episodes cannot be resumed.
    goes_on = not isinstance(model, AgentModel)
    live_run = LiveRun(plan, store, goes_on=goes_on, replies=replies_of(plan), player=player)
    engine: JobEngine[EpisodeJob, EpisodeRecord] = JobEngine(
        model, limits_of(settings), Random(0), budget, say=watch.say
    )
    try:
        async with watched(engine, watch):
            await live_run.run(engine, jobs, lambda done: watch.count(done.outcome, budget.spent))
    finally:
        store.spent = budget.spent
        await model.close()
    return RunEnding(engine.stop_reason, engine.failed, budget.spent)


@asynccontextmanager
async def watched(engine: JobEngine[Any, Any], watch: RunObserver) -> AsyncIterator[None]:
    """Report the state of the engine every second while the ``with`` block runs."""

    async def look() -> None:
        while True:
            watch.look(engine.activity, engine.budget.spent)
            await asyncio.sleep(_UPDATE_SECONDS)

    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
        watch.close()


def replies_of(plan: RunInputs) -> ReplyCache | None:
    """Return the reply cache for a run's model; None if the settings turn the cache off."""
    secrets = SecretMask(secrets_of(plan.model, plan.settings, os.environ))
    return open_replies(plan.settings, {"model": plan.model}, secrets)


def open_replies(
    settings: Settings, asked: Mapping[str, Any], secrets: SecretMask
) -> ReplyCache | None:
    """Return the reply cache for the settings and ``asked``; None if it is turned off."""
    if settings.reply_cache is None:
        return None
    folder = Path(settings.reply_cache) if settings.reply_cache else replies_folder()
    return ReplyCache(folder, {**asked, **settings.of_requests()}, secrets)


def secrets_of(model: ModelName, settings: Settings, environment: Mapping[str, str]) -> list[str]:
    """Return the secrets of a run: secret settings and keys of the provider.

    Other environment variables are ignored, because they may contain ordinary words. In a value
    such as ``Bearer abc``, the word ``abc`` alone is also a secret.
    """
    values = [v for name, v in settings.extra_headers.items() if is_secret_header(name, v)]
    values += [value for name, value in environment.items() if _is_key(name, model)]
    alone = [word for value in values for word in value.split()[1:]]
    servers = secrets_in_addresses(settings.base_url, environment)
    found = (*values, *alone, *servers, *secrets_in_body(settings.extra_body))
    return [text for text in found if text]


def _is_key(variable: str, model: ModelName) -> bool:
    name = variable.upper()
    if model.is_agent:
        # An agent may use any provider.
        return name.endswith("_API_KEY")
    provider = model.partition("/")[0].lower() if "/" in model else "openai"
    own = provider.partition("_")[0].upper()
    beginnings = ("OPENAI", own, _VARIABLES_OF.get(provider, own))
    return name.startswith(beginnings) and bool(_SECRET_VARIABLE.search(name))
