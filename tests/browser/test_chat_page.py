"""The page on which a person chats with a model: messages, calls, stop, saving."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from extensions.viewer.chat_room import ChatRoom
from extensions.viewer.viewer import Viewer, serve
from runner.live.run_settings import Settings
from runner.models.model_name import parse_model_name
from runner.models.prompting import read_prompts
from tests.browser.conftest import PHONE, check_with_axe, watched_page
from tests.browser.test_hostile import TEXTS
from tests.extensions.viewer.viewing import serving
from tests.servers.faults import fault
from tests.servers.serving import Answer, Answerer, Asked, FakeServer, as_json
from tests.servers.shapes import completion
from trajectories.dataset import Dataset
from trajectories.schema import Trajectory

Open = Callable[..., Page]


@pytest.fixture
def chat(
    browser: Browser, tmp_path: Path, folders: Trajectory, dataset_of: Callable[..., Dataset]
) -> Iterator[Open]:
    """Open the page of chats with a model, and see at the end that nothing complained."""
    complaints: list[str] = []
    opened = []

    def open_page(model: str = "oracle", base_url: str | None = None, **settings: object) -> Page:
        data = dataset_of(folders)
        room = ChatRoom(
            tmp_path,
            parse_model_name(model),
            Settings(base_url=base_url),
            read_prompts(nests=True),
            lambda: data,
        )
        viewer = Viewer(tmp_path, chats=room)
        server = serving(lambda started: serve(viewer, 0, "token-of-the-test", started))
        url = server.__enter__()
        page = watched_page(browser, url, complaints, **settings)
        opened.append((server, page))
        page.goto(f"{url}chat")
        page.wait_for_selector("h1")
        return page

    yield open_page
    for server, page in opened:
        page.context.close()
        server.__exit__(None, None, None)
    assert complaints == []


def begin(page: Page) -> None:
    """Start a chat in the world of the entry."""
    page.get_by_role("button", name="Find").click()
    page.get_by_role("button", name="Chat in the world of folders_0").click()
    page.wait_for_selector("#message")


def send(page: Page, text: str | None = None) -> None:
    """Send a message, and wait until the model has answered."""
    if text is not None:
        page.locator("#message").fill(text)
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#state")).to_have_text("")
    expect(page.locator("#stop")).to_be_disabled()


def test_calls_results_and_changes_are_shown_and_the_chat_is_saved(
    chat: Open, tmp_path: Path
) -> None:
    page = chat()
    begin(page)
    expect(page.locator("#message")).to_have_value("Put the notes away.")
    send(page)
    expect(page.locator(".says.user")).to_contain_text("Put the notes away.")
    expect(page.locator(".made code")).to_have_text("mv(source='notes.txt', destination='old')")
    expect(page.locator(".changes")).to_contain_text("notes.txt")
    expect(page.locator(".says.answer").last).to_contain_text("Done.")
    page.get_by_role("button", name="Save as a run").click()
    expect(page.locator("#saved")).to_contain_text("turnwise dataset author")
    page.locator("#saved a").click()
    expect(page.locator(".big")).to_have_text("100.0% passed")
    page.locator("td.id a").click()
    expect(page.locator(".says").first).to_contain_text("Put the notes away.")
    [folder] = tmp_path.glob("chat-*-oracle")
    assert json.loads((folder / "entry.jsonl").read_text())["id"] == "chat_folders_0"


def test_a_message_is_taken_back_and_a_reload_keeps_the_chat(chat: Open) -> None:
    page = chat()
    begin(page)
    send(page)
    send(page)
    expect(page.locator(".says.user")).to_have_count(2)
    page.get_by_role("button", name="Take back").click()
    expect(page.locator(".says.user")).to_have_count(1)
    page.reload()
    expect(page.locator(".says.user")).to_have_count(1)
    page.get_by_role("link", name="Chat").click()
    expect(page.locator(".drafts a")).to_have_text("chat_folders_0")


def test_an_answer_is_stopped_and_asked_for_again(chat: Open) -> None:
    answers = [fault("hang"), fault("text")]

    def answer(asked: Asked) -> Answer:
        return answers[min(asked.number, 1)](asked)

    with FakeServer(answer) as server:
        page = chat("fake", server.base_url)
        begin(page)
        page.get_by_role("button", name="Send").click()
        expect(page.locator("#state")).to_have_text("The model is answering …")
        expect(page.locator("#spending")).to_contain_text("1 request")
        page.get_by_role("button", name="Stop").click()
        expect(page.locator("#chat-error")).to_have_text("stopped by the user")
        page.get_by_role("button", name="Ask again").click()
        expect(page.locator(".says.answer")).to_have_count(1)
        expect(page.locator("#chat-error")).to_be_hidden()


def answering(text: str) -> Answerer:
    """Answer with a call whose name, arguments and text are hostile, then with the text."""

    def answer(asked: Asked) -> Answer:
        message: dict[str, object] = {"role": "assistant", "content": text}
        if asked.body["messages"][-1]["role"] == "user":
            given = json.dumps({"folder": text})
            call = {"id": "c", "type": "function", "function": {"name": "cd", "arguments": given}}
            message["tool_calls"] = [call]
        return as_json(completion(message))

    return answer


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_hostile_text_is_shown_and_does_nothing(chat: Open, text: str) -> None:
    with FakeServer(answering(text)) as server:
        page = chat("fake", server.base_url)
        begin(page)
        send(page, text.encode("utf-8", "replace").decode() or "x")
        expect(page.locator(".says.answer")).to_have_count(2)
    assert page.evaluate("window.ran") is None
    expect(page.locator("main img, main script, main style")).to_have_count(0)


def test_axe_finds_nothing_serious(chat: Open) -> None:
    page = chat()
    check_with_axe(page)
    begin(page)
    send(page)
    check_with_axe(page)


def test_it_fits_a_phone(chat: Open) -> None:
    page = chat(viewport=PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    begin(page)
    send(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
