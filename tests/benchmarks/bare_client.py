"""The least that a client can do: it asks, answers calls with a fixed text, and keeps nothing.

``python -m tests.benchmarks.bare_client URL FOLDER AT_ONCE``: FOLDER has BFCL's data. What it takes
is what the server, the network and aiohttp take.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import aiohttp

from envs.registry import BACKENDS
from trajectories.bfcl_reader import function_docs_file

RESULT = json.dumps({"result": "This is what the call gave, or something just as long."})
_TYPES = {"dict": "object", "float": "number", "tuple": "array"}


def main() -> None:
    """Hold all conversations of the base category, the longest first."""
    url, folder, at_once = sys.argv[1:]
    asyncio.run(_all(url, Path(folder), int(at_once)))


async def _all(url: str, folder: Path, at_once: int) -> None:
    questions = _lines(folder / "BFCL_v4_multi_turn_base.json")
    truth = _lines(folder / "possible_answer" / "BFCL_v4_multi_turn_base.json")
    length = {each["id"]: sum(map(len, each["ground_truth"])) for each in truth}
    documents = _documents(folder)
    free = asyncio.Semaphore(at_once)
    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session,
        asyncio.TaskGroup() as group,
    ):
        for entry in sorted(questions, key=lambda each: -length[each["id"]]):
            tools = [tool for name in entry["involved_classes"] for tool in documents[name]]
            head = json.dumps({"model": "fake", "tools": tools})[:-1]
            group.create_task(_one(session, f"{url}/chat/completions", head, entry, free))


async def _one(
    session: aiohttp.ClientSession,
    url: str,
    head: str,
    entry: dict[str, Any],
    free: asyncio.Semaphore,
) -> None:
    messages: list[str] = []
    async with free:
        for turn in entry["question"]:
            messages += map(json.dumps, turn)
            calls = [{}]
            while calls:
                body = f'{head},"messages":[{",".join(messages)}]}}'
                headers = {"Content-Type": "application/json"}
                async with session.post(url, data=body.encode(), headers=headers) as answer:
                    said = json.loads(await answer.read())["choices"][0]["message"]
                messages.append(json.dumps(said))
                calls = said.get("tool_calls") or []
                for call in calls:
                    result = {"role": "tool", "tool_call_id": call["id"], "content": RESULT}
                    messages.append(json.dumps(result))


def _documents(folder: Path) -> dict[str, list[Any]]:
    """Return the tools of each backend, by its class as the data name it."""
    return {
        name: [
            {"type": "function", "function": _as_schema(document)}
            for document in _lines(folder / function_docs_file(name))
        ]
        for name in BACKENDS
    }


def _as_schema(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _as_schema(member) for name, member in value.items()}
    return _TYPES.get(value, value) if isinstance(value, str) else value


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
