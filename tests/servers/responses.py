"""OpenAI's Responses API as a fake, around what answers chat completions: it keeps its rules.

Without its reasoning item a call of the turn is refused, as is whatever has the form of chat
completions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.servers.serving import Answer, Answerer, Asked, as_json

ENCRYPTED = "reasoning.encrypted_content"


def responding(answerer: Answerer) -> Answerer:
    """Return what answers requests of the Responses API as another answers chat completions."""

    def answer(asked: Asked) -> Answer:
        problem = _problem(asked)
        if problem:
            return as_json({"error": {"message": problem, "type": "invalid_request_error"}}, 400)
        given = answerer(asked._replace(body=_as_chat(asked.body)))
        if given.status != 200:
            return given
        [choice] = json.loads(given.body)["choices"]
        return as_json(response(_output(choice["message"], asked.number)))

    return answer


def response(output: Sequence[Mapping[str, Any]], **more: Any) -> dict[str, Any]:
    """Return an answer of the Responses API around its items."""
    usage = {
        "input_tokens": 12,
        "input_tokens_details": {"cached_tokens": 8},
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 15,
    }
    about = {"id": "resp_1", "object": "response", "status": "completed", "error": None}
    return {**about, "incomplete_details": None, "output": [*output], "usage": usage, **more}


def thought(number: int = 1) -> dict[str, Any]:
    """Return a reasoning item."""
    summary = [{"type": "summary_text", "text": "Hm."}]
    about = {"id": f"rs_{number}", "type": "reasoning", "summary": summary}
    return {**about, "encrypted_content": f"ENC{number}"}


def call(id: str, name: str, arguments: str) -> dict[str, Any]:
    """Return an item with a call."""
    about = {"id": f"fc_{id}", "type": "function_call", "status": "completed", "call_id": id}
    return {**about, "name": name, "arguments": arguments}


def said(text: str) -> dict[str, Any]:
    """Return an item with a text."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"id": "msg_1", "type": "message", "role": "assistant", "content": [part]}


def _problem(asked: Asked) -> str | None:
    body = asked.body
    if not asked.path.endswith("/responses") or "messages" in body or "max_tokens" in body:
        return "This is no request of the Responses API."
    if body.get("store") is not False or body.get("include") != [ENCRYPTED]:
        return "Nothing would remember these thoughts."
    if any("function" in tool or tool["strict"] for tool in body.get("tools", ())):
        return "Missing required parameter: 'tools[0].name'."
    known: set[str] = set()
    thinking = False
    for item in body["input"]:
        kind = item.get("type")
        if kind == "function_call_output" and item["call_id"] not in known:
            return f"No tool call found for function call output with call_id {item['call_id']}."
        if kind == "function_call":
            if not thinking:
                return "'function_call' was provided without its required 'reasoning' item."
            known.add(item["call_id"])
        else:
            thinking = kind == "reasoning" and str(item["encrypted_content"]).startswith("ENC")
    return None


def _as_chat(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request in the form of chat completions."""
    messages: list[dict[str, Any]] = []
    for item in body["input"]:
        kind = item.get("type", "message")
        if kind == "reasoning":
            messages.append({"role": "assistant", "content": ""})
        elif kind == "function_call":
            named = {"name": item["name"], "arguments": item["arguments"]}
            entry = {"id": item["call_id"], "type": "function", "function": named}
            messages[-1].setdefault("tool_calls", []).append(entry)
        elif kind == "function_call_output":
            given = {"tool_call_id": item["call_id"], "content": item["output"]}
            messages.append({"role": "tool", **given})
        elif isinstance(item["content"], list):
            messages[-1]["content"] = "".join(part["text"] for part in item["content"])
        else:
            messages.append({"role": item["role"], "content": item["content"]})
    tools = [{"type": "function", "function": tool} for tool in body.get("tools", ())]
    return {"model": body["model"], "messages": messages, "tools": tools}


def _output(message: Mapping[str, Any], number: int) -> list[dict[str, Any]]:
    calls = message.get("tool_calls") or ()
    texts = [said(message["content"])] if message.get("content") else []
    return [
        thought(number),
        *texts,
        *(call(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in calls),
    ]
