"""Public services: answered by the fixture without a socket, and really only where allowed."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import httpx
import pytest

from checkers.profile import BFCL, STRICT
from envs.calls import parse_call
from envs.session import Session
from extensions.retired.functions.web import WebRequest
from extensions.retired.rest import http_sender
from extensions.retired.rest.http_sender import HttpSender
from runner.data.web_services import FIXTURE_ONLY, AllowedServices, connect, require_up
from runner.episodes.script_playback import make_truth_script
from runner.extension import bfcl_readers
from tests.judging import run_script
from trajectories import bfcl_reader
from trajectories.dataset import Dataset, load_bfcl, load_embedded
from trajectories.prepared_trajectory import prepare
from trajectories.schema import EXECUTABLE, Category

SERVICES = ["RestClient", "PublicServices"]


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Let no socket reach another machine; return where one tried to."""
    tried: list[Any] = []

    def guarded(real: Callable[..., Any]) -> Callable[..., Any]:
        def connect(self: socket.socket, address: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] != "127.0.0.1":
                tried.append(address)
                raise OSError("no network in this test")
            return real(self, address)

        return connect

    def look_up(host: Any, *args: Any, **options: Any) -> Any:
        if host not in ("127.0.0.1", b"127.0.0.1", None):
            tried.append(host)
            raise OSError("no name is looked up in this test")
        return real_look_up(host, *args, **options)

    real_look_up = socket.getaddrinfo
    monkeypatch.setattr(socket.socket, "connect", guarded(socket.socket.connect))
    monkeypatch.setattr(socket.socket, "connect_ex", guarded(socket.socket.connect_ex))
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return tried


def judged(data: Dataset) -> dict[str, bool]:
    """Return whether the ground truth of each entry passes under both profiles."""
    joined = replace(data, connect=partial(connect, reach=FIXTURE_ONLY))
    return {
        f"{id} {name}": run_script(
            prepare(joined, entry, profile), make_truth_script(entry), profile
        ).valid
        for id, entry in joined.trajectories.items()
        for name, profile in {"bfcl": BFCL, "strict": STRICT}.items()
    }


def test_executable_and_rest_entries_leave_this_machine_alone(
    no_network: list[Any], bfcl_folder: Any
) -> None:
    categories = [category for category in EXECUTABLE if category in bfcl_reader.CATEGORIES]
    ours, theirs = (
        load_embedded(categories),
        load_bfcl(bfcl_folder, categories, readers=bfcl_readers()),
    )
    for data in (ours, theirs):
        require_up(list(data.trajectories.values()), FIXTURE_ONLY)
        found = judged(data)
        assert len(found) == 2 * len(data.trajectories)
        assert [entry for entry, valid in found.items() if not valid] == []
    assert no_network == []


def test_public_services_need_no_socket_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socket", None)
    session = Session.load(SERVICES, {})
    connect(session, FIXTURE_ONLY)
    answered = session.call(parse_call("get_stock_price_by_stock_name('AAPL')")).value
    assert answered == {"answer": 171.5, "answered_by": "fixture"}
    asked = session.call(parse_call("requests.get(url='http://ip-api.com/json/10.0.0.1')")).value
    assert asked["answered_by"] == "fixture"
    assert asked["body"]["message"] == "private range"


def test_the_socket_guard_sees_what_would_leave(no_network: list[Any]) -> None:
    reach = AllowedServices(network=True)
    with pytest.raises(Exception, match="cannot be resolved"):
        HttpSender({}, reach)(WebRequest("http://ip-api.com/json"))
    assert no_network == ["ip-api.com"]


def test_other_hosts_are_no_fixture() -> None:
    session = Session.load(SERVICES, {})
    connect(session, FIXTURE_ONLY)
    for url in ("http://example.com/", "http://ip-api.com.example/", "http://xip-api.com/"):
        assert "--allow-network" in session.call(parse_call(f"http_get(url='{url}')")).text


def test_with_the_network_the_service_is_asked_with_the_user_s_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[WebRequest, str]] = []

    def answering(request: WebRequest, url: httpx.URL, where: Any, *, anywhere: bool) -> Any:
        asked.append((request, str(url)))
        return http_sender.WebAnswer(200, {"conversion_rates": {"EUR": 0.5}})

    monkeypatch.setattr(http_sender, "_send", answering)
    monkeypatch.setenv("EXCHANGERATE_API_KEY", "k-1")
    monkeypatch.setenv("RAPID_API_KEY", "k-2")
    session = Session.load(SERVICES, {})
    connect(session, AllowedServices(network=True))
    result = session.call(parse_call("convert_currency(10, 'USD', 'EUR')"))
    assert result.value == {"answer": 5.0, "answered_by": "v6.exchangerate-api.com"}
    assert asked[0][1] == "https://v6.exchangerate-api.com/v6/k-1/latest/USD"
    # A key goes to the service that it is for, wherever a model writes what stands for it.
    session.call(parse_call("http_get('http://example.com/?a=YOUR-RAPID-API-KEY')"))
    session.call(parse_call("http_get('http://ip-api.com/?a=YOUR-RAPID-API-KEY')"))
    assert [url for _, url in asked[1:]] == [
        "http://example.com/?a=YOUR-RAPID-API-KEY",
        "http://ip-api.com/?a=YOUR-RAPID-API-KEY",
    ]


def test_entries_that_ask_public_services_are_counted(bfcl_folder: Any) -> None:
    entries = load_bfcl(
        bfcl_folder, [Category.REST, Category.EXEC_SIMPLE], readers=bfcl_readers()
    ).trajectories
    assert [each.id for each in entries.values() if http_sender.asks_public(each)] == ["rest_0"]
    assert not any(
        map(http_sender.asks_public, load_embedded([Category.REST]).trajectories.values())
    )
