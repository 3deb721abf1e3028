"""Answers that are kept by what was asked: found again, never mixed, damaged ones not believed."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.models.model_types import Reply, Request, ToolCall, ToolList, Usage, VerbatimParts
from runner.records.reply_cache import ReplyCache, request_digest
from runner.records.run_file_mask import SecretMask

SECRET = "sk-0123456789abcdef"
TOOLS = ToolList([{"type": "function", "function": {"name": "cd"}}])
REQUEST = Request([{"role": "user", "content": "Go."}], TOOLS)
REPLY = Reply(
    "Well.",
    (ToolCall("a", "cd", '{"folder": "x"}'), ToolCall(None, "cd", {"folder": 1})),
    "Hm.",
    "stop",
    Usage(10, 2, 5, 1, 3),
    0.5,
    0.25,
    VerbatimParts({"reasoning_content": ""}, ({"extra": 1}, {})),
)
EPISODE = ("base_0", 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "replies"


@pytest.fixture
def cache(folder: Path) -> ReplyCache:
    """Return a cache that knows one answer."""
    made = ReplyCache(folder, {"model": "fake"}, SecretMask([SECRET]))
    made.keep(EPISODE, REQUEST, REPLY)
    return made


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_answers_lie_in_256_folders_at_most(cache: ReplyCache, folder: Path) -> None:
    asked = {"format": 1, "model": "fake"}
    name = request_digest(asked, EPISODE, REQUEST)
    assert [path.relative_to(folder).as_posix() for path in files(folder)] == [
        f"{name[:2]}/{name[2:]}.json"
    ]
    assert len(name) == 64


def test_an_answer_is_found_again_and_costs_nothing(cache: ReplyCache) -> None:
    found = cache.find(EPISODE, REQUEST)
    assert found is not None
    assert found._replace(verbatim=None) == REPLY._replace(cost=0.0, latency=0.0, verbatim=None)
    assert found.verbatim is not None
    assert found.verbatim.message == {"reasoning_content": ""}
    assert [*found.verbatim.calls] == [{"extra": 1}, {}]


@pytest.mark.parametrize(
    ("episode", "request_made"),
    [
        (("base_0", 1), REQUEST),
        (("base_1", 0), REQUEST),
        (EPISODE, REQUEST._replace(tools=None)),
        (EPISODE, REQUEST._replace(messages=[*REQUEST.messages, *REQUEST.messages])),
    ],
)
def test_nothing_else_has_that_answer(
    cache: ReplyCache, episode: tuple[str, int], request_made: Request
) -> None:
    assert cache.find(episode, request_made) is None


def test_who_is_asked_otherwise_answers_otherwise(cache: ReplyCache, folder: Path) -> None:
    other = ReplyCache(folder, {"model": "fake", "temperature": 1}, SecretMask([]))
    assert other.find(EPISODE, REQUEST) is None


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_file_that_is_cut_off_is_not_believed(
    cache: ReplyCache, folder: Path, share: float
) -> None:
    [path] = files(folder)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    assert cache.find(EPISODE, REQUEST) is None
    cache.keep(EPISODE, REQUEST, REPLY)
    assert path.read_bytes() == whole


def test_a_file_that_was_altered_is_not_believed(cache: ReplyCache, folder: Path) -> None:
    [path] = files(folder)
    path.write_bytes(path.read_bytes().replace(b"Well.", b"Will."))
    assert cache.find(EPISODE, REQUEST) is None


def test_an_answer_with_a_secret_is_not_kept(cache: ReplyCache, folder: Path) -> None:
    before = files(folder)
    cache.keep(("base_9", 0), REQUEST, REPLY._replace(text=f"It is {SECRET}."))
    assert files(folder) == before


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    cache = ReplyCache(tmp_path / "file", {}, SecretMask([]))
    cache.keep(EPISODE, REQUEST, REPLY)
    assert cache.find(EPISODE, REQUEST) is None


def test_the_order_of_fields_does_not_matter(folder: Path) -> None:
    message = {"role": "user", "content": "Go."}
    turned = dict(reversed(message.items()))
    one, other = (
        request_digest(asked, EPISODE, Request([each], None))
        for asked, each in (({"a": 1, "b": 2}, message), ({"b": 2, "a": 1}, turned))
    )
    assert one == other
