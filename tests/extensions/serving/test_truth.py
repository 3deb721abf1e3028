"""The ground truth of our data set, made through MCP, ends in the same states."""

from __future__ import annotations

import asyncio
from itertools import islice

import pytest
from mcp import Client
from mcp.types import TextContent

from checkers.profile import STRICT
from envs.calls import parse_call
from envs.session import Session
from envs.tool import bind
from extensions.serving.mcp_server import mcp_server
from extensions.serving.session_pool import ServedSession, SessionPool
from tests.extensions.serving.serving import served_over_http
from trajectories.dataset import load_embedded
from trajectories.prepared_trajectory import PreparedTrajectory, prepare
from trajectories.schema import MULTI_TURN, Category

EVERY = 45
"""Over HTTP one trajectory in so many is enough, since the same server answers in either case."""


def prepared(category: Category, every: int = 1) -> list[PreparedTrajectory]:
    """Return one in so many trajectories of a category, with what their ground truth leads to."""
    dataset = load_embedded([category])
    chosen = islice(dataset.trajectories.values(), 0, None, every)
    return [prepare(dataset, trajectory, STRICT) for trajectory in chosen]


async def play(client: Client, one: PreparedTrajectory) -> list[tuple[str, bool]]:
    """Make the ground truth's calls and return text and success of each."""
    said = []
    for turn in one.trajectory.turns:
        for text in turn.ground_truth:
            call = parse_call(text)
            arguments = bind(one.template.tools[call.name], call.args, call.kwargs)
            result = await client.call_tool(call.name, arguments)
            [content] = result.content
            assert isinstance(content, TextContent)
            said.append((content.text, not result.is_error))
    return said


def expected(one: PreparedTrajectory) -> tuple[list[tuple[str, bool]], str]:
    """Return text and success of each result, and the digest of the state in the end."""
    results = [(r.text, r.ok) for outcome in one.truth for r in outcome.results]
    return results, one.truth[-1].snapshot.digest()


@pytest.mark.parametrize(
    ("category", "every"),
    [(MULTI_TURN[0], 8), *(pytest.param(c, 1, marks=pytest.mark.slow) for c in MULTI_TURN)],
)
def test_in_one_process(category: Category, every: int) -> None:
    async def through_mcp(
        session: Session, one: PreparedTrajectory
    ) -> tuple[list[tuple[str, bool]], str]:
        served = ServedSession(session, 0.0)
        async with Client(mcp_server(lambda _: served)) as client:
            return await play(client, one), session.snapshot().digest()

    ready = prepared(category, every)
    assert ready
    for one in ready:
        assert asyncio.run(through_mcp(one.template.fork(), one)) == expected(one), (
            one.trajectory.id
        )


@pytest.mark.parametrize(
    "category", [MULTI_TURN[0], *(pytest.param(c, marks=pytest.mark.slow) for c in MULTI_TURN[1:])]
)
def test_over_http_and_read_by_the_control(category: Category, clock) -> None:
    async def through_mcp(url: str, one: PreparedTrajectory) -> list[tuple[str, bool]]:
        async with Client(url) as client:
            return await play(client, one)

    for one in prepared(category, EVERY):
        with served_over_http(SessionPool(one.template, 1, 100.0, clock)) as serving:
            said = asyncio.run(through_mcp(serving.mcp, one))
            [session] = serving.control("GET", "/sessions")[1]["sessions"]
            _, shown = serving.control("GET", f"/sessions/{session['id']}")
        assert (said, shown["digest"]) == expected(one), one.trajectory.id
