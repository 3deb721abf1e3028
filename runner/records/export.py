"""Runs in the formats of others: BFCL's result files, and chat transcripts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from runner.records.files import write_whole
from runner.records.record import EpisodeRecord, ReplyRecord, StepRecord
from runner.records.result_file import FAULT_MEMBER, NO_ANSWER
from runner.records.run import Run
from trajectories.errors import DataError
from trajectories.schema import FACTS, SINGLE_TURN, Category

_LONGEST_NAME = 200


def export_bfcl(run: Run, folder: Path, *, trial: int = 0, model: str | None = None) -> list[Path]:
    """Write a run as BFCL's result files, one per category, and return their paths.

    Args:
        run: The run.
        folder: Below it there will be ``<model>/<group>/``.
        trial: Which trial to write; such files have room for one.
        model: What to call the model, instead of its name; BFCL scores only names that it knows.

    Raises:
        DataError: The run has no finished episode of that trial, or a file cannot be written.
    """
    lines: dict[Category, list[tuple[list[str | int], bytes]]] = {}
    for record in run.records:
        if record.trial == trial:
            category = _category(run, record)
            where = f"{run.path}: {record.id}"
            line = (_natural(record.id), _line(_bfcl_entry(record, category, where)))
            lines.setdefault(category, []).append(line)
    if not lines:
        raise DataError(str(run.path), f"has no finished episode of trial {trial}")
    target = folder / _folder_name(model or run.name)
    written = []
    for category, entries in lines.items():
        group, file = _place(category)
        path = target / group / file
        write_whole(path, [line for _, line in sorted(entries)])
        written.append(path)
    return written


def export_openai_messages(run: Run, path: Path, *, only_passed: bool, named: bool = True) -> int:
    """Write the conversations of a run, or of what passed, as transcripts; return how many.

    Args:
        run: The run.
        path: The file.
        only_passed: Whether what failed is left out.
        named: Whether the user named the file, so that a link is followed.

    Raises:
        DataError: A tool call and its result do not match, or a file cannot be read or written.
    """
    found = transcripts_of(run, only_passed=only_passed)
    write_whole(path, [_line(each.line) for each in found], named=named)
    return len(found)


class TuningTranscript(NamedTuple):
    """The conversation of an episode, as fine-tuning takes it."""

    record: EpisodeRecord
    line: dict[str, Any]
    """``messages``, ``tools`` where there are any, and ``metadata``."""


def transcripts_of(run: Run, *, only_passed: bool) -> list[TuningTranscript]:
    """Return the conversations of a run, or of what passed.

    Each has what fine-tuning takes: the messages as they were sent, and the tools that were
    offered at the end. Thoughts are ``reasoning_content`` whatever the server called them; what
    only it can read of them, such as signatures, is left out. So are episodes that ended in an
    error, or without an answer for what the model did. Of a search it is the branch that stands.

    Raises:
        DataError: A tool call and its result do not match, or a file cannot be read.
    """
    wanted = {"passed"} if only_passed else {"passed", "failed"}
    chosen = [each for each in run.records if each.outcome in wanted and each.fault is None]
    digests = {record.steps[-1].tools: None for record in chosen if record.steps}
    tools = run.tools(filter(None, digests))
    return [TuningTranscript(record, _transcript(run, record, tools)) for record in chosen]


def _folder_name(model: str) -> str:
    """Return a model's name as BFCL's folders have it, if it can be the name of a folder at all."""
    name = re.sub(r"[^\w.:+=@-]+", "-", model.replace("/", "_"))[:_LONGEST_NAME]
    return name if name.strip(".") else "model"


def _place(category: Category) -> tuple[str, str]:
    """Return the folder and the file of a category's results."""
    facts = FACTS[category]
    return facts.folder, f"BFCL_v4_{facts.file}_result.json"


