"""The same call is beyond its bounds wherever it is made, and the episode goes on after it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from checkers.profile import STRICT
from envs.bounds import BOUNDS
from envs.calls import Call
from extensions.debugger.stepper import Stepper
from extensions.scripts.execute import CallScript, execute
from extensions.search.search import SearchLimits, SearchObserver, search
from runner.episodes.dialogue import Dialogue
from runner.episodes.offline import examine_recorded
from runner.episodes.script_traces import trace_recorded
from runner.live.episode_player import EpisodeSetup, ModelAnswer, run_live
from runner.models.conversation import ConversationSettings
from runner.models.model_types import Reply, ToolCall, Usage
from runner.models.prompting import read_prompts
from runner.models.toolbox import Toolbox, own_documents
from runner.rollouts.rollout_env import RolloutEnv
from tests.extensions.serving.test_mcp_server import talk, text
from tests.runner.records.made import answered
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import PreparedTrajectory, load_session, prepare
from trajectories.schema import Category, Message, Trajectory, Turn

DESK = Trajectory(
    id="desk_0",
    category=Category.BASE,
    environments=("TicketAPI",),
    config={"TicketAPI": {"current_user": "ann"}},
    turns=(Turn((Message("user", "Open a ticket."),), ("create_ticket(title='x')",)),),
)
DATA = Dataset("made-up", "1", "0" * 64, {DESK.id: DESK})
STEP_LIMIT = 20
AFTER = Call("create_ticket", (), {"title": "after"})
Steps = Sequence[Sequence[Call]]


def ready() -> PreparedTrajectory:
    """Return the trajectory, to be run."""
    return prepare(DATA, DESK, STRICT)


def style() -> ConversationSettings:
    """Return how a model is talked to."""
    return ConversationSettings(Toolbox(own_documents(DESK.environments)), read_prompts(), "all")


def as_tool_calls(steps: Steps) -> list[Reply]:
    """Return the replies of a model that makes calls, and then says that it is done."""
    replies = []
    for step in steps:
        made = [ToolCall(None, call.name, json.dumps(dict(call.kwargs))) for call in step]
        replies.append(Reply(None, tuple(made), None, None, Usage(), 0.0))
    return [*replies, Reply("Done.", (), None, None, Usage(), 0.0)]


def as_recorded(steps: Steps) -> list[list[Any]]:
    """Return the one turn of a recorded run."""
    return [[*([{c.name: json.dumps(dict(c.kwargs))} for c in step] for step in steps), "Done."]]


def in_exec(steps: Steps) -> list[str]:
    """Return the results in a call script."""
    calls = [str(call) for step in steps for call in step]
    script = CallScript("x", DESK.config, DESK.environments, False, [calls])
    done = execute(script, "here", lambda: pytest.fail("no material is wanted"))
    return [*done["turns"][0]["results"]]


def in_score(steps: Steps) -> list[str]:
    """Return the results in a recorded run."""
    played = trace_recorded(ready(), as_recorded(steps), "fc", STRICT)
    return [traced.result.text for traced in played.turns[0].calls]


def in_eval(steps: Steps) -> list[str]:
    """Return the results that a live model reads."""
    replies = as_tool_calls(steps)

    async def ask(_: object) -> ModelAnswer:
        return ModelAnswer(replies.pop(0), 1)

    kept: dict[str, Any] = {}
    setup = EpisodeSetup(
        prepared=ready(),
        style=style(),
        mode="fc",
        profile=STRICT,
        step_limit=STEP_LIMIT,
        ask=ask,
        put_tools=kept.__setitem__,
    )
    return [result for step in asyncio.run(run_live(setup)).steps for result in step.results]


def in_rollouts(steps: Steps) -> list[str]:
    """Return the results that a training loop sees."""
    env = RolloutEnv(DESK)
    env.reset()
    return [result for step in steps for result in env.step(step).info["results"]]


def in_search(steps: Steps) -> list[str]:
    """Return the results that a search shows to its model."""
    replies = as_tool_calls(steps)

    async def ask(_: object) -> Reply:
        return replies.pop(0)

    asked = Dialogue(ready(), style(), "fc", STRICT, STEP_LIMIT)
    limits = SearchLimits(children=1)
    dialogue = asyncio.run(search(asked, ask, limits, follows=SearchObserver()))
    said = dialogue.conversation.messages
    return [str(message["content"]) for message in said if message["role"] == "tool"]


def over_mcp(steps: Steps) -> list[str]:
    """Return the results that a client is sent."""
    calls = [call for step in steps for call in step]

    async def script(client: Any) -> list[str]:
        return [text(await client.call_tool(call.name, dict(call.kwargs))) for call in calls]

    results: list[str] = talk(load_session(DATA, DESK, checks_arguments=True), script)
    return results


def in_debugger(steps: Steps) -> list[str]:
    """Return the results of calls that are tried out, the last two; the others are recorded."""
    calls = [call for step in steps for call in step]
    left = calls[-2:]
    first = [[call for call in step if all(call is not other for other in left)] for step in steps]
    recorded = answered(DESK.id, as_recorded([step for step in first if step]), "fc")
    stepper = Stepper(examine_recorded(ready(), recorded, STRICT, STEP_LIMIT))
    stepper.move(len(calls))
    results = []
    for call in left:
        stepper.call(str(call))
        traced = stepper.moment.traced
        assert traced is not None
        results.append(traced.result.text)
    return results


WAYS = [in_exec, in_score, in_eval, in_rollouts, in_search, over_mcp, in_debugger]


def deep() -> Any:
    """Return a list that is nested too deep."""
    value: Any = 0
    for _ in range(BOUNDS.nesting + 1):
        value = [value]
    return value


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"title": "x" * (BOUNDS.text + 1)}, str(BOUNDS.text)),
        ({"title": deep()}, f"nested more than {BOUNDS.nesting} levels deep"),
        ({"title": "x", "priority": 2 ** (BOUNDS.int_bits + 1)}, "integer has more than"),
    ],
    ids=["long", "deep", "large"],
)
def test_an_oversized_call_is_refused(
    way: Callable[[Steps], list[str]], arguments: dict[str, Any], reason: str
) -> None:
    refused, after = way([[Call("create_ticket", (), arguments)], [AFTER]])
    assert reason in refused
    assert len(refused) < 1_000
    assert json.loads(after)["id"] == 1


@pytest.mark.parametrize("way", WAYS)
def test_one_call_too_many_is_refused(way: Callable[[Steps], list[str]]) -> None:
    reads = [Call("ticket_get_login_status")] * BOUNDS.calls
    at_once = BOUNDS.calls_in_step
    steps = [reads[at : at + at_once] for at in range(0, BOUNDS.calls, at_once)]
    results = way([*steps, [AFTER, AFTER._replace(kwargs={"title": "later"})]])
    assert f"{BOUNDS.calls} calls were made" in results[-1]
    assert f"{BOUNDS.calls} calls were made" in results[-2]
