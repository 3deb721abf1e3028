"""A ranking by the vectors of a server that speaks OpenAI's ``/embeddings``.

A text is asked for once: its vector stays in the cache folder, under the server's address and the
model's name.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from math import isfinite
from pathlib import Path

import numpy as np

from extensions.retrieval.lexical import Scores, unit
from runner.data.cache import embeddings_folder
from runner.models.base import ModelError, TransientError
from runner.models.connection import explain, secrets_in
from runner.models.openai_model import checked_url
from runner.models.reply import Endpoint
from runner.models.transport import HttpRequest, NoHttpAnswer, Transport, check_status, json_in
from runner.records.files import LineFile, NotWritten, lines
from trajectories.errors import DataError

_BATCH = 64
_ATTEMPTS = 6
_LONGEST_WAIT = 60.0
_TIMEOUT = 120.0
_DIGITS = 7
"""Significant digits that are kept of a number of a vector: what a float of 32 bits holds."""


class Embedded:
    """The cosine of the vectors that a server gives.

    Args:
        url: The server, as ``http://localhost:8000/v1``.
        model: The model's name.
        texts: The documents.

    Raises:
        DataError: The server cannot be used, or what it gives are no vectors of one length.
    """

    def __init__(self, url: str, model: str, texts: Sequence[str]) -> None:
        self._where = f"embed:{model}"
        key = os.environ.get("OPENAI_API_KEY", "").strip()
        try:
            self._url = checked_url(url)
        except ModelError as error:
            raise DataError(self._where, str(error)) from None
        address = f"{self._url.scheme}://{self._url.authority}{self._url.path}"
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._endpoint = Endpoint(model, address, secrets_in(self._headers.values()))
        self._model = model
        self._kept = _Kept(f"{address}#{model}")
        self._documents = unit(self._vectors(texts))

    def scores(self, queries: Sequence[str]) -> Scores:
        """Return a score per query and document."""
        found = unit(self._vectors(queries))
        if found.shape[1] != self._documents.shape[1]:
            raise DataError(
                self._where,
                f"gave vectors of {self._documents.shape[1]} and of {found.shape[1]} numbers",
            )
        return found @ self._documents.T

    def _vectors(self, texts: Sequence[str]) -> Scores:
        missing = [text for text in dict.fromkeys(texts) if text not in self._kept]
        if missing:
            asyncio.run(self._ask_all(missing))
        found = [self._kept[text] for text in texts]
        lengths = sorted({len(vector) for vector in found})
        if len(lengths) > 1:
            raise DataError(
                self._where, f"gave vectors of {lengths[0]} and of {lengths[1]} numbers"
            )
        return np.asarray(found, dtype=np.float32)

    async def _ask_all(self, texts: Sequence[str]) -> None:
        client = Transport(secure=self._url.scheme == "https")
        try:
            for start in range(0, len(texts), _BATCH):
                batch = texts[start : start + _BATCH]
                vectors = await self._asked(client, batch)
                self._kept.put(zip(batch, vectors, strict=True))
        except ModelError as error:
            raise DataError(self._where, str(error)) from None
        finally:
            await client.close()

    async def _asked(self, client: Transport, texts: Sequence[str]) -> list[list[float]]:
        """Return the vectors of some texts, after as many tries as it takes.

        Raises:
            ModelError: There is no answer of use.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return _read(await self._answer(client, texts), len(texts))
            except TransientError as error:
                wait = error.retry_after
                if error.unreachable or attempt == _ATTEMPTS or (wait or 0) > _LONGEST_WAIT:
                    raise
                await asyncio.sleep(0.2 * 2**attempt if wait is None else wait)
        raise AssertionError

    async def _answer(self, client: Transport, texts: Sequence[str]) -> object:
        url = self._url / "embeddings"
        body = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        headers = {"Content-Type": "application/json", **self._headers}
        request = HttpRequest(url, headers, json.dumps(body).encode())
        try:
            async with asyncio.timeout(_TIMEOUT):
                answer = await client.post(request)
        except TimeoutError:
            message = f"no answer of {self._endpoint.address} within {_TIMEOUT:g} seconds"
            raise TransientError(message, kind="timeout") from None
        except NoHttpAnswer as error:
            raise explain(error, self._endpoint) from None
        check_status(answer, self._endpoint)
        return json_in(answer, self._endpoint.address)


def _read(body: object, expected: int) -> list[list[float]]:
    """Return the vectors of an answer, in the order of the texts.

    Raises:
        ModelError: There are not as many as texts, or one is no list of finite numbers.
    """
    data = body.get("data") if isinstance(body, dict) else None
    if not isinstance(data, list) or not all(isinstance(each, dict) for each in data):
        raise ModelError("the server's answer holds no vectors")
    if len(data) != expected:
        raise ModelError(f"the server gave {len(data)} vectors for {expected} texts")
    places = [each.get("index", place) for place, each in enumerate(data)]
    if sorted(map(str, places)) != sorted(map(str, range(expected))):
        raise ModelError("the server's vectors are not numbered from 0")
    found: list[list[float]] = [[] for _ in data]
    for place, each in zip(places, data, strict=True):
        vector = each.get("embedding")
        if not isinstance(vector, list) or not vector or not all(map(_is_number, vector)):
            raise ModelError(f"the server's vector {place} is no list of finite numbers")
        found[int(place)] = [float(f"{number:.{_DIGITS}g}") for number in vector]
    return found


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


class _Kept:
    """Vectors by text, in memory and in a file; a file that cannot be used is done without."""

    def __init__(self, whose: str) -> None:
        name = sha256(whose.encode()).hexdigest()[:16]
        self._path: Path = embeddings_folder() / f"{name}.jsonl"
        self._vectors = dict(_lines_of(self._path))

    def __contains__(self, text: str) -> bool:
        return _key(text) in self._vectors

    def __getitem__(self, text: str) -> list[float]:
        return self._vectors[_key(text)]

    def put(self, vectors: Iterator[tuple[str, list[float]]]) -> None:
        """Keep vectors."""
        added = {_key(text): vector for text, vector in vectors}
        self._vectors |= added
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = LineFile(self._path)
            try:
                for key, vector in added.items():
                    file.append(
                        json.dumps({"text": key, "vector": vector}, allow_nan=False).encode()
                        + b"\n"
                    )
            finally:
                file.close()
        except (NotWritten, OSError):
            return


def _lines_of(path: Path) -> Iterator[tuple[str, list[float]]]:
    try:
        for line in lines(path):
            match line.value:
                case {"text": str(key), "vector": [*vector]} if all(map(_is_number, vector)):
                    yield key, vector
    except DataError:
        # It cannot be added to, either.
        with suppress(OSError):
            path.unlink()


def _key(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


def connected(place: str, texts: Sequence[str]) -> Embedded:
    """Return the ranking of ``URL#MODEL``.

    Raises:
        DataError: It is none, or the server cannot be used.
    """
    url, mark, model = place.rpartition("#")
    if not mark or not url or not model:
        raise DataError("--by", f"embed:{place!s:.80} is not embed:URL#MODEL")
    return Embedded(url, model, texts)
