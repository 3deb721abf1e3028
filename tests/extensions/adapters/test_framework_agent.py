"""Wrong uses of agents of frameworks give one clear error."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import turnwise

from envs.errors import DataError
from extensions.adapters.framework_agent import FrameworkAgent
from extensions.adapters.suite import suite


def plain(said: Any, tools: Any) -> str:
    """Answer without a coroutine."""
    return "Done."


async def answers(said: Any, tools: Any) -> str:
    """Answer at once."""
    return "Done."


async def exits(said: Any, tools: Any) -> Any:
    """End the program."""
    raise SystemExit(3)


async def cancels(said: Any, tools: Any) -> Any:
    """Wait for a task that was cancelled."""
    task = asyncio.ensure_future(asyncio.sleep(9))
    task.cancel()
    await task


async def blocks(said: Any, tools: Any) -> Any:
    """Call the function for threads in the event loop."""
    return tools[0].run_in_thread()


def errors(folder: Path, make: Any, limit: int = 1) -> list[str]:
    """Return the errors of a run."""
    run = turnwise.evaluate(
        agent_factory=make, categories="base", limit=limit, run_dir=folder, concurrency=1
    )
    return [record.error for record in turnwise.open_run(run.folder).records if record.error]


def test_an_agent_needs_a_function() -> None:
    with pytest.raises(DataError, match="play_turn: must be a coroutine function, but is 5"):
        FrameworkAgent(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("play_turn", "said"),
    [
        (plain, "must be a coroutine function; write async def"),
        (blocks, "await `run` instead"),
        (exits, "play_turn ended the program: SystemExit(3)"),
        (cancels, "the agent raised CancelledError"),
    ],
)
def test_a_wrong_function_is_named(play_turn: Any, said: str, tmp_path: Path) -> None:
    [error] = errors(tmp_path / "run", lambda: FrameworkAgent(play_turn))
    assert said in error


def test_an_agent_plays_one_episode(tmp_path: Path) -> None:
    agent = FrameworkAgent(answers)
    [error] = errors(tmp_path / "run", lambda: agent, limit=2)
    assert "can play only one episode; pass agent_factory" in error


def test_names_of_a_suite_are_checked() -> None:
    with pytest.raises(DataError, match="category: must be a string or None"):
        suite(category=["base"])  # type: ignore[arg-type]
    with pytest.raises(DataError, match="base_files"):
        suite(category="base").env("base_files_quarterly_repot")


def test_a_tool_returns_its_result_and_the_notices_after_it(tmp_path: Path) -> None:
    worlds = turnwise.load_dataset("worlds", categories="base")
    turns = worlds.trajectories["base_bank_salary"].turns
    heard: list[str] = []

    def make() -> FrameworkAgent:
        left = iter(turns)

        async def play(said: Any, tools: Any) -> str:
            offered = {tool.name: tool for tool in tools}
            for call in map(turnwise.parse_call, next(left).ground_truth):
                heard.append(await offered[call.name].run(**call.kwargs))
            return "Done."

        return FrameworkAgent(play)

    run = turnwise.evaluate(
        agent_factory=make, dataset=worlds, ids=["base_bank_salary"], run_dir=tmp_path / "run"
    )
    assert run.passed == 1
    assert all(text.startswith("{") for text in heard)
    assert any("}\n[Notice " in text for text in heard)
