"""Export of runs as BFCL's result files and as chat transcripts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from checkers.verdict import Verdict
from envs.errors import DataError
from envs.lazy_modules import lazy_module
from runner.records.bfcl_result_file import FAULT_MEMBER, NO_ANSWER
from runner.records.durable_files import write_files
from runner.records.episode_record import EpisodeRecord, Key, ReplyRecord, StepRecord
from runner.records.recorded_run import Run
from trajectories.schema import FACTS, SINGLE_TURN, Category

if TYPE_CHECKING:
    from runner.analysis import replayed_runs
    from runner.data.dataset_choice import Notify
else:
    # Only causes need an execution of the calls.
    replayed_runs = lazy_module("runner.analysis.replayed_runs")

_MAX_NAME_CHARS = 200
_SEARCH_ENDED = ("give_up", "exhausted")


def export_bfcl(run: Run, folder: Path, *, trial: int = 0, model: str | None = None) -> list[Path]:
    """Write a run as BFCL's result files, one per category, and return their paths.

    Args:
        folder: Parent of ``<model>/<group>/``.
        trial: The trial to write; a result file can hold only one trial.
        model: Another name for the model, because BFCL scores only known names.

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
    files = {
        target.joinpath(*_place(category)): [line for _, line in sorted(entries)]
        for category, entries in lines.items()
    }
    write_files(files)
    return [*files]


class TuningTranscript(NamedTuple):
    """Conversation of an episode for fine-tuning."""

    record: EpisodeRecord
    line: dict[str, Any]
    """Fields ``messages``, ``tools`` (if any) and ``metadata``."""


@dataclass(frozen=True)
class StoredTranscript:
    """Transcript of an episode of a run, which is made on use: a run may not fit into memory."""

    run: Run
    key: Key
    tools: Mapping[str, Any] = field(repr=False)
    """Tool lists of the run, by digest."""
    causes: dict[Key, str | None] = field(repr=False)
    """Causes of the failed episodes of the run."""
    failed: bool
    ended_by_search: bool

    def load(self) -> TuningTranscript:
        """Read the episode and make its transcript.

        Raises DataError if a tool call and its result do not match, or the file cannot be read.
        """
        record = self.run.episodes[self.key].record
        line = _transcript(self.run, record, self.tools)
        if self.key in self.causes:
            line["metadata"]["cause"] = self.causes[self.key]
        return TuningTranscript(record, line)


def tuning_transcripts(run: Run, *, only_passed: bool) -> list[StoredTranscript]:
    """Return the conversations of a run for fine-tuning.

    Each conversation contains the sent messages, and the tools that the last step offered.
    Reasoning becomes ``reasoning_content``, without signatures. Episodes that ended in an error or
    a rejected request are left out. After a tree search, only the kept branch is exported.

    Raises DataError if a file cannot be read, or lacks a tool list.
    """
    wanted = {"passed"} if only_passed else {"passed", "failed"}
    found: list[StoredTranscript] = []
    tools: dict[str, Any] = {}
    digests: dict[str, None] = {}
    causes: dict[Key, str | None] = {}
    for record in run.records:
        if record.outcome in wanted and record.fault is None:
            digest = record.steps[-1].tools if record.steps else None
            digests |= {digest: None} if digest else {}
            ended, failed = was_ended_by_search(record), record.outcome == "failed"
            found.append(StoredTranscript(run, record.key, tools, causes, failed, ended))
    tools |= run.tools(digests)
    return found


def was_ended_by_search(record: EpisodeRecord) -> bool:
    """Tell whether a turn ended because the search gave up or was exhausted."""
    return any(end.why in _SEARCH_ENDED for end in record.turn_ends)


def add_causes(run: Run, transcripts: Sequence[StoredTranscript], notify: Notify) -> None:
    """Add the cause of each failure to the metadata; if this is impossible, print a notice."""
    # Sorted, the episodes of an entry follow each other, and the entry is prepared once.
    failed = sorted((each for each in transcripts if each.failed), key=lambda each: each.key)
    if not failed:
        return
    try:
        data = replayed_runs.dataset_of(run, None, notify)
        rules = replayed_runs.resolve_rules(run, data)
        keys = [each.key for each in failed]
        for each, again in zip(
            failed, replayed_runs.replay_episodes(run, keys, data, *rules), strict=True
        ):
            found = again.examined.diagnosis if again.examined else None
            each.causes[each.key] = found.cause.value if found else None
    except DataError as error:
        notify(f"causes are left out: {error}")


