"""Transcripts for fine-tuning libraries, in the formats of TRL and ShareGPT."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from envs.errors import DataError
from extensions.export.transcripts import StoredTranscript, TuningTranscript
from runner.records.durable_files import write_files
from runner.show.terminal import say

Json = dict[str, Any]
TrainingFormat = Literal["openai-messages", "sharegpt", "trl"]

_MODEL = ("gpt", "function_call")
"""Roles of the model in ShareGPT's format."""


def to_trl(transcript: TuningTranscript) -> Json:
    """Convert a transcript for ``SFTTrainer`` and chat templates.

    The arguments of calls become objects. Each result gets the name of its function in ``name``.
    The value of ``tools`` becomes a JSON string.
    """
    line = transcript.line
    tools = {"tools": json.dumps(line["tools"])} if "tools" in line else {}
    return {"messages": _for_templates(line["messages"]), **tools, "metadata": line["metadata"]}


def to_sharegpt(transcript: TuningTranscript) -> Json:
    """Convert a transcript to LLaMA-Factory's ShareGPT format, without reasoning.

    Raises DataError if the model speaks twice in a row.
    """
    line, said = transcript.line, list[Json]()
    system = [m["content"] for m in line["messages"] if m["role"] == "system"]
    results: list[str] = []
    for message in line["messages"]:
        if message["role"] == "tool":
            results.append(str(message["content"]))
            continue
        if results:
            value = results[0] if len(results) == 1 else json.dumps(results)
            said.append({"from": "observation", "value": value})
            results = []
        if message["role"] == "user":
            _user_says(said, str(message["content"]))
        elif message["role"] == "assistant":
            said.append(_model_says(message))
    _check_turns(said, transcript)
    about = {"system": "\n\n".join(system)} if system else {}
    functions = [tool["function"] for tool in line.get("tools", ()) if "function" in tool]
    tools = {"tools": json.dumps(functions)} if functions else {}
    return {"conversations": said, **about, **tools, "metadata": line["metadata"]}


WRITERS: Mapping[TrainingFormat, Callable[[TuningTranscript], Json]] = {
    "openai-messages": lambda transcript: transcript.line,
    "sharegpt": to_sharegpt,
    "trl": to_trl,
}
"""Converters by format."""


def write_transcripts(
    files: Mapping[Path, Sequence[StoredTranscript]], form: TrainingFormat, *, named: bool = True
) -> None:
    """Write files with one transcript per line, and print their names.

    Raises DataError if a transcript does not fit the format, or a file cannot be written.
    """
    encoded = {
        path: (f"{json.dumps(WRITERS[form](each.load()))}\n".encode() for each in transcripts)
        for path, transcripts in files.items()
    }
    write_files(encoded, named=named)
    for path, transcripts in files.items():
        say(f"{path}: {len(transcripts)} transcripts")


def _for_templates(messages: Sequence[Mapping[str, Any]]) -> list[Json]:
    names: dict[str, str] = {}
    found = []
    for message in messages:
        shown = {**message, "content": message.get("content") or ""}
        calls = message.get("tool_calls") or ()
        if calls:
            names |= {call["id"]: call["function"]["name"] for call in calls}
            shown["tool_calls"] = [
                {"id": call["id"], "type": "function", "function": _call(call)} for call in calls
            ]
        if message["role"] == "tool":
            shown["name"] = names.get(message["tool_call_id"], "")
        found.append(shown)
    return found


def _call(call: Mapping[str, Any]) -> Json:
    function = call["function"]
    try:
        arguments = json.loads(function["arguments"])
    except (ValueError, RecursionError):
        arguments = {}
    return {"name": function["name"], "arguments": arguments}


def _user_says(said: list[Json], text: str) -> None:
    if said and said[-1]["from"] == "human":
        said[-1] = {"from": "human", "value": f"{said[-1]['value']}\n\n{text}"}
    else:
        said.append({"from": "human", "value": text})


def _model_says(message: Mapping[str, Any]) -> Json:
    calls = [_call(call) for call in message.get("tool_calls") or ()]
    if not calls:
        return {"from": "gpt", "value": str(message.get("content") or "")}
    return {"from": "function_call", "value": json.dumps(calls[0] if len(calls) == 1 else calls)}


def _check_turns(said: Sequence[Json], transcript: TuningTranscript) -> None:
    for place, each in enumerate(said):
        if (each["from"] in _MODEL) is not bool(place % 2):
            record = transcript.record
            what = "the model and the user do not alternate, as ShareGPT's format requires"
            raise DataError(f"{record.id}, trial {record.trial}", what)