def _bfcl_entry(record: EpisodeRecord, category: Category, where: str) -> dict[str, Any]:
    # Text where turns should be is how BFCL writes down an error, whoever's it is.
    if record.fault is not None:
        result = f"{NO_ANSWER} {record.fault.said}"
        return {"id": record.id, "result": result, FAULT_MEMBER: record.fault.kind}
    if record.outcome == "error" or record.result is None:
        return {"id": record.id, "result": f"{NO_ANSWER} {record.error}"}
    if any(step.turn >= len(record.result) for step in record.steps):
        raise DataError(where, "has a step in a turn of which there is no result")
    nested = partial(_nested, record.steps, len(record.result))
    answered: Any = record.result
    figures: dict[str, Any] = {
        "input_token_count": nested(lambda step: step.usage.prompt),
        "output_token_count": nested(lambda step: step.usage.completion),
        "latency": nested(lambda step: step.latency),
    }
    if category in SINGLE_TURN:
        # Here a result is the one step, and its figures are those of all answers that it took.
        if [len(turn) for turn in record.result] != [1] or not record.steps:
            raise DataError(where, f"is of {category} and has not one step")
        figures = {name: _total(steps) for name, (steps,) in figures.items()}
        ((answered,),) = record.result
    return {"id": record.id, "result": answered, **figures}


def _total(figures: Sequence[Any]) -> Any:
    return None if None in figures else sum(figures)


def _nested(
    steps: Sequence[StepRecord], count: int, figure: Callable[[StepRecord], Any]
) -> list[list[Any]]:
    """Return a figure of all steps as turns of steps."""
    turns: list[list[Any]] = [[] for _ in range(count)]
    for step in steps:
        turns[step.turn].append(figure(step))
    return turns


def _transcript(run: Run, record: EpisodeRecord, tools: Mapping[str, Any]) -> dict[str, Any]:
    if not _paired(record.messages):
        where = f"{run.path}: {record.id}"
        raise DataError(where, "a tool call of the conversation has no result, or a result no call")
    transcript: dict[str, Any] = {"messages": _readable(record)}
    digest = record.steps[-1].tools if record.steps else None
    if digest is not None:
        own = [name for each in record.extensions.values() for name in each.own_functions]
        transcript["tools"] = [t for t in tools[digest] if _name_of(t) not in own]
    passed = record.outcome == "passed"
    transcript["metadata"] = {"id": record.id, "trial": record.trial, "passed": passed}
    return transcript


def _name_of(tool: Mapping[str, Any]) -> object:
    """Return the name of a tool as chat servers have them; those of other APIs have it outside."""
    function = tool.get("function")
    return function.get("name") if isinstance(function, dict) else tool.get("name")


def _readable(record: EpisodeRecord) -> list[Mapping[str, Any]]:
    """Return the messages of an episode without what its server put in for itself."""
    # An answer is the first message after those that it was asked with.
    replies = {step.request_messages: step.reply for step in record.steps}
    pairs = [(message, replies.get(place)) for place, message in enumerate(record.messages)]
    return [_readable_answer(message, reply) if reply else message for message, reply in pairs]


def _readable_answer(message: Mapping[str, Any], reply: ReplyRecord) -> dict[str, Any]:
    plain = {name: message[name] for name in ("role", "content", "tool_calls") if name in message}
    if isinstance(plain.get("content"), list):
        plain["content"] = reply.text
    if plain.get("tool_calls"):
        plain["tool_calls"] = [
            {name: call[name] for name in ("id", "type", "function")}
            for call in plain["tool_calls"]
        ]
    if plain != message and reply.reasoning:
        plain["reasoning_content"] = reply.reasoning
    return plain


def _paired(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether all tool calls have their results right after them, in their order."""
    awaited: list[str] = []
    for message in messages:
        if message.get("role") == "tool":
            if not awaited or message["tool_call_id"] != awaited.pop(0):
                return False
        elif awaited:
            return False
        else:
            awaited = [call["id"] for call in message.get("tool_calls") or ()]
    return not awaited


def _category(run: Run, record: EpisodeRecord) -> Category:
    """Return the category of an episode, which becomes part of a file's name.

    Raises:
        DataError: There is no such category.
    """
    try:
        return Category(record.category)
    except ValueError:
        where = f"{run.path}: {record.id}"
        raise DataError(where, f"{record.category!r} is not a category") from None


def _natural(id: str) -> list[str | int]:
    """Return what sorts ids by the numbers in them: text and numbers take turns in it."""
    parts = re.split(r"(\d+)", id)
    return [int(part) if index % 2 else part for index, part in enumerate(parts)]


def _line(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, allow_nan=False) + "\n").encode()