def _folder_name(model: str) -> str:
    name = re.sub(r"[^\w.:+=@-]+", "-", model.replace("/", "_"))[:_MAX_NAME_CHARS]
    return name if name.strip(".") else "model"


def _place(category: Category) -> tuple[str, str]:
    facts = FACTS[category]
    return facts.folder, f"BFCL_v4_{facts.file}_result.json"


def _bfcl_entry(record: EpisodeRecord, category: Category, where: str) -> dict[str, Any]:
    # BFCL records an error as text in place of turns.
    if record.fault is not None:
        result = f"{NO_ANSWER} {record.fault.said}"
        return {"id": record.id, "result": result, FAULT_MEMBER: record.fault.kind}
    if record.outcome == "error" or record.result is None:
        return {"id": record.id, "result": f"{NO_ANSWER} {record.error}"}
    if any(step.turn >= len(record.result) for step in record.steps):
        raise DataError(where, "has a step without a result")
    nested = partial(_nested, record.steps, len(record.result))
    answered: Any = record.result
    figures: dict[str, Any] = {
        "input_token_count": nested(lambda step: step.usage.prompt),
        "output_token_count": nested(lambda step: step.usage.completion),
        "latency": nested(lambda step: step.latency),
    }
    if category in SINGLE_TURN:
        # The result is the one step; its figures are the sums over all answers.
        if [len(turn) for turn in record.result] != [1] or not record.steps:
            raise DataError(
                where, f"must have exactly one step, because its category is {category}"
            )
        figures = {name: _total(steps) for name, (steps,) in figures.items()}
        ((answered,),) = record.result
    return {"id": record.id, "result": answered, **figures}


def _total(figures: Sequence[Any]) -> Any:
    return None if None in figures else sum(figures)


def _nested(
    steps: Sequence[StepRecord], count: int, figure: Callable[[StepRecord], Any]
) -> list[list[Any]]:
    turns: list[list[Any]] = [[] for _ in range(count)]
    for step in steps:
        turns[step.turn].append(figure(step))
    return turns


def _transcript(run: Run, record: EpisodeRecord, tools: Mapping[str, Any]) -> dict[str, Any]:
    if not _paired(record.messages):
        where = f"{run.path}: {record.id}"
        raise DataError(where, "has a tool call without a result, or a result without a call")
    transcript: dict[str, Any] = {"messages": _readable(record)}
    digest = record.steps[-1].tools if record.steps else None
    if digest is not None:
        own = [name for each in record.extensions.values() for name in each.own_functions]
        transcript["tools"] = [t for t in tools[digest] if _name_of(t) not in own]
    passed = record.outcome == "passed"
    known = {"id": record.id, "trial": record.trial, "passed": passed}
    transcript["metadata"] = {**known, **_rewards(record.verdict)}
    return transcript


def _rewards(verdict: Verdict | None) -> dict[str, Any]:
    if verdict is None:
        return {}
    turns: list[bool | None] = [True] * verdict.turns_passed
    if verdict.failed_turn is not None:
        turns.append(False)
    turns += [None] * (verdict.turns - len(turns))
    shares = {"progress": verdict.turns_passed / verdict.turns} if verdict.turns else {}
    return {
        "reward": float(verdict.valid),
        **shares,
        "error_type": verdict.error_type,
        "turns": turns[: verdict.turns],
        **verdict.measures,
    }


def _name_of(tool: Mapping[str, Any]) -> object:
    function = tool.get("function")
    return function.get("name") if isinstance(function, dict) else tool.get("name")


def _readable(record: EpisodeRecord) -> list[Mapping[str, Any]]:
    # An answer follows the messages of its request.
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
    try:
        return Category(record.category)
    except ValueError:
        where = f"{run.path}: {record.id}"
        raise DataError(where, f"{record.category!r} is not a category") from None


def _natural(id: str) -> list[str | int]:
    return [int(x) if i % 2 else x for i, x in enumerate(re.split(r"(\d+)", id))]


def _line(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, allow_nan=False) + "\n").encode()
