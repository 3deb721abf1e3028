"""What the tests of clients ask, and how."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from runner.models.model_types import Model, Reply, Request, ToolList, TransientError

M = TypeVar("M", bound=Model)
T = TypeVar("T")

CERTIFICATE = Path(__file__).parents[1] / "servers" / "localhost.pem"
"""Self-signed, for 127.0.0.1, with its key, which protects nothing."""

CD = {"name": "cd", "description": "Go.", "parameters": {"type": "object", "properties": {}}}
QUESTION = [{"role": "user", "content": "Where am I?"}]
REQUESTS = {
    "fc": Request(QUESTION, ToolList([{"type": "function", "function": CD}])),
    "prompt": Request(QUESTION, None),
}


def talk(model: M, talking: Callable[[M], Awaitable[T]]) -> T:
    """Let something talk to a model, close it, and return what came of it."""

    async def whole() -> T:
        try:
            return await talking(model)
        finally:
            await model.close()

    return asyncio.run(whole())


def ask(model: Model, mode: str = "fc") -> Reply:
    """Put one question to a model, and close it."""
    return talk(model, lambda model: model.ask(REQUESTS[mode]))


async def exhaust_redirects(model: Model) -> Reply:
    """Put a question until redirects are no longer taken for a passing fault."""
    for _ in range(7):
        with pytest.raises(TransientError):
            await model.ask(REQUESTS["fc"])
    return await model.ask(REQUESTS["fc"])
