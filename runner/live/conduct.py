"""Taking a live run from its plan to its summary: folder, preflight, episodes, errors."""

from __future__ import annotations

import asyncio
import os
import re
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple, Protocol

from runner.data.cache import replies_folder
from runner.live.activity import Activity
from runner.live.budget import Budget
from runner.live.campaign import Campaign, Job, Plan, jobs_of, restore_tools
from runner.live.engine import Engine, Limits
from runner.live.loop import EpisodePlayer, EpisodeSetup
from runner.live.settings import Settings
from runner.models.agent import AgentModel
from runner.models.base import (
    CHARACTERS_PER_TOKEN,
    ChatMessage,
    FatalError,
    Model,
    Request,
    RequestError,
    ToolList,
    TransientError,
)
from runner.models.model_name import Agent, parsed
from runner.models.protocols.base import Written
from runner.models.tools import Names, as_tool
from runner.records.definition import Selection
from runner.records.masking import Secrets
from runner.records.record import EpisodeRecord, Outcome, Spent
from runner.records.replies import ReplyCache
from runner.records.secret import command_without, in_address, in_body, is_secret_header
from runner.records.store import RunStore
from trajectories.schema import Trajectory

Only = Literal["errors", "failed"]
"""Which finished episodes to do again."""

_CHARACTERS_OF_ANSWER = 200
"""Of the words that end a turn; such answers have about so many."""
_PREFLIGHT_TRIES = 3
_SECRET_VARIABLE = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL")
_VARIABLES_OF = {"bedrock": "AWS", "gemini": "GOOGLE", "huggingface": "HF", "sagemaker": "AWS"}
"""What variables of providers begin with, where that is not the provider's name."""
_LOOK = 1.0
"""Seconds after which who watches a run is told anew what it is at."""
_PROBE: dict[str, Any] = {
    "name": "report_ready",
    "description": "Say that you are ready.",
    "parameters": {"type": "object", "properties": {}},
    "response": {"type": "dict", "properties": {"ready": {"type": "boolean"}}},
}
_NAMES_RESPONSE = re.compile(r"[^\w\s]response\b")


class Ending(NamedTuple):
    """How a run ended."""

    stop_reason: str | None
    """Why before all was done, or None."""
    failed: bool
    """Whether it was an error that ended it."""
    spent: Spent
    idle: bool = False
    """Whether there was nothing to do."""


Connect = Callable[[Plan], Model]
"""Connects to the model of a plan; a function of a module, so that other processes find it."""


class Watches(Protocol):
    """Who is told how a run gets on."""

    def count(self, outcome: Outcome | None, spent: Spent) -> None:
        """Take note of how an episode ended, and of what the run has used so far."""
        ...

    def look(self, activity: Activity, spent: Spent) -> None:
        """Take note of what the run is at."""
        ...

    def say(self, text: str) -> None:
        """Take a line that is for the user, at once."""
        ...

    def close(self) -> None:
        """Take note that the run is over."""
        ...


class Estimate(NamedTuple):
    """What a run would ask of a model that does just what the ground truth does."""

    episodes: int
    requests: int
    tokens: int
    """Prompt tokens, roughly."""
    answered: int
    """Completion tokens, roughly, without thoughts."""

    @classmethod
    def sum(cls, estimates: Iterable[Estimate]) -> Estimate:
        """Return what several runs would take."""
        return cls(*map(sum, zip(*estimates, strict=True)))


def estimate(jobs: Sequence[Job], tools_size: Callable[[Trajectory], int]) -> Estimate:
    """Return what doing jobs would take, one call a step.

    Args:
        jobs: What to do.
        tools_size: Characters of a trajectory's function documents.
    """
    requests = tokens = answered = 0
    for job in jobs:
        turns = job.trajectory.turns
        asked = sum(len(turn.ground_truth) + 1 for turn in turns)
        said = sum(len(message.content) for turn in turns for message in turn.messages)
        requests += asked
        tokens += asked * (tools_size(job.trajectory) + said) // CHARACTERS_PER_TOKEN
        called = sum(len(call) for turn in turns for call in turn.ground_truth)
        answered += (called + len(turns) * _CHARACTERS_OF_ANSWER) // CHARACTERS_PER_TOKEN
    return Estimate(len(jobs), requests, tokens, answered)


