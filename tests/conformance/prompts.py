"""Conversations as raw protocols render them, beside the prompts that BFCL's handlers make of them.

Each handler is put made-up conversations. What is said of functions is in words of our own, so that
the comparison begins with what the user says first: from there on, all characters are compared.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from envs.calls import Call
from extensions.formats.registry import PROTOCOLS
from runner.models.calling_formats.format_types import NativeFormat, TextFormat
from runner.models.model_types import ChatMessage
from tests.conformance.handlers import TEXTS, WORDS, asked_of_bfcl

CONVERSATIONS = 1_000
"""How many each handler is put."""
FUNCTION = {
    "name": "zone",
    "description": "Tell the zone.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": []},
}
_IDS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_SHOWN = re.compile(r"\[AVAILABLE_TOOLS\].*?\[/AVAILABLE_TOOLS\]", re.DOTALL)
_RESULT = re.compile(r"(?<=\[TOOL_RESULTS\])\{.*?\}(?=\[/TOOL_RESULTS\])", re.DOTALL)


class Family(NamedTuple):
    """One handler, and the protocol that renders the same."""

    handler: str
    protocol: str
    theirs: Callable[[str], str] = str
    """Makes our prompt of BFCL's, where they differ in a way that is meant."""
    reason: str = ""
    """Why they do."""


class Asked(NamedTuple):
    """One conversation."""

    theirs: Sequence[ChatMessage]
    """As BFCL's handlers keep it."""
    ours: Sequence[ChatMessage]


def _mistral(prompt: str) -> str:
    prompt = _SHOWN.sub("", prompt)
    return _RESULT.sub(lambda found: json.dumps(json.loads(found[0]), ensure_ascii=False), prompt)


def _granite(prompt: str) -> str:
    role = "<|start_of_role|>{}<|end_of_role|>"
    prompt = prompt.replace(role.format("tool"), role.format("tool_response"))
    return prompt + role.format("assistant")


def _on_lines(prompt: str) -> str:
    return prompt.replace("<|im_end|><|im_start|>", "<|im_end|>\n<|im_start|>")


FAMILIES = (
    Family("qwen_fc.QwenFCHandler", "hermes-raw"),
    Family("qwen.QwenHandler", "hermes-raw"),
    Family("llama_3_1.LlamaHandler_3_1", "llama_json-raw"),
    Family("phi_fc.PhiFCHandler", "phi-raw"),
    Family("hammer.HammerHandler", "xlam-raw"),
    Family(
        "salesforce_qwen.SalesforceQwenHandler",
        "xlam-raw",
        _on_lines,
        "ChatML has a line break between messages, which BFCL leaves out here",
    ),
    Family(
        "mistral_fc.MistralFCHandler",
        "mistral",
        _mistral,
        "functions stand first, so that a conversation only grows, and JSON escapes no letters; in "
        "BFCL they stand before the last message",
    ),
    Family(
        "granite_3.Granite3FCHandler",
        "granite-raw",
        _granite,
        "results are tool_response, and the reply has its role; in BFCL tool, and none",
    ),
)


def run(python: Path, seed: int, count: int = CONVERSATIONS) -> int:
    """Compare all handlers, print what differs; return the number of differences."""
    return sum(_compare(python, family, seed, count) for family in FAMILIES)


def conversations(family: Family, seed: int, count: int) -> list[Asked]:
    """Return made-up conversations of a family."""
    protocol = PROTOCOLS[family.protocol]
    assert not isinstance(protocol, NativeFormat)
    random = Random(f"{family.handler}/prompts/{seed}")
    return [_conversation(protocol, random) for _ in range(count)]


def rendered(family: Family, asked: Asked) -> str:
    """Return our prompt from the user's first words; functions may stand before them."""
    protocol = PROTOCOLS[family.protocol]
    assert not isinstance(protocol, NativeFormat)
    assert protocol.frame is not None
    prompt = protocol.frame.render(asked.ours).removeprefix(protocol.frame.begin)
    return prompt.removeprefix(protocol.frame.roles["user"][0])


def _conversation(protocol: TextFormat, random: Random) -> Asked:
    theirs: list[ChatMessage] = []
    ours: list[ChatMessage] = []

    def both(role: str, content: str) -> None:
        theirs.append({"role": role, "content": content})
        ours.append({"role": role, "content": content})

    for turn in range(random.randint(1, 3)):
        if turn:
            both("assistant", _text(random))
        both("user", _text(random))
        for _ in range(random.choice((0, 1, 1, 2))):
            calls = [_call(random) for _ in range(random.choice((1, 1, 2, 3)))]
            ids = ["".join(random.choices(_IDS, k=9)) for _ in calls]
            said, results = _said(protocol, calls, ids), [_text(random) for _ in calls]
            both("assistant", said)
            theirs += [
                {"role": "tool", "name": call.name, "tool_call_id": id, "content": result}
                for call, id, result in zip(calls, ids, results, strict=True)
            ]
            ours += protocol.answer(calls, results, said)
    return Asked(theirs, ours)


def _said(protocol: TextFormat, calls: Sequence[Call], ids: Sequence[str]) -> str:
    """Return calls as the models write them whose conversations BFCL renders."""
    if protocol.name != "mistral":
        return protocol.write(calls, "", [FUNCTION])
    listed = [
        {"name": call.name, "arguments": dict(call.kwargs), "id": id}
        for call, id in zip(calls, ids, strict=True)
    ]
    return f"[TOOL_CALLS]{json.dumps(listed)}"


def _call(random: Random) -> Call:
    return Call("zone", (), {"city": random.choice(TEXTS)})


def _text(random: Random) -> str:
    """Return a text that neither begins nor ends with a blank, as chats are stripped."""
    return f"{random.choice(WORDS)} {random.choice(TEXTS)}".strip() or "Go on."


def _compare(python: Path, family: Family, seed: int, count: int) -> int:
    asked = conversations(family, seed, count)
    put: list[dict[str, Any]] = [
        {"messages": each.theirs, "functions": [FUNCTION]} for each in asked
    ]
    different = equal = 0
    for each, prompt in zip(asked, asked_of_bfcl(python, family.handler, put), strict=True):
        ours = rendered(family, each)
        if same(family, prompt, ours):
            equal += 1
            continue
        different += 1
        print(f"DIFFERENT {family.handler} prompt: expected {prompt!r}, got {ours!r}")
    note = f"; but for: {family.reason}" if family.reason else ""
    print(f"prompts {family.handler} as {family.protocol}: {equal} of {count} equal{note}")
    return different


def same(family: Family, prompt: str | None, ours: str) -> bool:
    """Tell whether BFCL's prompt ends as ours, from what the user says first."""
    return prompt is not None and family.theirs(prompt).endswith(ours)
