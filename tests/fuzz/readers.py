"""What reads a changed file where no command does alone; for a bad one it raises ``DataError``."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import mcp

from envs.errors import DataError
from envs.registry import BACKENDS
from extensions.authoring import held_back, review_status
from extensions.debugger import breakpoints
from extensions.debugger.stepper import Stepper
from extensions.experiments.paraphrases import find_defects, read_paraphrases, read_rewordings
from extensions.retrieval.corpus import own_corpus
from extensions.retrieval.corpus_files import load_corpus
from extensions.retrieval.queries import load_queries, match_queries
from runner.models.model_types import Reply, Request, Usage
from runner.models.toolbox import documents_of
from runner.records.reply_cache import ReplyCache
from runner.records.run_file_mask import SecretMask
from tests.extensions.debugger.episodes import examined
from tests.fuzz.reply_readers import REPLY_READERS
from trajectories.dataset import load_path, read_trajectory
from trajectories.jsonl import read_text
from trajectories.record_validation import to_json
from trajectories.schema import Category


def readings(given: Path) -> None:
    """Read what people made of entries."""
    found = review_status.read_record(given / "readings.jsonl")
    review_status.summary(review_status.compute_statuses({}, found))


def debugger(given: Path) -> None:
    """Do in the debugger what a script says: a key and a text on each line."""
    shown = examined()
    stepper = Stepper(shown)
    for line in read_text(given / "script.txt").split("\n")[:30]:
        key, _, text = line.partition(" ")
        match key:
            case "call" | "instead":
                stepper.call(text, instead=key == "instead")
            case "search":
                stepper.search(text)
            case "move":
                stepper.move(len(text))
            case "break":
                breakpoints.stops(shown, [breakpoints.read_place(text)], [])
            case "break-on":
                breakpoints.stops(shown, [], [text])


def held_back_files(given: Path) -> None:
    """Unpack what is held back, packed anew so that its digest is right."""
    body = zlib.compress((given / "files.json").read_bytes())
    path = given / "held_back.bin"
    path.write_bytes(held_back.sealed(body))
    held_back.unpack(path)


def reply_cache(given: Path) -> None:
    """Read an answer that was kept, whose digest is right."""
    with TemporaryDirectory() as folder:
        cache = ReplyCache(Path(folder), {}, SecretMask([]))
        request = Request([], None)
        cache.keep(("a", 0), request, Reply("x", (), None, None, Usage(), 0.0))
        [path] = Path(folder).rglob("*.json")
        text = (given / "reply.json").read_bytes()
        path.write_bytes(sha256(text).hexdigest().encode() + b"\n" + text)
        cache.find(("a", 0), request)


def functions(given: Path) -> None:
    """Read what is searched, in each form; to rank it takes a library."""
    for name in ("documents.json", "openapi.json", "openapi.yaml", "lines.jsonl"):
        load_corpus(str(given / name), None, lambda _: None)


def queries(given: Path) -> None:
    """Read what is searched for."""
    path = str(given / "q.jsonl")
    match_queries(own_corpus(BACKENDS), load_queries(path, None, lambda _: None))


def mcp_server(given: Path) -> None:
    """Read what an MCP server says that it offers."""

    class Client:
        def __init__(self, server: object) -> None:
            pass

        async def __aenter__(self) -> Client:
            return self

        async def __aexit__(self, *error: object) -> None:
            pass

        async def list_tools(self, cursor: str | None = None) -> mcp.types.ListToolsResult:
            said = (given / "tools.json").read_bytes()
            return mcp.types.ListToolsResult.model_validate_json(said)

    with mock.patch.object(mcp, "Client", Client):
        load_corpus(str(given / "server.py"), None, lambda _: None)


def other_words(given: Path) -> None:
    """Take both for all entries; what the truth is stays, and what is written is read again."""
    dataset = load_path(given / "data.jsonl", [*Category])
    entries = dataset.trajectories.values()
    for rewording in read_rewordings(given / "users.jsonl").values():
        for entry in entries:
            with suppress(DataError):
                said = rewording.of(entry)
                assert [t.ground_truth for t in said.turns] == [t.ground_truth for t in entry.turns]
                line = json.dumps(to_json(said), allow_nan=False)
                again = read_trajectory(json.loads(line), "here")
                assert again == said
    described = read_paraphrases(given / "functions.json")
    documents = {d["name"]: d for entry in entries for d in documents_of(entry, None)}
    for name, paraphrase in described.items():
        if name in documents:
            wrong = [*find_defects(documents[name], paraphrase, [*documents])]
            assert all(len(each) < 20_000 for each in wrong)


READERS: Mapping[str, Callable[[Path], None]] = {
    "READINGS": readings,
    "DEBUGGER": debugger,
    "HELD-BACK": held_back_files,
    "REPLY-CACHE": reply_cache,
    "FUNCTIONS": functions,
    "QUERIES": queries,
    "MCP-SERVER": mcp_server,
    "OTHER-WORDS": other_words,
    **REPLY_READERS,
}
"""By the word that stands for a command."""
