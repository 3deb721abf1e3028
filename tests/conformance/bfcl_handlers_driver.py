"""Reads replies, and writes prompts, with BFCL's own handlers; run by the interpreter that has it.

Reads one question per line on standard input and writes one answer per line, both as JSON:

    {"handler": "qwen_fc.QwenFCHandler", "text"}    [[name, arguments], ...], or null where it fails
    {"handler", "messages", "functions"}            the prompt, or null where it fails
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from importlib import import_module
from types import SimpleNamespace
from unittest.mock import MagicMock

_PLACE = "bfcl_eval.model_handler.local_inference"
_MOST_MISSING = 60


def main() -> None:
    """Answer lines until standard input ends."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever BFCL prints must not get between the replies
    handlers: dict = {}
    for line in sys.stdin:
        question = json.loads(line)
        name = question["handler"]
        if name not in handlers:
            handlers[name] = handler(name)
        made = handlers[name]
        if "messages" in question:
            said = prompt(made, question["messages"], question["functions"])
        else:
            said = answer(made, question["text"])
        replies.write(json.dumps(said) + "\n")
    replies.flush()


def handler(name: str) -> object:
    """Return a handler by its module and class, with stand-ins for what it asks servers with."""
    module, _, wanted = name.partition(".")
    for _ in range(_MOST_MISSING):
        try:
            made = getattr(import_module(f"{_PLACE}.{module}"), wanted)
            return made("a/model", 0.0, "a-model", True)
        except ModuleNotFoundError as error:
            sys.modules[error.name] = _stand_in()
    raise SystemExit(f"{name} needs more than {_MOST_MISSING} other packages")


def _stand_in() -> MagicMock:
    """Return what stands for a package that only requests need."""
    package = MagicMock()
    package.EnforceOverrides = type("EnforceOverrides", (), {})
    package.override = package.overrides = package.final = lambda function: function
    return package


def answer(made: object, text: str) -> list | None:
    """Return the calls in a reply, None where there are none that can be read."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            # As after a request: a server's answer is taken apart, and what is left is decoded.
            usage = SimpleNamespace(prompt_tokens=1, completion_tokens=1)
            said = SimpleNamespace(choices=[SimpleNamespace(text=text)], usage=usage)
            parsed = made._parse_query_response_prompting(said)
            found = made.decode_ast(parsed["model_responses"], "python", False)
        calls = [[name, given] for call in found for name, given in call.items()]
        json.dumps(calls)
    except Exception:
        return None
    return calls


def prompt(made: object, messages: list, functions: list) -> str | None:
    """Return a conversation as the model is put it, None where there is no such thing."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            text = made._format_prompt(messages, functions)
    except Exception:
        return None
    return text if isinstance(text, str) else None


if __name__ == "__main__":
    main()
