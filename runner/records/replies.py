"""Answers of models kept by what was asked, so that a run that is repeated asks nothing twice.

A file for each answer, named by a hash of the whole request, its entry and its trial: trials never
share one. A file that is damaged, or cannot be written, is as if it were not there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from runner.models.base import Reply, Request
from runner.records.codec import read, written
from runner.records.masking import Secrets
from runner.records.record import Key
from trajectories.errors import DataError

_FORMAT = 1


class ReplyCache:
    """The answers in a folder to what one model is asked in one way.

    Args:
        folder: Where they are kept; it need not be there.
        asked: Whom and how, without secrets: all that a request does not say itself.
        secrets: What is in no file: an answer that holds a secret is not kept.
    """

    def __init__(self, folder: Path, asked: Mapping[str, Any], secrets: Secrets) -> None:
        self._folder = folder
        self._asked = {"format": _FORMAT, **asked}
        self._secrets = secrets

    def find(self, episode: Key, request: Request) -> Reply | None:
        """Return the answer that a request of an episode once got, which costs nothing now."""
        path = self._path(episode, request)
        try:
            digest, _, text = path.read_bytes().partition(b"\n")
            if digest != _digest(text):
                return None
            reply = read(Reply, json.loads(text), str(path))
        except (OSError, ValueError, RecursionError, DataError):
            return None
        return reply._replace(tool_calls=tuple(reply.tool_calls), cost=0.0)

    def keep(self, episode: Key, request: Request, reply: Reply) -> None:
        """Keep the answer to a request of an episode, if that can be done."""
        text = self._secrets.of_step(written(reply))
        if text is None:
            return
        path = self._path(episode, request)
        upcoming = path.with_suffix(f".{os.getpid()}")
        # What is not kept is asked for again; it need not be on the disk when the power fails.
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            upcoming.write_bytes(_digest(text) + b"\n" + text)
            upcoming.replace(path)

    def _path(self, episode: Key, request: Request) -> Path:
        name = asked_digest(self._asked, episode, request)
        return self._folder / name[:2] / f"{name[2:]}.json"


def asked_digest(asked: Mapping[str, Any], episode: Key, request: Request) -> str:
    """Return a hash of all that was asked, in hex.

    Args:
        asked: Whom and how, without secrets.
        episode: For what, and which time.
        request: What.
    """
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
