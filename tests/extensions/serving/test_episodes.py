"""Episodes over HTTP and MCP: verdicts, isolation, limits, and a server that is killed."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path
from queue import Queue
from random import Random
from typing import Any

import pytest
from mcp import Client, MCPError

from checkers.profile import STRICT
from envs.calls import parse_call
from extensions.serving.episode_run import EpisodeServerSettings
from runner.cli import main
from runner.episodes.turn_loop import STEP_LIMIT
from runner.live.live_run import RunInputs
from runner.live.run_settings import Settings
from runner.models.model_name import LiveName
from runner.models.prompting import read_prompts
from runner.records.durable_files import RUN_FILE
from runner.records.recorded_run import read_records
from runner.records.run_definition import Selection
from tests.extensions.serving.serving import answer
from tests.live.running import comparable
from trajectories.dataset import load_embedded
from trajectories.schema import Category, Trajectory

COMMAND = [sys.executable, "-W", "error", "-m", "runner.cli", "env", "serve"]
EXAMPLES = Path(__file__).parents[3] / "examples"
SERVICE = EpisodeServerSettings(port=0, limit=8, idle=99.0, hides_verdict=False)


@cache
def served() -> Mapping[str, Trajectory]:
    """Return the entries that the server may choose from."""
    return load_embedded([Category.MISSING_FUNCTION]).trajectories


def make_plan(
    entries: int, category: Category = Category.MISSING_FUNCTION
) -> tuple[RunInputs, list[Trajectory]]:
    """Return the plan of a run, and its entries."""
    data = load_embedded([category])
    plan = RunInputs(LiveName("served"), data, STRICT, STEP_LIMIT, Settings(), read_prompts())
    return plan, [*data.trajectories.values()][:entries]


@contextmanager
def serving(
    folder: Path,
    service: EpisodeServerSettings,
    entries: int,
    category: Category = Category.MISSING_FUNCTION,
) -> Iterator[str]:
    """Serve episodes in a thread for the time of a ``with``, and yield the URL."""
    up: Queue[tuple[str, asyncio.AbstractEventLoop, asyncio.Task[Any]]] = Queue()
    plan, chosen = make_plan(entries, category)
    selection = Selection(category.value, None, entries, None, None, 1)

    def started(url: str | None, *_: object) -> None:
        task = asyncio.current_task()
        assert url
        assert task
        up.put((url, asyncio.get_running_loop(), task))

    def play() -> None:
        resumes = (folder / RUN_FILE).exists()
        with suppress(asyncio.CancelledError):
            service.play(plan, chosen, selection, folder, resumes=resumes, started=started)

    thread = threading.Thread(target=play)
    thread.start()
    url, loop, task = up.get(timeout=30)
    try:
        yield url
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(30)


@contextmanager
def serving_in_process(*arguments: object, end: int) -> Iterator[str]:
    """Run the command for the time of a ``with``, end it by a signal, and yield the URL."""
    command = [*COMMAND, "--category", "miss_func", "--http", "0", *map(str, arguments)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        try:
            found = re.search(r" at (\S+)/episode ", line := process.stderr.readline())
            assert found, line
            yield found[1]
        finally:
            process.send_signal(end)
            process.stderr.read()


def post(url: str, **body: Any) -> tuple[int, Any]:
    """Return status and JSON of a request to the endpoint."""
    return answer(urllib.request.Request(f"{url}/episode", json.dumps(body).encode()))


def message(call: str) -> dict[str, Any]:
    """Return a call as an assistant message."""
    found = parse_call(call)
    function = {"name": found.name, "arguments": json.dumps(dict(found.kwargs))}
    return {
        "role": "assistant",
        "tool_calls": [{"id": "1", "type": "function", "function": function}],
    }


def first_values(accepted: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return the first accepted value of each argument that may not be left out."""
    return {name: values[0] for name, values in accepted.items() if values[0] != ""}


def answers(entry: Trajectory) -> list[Any]:
    """Return the answers of the oracle, one for each step."""
    return [each for turn in entry.turns for each in (*map(message, turn.ground_truth), "Done.")]


