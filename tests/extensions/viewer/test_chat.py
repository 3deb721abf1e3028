"""Chats with a model over HTTP: calls, changes, stop, errors, budget, saved runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from envs.errors import DataError
from extensions.viewer.chat_room import ChatRoom
from extensions.viewer.viewer import Viewer, serve
from runner.cli import main
from runner.live.run_settings import Settings
from runner.models.model_name import parse_model_name
from runner.models.prompting import read_prompts
from runner.records.recorded_run import open_run
from tests.extensions.viewer.viewing import Viewing, serving
from tests.servers.faults import fault
from tests.servers.serving import Answer, Answerer, Asked, FakeServer, as_json
from tests.servers.shapes import completion
from trajectories.dataset import Dataset
from trajectories.schema import Trajectory

Json = dict[str, Any]
Rooms = Callable[..., ChatRoom]


@pytest.fixture
def room(tmp_path: Path, folders: Trajectory, dataset_of: Callable[..., Dataset]) -> Rooms:
    """Make chats with a model over a data set of one entry."""
    (tmp_path / "runs").mkdir()

    def make(model: str = "oracle", **settings: Any) -> ChatRoom:
        data = dataset_of(folders)
        given = Settings(**settings)
        return ChatRoom(
            tmp_path / "runs",
            parse_model_name(model),
            given,
            read_prompts(nests=True),
            lambda: data,
        )

    return make


def settled(room: ChatRoom, key: str) -> Json:
    """Wait until the model has answered, and return the chat."""
    chat = room._find(key)
    for thread in [chat.thread]:
        assert thread is not None
        thread.join(30)
    assert not chat.is_running
    return room.show({"id": key})


def begun(room: ChatRoom, **world: Any) -> str:
    """Start a chat."""
    return str(room.start(world or {"entry": "folders_0"})["chat"])


def sent(room: ChatRoom, key: str, text: str = "Go.") -> Json:
    """Send a message and wait for the answer."""
    room.send({"chat": key, "text": text})
    return settled(room, key)


def made(shown: Json) -> list[list[str]]:
    """Return the calls of each turn."""
    return [[c["call"] for s in turn["steps"] for c in s["calls"]] for turn in shown["turns"]]


@contextmanager
def answering(answer: Answerer) -> Iterator[str]:
    """Serve answers, and yield the address."""
    with FakeServer(answer) as server:
        yield server.base_url


def calling(name: str, arguments: str) -> Answerer:
    """Answer each user message with one call, then with a text."""

    def answer(asked: Asked) -> Answer:
        last = asked.body["messages"][-1]["role"]
        call = {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}
        message: Mapping[str, Any] = {"role": "assistant", "content": "Done."}
        if last == "user":
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        return as_json(completion(message))

    return answer


def test_a_scripted_model_follows_the_entry(room: Rooms) -> None:
    chats = room("oracle")
    key = begun(chats)
    shown = chats.show({"id": key})
    assert shown["suggested"] == "Put the notes away."
    shown = sent(chats, key, shown["suggested"])
    assert made(shown) == [["mv(source='notes.txt', destination='old')"]]
    [step, last] = shown["turns"][0]["steps"]
    assert any("notes.txt" in change for change in step["changes"])
    assert last["text"] == "Done."
    shown = sent(chats, key, shown["suggested"])
    assert [len(calls) for calls in made(shown)] == [1, 2]
    assert shown["suggested"] == ""


@pytest.mark.parametrize("model", ["null", "scripted:1"])
def test_a_model_without_a_server_may_be_wrong(room: Rooms, model: str) -> None:
    chats = room(model)
    [calls] = made(sent(chats, begun(chats)))
    assert calls != ["mv(source='notes.txt', destination='old')"]


def test_a_live_model_calls_functions_of_an_environment(room: Rooms) -> None:
    with answering(calling("add", '{"a": 2, "b": 3}')) as url:
        chats = room("fake", base_url=url)
        key = begun(chats, environments=["MathAPI"])
        shown = sent(chats, key, "Add 2 and 3.")
        again = sent(chats, key, "And once more.")
    assert made(again) == [["add(a=2, b=3)"]] * 2
    assert "5" in shown["turns"][0]["steps"][0]["calls"][0]["result"]
    # Earlier answers are replayed without requests.
    assert again["spent"]["requests"] == 4


def test_an_error_is_shown_and_the_model_is_asked_again(room: Rooms) -> None:
    answers = [fault("400"), calling("ls", "{}")]

    def answer(asked: Asked) -> Answer:
        return answers[min(asked.number, 1)](asked)

    with answering(answer) as url:
        chats = room("fake", base_url=url, retries=0)
        key = begun(chats)
        shown = sent(chats, key)
        assert "too long" in shown["error"]
        assert shown["unanswered"]
        with pytest.raises(DataError, match="no answer; ask again"):
            chats.send({"chat": key, "text": "Hello?"})
        chats.ask_again({"chat": key})
        shown = settled(chats, key)
    assert (shown["error"], made(shown)) == (None, [["ls()"]])


def test_the_budget_stops_all_chats(room: Rooms) -> None:
    with answering(calling("ls", "{}")) as url:
        chats = room("fake", base_url=url, max_requests=3)
        key = begun(chats)
        sent(chats, key)
        shown = sent(chats, key)
        assert "the budget of 3 requests is used up" in shown["error"]
        assert shown["spent"]["requests"] == 3
        other = begun(chats)
        assert "used up" in sent(chats, other)["error"]


def test_an_answer_is_stopped(room: Rooms) -> None:
    with answering(fault("hang")) as url:
        chats = room("fake", base_url=url)
        key = begun(chats)
        chats.send({"chat": key, "text": "Go."})
        other = begun(chats)
        with pytest.raises(DataError, match="another chat is waiting"):
            chats.send({"chat": other, "text": "Go."})
        with pytest.raises(DataError, match="still answering"):
            chats.take_back({"chat": key})
        while chats._budget.spent.requests == 0:
            assert chats._find(key).is_running
        chats.stop({"chat": key})
        shown = settled(chats, key)
    assert shown["error"] == "stopped by the user"
    assert chats.take_back({"chat": key})["turns"] == []


def test_the_step_limit_ends_a_chat(room: Rooms) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    with answering(lambda _: as_json(completion(message))) as url:
        chats = room("fake", base_url=url)
        key = begun(chats)
        shown = sent(chats, key)
        assert shown["ended"]
        with pytest.raises(DataError, match="step limit ended this chat"):
            chats.send({"chat": key, "text": "Go on."})
        assert not chats.take_back({"chat": key})["ended"]


def test_a_message_is_taken_back_with_its_effects(room: Rooms) -> None:
    chats = room()
    key = begun(chats)
    first = sent(chats, key)
    sent(chats, key)
    shown = chats.take_back({"chat": key})
    assert shown["turns"] == first["turns"]
    assert made(sent(chats, key)) == [
        *made(first),
        ["cd(folder='old')", "wc(file_name='notes.txt')"],
    ]


def test_a_chat_is_saved_as_a_run_that_replays(
    room: Rooms, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chats = room("scripted:0")
    key = begun(chats)
    sent(chats, key, "Put the notes away.")
    sent(chats, key, "How long are they?")
    saved = chats.save({"chat": key})
    folder = tmp_path / "runs" / saved["run"]
    [episode] = open_run(folder).episodes
    assert episode == (saved["id"], 0)
    assert main(["replay", saved["id"], "--run", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert "wc(file_name='notes.txt')" in shown
    assert main(["verify", str(folder)]) == 0
    entry = ["--dataset", saved["entry"]]
    assert main(["eval", "--model", "oracle", *entry]) == 0


def test_a_stopped_chat_is_saved_with_its_error(room: Rooms, tmp_path: Path) -> None:
    answers = [calling("ls", "{}"), fault("400")]

    def answer(asked: Asked) -> Answer:
        return answers[min(asked.number, 1)](asked)

    with answering(answer) as url:
        chats = room("fake", base_url=url, retries=0)
        key = begun(chats)
        assert sent(chats, key)["error"]
        saved = chats.save({"chat": key})
    run = open_run(tmp_path / "runs" / saved["run"])
    [record] = [each.record for each in run.episodes.values()]
    assert (record.outcome, len(record.steps)) == ("error", 1)


def test_malformed_calls_are_errors_for_the_model(room: Rooms) -> None:
    for name, arguments in (("rm", "{"), ("nothing", "{}"), ("import os", '{"a": 1}')):
        with answering(calling(name, arguments)) as url:
            chats = room("fake", base_url=url)
            key = begun(chats)
            shown = sent(chats, key)
            assert shown["error"] is None
            saved = chats.save({"chat": key})
            assert saved["run"]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"environments": []}, "at least one environment"),
        ({"environments": [1]}, "at least one environment"),
        ({"entry": "nowhere"}, "has no entry 'nowhere'"),
    ],
)
def test_a_world_that_does_not_exist_is_a_line(room: Rooms, given: Json, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        room().start(given)


def test_messages_are_checked(room: Rooms) -> None:
    chats = room()
    key = begun(chats)
    for text in ("", " \n", "x" * 100_001):
        with pytest.raises(DataError, match="1 to 100,000 characters"):
            chats.send({"chat": key, "text": text})
    with pytest.raises(DataError, match="start a new chat"):
        chats.send({"chat": "no", "text": "Go."})
    with pytest.raises(DataError, match="no finished answer"):
        chats.save({"chat": key})
    with pytest.raises(DataError, match="cannot chat with a recorded run"):
        room("replay:runs/mine")


def test_the_viewer_serves_chats(room: Rooms, tmp_path: Path) -> None:
    viewer = Viewer(tmp_path / "runs", chats=room())
    with serving(lambda started: serve(viewer, 0, "token", started)) as url:
        viewing = Viewing(url)
        assert viewing.get("chat")[0] == 200
        assert viewing.data("chat")["model"] == "oracle"
        found = viewing.data("chat/source?find=notes")["entries"]
        assert [each["id"] for each in found] == ["folders_0"]
        key = viewing.post("chat/start", {"entry": "folders_0"})["chat"]
        assert viewing.post("chat/send", {"chat": key, "text": ""})["problem"]
        viewing.post("chat/send", {"chat": key, "text": "Go."})
        settled(viewer.chats, key)
        assert len(viewing.data(f"chat/shown?id={key}")["turns"]) == 1
        assert viewing.post("chat/save", {"chat": key})["run"].startswith("chat-")


def test_a_viewer_without_a_model_says_how_to_start(tmp_path: Path) -> None:
    viewer = Viewer(tmp_path)
    with serving(lambda started: serve(viewer, 0, "token", started)) as url:
        status, text = Viewing(url).get("chat")
    assert status == 404
    assert "--model NAME" in text


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--model", "replay:x"], "you cannot chat with a recorded run"),
        (["--model", "scripted:7"], "there is no scripted model '7'"),
        (["--model", "oracel"], "did you mean oracle?"),
        (["--model", "m", "--base-url", "http://x/v1", "--max-cost", "1"], "the price of m"),
    ],
)
def test_a_wrong_model_is_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], problem: str
) -> None:
    assert main(["view", str(tmp_path), *options]) == 2
    assert problem in capsys.readouterr().err
