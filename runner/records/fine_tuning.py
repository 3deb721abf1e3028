"""Transcripts as files that libraries for fine-tuning take: TRL's, and ShareGPT's form of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from runner.records.export import TuningTranscript
from runner.records.files import write_whole
from trajectories.errors import DataError

Json = dict[str, Any]
TrainingFormat = Literal["openai-messages", "sharegpt", "trl"]
"""In which form transcripts are written."""

_MODEL = ("gpt", "function_call")
"""Who speaks in ShareGPT's form at every second place, the first being the user's."""
_SEARCH_ENDED = ("give_up", "exhausted")


def was_ended(transcript: TuningTranscript) -> bool:
    """Tell whether a search ended a turn of it, so that the model's last words are not there."""
    return any(end.why in _SEARCH_ENDED for end in transcript.record.turn_ends)


def as_trl(transcript: TuningTranscript) -> Json:
    """Return a transcript as ``SFTTrainer`` takes it, with what chat templates read.

    Arguments are objects, results have their function's name, and ``tools`` is JSON text, which is
    read before the template sees it.
    """
    line = transcript.line
    tools = {"tools": json.dumps(line["tools"])} if "tools" in line else {}
    return {"messages": _for_templates(line["messages"]), **tools, "metadata": line["metadata"]}


def as_sharegpt(transcript: TuningTranscript) -> Json:
    """Return a transcript in ShareGPT's form, as LLaMA-Factory takes it.

    Who speaks takes turns: what the user says or calls gave, then what the model says or calls.
    Words beside calls have no place there, nor have thoughts.

    Raises:
        DataError: The model speaks twice in a row.
    """
    line, said = transcript.line, list[Json]()
    system = [m["content"] for m in line["messages"] if m["role"] == "system"]
    results: list[str] = []
    for message in line["messages"]:
        if message["role"] == "tool":
            results.append(str(message["content"]))
            continue
        if results:
            said.append({"from": "observation", "value": _together(results)})
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
    "sharegpt": as_sharegpt,
    "trl": as_trl,
}
"""What makes a line of each form."""


def write_transcripts(
    transcripts: Iterable[TuningTranscript], form: TrainingFormat, path: Path, *, named: bool = True
) -> int:
    """Write transcripts in a form, one a line, and return how many.

    Raises:
        DataError: One cannot be written in it, or the file cannot be written.
    """
    lines = [f"{json.dumps(WRITERS[form](each))}\n".encode() for each in transcripts]
    write_whole(path, lines, named=named)
    return len(lines)


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


def _together(results: Sequence[str]) -> str:
    """Return the results of one answer's calls as one text."""
    return results[0] if len(results) == 1 else json.dumps(list(results))


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
            what = "the model and the user do not take turns, which ShareGPT's form asks for"
            raise DataError(f"{record.id}, trial {record.trial}", what)