def finish(url: str, step: dict[str, Any], said: Sequence[Any]) -> dict[str, Any]:
    """Play an episode from a step on; every answer is sent twice."""
    while not step["done"]:
        sent = {"episode": step["episode"], "step": step["step"], "message": said[step["step"]]}
        step, again = post(url, **sent)[1], post(url, **sent)[1]
        assert again["step"] == step["step"]
        other = {**sent, "message": "Something else."}
        why = f"Step {sent['step']} was answered with another message."
        assert post(url, **other) == (409, {"error": why})
    return step


def outcomes(folder: Path) -> dict[tuple[str, int], str | None]:
    """Return the outcomes of a run."""
    return {record.key: record.outcome for record in read_records(folder)}


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the calls and the answer of each turn, by entry."""
    path = tmp_path_factory.mktemp("oracle") / "answers.json"
    found = {
        entry.id: [
            {
                "calls": [
                    {"name": call.name, "arguments": dict(call.kwargs)}
                    for call in map(parse_call, turn.ground_truth)
                ],
                "answer": "Done.",
            }
            for turn in entry.turns
        ]
        for entry in served().values()
    }
    path.write_text(json.dumps(found), encoding="utf-8")
    return path


def test_the_endpoint_plays_an_entry_and_refuses_what_it_cannot_read(tmp_path: Path) -> None:
    with serving(tmp_path / "run", EpisodeServerSettings(0, 1, 99.0, False), 2) as url:
        status, step = post(url)
        entry = served()[step["entry"]]
        assert (status, step["step"], step["turn"], step["done"]) == (200, 0, 0, False)
        assert step["messages"][-1] == {"role": "user", "content": entry.turns[0].words}
        assert {tool["function"]["name"] for tool in step["tools"]}
        name = step["episode"]
        for body, expected, words in (
            ({"episode": "x"}, 404, "No episode has this name"),
            ({}, 429, "All 1 concurrent episodes"),
            ({"message": "x"}, 400, '"episode" is missing'),
            ({"episode": name, "step": 7, "message": "x"}, 409, "is at step 0, not 7"),
            ({"episode": name, "message": 5}, 400, "a value of the type int"),
            ({"episode": name, "messages": []}, 400, "unknown field 'messages'"),
            ({"episode": name, "step": -1, "message": ""}, 400, "a number of at least 0"),
        ):
            status, refusal = post(url, **body)
            assert (status, words in refusal["error"]) == (expected, True), refusal
        page = urllib.request.Request(f"{url}/episode", b"{}", {"Origin": "http://evil.example"})
        assert answer(page)[0] == 403
        done = finish(url, step, answers(entry))
        assert done["verdict"]["valid"]
        assert post(url, episode=name)[1] == done
        assert post(url, episode=name, message="more")[0] == 409
        status, step = post(url)
        assert not finish(url, step, ["No."] * 9)["verdict"]["valid"]
        assert post(url) == (200, {"episode": None, "done": True})
        paths = answer(urllib.request.Request(f"{url}/openapi.json"))[1]["paths"]
        assert [*paths] == ["/episode"]
    assert sorted(map(str, outcomes(tmp_path / "run").values())) == ["failed", "passed"]


def test_the_endpoint_gives_back_a_lone_surrogate_of_a_client(tmp_path: Path) -> None:
    with serving(tmp_path / "run", EpisodeServerSettings(0, 1, 99.0, False), 1) as url:
        name = post(url)[1]["episode"]
        function = {"name": "\ud800", "arguments": "{}"}
        call = {"id": "\ud800", "type": "function", "function": function}
        status, step = post(url, episode=name, message={"role": "assistant", "tool_calls": [call]})
        assert (status, step["messages"][-1]["tool_call_id"]) == (200, "\ud800")


def test_served_functions_drift_with_their_documents(tmp_path: Path) -> None:
    options = ("--run-dir", tmp_path / "run", "--limit", 1, "--drift", "rename")
    with serving_in_process(*options, end=signal.SIGINT) as url:
        step = post(url)[1]
        assert all(tool["function"]["name"].endswith("_v2") for tool in step["tools"])
        said = [
            message(each.replace("(", "_v2(", 1)) if each != "Done." else each
            for turn in served()[step["entry"]].turns
            for each in (*turn.ground_truth, "Done.")
        ]
        assert finish(url, step, said)["verdict"]["valid"]
    [record] = read_records(tmp_path / "run")
    assert record.extensions["faults"].injected[0].kind == "rename"


@pytest.mark.parametrize(
    ("entries", "clients"), [(6, 3), pytest.param(128, 64, marks=pytest.mark.slow)]
)
def test_a_killed_server_goes_on_and_loses_and_doubles_nothing(
    tmp_path: Path, entries: int, clients: int
) -> None:
    options = ["--limit", entries, "--max-sessions", clients]
    urls: list[str] = []
    paused, resumed = threading.Barrier(clients + 1), threading.Event()
    verdicts: list[bool] = []

    def play() -> None:
        step = post(urls[-1])[1]
        said = answers(served()[step["entry"]])
        # The first answer arrives before the kill, and is sent again after it.
        sent = {"episode": step["episode"], "step": 0, "message": said[0]}
        post(urls[-1], **sent)
        paused.wait(60)
        resumed.wait(60)
        step = post(urls[-1], **sent)[1]
        while step["episode"]:
            end = finish(urls[-1], step, answers(served()[step["entry"]]))
            verdicts.append(end["verdict"]["valid"])
            step = post(urls[-1])[1]

    players = [threading.Thread(target=play) for _ in range(clients)]
    with serving_in_process(*options, "--run-dir", tmp_path / "run", end=signal.SIGKILL) as url:
        urls.append(url)
        for player in players:
            player.start()
        paused.wait(60)
    with serving_in_process(*options, "--resume", tmp_path / "run", end=signal.SIGINT) as url:
        urls.append(url)
        resumed.set()
        for player in players:
            player.join(120)
    assert verdicts == [True] * entries
    assert [*outcomes(tmp_path / "run").values()] == ["passed"] * entries
    assert main(["verify", str(tmp_path / "run")]) == 0


def calls_by_turn(entry: Trajectory) -> Iterator[dict[str, Any] | None]:
    """Yield the arguments of the oracle's calls of an MCP client; None ends a turn."""
    for turn in entry.turns:
        for call in map(parse_call, turn.ground_truth):
            yield {"name": call.name, "arguments": dict(call.kwargs)}
        yield None