def open_store(
    folder: Path,
    plan: Plan,
    selection: Selection,
    command: Sequence[str],
    *,
    episodes: int,
    resumes: bool,
) -> RunStore:
    """Return a run in a folder, begun or gone on with, that masks the secrets it was given.

    Args:
        folder: Where the run is kept.
        plan: What its episodes are like.
        selection: Which episodes it has.
        command: What began it.
        episodes: How many it is to have.
        resumes: Whether the folder has a run that goes on.

    Raises:
        DataError: The folder cannot be used.
    """
    begin = RunStore.resume if resumes else RunStore.create
    store = begin(
        folder,
        plan.definition(selection),
        note={
            "created": datetime.now().isoformat(timespec="seconds"),
            "command": command_without(command),
            "episodes": episodes,
        },
        secrets=secrets_of(plan.model, plan.settings, os.environ),
        said=lambda id: repr(plan.dataset.trajectories[id]),
    )
    restore_tools(plan, store)
    return store


def open_jobs(
    store: RunStore, trajectories: Sequence[Trajectory], trials: int, only: Only | None
) -> list[Job]:
    """Return what is still to do; ``only`` takes episodes that ended so out of the run first.

    Those that were under way, or ended in an error, go on from their last answer.

    Raises:
        DataError: A file of the run cannot be written.
    """
    if only is not None:
        outcome = "error" if only == "errors" else "failed"
        keys = [key for key, done in store.done.items() if done == outcome]
        store.supersede(keys, go_on=only == "errors")
    return [
        job._replace(course=store.underway(job.key))
        for job in jobs_of(trajectories, trials)
        if job.key not in store.done
    ]


async def preflight(plan: Plan, connect: Connect) -> None:
    """Make one cheap request, so that a wrong key or name is known before a long run.

    Raises:
        ModelError: The model cannot be used; the message says what to do.
    """
    model = connect(plan)
    if isinstance(model, AgentModel):
        # It is here, and no question but the trajectories' is for it.
        return await model.close()
    try:
        await _probe(model, plan)
    finally:
        await model.close()


def _first_request(plan: Plan) -> Request:
    """Return a cheap request of the form that a plan's requests have."""
    messages: list[ChatMessage] = [{"role": "user", "content": "Are you ready?"}]
    protocol = next((each.protocol for each in plan.settings.features if each.protocol), None)
    if isinstance(protocol, Written):
        frame = protocol.frame
        return Request(messages, None, prompt=frame and frame.render(messages))
    # One that has to be called is there in every request.
    probe = {**_PROBE, "name": plan.settings.forced or _PROBE["name"]}
    tools = [as_tool(probe, Names([probe["name"]]), plan.notes())]
    if protocol is not None:
        tools = protocol.show(tools)
    return Request(messages, ToolList(tools) if plan.settings.mode == "fc" else None)


async def _probe(model: Model, plan: Plan) -> None:
    try:
        await _put(model, _first_request(plan))
    except (FatalError, RequestError) as error:
        if not (plan.notes().response and _NAMES_RESPONSE.search(str(error))):
            raise
        raise FatalError(
            f"{error}; tools have it where models read what BFCL's read: --observations own"
        ) from None


async def _put(model: Model, request: Request) -> None:
    for attempt in range(1, _PREFLIGHT_TRIES + 1):
        try:
            await model.ask(request)
        except TransientError as error:
            if error.unreachable or error.kind == "timeout" or attempt == _PREFLIGHT_TRIES:
                raise
            await asyncio.sleep(min(error.retry_after or 1.0, 10.0))
        else:
            return


