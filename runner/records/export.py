"""Runs in the formats of others: BFCL's result files, and chat transcripts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from runner.records.store import Record, Run, write_whole
from trajectories.errors import DataError
from trajectories.schema import EXECUTABLE, MULTI_TURN, SINGLE_TURN, Category


def export_bfcl(run: Run, folder: Path, *, trial: int = 0, model: str | None = None) -> list[Path]:
    """Write a run as BFCL's result files, one per category, and return their paths.

    Args:
        run: The run.
        folder: Below it there will be ``<model>/<group>/``.
        trial: Which trial to write; such files have room for one.
        model: What to call the model, instead of its name; BFCL scores only names that it
            knows.

    Raises:
        DataError: The run has no finished episode of that trial, or a file cannot be written.
    """
    lines: dict[Category, list[tuple[list[str | int], bytes]]] = {}
    for record in run.episodes():
        if record["trial"] == trial:
            category = _category(run, record)
            line = (_natural(record["id"]), _line(_bfcl_entry(record, category)))
            lines.setdefault(category, []).append(line)
    if not lines:
        raise DataError(str(run.folder), f"has no finished episode of trial {trial}")
    name = model or run.definition["model"]
    target = folder / name.replace("/", "_")
    written = []
    for category, entries in lines.items():
        group, file = _place(category)
        path = target / group / file
        write_whole(path, [line for _, line in sorted(entries)])
        written.append(path)
    return written


def export_openai_messages(run: Run, path: Path, *, only_passed: bool) -> int:
    """Write the conversations of a run as chat transcripts, and return how many there are.

    Each line has what fine-tuning takes: the messages as they were sent, and the tools that were
    offered at the end. Episodes that ended in an error are left out.

    Args:
        run: The run.
        path: The file to write.
        only_passed: Whether those that failed are left out too.

    Raises:
        DataError: A tool call and its result do not match, or a file cannot be read or written.
    """
    wanted = {"passed"} if only_passed else {"passed", "failed"}
    count = 0

    def lines() -> Iterator[bytes]:
        nonlocal count
        for record in run.episodes():
            if record["outcome"] in wanted:
                count += 1
                yield _line(_transcript(run, record))

    write_whole(path, lines())
    return count


def _place(category: Category) -> tuple[str, str]:
    """Return the folder and the file of a category's results."""
    if category in MULTI_TURN:
        return "multi_turn", f"BFCL_v4_multi_turn_{category}_result.json"
    return _group(category), f"BFCL_v4_{category}_result.json"


def _group(category: Category) -> str:
    # BFCL has neither chat nor executable entries.
    if category in (Category.CHAT, *EXECUTABLE):
        return "other"
    return "live" if category.startswith("live_") else "non_live"


def _bfcl_entry(record: Record, category: Category) -> dict[str, Any]:
    if record["outcome"] == "error":
        # Text where turns should be is how BFCL writes down an error.
        return {"id": record["id"], "result": f"Error during inference: {record['error']}"}
    figures = {
        "result": record["result"],
        "input_token_count": _nested(record, lambda step: step["usage"]["prompt"]),
        "output_token_count": _nested(record, lambda step: step["usage"]["completion"]),
        "latency": _nested(record, lambda step: step["latency"]),
    }
    if category in SINGLE_TURN:
        # Here a result is the one step, and so are its figures.
        figures = {name: steps for name, ((steps,),) in figures.items()}
    return {"id": record["id"], **figures}


def _nested(record: Record, figure: Callable[[dict[str, Any]], Any]) -> list[list[Any]]:
    """Return a figure of all steps as turns of steps."""
    turns: list[list[Any]] = [[] for _ in record["result"]]
    for step in record["steps"]:
        turns[step["turn"]].append(figure(step))
    return turns


def _transcript(run: Run, record: Record) -> dict[str, Any]:
    messages = record["messages"]
    if not _paired(messages):
        where = f"{run.folder}: {record['id']}"
        raise DataError(where, "a tool call of the conversation has no result, or a result no call")
    transcript: dict[str, Any] = {"messages": messages}
    digest = record["steps"][-1]["tools"]
    if digest is not None:
        transcript["tools"] = run.tools(digest)
    passed = record["outcome"] == "passed"
    transcript["metadata"] = {"id": record["id"], "trial": record["trial"], "passed": passed}
    return transcript


def _paired(messages: list[dict[str, Any]]) -> bool:
    """Tell whether all tool calls have their results right after them, in their order."""
    awaited: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if not awaited or message["tool_call_id"] != awaited.pop(0):
                return False
        elif awaited:
            return False
        else:
            awaited = [call["id"] for call in message.get("tool_calls") or ()]
    return not awaited


def _category(run: Run, record: Record) -> Category:
    """Return the category of an episode, which becomes part of a file's name.

    Raises:
        DataError: There is no such category.
    """
    try:
        return Category(record["category"])
    except ValueError:
        where = f"{run.folder}: {record['id']}"
        raise DataError(where, f"{record['category']!r} is not a category") from None


def _natural(id: str) -> list[str | int]:
    """Return what sorts ids by the numbers in them: text and numbers take turns in it."""
    parts = re.split(r"(\d+)", id)
    return [int(part) if index % 2 else part for index, part in enumerate(parts)]


def _line(value: dict[str, Any]) -> bytes:
    return (json.dumps(value) + "\n").encode()