async def play_over_mcp(client: Client, turn: dict[str, Any], sent: Callable[[], object]) -> bool:
    """Play an episode from its current step to its end; return whether the verdict is valid.

    Args:
        sent: Called before each request of the client.
    """
    while not turn["done"]:
        for call in [*calls_by_turn(served()[turn["entry"]])][turn["step"] :]:
            sent()
            if call is None:
                ended = await client.call_tool("finish_turn", {"answer": "Done."})
                turn = ended.structured_content or {}
                break
            assert not (await client.call_tool(**call)).is_error
    return bool(turn["verdict"]["valid"])


@pytest.mark.slow
@pytest.mark.parametrize(("entries", "clients"), [(4, 2), (128, 64)])
def test_mcp_clients_go_on_after_the_server_is_killed_between_their_calls(
    tmp_path: Path, entries: int, clients: int
) -> None:
    options = ["--limit", entries, "--max-sessions", clients]
    names: list[str] = []
    verdicts: list[bool] = []
    first_server = ExitStack()

    async def start(url: str) -> None:
        everybody, requests = asyncio.Barrier(clients), count(1)

        def sent() -> None:
            if next(requests) == 2 * clients:
                first_server.close()

        async def play() -> None:
            async with Client(f"{url}/mcp") as client:
                turn = (await client.call_tool("read_turn", {})).structured_content or {}
                names.append(turn["episode"])
                await everybody.wait()
                await play_over_mcp(client, turn, sent)

        ends = await asyncio.gather(*(play() for _ in range(clients)), return_exceptions=True)
        assert all(isinstance(end, ExceptionGroup) for end in ends), ends

    async def go_on(url: str, name: str) -> None:
        async with Client(f"{url}/mcp/{name}") as client:
            turn = (await client.call_tool("read_turn", {})).structured_content or {}
            while True:
                verdicts.append(await play_over_mcp(client, turn, lambda: None))
                try:
                    turn = (await client.call_tool("next_episode", {})).structured_content or {}
                except MCPError:
                    return

    async def go_on_together(url: str) -> None:
        await asyncio.gather(*(go_on(url, name) for name in names))

    killed = serving_in_process(*options, "--run-dir", tmp_path / "run", end=signal.SIGKILL)
    asyncio.run(start(first_server.enter_context(killed)))
    assert len(set(names)) == clients
    with serving_in_process(*options, "--resume", tmp_path / "run", end=signal.SIGINT) as url:
        asyncio.run(go_on_together(url))
    assert verdicts == [True] * entries
    records = [*read_records(tmp_path / "run")]
    assert [record.outcome for record in records] == ["passed"] * entries
    made = {record.id: len(record.steps) for record in records}
    assert made == {id: len([*calls_by_turn(served()[id])]) for id in made}
    assert len(made) == entries
    assert main(["verify", str(tmp_path / "run")]) == 0


