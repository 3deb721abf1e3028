"""The fake server itself: ground truth in both modes, recorded runs, faults in order, command."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from tests.servers.answers import DONE, STRANGE, GroundTruth, Recorded
from tests.servers.faults import FAULTS, fault, now_and_then, scripted
from tests.servers.serving import Answer, Asked, FakeServer
from tests.servers.shapes import SHAPES
from trajectories.dataset import Dataset, load_embedded
from trajectories.schema import Category, Message, Trajectory, Turn

ROOT = Path(__file__).parents[2]
HELP_DESK_TOOLS = ["create_ticket", "get_ticket", "ticket_login"]


def user(text: str) -> dict[str, str]:
    """Return a user's message."""
    return {"role": "user", "content": text}


def body(messages: list[Any], tools: list[str] | None = None, **more: Any) -> dict[str, Any]:
    """Return the body of a request."""
    offered = [{"type": "function", "function": {"name": name}} for name in tools or ()]
    return {"model": "m", "messages": messages, **({"tools": offered} if tools else {}), **more}


def message(answer: Answer) -> dict[str, Any]:
    """Return the message in an answer."""
    assert answer.status == 200, answer.body
    found: dict[str, Any] = json.loads(answer.body)["choices"][0]["message"]
    return found


def calls(said: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the tool calls in a message."""
    functions = [call["function"] for call in said["tool_calls"]]
    return [(function["name"], json.loads(function["arguments"])) for function in functions]


def asked(value: Any, number: int = 0, **headers: str) -> Asked:
    """Return a request."""
    return Asked(number, "/v1/chat/completions", headers, value)


def chat(answerer: Any, trajectory: Trajectory, tools: list[str] | None) -> list[dict[str, Any]]:
    """Let a server answer a whole trajectory and return what it said."""
    messages: list[dict[str, Any]] = [] if tools else [{"role": "system", "content": "Help."}]
    said = []
    for turn in trajectory.turns:
        messages += [user(m.content) for m in turn.messages] or [user("There is more now.")]
        offered = tools and tools + [name for each in trajectory.turns for name in each.offers]
        while True:
            answer = message(answerer(asked(body(messages, offered))))
            said.append(answer)
            messages.append(answer)
            if not answer.get("tool_calls") and not answer["content"].startswith("["):
                break
            results = [{"role": "tool", "content": "{}"} for _ in answer.get("tool_calls", ())]
            messages += results or [user("Results: {}")]
    return said


def test_the_ground_truth_as_tool_calls(
    help_desk: Trajectory, dataset_of: Callable[..., Dataset]
) -> None:
    said = chat(GroundTruth(dataset_of(help_desk)), help_desk, HELP_DESK_TOOLS)
    made = [calls(one) if one.get("tool_calls") else one["content"] for one in said]
    assert made == [
        [("create_ticket", {"title": "Dark screen"})],
        DONE,
        DONE,
        [("close_ticket", {"ticket_id": 1}), ("get_ticket", {"ticket_id": 1})],
        DONE,
    ]
    ids = [call["id"] for one in said for call in one.get("tool_calls", ())]
    assert len({*ids}) == 3


def test_the_ground_truth_as_text(
    help_desk: Trajectory, dataset_of: Callable[..., Dataset]
) -> None:
    said = chat(GroundTruth(dataset_of(help_desk)), help_desk, None)
    assert [one["content"] for one in said] == [
        "[create_ticket(title='Dark screen')]",
        DONE,
        DONE,
        "[close_ticket(ticket_id=1), get_ticket(ticket_id=1)]",
        DONE,
    ]


def test_the_ground_truth_call_by_call(
    help_desk: Trajectory, dataset_of: Callable[..., Dataset]
) -> None:
    for tools in (None, HELP_DESK_TOOLS):
        said = chat(GroundTruth(dataset_of(help_desk), calls_per_step=1), help_desk, tools)
        assert [one["content"] == DONE for one in said] == [0, 1, 1, 0, 0, 1]


def trajectory(id: str, *turns: Turn) -> Trajectory:
    """Return a trajectory of files."""
    return Trajectory(id, Category.BASE, ("GorillaFileSystem",), {}, turns)


def turn(text: str | None, *truth: str, offers: tuple[str, ...] = ()) -> Turn:
    """Return a turn."""
    return Turn((Message("user", text),) if text else (), truth, offers)


def test_arguments_get_their_names(dataset_of: Callable[..., Dataset]) -> None:
    truth = GroundTruth(dataset_of(trajectory("t", turn("Go.", "mv('a', destination='b')"))))
    said = message(truth(asked(body([user("Go.")], ["mv"]))))
    assert calls(said) == [("mv", {"source": "a", "destination": "b"})]
    said = message(truth(asked(body([user("Go.")]))))
    assert said["content"] == "[mv(source='a', destination='b')]"


def test_trajectories_that_begin_alike(dataset_of: Callable[..., Dataset]) -> None:
    truth = GroundTruth(
        dataset_of(
            trajectory("base", turn("Go.", "ls()"), turn("On.", "pwd()")),
            trajectory("other", turn("Go.", "ls()"), turn("Back.", "cd(folder='..')")),
            trajectory(
                "held_out", turn("Go."), turn(None, "ls()", offers=("ls",)), turn("On.", "pwd()")
            ),
        )
    )

    def said(*messages: Any, tools: list[str], **more: str) -> str | None:
        answer = message(truth(asked(body(list(messages), tools, **more))))
        return answer["content"] or answer["tool_calls"][0]["function"]["name"]

    done = {"role": "assistant", "content": DONE}
    assert said(user("Go."), tools=["ls", "pwd", "cd"]) == "ls"
    assert said(user("Go."), tools=["pwd", "cd"]) == DONE
    assert said(user("Go."), done, user("On."), tools=["ls", "pwd", "cd"]) == "pwd"
    assert said(user("Go."), done, user("Back."), tools=["ls", "pwd", "cd"]) == "cd"
    assert said(user("Go."), tools=["ls"], turnwise_id="held_out") == DONE
    documents = {"role": "system", "content": '{"name": "pwd"}'}
    answer = truth(asked(body([documents, user("Go.")])))
    assert message(answer)["content"] == DONE
    named = truth(asked(body([user("Go.")], ["ls"]), **{"x-turnwise-id": "held_out"}))
    assert message(named)["content"] == DONE


def test_text_in_parts_is_text(dataset_of: Callable[..., Dataset]) -> None:
    truth = GroundTruth(dataset_of(trajectory("t", turn("Go.", "ls()"))))
    parts = [{"type": "text", "text": "Go"}, {"type": "text", "text": "."}]
    answer = truth(asked(body([{"role": "user", "content": parts}])))
    assert message(answer)["content"] == "[ls()]"


def test_a_conversation_that_nobody_knows(dataset_of: Callable[..., Dataset]) -> None:
    answer = GroundTruth(dataset_of())(asked(body([user("Go.")])))
    assert message(answer)["content"] == STRANGE


def test_a_recorded_run(
    dataset_of: Callable[..., Dataset], write_lines: Callable[..., Path]
) -> None:
    recorded = write_lines(
        "multi_turn_base_result.json",
        {
            "id": "multi_turn_base_0",
            "result": [[[{"ls": "{}"}, {"cd": {"folder": "a"}}], "Done."], [[{"pwd": "{"}]], []],
        },
    )
    data = dataset_of(trajectory("multi_turn_base_0", turn("Go."), turn("On."), turn("Back.")))
    said = chat(Recorded(data, recorded), data.trajectories["multi_turn_base_0"], None)
    steps = [
        [tuple(call["function"].values()) for call in one["tool_calls"]]
        if one.get("tool_calls")
        else one["content"]
        for one in said
    ]
    assert steps == [
        [("ls", "{}"), ("cd", '{"folder": "a"}')],
        "Done.",
        [("pwd", "{")],
        DONE,
        DONE,
    ]


def fine(_: Asked) -> Answer:
    """Answer rightly."""
    return Answer(b"{}")


def statuses(answerer: Any, count: int) -> list[int]:
    """Return the statuses of some answers in a row."""
    return [answerer(asked(None, number)).status for number in range(count)]


def test_faults_in_order() -> None:
    assert statuses(scripted("500x2,ok,429*", fine), 6) == [500, 500, 200, 429, 429, 429]
    assert statuses(scripted("404", fine), 3) == [404, 200, 200]
    with pytest.raises(ValueError, match="'bogus' is none of reset, hang"):
        scripted("bogus", fine)


def test_faults_at_random_are_the_same_for_the_same_seed() -> None:
    one = statuses(now_and_then(["500", "429"], 0.3, 1, fine), 300)
    assert one == statuses(now_and_then(["500", "429"], 0.3, 1, fine), 300)
    assert one != statuses(now_and_then(["500", "429"], 0.3, 2, fine), 300)
    assert {*one} == {200, 429, 500}
    assert 50 < 300 - one.count(200) < 130


def get(port: int, path: str, value: Any = None) -> tuple[int, bytes]:
    """Make one request, a POST if there is something to send."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        if value is None:
            connection.request("GET", path)
        else:
            connection.request("POST", path, json.dumps(value))
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_over_http() -> None:
    with FakeServer(fault("text"), latency=0.05) as server:
        start = perf_counter()
        status, text = get(server.port, "/v1/chat/completions", {"messages": []})
        assert 0.05 <= perf_counter() - start < 1
        assert (status, json.loads(text)) == (200, SHAPES["text"].body)
        assert json.loads(get(server.port, "/v1/models")[1])["data"][0]["id"] == "fake"
        assert json.loads(get(server.port, "/v1/stats")[1])["requests"] == server.requests == 1


def test_a_long_body_comes_whole() -> None:
    with FakeServer(fault("text")) as server:
        get(server.port, "/v1/chat/completions", {"messages": ["x" * 3_000_000]})
        assert server.last is not None
        assert len(server.last.body["messages"][0]) == 3_000_000


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("reset", ConnectionResetError),
        ("half", http.client.IncompleteRead),
        ("hang", TimeoutError),
    ],
)
def test_answers_that_are_none(kind: str, error: type[Exception]) -> None:
    assert kind in FAULTS
    with FakeServer(fault(kind)) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=0.2)
        connection.request("POST", "/v1/chat/completions", "{}")
        with pytest.raises(error):
            connection.getresponse().read()
        connection.close()


def test_a_mistake_in_the_answers_is_a_server_error() -> None:
    with FakeServer(lambda asked: asked.body["nothing"]) as server:
        status, text = get(server.port, "/v1/chat/completions", {})
    assert status == 500
    assert b"KeyError" in text


def test_the_command() -> None:
    command = [sys.executable, "-m", "tests.servers.openai_fake", "--fault", "404,ok"]
    served = subprocess.Popen(
        command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert served.stdout is not None
    line = served.stdout.readline()
    port = int(line.rpartition(":")[2].removesuffix("/v1\n"))
    opening = (
        [*load_embedded([Category.BASE]).trajectories.values()][-1].turns[0].messages[0].content
    )
    question = body([user(opening)], ["x"])
    assert get(port, "/v1/chat/completions", question)[0] == 404
    assert get(port, "/v1/chat/completions", question)[0] == 200
    served.terminate()
    _, said = served.communicate(timeout=10)
    assert said.startswith("2 requests, ")
    assert served.returncode == 0
