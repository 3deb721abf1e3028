"""One changed file read by one command, in this process, and what is wrong with how that ends."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import NamedTuple
from unittest import mock
from zlib import crc32

from envs.errors import DataError
from extensions.compression import compression
from extensions.experiments.paraphrases import read_paraphrases
from extensions.serving import mcp_server
from extensions.tau import worlds
from extensions.tau.fetching import VARIABLE
from runner.cli import main
from tests.fuzz.benchmark_forms import CHECKOUT
from tests.fuzz.changes import changed
from tests.fuzz.forms import FORMAT_1, Form
from tests.fuzz.readers import READERS

STATUSES = (0, 2, 3)
WITH_FINDINGS = ("verify", "dataset validate")
"""Commands that end with status 1 where they find something."""
SLOW = 10.0
"""Seconds of processor that nothing may take; what else the machine does takes none of these."""


class Tried(NamedTuple):
    """What came of a try."""

    command: str
    status: int
    seconds: float
    problem: str | None
    """What is wrong with it, in a few lines."""


class Bench:
    """A folder in which changed files are put before commands.

    Args:
        work: An empty folder.
        form: What is changed.
    """

    def __init__(self, work: Path, form: Form) -> None:
        self._work = work
        self._form = form

    def tries(self, number: int, seed: str) -> Iterator[Tried]:
        """Yield what comes of so many changes, which follow from the seed."""
        random = Random(crc32(seed.encode()))
        for _ in range(number):
            name = random.choice(self._form.changes)
            text = self._filled(self._form.files[name])
            yield self._try(name, changed(text, random), random.choice(self._form.commands))

    def unchanged(self) -> Iterator[Tried]:
        """Yield what comes of the commands where nothing is changed."""
        name = self._form.changes[0]
        for command in self._form.commands:
            yield self._try(name, self._filled(self._form.files[name]), command)

    def _filled(self, text: bytes) -> bytes:
        return text.replace(b"IN/", f"{self._work / 'in'}/".encode())

    def _try(self, name: str, text: bytes, command: str) -> Tried:
        given, out = self._work / "in", self._work / "out"
        for folder in (given, out):
            shutil.rmtree(folder, ignore_errors=True)
        for other, content in self._form.files.items():
            path = given / other
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if other == name else self._filled(content))
        out.mkdir()
        with suppress(OSError):
            os.chdir(FORMAT_1.parents[3])
        return _ended(self._words(command), given, out)

    def _words(self, command: str) -> list[str]:
        stand = {
            "IN": str(self._work / "in"),
            "FOLDER": str(self._work / "out"),
            "OUT": str(self._work / "out" / "put"),
            "RUN": str(FORMAT_1 / "run"),
            "RESULTS": str(self._work.parent / "results"),
            "BFCL": str(self._work.parent / "bfcl" / "data"),
            "ID": self._form.files.get("id", b"").decode(),
        }
        words = [self._text(word) for word in command.split()]
        for short, whole in stand.items():
            words = [
                whole
                if word == short
                else word.replace(f"{short}/", f"{whole}/")
                if short == "IN"
                else word.replace(":BFCL", f":{whole}")
                if short == "BFCL"
                else word
                for word in words
            ]
        return words

    def _text(self, word: str) -> str:
        """Return a word, or of ``TEXT:NAME`` what is in the file of the name."""
        if not word.startswith("TEXT:"):
            return word
        text = (self._work / "in" / word.removeprefix("TEXT:")).read_bytes()
        return text.decode(errors="surrogateescape").replace("\0", "")


def _ended(words: list[str], given: Path, out: Path) -> Tried:
    begun = time.process_time()
    stdin = b""
    if "<" in words:
        stdin = (given / words[-1]).read_bytes()
        words = words[: words.index("<")]
    said, told = io.BytesIO(), io.BytesIO()
    problem, status = None, 0
    with _streams(stdin, said, told):
        try:
            status = _status(words, given)
        except SystemExit as ending:
            status = int(ending.code or 0)
        except BaseException:
            problem = _last_lines(traceback.format_exc())
    seconds = time.process_time() - begun
    text = said.getvalue().decode(errors="replace")
    errors = told.getvalue().decode(errors="replace")
    problem = problem or _problem(words, status, text, errors, out, given, seconds)
    return Tried(" ".join(words), status, seconds, problem)


def _status(words: list[str], given: Path) -> int:
    for cache in (read_paraphrases, compression.load_tokenizer, worlds._read_state):
        cache.cache_clear()  # by path, and the file is another one
    if words[0] not in READERS:
        # Nothing is served, and no terminal taken: what is read is read before.
        tau2 = {VARIABLE: str(given / CHECKOUT)} if (given / CHECKOUT).is_dir() else {}
        with (
            mock.patch.object(mcp_server, "serve", mock.AsyncMock()),
            mock.patch.dict(os.environ, tau2),
        ):
            return main(words)
    try:
        READERS[words[0]](given)
    except DataError:
        return 2
    return 0


@contextmanager
def _streams(stdin: bytes, said: io.BytesIO, told: io.BytesIO) -> Iterator[None]:
    """Give a command streams of its own, as a terminal's are."""
    read = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    out = io.TextIOWrapper(said, encoding="utf-8", write_through=True)
    err = io.TextIOWrapper(told, encoding="utf-8", write_through=True)
    with mock.patch.multiple(sys, stdin=read, stdout=out, stderr=err):
        yield
        out.detach()
        if not err.closed:
            err.detach()


def _problem(
    words: list[str], status: int, said: str, told: str, out: Path, given: Path, seconds: float
) -> str | None:
    """Return what is wrong with how a command ended, None if nothing is."""
    found = [path for path in _below(out, given) if path.name.endswith((".unfinished", ".next"))]
    may = (*STATUSES, 1) if " ".join(words).startswith(WITH_FINDINGS) else STATUSES
    if status not in may:
        return f"status {status}: {told[-500:]}"
    last = "turnwise" if words[0] in READERS else told.rstrip("\n").rpartition("\n")[2]
    if status == 2 and not last.startswith("turnwise"):
        return f"status 2, and told was {told[:500]!r}"
    if any(sign in said + told for sign in ("\x1b", "\x9b", "\u202e", "\x07", "Traceback")):
        return f"raw or traceback: {(said + told)[:500]!r}"
    if found:
        return f"left over: {found}"
    if status == 2 and "build" not in words and any(path.is_file() for path in _below(out)):
        return f"half written: {[*_below(out)]}"
    if status == 0 and "--json" in words:
        json.loads(said, parse_constant=_refuse)
    return f"took {seconds:.1f} s" if seconds > SLOW else None


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _below(*folders: Path) -> Iterator[Path]:
    return (path for folder in folders for path in folder.rglob("*"))


def _last_lines(trace: str) -> str:
    lines = [line for line in trace.splitlines() if "/site-packages/" not in line]
    return "\n".join(line[:300] for line in lines[-9:])