def play_with_kills(folder: Path, entries: int, random: Random, kills: int) -> None:
    """Play a run as the oracle; kill the server after some answers, and resume."""
    step: dict[str, Any] = {"done": True}
    for life in range(kills + 1):
        way, left = ("--resume" if life else "--run-dir"), random.randrange(1, 12)
        last = life == kills
        end = signal.SIGINT if last else signal.SIGKILL
        with serving_in_process("--limit", entries, way, folder, end=end) as url:
            while last or left:
                step = post(url, **({} if step["done"] else {"episode": step["episode"]}))[1]
                if step["episode"] is None:
                    break
                said = answers(served()[step["entry"]])
                while (last or left) and not step["done"]:
                    sent = {"episode": step["episode"], "step": step["step"]}
                    step = post(url, **sent, message=said[step["step"]])[1]
                    left -= 1


@pytest.mark.slow
def test_served_episodes_are_the_same_after_kills(tmp_path: Path) -> None:
    play_with_kills(tmp_path / "whole", 12, Random(1), kills=0)
    play_with_kills(tmp_path / "killed", 12, Random(1), kills=10)
    whole, killed = comparable(tmp_path / "whole"), comparable(tmp_path / "killed")
    assert len(killed) == 12
    assert killed == whole


def test_the_official_client_plays_over_mcp(tmp_path: Path, oracle: Path) -> None:
    known = json.loads(oracle.read_text(encoding="utf-8"))

    async def play(url: str, count: int) -> list[bool]:
        async with Client(f"{url}/mcp") as client:
            verdicts = []
            for number in range(count):
                if number:
                    await client.call_tool("next_episode", {})
                prompt = await client.get_prompt("turn")
                turn = (await client.call_tool("read_turn", {})).structured_content
                assert turn
                assert prompt.messages[0].content.text == turn["message"]  # type: ignore[union-attr]
                with pytest.raises(MCPError, match="not over"):
                    await client.call_tool("next_episode", {})
                while not turn["done"]:
                    offered = {tool.name for tool in (await client.list_tools()).tools}
                    for call in known[turn["entry"]][turn["turn"]]["calls"]:
                        assert call["name"] in offered
                        assert not (await client.call_tool(**call)).is_error
                    turn = (
                        await client.call_tool("finish_turn", {"answer": "Done."})
                    ).structured_content
                verdicts.append(turn["verdict"]["valid"])
            return verdicts

    async def together(url: str) -> list[list[bool]]:
        return await asyncio.gather(play(url, 3), play(url, 3))

    with serving(tmp_path / "run", SERVICE, 6) as url:
        assert asyncio.run(together(url)) == [[True] * 3] * 2