def conduct_here(
    plan: Plan,
    store: RunStore,
    jobs: Sequence[Job],
    connect: Connect,
    watch: Watches,
    player: Callable[[EpisodeSetup], EpisodePlayer] = EpisodePlayer,
) -> Ending:
    """Do what ``conduct`` does, for those who have no event loop, or one that waits for this."""
    return _to_end(conduct(plan, store, jobs, connect, watch, player))


def limits_of(settings: Settings) -> Limits:
    """Return how hard a run may push."""
    return Limits(
        concurrency=settings.concurrency,
        attempts=settings.attempts,
        requests=settings.rpm,
        tokens=settings.tpm,
        outage=settings.outage,
    )


async def conduct(
    plan: Plan,
    store: RunStore,
    jobs: Sequence[Job],
    connect: Connect,
    watch: Watches,
    player: Callable[[EpisodeSetup], EpisodePlayer] = EpisodePlayer,
) -> Ending:
    """Do the jobs of a run in this process."""
    settings = plan.settings
    budget = Budget(settings.max_requests, settings.max_cost, store.spent)
    model = connect(plan)
    # An agent of the user's own may know more of an episode than its messages.
    goes_on = not isinstance(model, AgentModel)
    campaign = Campaign(plan, store, goes_on=goes_on, replies=replies_of(plan), player=player)
    engine: Engine[Job, EpisodeRecord] = Engine(
        model, limits_of(settings), Random(0), budget, say=watch.say
    )
    try:
        async with watched(engine, watch):
            await campaign.run(engine, jobs, lambda done: watch.count(done.outcome, budget.spent))
    finally:
        store.spent = budget.spent
        await model.close()
    return Ending(engine.stop_reason, engine.failed, budget.spent)


@asynccontextmanager
async def watched(engine: Engine[Any, Any], watch: Watches) -> AsyncIterator[None]:
    """Show what an engine is at, every second, for as long as the context lasts."""

    async def look() -> None:
        while True:
            watch.look(engine.activity, engine.budget.spent)
            await asyncio.sleep(_LOOK)

    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
        watch.close()


def _to_end(coroutine: Coroutine[Any, Any, Ending]) -> Ending:
    """Run a coroutine to its end, beside a loop that runs already where there is one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    # A notebook has a loop in this very thread, which waits until we are done.
    runner = asyncio.Runner()
    ended: list[Ending | BaseException] = []

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


def replies_of(plan: Plan) -> ReplyCache | None:
    """Return where the answers of a plan's model are kept for runs that repeat it, if so wanted."""
    settings = plan.settings
    if settings.reply_cache is None:
        return None
    folder = Path(settings.reply_cache) if settings.reply_cache else replies_folder()
    secrets = Secrets(secrets_of(plan.model, settings, os.environ))
    return ReplyCache(folder, {"model": plan.model, **settings.of_requests()}, secrets)


def secrets_of(model: str, settings: Settings, environment: Mapping[str, str]) -> list[str]:
    """Return the texts that are secret in a run: what it was given, and its provider's keys.

    Other variables are none of the run's, and may hold ordinary words. Of a value such as ``Bearer
    abc`` what follows the scheme is secret by itself, too.
    """
    headers = settings.extra_headers.items()
    values = [value for name, value in headers if is_secret_header(name, value)]
    values += [value for name, value in environment.items() if _is_key(name, model)]
    alone = [word for value in values for word in value.split()[1:]]
    server = settings.base_url or environment.get("OPENAI_BASE_URL") or ""
    found = (*values, *alone, *in_address(server), *in_body(settings.extra_body))
    return [text for text in found if text]


def _is_key(variable: str, model: str) -> bool:
    """Tell whether a variable may hold a key of a model's provider; OpenAI's is sent to servers."""
    name = variable.upper()
    if isinstance(parsed(model), Agent):
        # The user's own agent may ask any provider.
        return name.endswith("_API_KEY")
    provider = model.partition("/")[0].lower() if "/" in model else "openai"
    own = provider.partition("_")[0].upper()
    beginnings = ("OPENAI", own, _VARIABLES_OF.get(provider, own))
    return name.startswith(beginnings) and bool(_SECRET_VARIABLE.search(name))
