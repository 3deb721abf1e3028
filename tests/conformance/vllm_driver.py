"""Reads replies with vLLM's own tool parsers; run by an interpreter that has vLLM.

Reads one question per line on standard input and writes one answer per line, both as JSON:

    {"parser": "hermes", "text", "functions"}    [[name, arguments], ...], or null where it fails
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
from unittest.mock import MagicMock


class _AnyToken(dict):
    """A vocabulary that has every token, each with a number of its own."""

    def __contains__(self, token: object) -> bool:
        return True

    def __missing__(self, token: str) -> int:
        return self.setdefault(token, len(self) + 1)

    def get(self, token: str, default: object = None) -> int:
        return self[token]


def main() -> None:
    """Answer lines until standard input ends."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever vLLM prints must not get between the replies
    logging.disable(logging.CRITICAL)
    for line in sys.stdin:
        question = json.loads(line)
        said = answer(question["parser"], question["text"], question["functions"])
        replies.write(json.dumps(said) + "\n")
    replies.flush()


def answer(name: str, text: str, functions: list) -> list | None:
    """Return the calls that a parser reads, None where there are none that can be read."""
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.tool_parsers import ToolParserManager

    tools = [{"type": "function", "function": each} for each in functions]
    asked = {"model": "m", "messages": [{"role": "user", "content": "Go."}], "tools": tools}
    try:
        with contextlib.redirect_stdout(sys.stderr):
            request = ChatCompletionRequest(**asked)
            # A parser keeps what it has read, so each reply has one of its own.
            parser = ToolParserManager.get_tool_parser(name)(_tokenizer(), request.tools)
            found = parser.extract_tool_calls(text, request=request)
        return [
            [call.function.name, json.loads(call.function.arguments)] for call in found.tool_calls
        ]
    except Exception:
        if os.environ.get("TURNWISE_DEBUG"):
            raise
        return None


def _tokenizer() -> MagicMock:
    """Return a stand-in: the text of a reply is read, whatever its tokens were."""
    tokenizer = MagicMock()
    tokenizer.get_vocab.return_value = tokenizer.vocab = _AnyToken()
    tokenizer.encode.side_effect = lambda text, *_, **__: [*text.encode()]
    return tokenizer


if __name__ == "__main__":
    main()
