"""Cache of model answers; a repeated run sends only the requests without a cached answer.

Each answer has its own file. The file name is a hash of request, entry and trial. Trials never
share a file. A damaged file counts as missing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from envs.errors import DataError
from runner.models.model_types import Reply, Request
from runner.records.episode_record import Key
from runner.records.json_codec import read, to_json_value
from runner.records.run_file_mask import SecretMask

_FORMAT = 1


class ReplyCache:
    """Cached answers of one model with fixed settings.

    The key of an answer is ``asked`` (the model's name and settings) together with the request. An
    answer that contains a secret is not cached.
    """

    def __init__(self, folder: Path, asked: Mapping[str, Any], secrets: SecretMask) -> None:
        self._folder = folder
        self._asked = {"format": _FORMAT, **asked}
        self._secrets = secrets

    def find(self, episode: Key, request: Request) -> Reply | None:
        """Return the cached answer to a request, with cost 0 and latency 0."""
        path = self._path(episode, request)
        try:
            digest, _, text = path.read_bytes().partition(b"\n")
            if digest != _digest(text):
                return None
            reply = read(Reply, json.loads(text), str(path))
        except (OSError, ValueError, RecursionError, DataError):
            return None
        return reply._replace(tool_calls=tuple(reply.tool_calls), cost=0.0, latency=0.0)

    def keep(self, episode: Key, request: Request, reply: Reply) -> None:
        """Cache the answer to a request, if possible."""
        text = self._secrets.of_step(to_json_value(reply))
        if text is None:
            return
        path = self._path(episode, request)
        upcoming = path.with_suffix(f".{os.getpid()}")
        # A lost answer is only requested again, so no sync is needed.
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            upcoming.write_bytes(_digest(text) + b"\n" + text)
            upcoming.replace(path)

    def _path(self, episode: Key, request: Request) -> Path:
        name = request_digest(self._asked, episode, request)
        return self._folder / name[:2] / f"{name[2:]}.json"


def request_digest(asked: Mapping[str, Any], episode: Key, request: Request) -> str:
    """Return the hash of model, settings, episode and request, in hex."""
    whole = {
        "asked": asked,
        "episode": episode,
        "messages": request.messages,
        "tools": request.tools and request.tools.digest,
        **({} if request.prompt is None else {"prompt": request.prompt}),
    }
    return sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


def _digest(text: bytes) -> bytes:
    return sha256(text).hexdigest().encode()
