"""Searches over many trajectories, with a live model or a scripted one."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, NamedTuple

from checkers.calls.documents import CannotJudge
from checkers.profile import Mode, Profile
from envs.errors import BackendFault
from runner.live.engine import Engine, Limits
from runner.live.loop import Ask
from runner.models.base import ModelError, Reply, Request, RequestOptions
from runner.models.connect import connect
from runner.models.conversation import Style
from runner.models.prompting import read_prompts
from runner.models.tools import toolbox_of
from runner.rollouts.fallible import Errors, FallibleModel
from runner.rollouts.search import Found, Propose, SearchLimits, search
from trajectories.dataset import Dataset
from trajectories.prepare import prepare
from trajectories.schema import Trajectory

_ATTEMPTS = 8


class Search(NamedTuple):
    """What defines the searches of one command."""

    model: str
    error_rate: float | None
    """Of a scripted model; None for a live one."""
    seed: int
    mode: Mode
    dataset: Dataset
    profile: Profile
    step_limit: int
    max_calls: int
    max_nodes: int
    base_url: str | None
    concurrency: int


class Searched(NamedTuple):
    """What became of one trajectory."""

    id: str
    found: Found | None
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as one flat JSON object."""
        if self.found is None:
            return {"id": self.id, "valid": None, "error": self.error}
        found = self.found
        used = {"model_calls": found.model_calls, "nodes": found.nodes, "undone": found.given_up}
        return {"id": self.id, **found.verdict.to_json(), **used}


async def run_searches(
    what: Search, trajectories: Sequence[Trajectory], children: int
) -> list[Searched]:
    """Search every trajectory and return what became of each, in their order.

    Args:
        what: The model, the data and the budget.
        trajectories: Which to search.
        children: Steps that are tried at a node.

    Raises:
        DataError: The model cannot be used.
    """
    if what.error_rate is not None:
        errors = Errors(what.error_rate)
        return [await _scripted(what, t, children, errors) for t in trajectories]
    return await _live(what, trajectories, children)


async def _scripted(
    what: Search, trajectory: Trajectory, children: int, errors: Errors
) -> Searched:
    try:
        prepared = prepare(what.dataset, trajectory, what.profile)
    except CannotJudge as error:
        return Searched(trajectory.id, None, str(error))
    return await _one(what, trajectory, children, FallibleModel(prepared, errors, what.seed))


async def _live(what: Search, trajectories: Sequence[Trajectory], children: int) -> list[Searched]:
    done: dict[str, Searched] = {}

    async def do(trajectory: Trajectory, ask: Ask) -> Searched:
        async def propose(request: Request) -> Reply:
            return (await ask(request)).reply

        return await _one(what, trajectory, children, propose)

    def keep(searched: Searched) -> None:
        done[searched.id] = searched

    model = connect(what.model, RequestOptions(base_url=what.base_url))
    try:
        limits = Limits(concurrency=what.concurrency, attempts=_ATTEMPTS)
        await Engine[Trajectory, Searched](model, limits, Random(0)).run(trajectories, do, keep)
    finally:
        await model.close()
    missing = "was not reached: the model cannot be used"
    return [done.get(t.id, Searched(t.id, None, missing)) for t in trajectories]


async def _one(what: Search, trajectory: Trajectory, children: int, propose: Propose) -> Searched:
    style = Style(toolbox_of(trajectory), read_prompts(), "drop")
    limits = SearchLimits(children, what.max_calls, what.max_nodes)
    try:
        prepared = prepare(what.dataset, trajectory, what.profile)
        found = await search(
            prepared, style, what.mode, what.profile, propose, limits, what.step_limit
        )
    except (ModelError, BackendFault, CannotJudge) as error:
        return Searched(trajectory.id, None, str(error))
    return Searched(trajectory.id, found)
