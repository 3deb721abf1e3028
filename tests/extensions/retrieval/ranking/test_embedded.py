"""The vectors of a server: batches, what is kept, and all that a server may do wrong."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from envs.errors import DataError
from extensions.retrieval import embedding_ranker
from extensions.retrieval.corpus import Corpus, own_corpus
from extensions.retrieval.rankings import Ranking
from runner.cli import main
from runner.data.cache import cache_root
from tests.live.running import arguments
from tests.servers.answers import of_dataset
from tests.servers.serving import FakeServer

pytest.importorskip("openai")

Body = dict[str, Any]
Answer = tuple[int, dict[str, str], object]


def vectors(texts: list[str]) -> list[list[float]]:
    """Return vectors that are near where texts share letters."""
    return [[float(text.lower().count(letter)) for letter in "abcdefghijklm"] for text in texts]


def answer(texts: list[str]) -> Body:
    found = enumerate(vectors(texts))
    return {"data": [{"index": i, "embedding": vector} for i, vector in found]}


@contextmanager
def serving(respond: Callable[[int, list[str]], Answer]) -> Iterator[tuple[str, list[Body]]]:
    """Serve embeddings; give the address and what is asked."""
    asked: list[Body] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            asked.append({**body, "path": self.path, "key": self.headers["authorization"]})
            status, headers, said = respond(len(asked), body["input"])
            content = said if isinstance(said, bytes) else json.dumps(said).encode()
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"embed:http://127.0.0.1:{server.server_port}/v1#m", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def well(_: int, texts: list[str]) -> Answer:
    return 200, {}, answer(texts)


def test_texts_are_asked_in_batches_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-something-secret")
    corpus = own_corpus(["TravelAPI", "TradingBot", "VehicleControlAPI", "TicketAPI"])
    with serving(well) as (by, asked):
        first = Ranking(corpus, by).find("book a flight", 3)
        assert [len(each["input"]) for each in asked] == [64, 5, 1]
        assert {each["path"] for each in asked} == {"/v1/embeddings"}
        assert {each["model"] for each in asked} == {"m"}
        assert {each["key"] for each in asked} == {"Bearer sk-something-secret"}
        assert Ranking(corpus, by).find("book a flight", 3) == first
        assert len(asked) == 3
    kept = "".join(path.read_text() for path in (cache_root() / "embeddings").iterdir())
    assert "secret" not in kept
    # From what is kept, without the server.
    assert Ranking(corpus, by).find("book a flight", 3) == first


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_that_is_busy_is_asked_again(shop: Corpus, status: int) -> None:
    def busy(number: int, texts: list[str]) -> Answer:
        return (status, {"retry-after": "0"}, {}) if number < 3 else well(number, texts)

    with serving(busy) as (by, asked):
        Ranking(shop, by)
        assert len(asked) == 3


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"data": []}, "returned 0 vectors for 4 texts"),
        ({"data": 3}, "contains no vectors"),
        ([], "contains no vectors"),
        ({"data": [{"index": i, "embedding": [1.0] * (i + 1)} for i in range(4)]}, "of 1 and of 2"),
        (
            {"data": [{"index": i, "embedding": [float("nan")]} for i in range(4)]},
            "numbers up to|no JSON",
        ),
        (answer(["a", "b"]), "returned 2 vectors for 4 texts"),
        ({"data": [{"index": i, "embedding": [True]} for i in range(4)]}, "numbers up to"),
        ({"data": [{"index": i, "embedding": []} for i in range(4)]}, "numbers up to"),
        ({"data": [{"index": i, "embedding": "AAAA"} for i in range(4)]}, "numbers up to"),
        ({"data": [{"index": i, "embedding": [10**400]} for i in range(4)]}, "numbers up to"),
        ({"data": [{"index": i, "embedding": [1e300, 1.0]} for i in range(4)]}, "numbers up to"),
        ({"data": [{"index": 0, "embedding": [1.0]} for i in range(4)]}, "must number the vectors"),
    ],
)
def test_what_are_no_vectors_is_refused(shop: Corpus, said: object, why: str) -> None:
    with serving(lambda *_: (200, {}, said)) as (by, _), pytest.raises(DataError, match=why):
        Ranking(shop, by)


def test_vectors_in_another_order_are_put_in_theirs(shop: Corpus) -> None:
    def backwards(_: int, texts: list[str]) -> Answer:
        return 200, {}, {"data": answer(texts)["data"][::-1]}

    with serving(well) as (by, _):
        expected = Ranking(shop, by).scores(["a message", "a flight"]).tolist()
    with serving(backwards) as (by, _):
        assert Ranking(shop, by).scores(["a message", "a flight"]).tolist() == expected


def test_a_server_that_never_answers_is_given_up(
    shop: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_ranker, "_TIMEOUT", 0.05)
    over = threading.Event()

    def slow(number: int, texts: list[str]) -> Answer:
        over.wait(30)
        return well(number, texts)

    with serving(slow) as (by, asked):
        try:
            with pytest.raises(DataError, match=r"no answer from .* within 0\.05 seconds"):
                Ranking(shop, by)
        finally:
            over.set()
    assert len(asked) == 1


def test_the_waits_of_a_request_have_a_limit_together(
    shop: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_ranker, "_MAX_WAIT_SECONDS", 0.15)
    with serving(lambda *_: (429, {"retry-after": "0.1"}, {})) as (by, asked):
        with pytest.raises(DataError, match="rate limit"):
            Ranking(shop, by)
        assert len(asked) == 2


@pytest.mark.parametrize(
    ("status", "said", "why"),
    [(401, {"error": {"message": "bad key"}}, "key"), (404, {}, "404"), (400, {}, "400")],
)
def test_a_refusal_is_told(shop: Corpus, status: int, said: object, why: str) -> None:
    with serving(lambda *_: (status, {}, said)) as (by, asked):
        with pytest.raises(DataError, match=why):
            Ranking(shop, by)
        assert len(asked) == 1


def test_a_query_of_another_length_is_refused(shop: Corpus) -> None:
    def shrinking(number: int, texts: list[str]) -> Answer:
        if number == 1:
            return well(number, texts)
        return 200, {}, {"data": [{"index": 0, "embedding": [1.0]}]}

    with serving(shrinking) as (by, _), pytest.raises(DataError, match="of 1 and of 13"):
        Ranking(shop, by).find("a flight")


def test_no_server_and_no_address_are_refused(shop: Corpus) -> None:
    with serving(well) as (by, _):
        pass
    with pytest.raises(DataError, match="cannot be reached"):
        Ranking(shop, by)
    with pytest.raises(DataError, match="must be like http"):
        Ranking(shop, "embed:ftp://x#m")
    with pytest.raises(DataError, match="does not have the form embed:URL#MODEL"):
        Ranking(shop, "embed:http://127.0.0.1:1/v1")
    with pytest.raises(DataError, match=r"embed:http://127\.0\.0\.1:1/v1 does not"):
        Ranking(shop, "embed:http://127.0.0.1:1/v1?key=abcdefgh")


def test_a_key_in_the_address_is_sent_but_neither_kept_nor_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(well) as (by, asked):
        by = by.replace("#", "?key=abcdefgh#")
        run = tmp_path / "run"
        with FakeServer(of_dataset("turnwise", "base")) as server:
            flags = ["--category", "base", "--limit", "2", "--retrieve", "top=3"]
            flags = arguments(server, run, *flags, "--retrieve-by", by)
            monkeypatch.setattr(sys, "argv", ["turnwise", *flags])
            assert main(flags) == 0
            assert main(["eval", "--resume", str(run), "--retrieve-by", by]) == 0
            capsys.readouterr()
            assert main(["eval", "--resume", str(run)]) == 2
            assert "does not store the secret --retrieve-by" in capsys.readouterr().err
        assert main(["retrieve", "query", "a flight", "--by", by]) == 0
        assert main(["retrieve", "query", "a flight", "--by", by, "--json"]) == 0
        assert main(["retrieve", "evaluate", "--queries", "own", "--by", by]) == 0
    assert {each["path"] for each in asked} == {"/v1/embeddings?key=abcdefgh"}
    assert "abcdefgh" not in "".join(capsys.readouterr())
    kept = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert kept
    assert not any("abcdefgh" in text for text in kept)


def test_a_damaged_file_of_what_was_kept_is_made_anew(shop: Corpus) -> None:
    with serving(well) as (by, asked):
        Ranking(shop, by)
        for path in (cache_root() / "embeddings").iterdir():
            path.write_bytes(b"{}\nnothing\n" + path.read_bytes())
        Ranking(shop, by)
        Ranking(shop, by)
        assert len(asked) == 2


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNWISE_CACHE", str(tmp_path))
