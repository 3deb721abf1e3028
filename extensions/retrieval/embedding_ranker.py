"""Ranking by the vectors of a server with OpenAI's ``/embeddings`` API.

The vector of each text is requested once. Each server and model has its own cache file.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path

import numpy as np

from envs.errors import DataError
from extensions.retrieval.lexical import Scores, unit
from runner.data.cache import cache_root
from runner.models.client import explain, secrets_in
from runner.models.model_types import ModelError, TransientError
from runner.models.openai_model import checked_url
from runner.models.reply_reader import Endpoint, secrets_in_address
from runner.models.transport import (
    HttpRequest,
    HttpRequestFailure,
    Transport,
    check_status,
    json_in,
)
from runner.records.durable_files import LineFile, WriteError, read_lines

_BATCH = 64
_ATTEMPTS = 6
_MAX_WAIT_SECONDS = 60.0
"""Maximum sum of the waits before the retries of a request."""
_TIMEOUT = 120.0
_MAX_NUMBER = 1e15
"""Maximum absolute value in a vector; the sum of squares must fit into a 32-bit float."""
_DIGITS = 7
"""Significant digits of stored numbers; a 32-bit float has about seven."""


class EmbeddingRanker:
    """Ranking by the cosine similarity of vectors that a server computes.

    Raises DataError if the server does not answer, or if its vectors differ in length.
    """

    def __init__(self, url: str, model: str, texts: Sequence[str]) -> None:
        self._where = f"embed:{model}"
        key = os.environ.get("OPENAI_API_KEY", "").strip()
        try:
            self._url = checked_url(url)
        except ModelError as error:
            raise DataError(self._where, str(error)) from None
        address = f"{self._url.scheme}://{self._url.raw_authority}{self._url.path}"
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        secrets = (*secrets_in(self._headers.values()), *secrets_in_address(url))
        self._endpoint = Endpoint(model, address, secrets)
        self._model = model
        self._kept = _VectorCache(f"{address}#{model}")
        self._documents = unit(self._load_vectors(texts))

    def scores(self, queries: Sequence[str]) -> Scores:
        """Return a score for each query and document."""
        found = unit(self._load_vectors(queries))
        self._check_lengths({self._documents.shape[1], found.shape[1]})
        return found @ self._documents.T

    def _check_lengths(self, lengths: set[int]) -> None:
        if len(lengths) > 1:
            short, longer, *_ = sorted(lengths)
            message = f"the server returned vectors of {short} and of {longer} numbers"
            raise DataError(self._where, message)

    def _load_vectors(self, texts: Sequence[str]) -> Scores:
        missing = [text for text in dict.fromkeys(texts) if text not in self._kept]
        if missing:
            asyncio.run(self._request_all(missing))
        found = [self._kept[text] for text in texts]
        self._check_lengths({len(vector) for vector in found})
        return np.asarray(found, dtype=np.float32)

    async def _request_all(self, texts: Sequence[str]) -> None:
        client = Transport(secure=self._url.scheme == "https")
        try:
            for start in range(0, len(texts), _BATCH):
                batch = texts[start : start + _BATCH]
                vectors = await self._request_with_retries(client, batch)
                self._kept.put(zip(batch, vectors, strict=True))
        except ModelError as error:
            raise DataError(self._where, str(error)) from None
        finally:
            await client.close()

    async def _request_with_retries(
        self, client: Transport, texts: Sequence[str]
    ) -> list[list[float]]:
        waited = 0.0
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return _read(await self._request(client, texts), len(texts))
            except TransientError as error:
                wait = 0.2 * 2**attempt if error.retry_after is None else error.retry_after
                waited += wait
                is_hopeless = error.unreachable or error.kind == "timeout"
                if is_hopeless or attempt == _ATTEMPTS or waited > _MAX_WAIT_SECONDS:
                    raise
                await asyncio.sleep(wait)
        raise AssertionError

    async def _request(self, client: Transport, texts: Sequence[str]) -> object:
        url = (self._url / "embeddings").with_query(self._url.query)
        body = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        headers = {"Content-Type": "application/json", **self._headers}
        request = HttpRequest(url, headers, [json.dumps(body).encode()])
        try:
            async with asyncio.timeout(_TIMEOUT):
                answer = await client.post(request)
        except TimeoutError:
            message = f"no answer from {self._endpoint.address} within {_TIMEOUT:g} seconds"
            raise TransientError(message, kind="timeout") from None
        except HttpRequestFailure as error:
            raise explain(error, self._endpoint) from None
        check_status(answer, self._endpoint)
        return json_in(answer, self._endpoint.address)


def _read(body: object, expected: int) -> list[list[float]]:
    """Return the vectors of an answer, in the order of the texts.

    Raises ModelError if the number of vectors is wrong, or a vector is not a list of numbers
    up to ``_MAX_NUMBER``.
    """
    data = body.get("data") if isinstance(body, dict) else None
    if not isinstance(data, list) or not all(isinstance(each, dict) for each in data):
        raise ModelError("the server's answer contains no vectors")
    if len(data) != expected:
        raise ModelError(f"the server returned {len(data)} vectors for {expected} texts")
    places = [each.get("index", place) for place, each in enumerate(data)]
    if sorted(map(str, places)) != sorted(map(str, range(expected))):
        raise ModelError("the server must number the vectors 0, 1, 2 and so on")
    found: list[list[float]] = [[] for _ in data]
    for place, each in zip(places, data, strict=True):
        vector = each.get("embedding")
        if not isinstance(vector, list) or not vector or not all(map(_is_number, vector)):
            raise ModelError(
                f"the server's vector {place} is not a list of numbers up to {_MAX_NUMBER:g}"
            )
        found[int(place)] = [float(f"{number:.{_DIGITS}g}") for number in vector]
    return found


def _is_number(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return abs(value) <= _MAX_NUMBER


class _VectorCache:
    """Cache of vectors by text, in memory and, if possible, in a file."""

    def __init__(self, owner: str) -> None:
        name = sha256(owner.encode()).hexdigest()[:16]
        self._path: Path = cache_root() / "embeddings" / f"{name}.jsonl"
        self._vectors = dict(_read_cache(self._path))

    def __contains__(self, text: str) -> bool:
        return _key(text) in self._vectors

    def __getitem__(self, text: str) -> list[float]:
        return self._vectors[_key(text)]

    def put(self, vectors: Iterator[tuple[str, list[float]]]) -> None:
        added = {_key(text): vector for text, vector in vectors}
        self._vectors |= added
        with suppress(WriteError, OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(LineFile(self._path)) as file:
                for key, vector in added.items():
                    line = json.dumps({"text": key, "vector": vector}, allow_nan=False)
                    file.append(line.encode() + b"\n")


def _read_cache(path: Path) -> Iterator[tuple[str, list[float]]]:
    try:
        for line in read_lines(path):
            match line.value:
                case {"text": str(key), "vector": [*vector]} if all(map(_is_number, vector)):
                    yield key, vector
    except DataError:
        # Nothing can be appended to a damaged file either.
        with suppress(OSError):
            path.unlink()


def _key(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


def connect_ranker(place: str, texts: Sequence[str]) -> EmbeddingRanker:
    """Return the ranking with the name ``URL#MODEL``.

    Raises DataError if ``place`` is not ``URL#MODEL``, or if the server does not answer.
    """
    url, mark, model = place.rpartition("#")
    if not mark or not url or not model:
        shown = place.partition("?")[0]
        raise DataError("--by", f"embed:{shown!s:.80} does not have the form embed:URL#MODEL")
    return EmbeddingRanker(url, model, texts)
