"""The command ``turnwise compress-keys``: what a model is asked, what is kept, bad answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runner.cli import main
from tests.servers.serving import Answer, Answerer, Asked, FakeServer, as_json
from tests.servers.shapes import completion

pytest.importorskip("openai")

Captured = pytest.CaptureFixture[str]
SOME = ("--ids", "long_context_twitter_ticket_choir_tour")


def draft(server: str, out: Path, *words: str) -> int:
    given = ("--model", "m", "--base-url", server, "-o", str(out), *words)
    return main(["compress-keys", "TicketAPI", *given])


def saying(text: str, asked: list[str]) -> Answerer:
    def answer(request: Asked) -> Answer:
        asked.append(request.body["messages"][-1]["content"])
        return as_json(completion({"role": "assistant", "content": text}))

    return answer


def test_a_model_is_asked_once_for_each_function(
    tmp_path: Path, server: FakeServer, capsys: Captured
) -> None:
    out, asked = tmp_path / "out.json", []
    reply = 'Of course:\n```json\n{"keep": ["[].id", "[].title", "[].id"]}\n```'
    server.answer = saying(reply, asked)
    assert draft(server.base_url, out, *SOME) == 0
    assert json.loads(out.read_text()) == {"get_user_tickets": {"keep": ["[].id", "[].title"]}}
    assert len(asked) == 1
    assert '"[].created_by"' in asked[0]
    assert len(asked[0]) < 8000
    assert "lists the kept fields for 1 of 1 functions" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ('{"keep": ["[].owner"]}', "'[].owner' is not one of "),
        ('{"keep": []}', "the answer must have the form"),
        ("I do not know.", "the answer must have the form"),
        ('{"keep": 3}', "the answer must have the form"),
        ("[" * 5000, "the answer must have the form"),
    ],
)
def test_what_does_not_hold_is_told(
    tmp_path: Path, server: FakeServer, reply: str, why: str, capsys: Captured
) -> None:
    out = tmp_path / "out.json"
    server.answer = saying(reply, [])
    assert draft(server.base_url, out, *SOME) == 3
    assert why in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("TicketApi",), "did you mean TicketAPI"),
        (("MathAPI", *SOME), "no result of MathAPI in"),
        (("TicketAPI", "--tokens", "3"), "is not a number of tokens; the minimum is 64"),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path, words: tuple[str, ...], why: str, capsys: Captured
) -> None:
    more = ("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "-o", str(tmp_path / "o"))
    assert main(["compress-keys", *words, *more]) == 2
    said = capsys.readouterr().err
    assert why in said
    assert said.count("\n") == 1
