"""A made-up conversation about one entry, in each format of others."""

from __future__ import annotations

import json
from typing import Any

CONFIG = {
    "TicketAPI": {
        "ticket_queue": [],
        "ticket_counter": 1,
        "current_user": "ann",
    }
}
ENTRY = {
    "id": "desk_0",
    "category": "base",
    "environments": ["TicketAPI"],
    "config": CONFIG,
    "turns": [
        {
            "messages": [{"role": "user", "content": "Open a ticket: no light, priority 2."}],
            "ground_truth": ["create_ticket(title='No light', priority=2)"],
        },
        {
            "messages": [{"role": "user", "content": "Show it to me."}],
            "ground_truth": ["get_ticket(ticket_id=1)"],
        },
    ],
}
MADE = {
    "id": 1,
    "title": "No light",
    "description": "",
    "status": "Open",
    "priority": 2,
    "created_by": "ann",
}


def call(id: str, name: str, **given: Any) -> dict[str, Any]:
    """Return a call as OpenAI's API sends it."""
    function = {"name": name, "arguments": json.dumps(given)}
    return {"id": id, "type": "function", "function": function}


OPEN = {"title": "No light", "priority": 2}
FIRST, SECOND = (turn["messages"][0]["content"] for turn in ENTRY["turns"])  # type: ignore[index]


def chat(shown: object = MADE) -> list[dict[str, Any]]:
    """Return the conversation as OpenAI's messages."""
    return [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": FIRST},
        {"role": "assistant", "tool_calls": [call("a", "create_ticket", **OPEN)]},
        {"role": "tool", "tool_call_id": "a", "content": json.dumps(shown)},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": SECOND},
        {"role": "assistant", "tool_calls": [call("b", "get_ticket", ticket_id=1)]},
        {"role": "tool", "tool_call_id": "b", "content": json.dumps(shown)},
        {"role": "assistant", "content": "Here it is."},
    ]


def part(kind: str, **members: Any) -> dict[str, Any]:
    """Return a part, an item or a block."""
    return {"type": kind, **members}


LEGACY = [
    {"role": "user", "content": FIRST},
    {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "create_ticket", "arguments": json.dumps(OPEN)},
    },
    {"role": "function", "name": "create_ticket", "content": json.dumps(MADE)},
    {"role": "assistant", "content": "Done."},
    {"role": "user", "content": SECOND},
    {"role": "assistant", "function_call": {"name": "get_ticket", "arguments": '{"ticket_id": 1}'}},
    {"role": "function", "name": "get_ticket", "content": json.dumps(MADE)},
    {"role": "assistant", "content": "Here it is."},
]
ITEMS = [
    {"role": "user", "content": [part("input_text", text=FIRST)]},
    part("reasoning", summary=[part("summary_text", text="A ticket.")]),
    part("function_call", call_id="a", name="create_ticket", arguments=json.dumps(OPEN)),
    part("function_call_output", call_id="a", output=json.dumps(MADE)),
    part("message", role="assistant", content=[part("output_text", text="Done.")]),
    {"role": "user", "content": SECOND},
    part("message", role="assistant", content=[part("output_text", text="One moment.")]),
    part("function_call", call_id="b", name="get_ticket", arguments='{"ticket_id": 1}'),
    part("function_call_output", call_id="b", output=json.dumps(MADE)),
    part("message", role="assistant", content=[part("output_text", text="Here it is.")]),
]
BLOCKS = [
    {"role": "user", "content": FIRST},
    {
        "role": "assistant",
        "content": [
            part("text", text="One moment."),
            part("tool_use", id="a", name="create_ticket", input=OPEN),
        ],
    },
    {
        "role": "user",
        "content": [part("tool_result", tool_use_id="a", content=json.dumps(MADE))],
    },
    {"role": "assistant", "content": [part("text", text="Done.")]},
    {"role": "user", "content": [part("text", text=SECOND)]},
    {
        "role": "assistant",
        "content": [part("tool_use", id="b", name="get_ticket", input={"ticket_id": 1})],
    },
    {
        "role": "user",
        "content": [
            part("tool_result", tool_use_id="b", content=[part("text", text=json.dumps(MADE))])
        ],
    },
    {"role": "assistant", "content": "Here it is."},
]
LANGCHAIN = [
    part("human", content=FIRST),
    part("ai", content="", tool_calls=[{"name": "create_ticket", "args": OPEN, "id": "a"}]),
    part("tool", content=json.dumps(MADE), tool_call_id="a"),
    part("ai", content="Done.", usage_metadata={"input_tokens": 5, "output_tokens": 2}),
    part("human", content=SECOND),
    {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "AIMessage"],
        "kwargs": {
            "content": "",
            "additional_kwargs": {"tool_calls": [call("b", "get_ticket", ticket_id=1)]},
        },
    },
    part("tool", data={"content": json.dumps(MADE), "tool_call_id": "b"}),
    part("ai", content="Here it is."),
]


def attribute(name: str, value: Any) -> dict[str, Any]:
    """Return an attribute in OTLP's form."""
    kind = "intValue" if isinstance(value, int) else "stringValue"
    return {"key": name, "value": {kind: value}}


def span(number: int, **attributes: Any) -> dict[str, Any]:
    """Return a span of a chat."""
    times = {"startTimeUnixNano": str(number * 10**9), "endTimeUnixNano": (number + 1) * 10**9}
    named = {name.replace("__", "."): value for name, value in attributes.items()}
    return {
        "traceId": f"t{number // 2}",
        **times,
        "attributes": [attribute(name, value) for name, value in named.items()],
    }


def openai() -> Any:
    """Return a trace with messages."""
    return {"messages": chat(), "metadata": {"entry": "desk_0", "trial": 0}}


def otel() -> Any:
    """Return a document of two spans."""
    asked = [{"role": "user", "parts": [part("text", content="Hello.")]}]
    said = [{"role": "assistant", "parts": [part("text", content="Hello.")]}]
    texts = {"gen_ai__input__messages": json.dumps(asked)}
    texts["gen_ai__output__messages"] = json.dumps(said)
    spans = [span(number, turnwise__entry="desk_0", **texts) for number in (0, 1)]
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


def langsmith() -> Any:
    """Return one run."""
    return [
        {
            "id": "r",
            "run_type": "llm",
            "start_time": "2026-01-01T00:00:00",
            "end_time": "2026-01-01T00:00:01",
            "inputs": {"messages": LANGCHAIN[:1]},
            "outputs": {"choices": [{"message": {"role": "assistant", "content": "Hello."}}]},
            "tags": ["entry:desk_0"],
        }
    ]


def inspect() -> Any:
    """Return a log of one sample."""
    return {"samples": [{"id": "desk_0", "epoch": 1, "messages": chat()}]}
