"""Microseconds a call to read replies of every family: ``python -m tests.benchmarks.protocols``.

Each reply has words and two calls, one where the family has room for no more: of every function,
all of its arguments given.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from envs import registry
from envs.calls import Call
from extensions.formats.registry import PROTOCOLS
from runner.models.calling_formats.format_types import NativeFormat, TextFormat
from runner.models.toolbox import Document, FunctionNameMapping, as_tool, own_documents

ROUNDS = 7
_VALUES: dict[str, Any] = {"integer": 5, "number": 2.5, "boolean": True, "array": ["a", "b"]}


def main() -> None:
    """Print a line for each family."""
    documents = _documents()
    for protocol in PROTOCOLS.values():
        if not isinstance(protocol, NativeFormat):
            print(f"{protocol.name:16} {microseconds(protocol, documents):5.1f} us a call")


def microseconds(
    protocol: TextFormat, documents: Sequence[Document], rounds: int = ROUNDS
) -> float:
    """Return the CPU time of reading one call, in the fastest of some rounds."""
    calls = [Call(each["name"], (), _arguments(each)) for each in documents]
    size = 2 if protocol.parallel else 1
    replies = [
        protocol.write(calls[place : place + size], "I look it up.", documents)
        for place in range(0, len(calls), size)
    ]
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        read = [call for reply in replies for call in protocol.read(reply, documents)]
        times.append(time.process_time() - begin)
        assert len(read) == len(calls)
    return min(times) / len(calls) * 1e6


def _documents() -> list[Document]:
    own = own_documents(registry.names())
    names = FunctionNameMapping(each["name"] for each in own)
    return [as_tool(each, names)["function"] for each in own]


def _arguments(document: Document) -> dict[str, Any]:
    schemas = document["parameters"]["properties"]
    return {name: _VALUES.get(schema.get("type"), "some text") for name, schema in schemas.items()}


if __name__ == "__main__":
    main()
