"""Protocols as fakes, around what answers chat completions with tools: each keeps its own rules.

A request is turned into one with tools, and the answer into what a model of the family writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from envs.calls import Call
from runner.models.calling_formats.format_types import (
    CallingFormat,
    NativeFormat,
    PromptFrame,
    TextFormat,
)
from tests.servers.answers import DONE
from tests.servers.responses import responding
from tests.servers.serving import Answer, Answerer, Asked, as_json
from tests.servers.shapes import completion

_NAMED = re.compile(
    r"""["']name["']\s*:\s*["']([\w.-]+)["']|^type ([\w-]+) = \(|declaration:([\w-]+)\{""",
    re.MULTILINE,
)
_CLOSERS = ("<|call|>", "<|end|>", "<turn|>\n")
_HANDED_OVER = "More functions are available"


def speaking(protocol: CallingFormat, answerer: Answerer) -> Answerer:
    """Return what answers in a protocol as another answers chat completions with tools."""
    if protocol.name == "responses":
        return responding(answerer)
    if isinstance(protocol, NativeFormat):
        return _native(protocol, answerer)
    return _written(protocol, answerer)


def refusal(message: str, status: int = 400) -> Answer:
    """Return an error as servers send it."""
    return as_json({"error": {"message": message, "type": "invalid_request_error"}}, status)


def _native(protocol: NativeFormat, answerer: Answerer) -> Answerer:
    def answer(asked: Asked) -> Answer:
        body = asked.body
        if protocol.name == "functions":
            if "tools" in body or not asked.path.endswith("/chat/completions"):
                return refusal("This server has functions and no tools.")
            problem, messages = _of_functions(body["messages"])
            if problem:
                return refusal(problem)
            tools = [{"type": "function", "function": each} for each in body.get("functions", ())]
        else:
            messages, tools = body["messages"], body.get("tools") or []
            if protocol.name == "multi_call" and tools:
                members = tools[0]["function"]["parameters"]["properties"]
                tools = [{"type": "function", "function": {"name": name}} for name in members]
        given = answerer(asked._replace(body={**body, "messages": messages, "tools": tools}))
        if given.status != 200:
            return given
        message = json.loads(given.body)["choices"][0]["message"]
        return as_json(completion(protocol.write(_calls(message), message["content"] or "")))

    return answer


def _of_functions(messages: Sequence[Mapping[str, Any]]) -> tuple[str | None, list[Any]]:
    """Return what is wrong with messages of functions, and them as those of tools."""
    found: list[Any] = []
    open_call = None
    for message in messages:
        if message["role"] == "tool" or "tool_calls" in message:
            return "Tools are not known here.", []
        if message["role"] == "function":
            if message["name"] != open_call:
                return f"No call of {message['name']} waits for a result.", []
            found.append({"role": "tool", "tool_call_id": "1", "content": message["content"]})
            open_call = None
        else:
            found.append(message)
            open_call = message.get("function_call", {}).get("name")
    return None, found


def _written(protocol: TextFormat, answerer: Answerer) -> Answerer:
    done = protocol.write([], DONE, ())
    api = "/completions" if protocol.frame else "/chat/completions"

    def answer(asked: Asked) -> Answer:
        body = asked.body
        if asked.path.endswith("/chat/completions") != (protocol.frame is None) or body.get(
            "tools"
        ):
            return refusal(f"There is only {api} here, without tools.", 404)
        messages = body.get("messages")
        if protocol.frame is not None:
            messages = [*conversation(protocol.frame, body["prompt"])]
        said = [{**m, "content": DONE} if m["content"] == done else m for m in messages]
        names = {name for m in said if m["role"] != "assistant" for name in _names(m["content"])}
        tools = [{"type": "function", "function": {"name": name}} for name in sorted(names)]
        given = answerer(asked._replace(body={**body, "messages": said, "tools": tools}))
        if given.status != 200:
            return given
        message = json.loads(given.body)["choices"][0]["message"]
        documents = [each for m in said for each in _documents(str(m["content"]))]
        text = protocol.write(_calls(message), message["content"] or "", documents)
        if protocol.frame is None:
            return as_json(completion({"role": "assistant", "content": text}))
        usage = {"prompt_tokens": 1, "completion_tokens": 1}
        choice = {"index": 0, "text": _cut(text, body["stop"]), "finish_reason": "stop"}
        return as_json({"object": "text_completion", "choices": [choice], "usage": usage})

    return answer


def _cut(text: str, stops: Sequence[str]) -> str:
    for stop in stops:
        text = text.partition(stop)[0]
    return text


def _calls(message: Mapping[str, Any]) -> list[Call]:
    made = [call["function"] for call in message.get("tool_calls") or ()]
    return [Call(each["name"], (), json.loads(each["arguments"])) for each in made]


def _names(text: object) -> list[str]:
    return ["".join(found) for found in _NAMED.findall(str(text))]


def _documents(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield the documents in a message, one a line or as a list."""
    if text.startswith(_HANDED_OVER):
        yield from json.JSONDecoder().raw_decode(text, text.index("["))[0]
    for line in text.split("\n"):
        if line.startswith('{"name": '):
            yield json.loads(line)


def conversation(frame: PromptFrame, prompt: str) -> Iterator[dict[str, str]]:
    """Yield the messages of a prompt, whose texts hold no control tokens."""
    assert prompt.startswith(frame.begin)
    marks = {before: role for role, (before, _) in reversed(frame.roles.items()) if before}
    bare = next((role for role, (before, _) in frame.roles.items() if not before), "user")
    splits = re.split(f"({'|'.join(map(re.escape, marks))})", prompt.removeprefix(frame.begin))
    pairs = [
        (bare, splits[0]),
        *zip(map(marks.__getitem__, splits[1::2]), splits[2::2], strict=True),
    ]
    for role, text in pairs:
        after = frame.roles[role][1]
        content, closed, rest = text.partition(after) if after.strip() else (text, "", "")
        if role == "assistant":
            content = _closed(text, after)
        elif not closed:
            content = content.removesuffix(after)
        if content:
            yield {"role": role, "content": content}
        if role != "assistant" and rest.strip():
            yield {"role": "assistant", "content": _closed(rest, frame.roles["assistant"][1])}


def _closed(text: str, after: str) -> str:
    for closer in (after, *_CLOSERS):
        text = text.removesuffix(closer)
    return text