@pytest.mark.parametrize("category", [Category.PARALLEL, Category.IRRELEVANCE])
def test_calls_of_a_single_turn_are_recorded_and_judged_at_its_end(
    tmp_path: Path, category: Category
) -> None:
    data = load_embedded([category])

    def calls_of(id: str) -> list[dict[str, Any]]:
        expected = data.trajectories[id].expects
        assert expected
        return [
            {"name": name.replace(".", "_"), "arguments": first_values(accepted)}
            for answer in expected.answers
            for name, accepted in answer.items()
        ]

    async def play(url: str) -> list[bool]:
        verdicts = []
        async with Client(f"{url}/mcp") as client:
            for number in range(3):
                if number:
                    await client.call_tool("next_episode", {})
                turn = (await client.call_tool("read_turn", {})).structured_content
                assert turn
                calls = calls_of(turn["entry"])
                for call in calls:
                    result = await client.call_tool(**call)
                    assert "is recorded and not executed" in result.content[0].text  # type: ignore[union-attr]
                known = (await client.call_tool("read_turn", {})).structured_content or {}
                assert known.get("calls", []) == [call["name"] for call in calls]
                end = await client.call_tool("finish_turn", {"answer": "Done."})
                verdicts.append((end.structured_content or {})["verdict"]["valid"])
        return verdicts

    with serving(tmp_path / "run", SERVICE, 4, category) as url:
        assert asyncio.run(play(url)) == [True] * 3
        step = post(url)[1]
        functions = [
            {"name": call["name"], "arguments": json.dumps(call["arguments"])}
            for call in calls_of(step["entry"])
        ]
        made = [
            {"id": str(place), "type": "function", "function": function}
            for place, function in enumerate(functions)
        ]
        said = {"role": "assistant", "content": "Done.", "tool_calls": made}
        assert post(url, episode=step["episode"], step=0, message=said)[1]["verdict"]["valid"]


@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("jq")), reason="needs curl and jq")
@pytest.mark.parametrize("entries", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_a_shell_script_plays_entries(tmp_path: Path, entries: int) -> None:
    path, known = tmp_path / "answers.json", [*served().values()][:entries]
    path.write_text(json.dumps({entry.id: answers(entry) for entry in known}), encoding="utf-8")
    agent = f"jq -c --slurpfile known '{path}' '$known[0][.entry][.step]'"
    with serving(tmp_path / "run", SERVICE, entries) as url:
        played = subprocess.run(
            [EXAMPLES / "play_episodes.sh", url, agent], capture_output=True, text=True, check=True
        )
    assert [line.split()[1] for line in played.stdout.splitlines()] == ["true"] * entries


def test_the_python_example_plays_an_episode(tmp_path: Path) -> None:
    with serving(tmp_path / "run", SERVICE._replace(hides_verdict=True), 1) as url:
        command = [sys.executable, EXAMPLES / "play_episodes.py", f"{url}/mcp"]
        played = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "KeyError: 'verdict'" in played.stderr
        assert [*outcomes(tmp_path / "run").values()] == ["failed"]


def test_an_idle_client_is_an_error_that_a_resumed_run_repeats(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with serving(folder, SERVICE._replace(idle=0.01), 1) as url:
        step = post(url)[1]
        while not outcomes(folder):
            pass
        end = post(url, episode=step["episode"])[1]
        assert end["verdict"]["error"] == "the client did not answer in time"
    with serving(folder, SERVICE, 1) as url:
        assert post(url, episode=step["episode"])[0] == 404
        step = post(url)[1]
        assert finish(url, step, answers(served()[step["entry"]]))["verdict"]["valid"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["TicketAPI", "--limit", "1"], "NAME: cannot be combined with options"),
        (["TicketAPI", "--run-dir", "x"], "--run-dir: this option needs entries"),
        (["--trajectory", "x", "--limit", "1"], "--limit: this option needs entries"),
        (["--category", "base", "--control", "0"], "--control: cannot be combined with options"),
        (["TicketAPI", "--faults", "rate=0.5"], "--faults: this option needs entries"),
        (["--category", "base", "--drift", "move"], "--drift"),
    ],
)
def test_options_of_sessions_and_episodes_are_kept_apart(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert main(["env", "serve", *arguments]) == 2
    assert words in capsys.readouterr().err
