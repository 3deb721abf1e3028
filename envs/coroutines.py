"""Execution of coroutines from synchronous code."""

from __future__ import annotations

from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from envs.lazy_modules import lazy_module

if TYPE_CHECKING:
    import asyncio
else:
    # Loads the network's modules, which a simulator without coroutines does not need.
    asyncio = lazy_module("asyncio")


def finish(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine in a new event loop and return its result.

    If an event loop already runs, a new thread runs the coroutine.
    """
    if asyncio._get_running_loop() is None:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
