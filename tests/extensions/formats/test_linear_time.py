"""No reply takes long to be read, whatever it repeats."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from envs.calls import Call
from envs.errors import MalformedCall
from tests.extensions.formats.making import PIECES, WRITTEN, documents

LONG = 1_000_000
SECONDS = 0.5
CALL = Call("cat", (), {"file_name": "x"})
MORE = (
    *("<tool_call>{", "<function=f><parameter=a>", "[TOOL_CALLS]f", "Action: f\n", "[f(),"),
    *("f\n```python\n", "f(a=1)\n", '{"action":', '[{"name":', "<|tool_call>call:f{a:["),
    "<function_calls>\nf(a=1)\n",
)


def repeated(name: str) -> list[str]:
    """Return what a hostile reply may be made of: what the family writes, whole and in part."""
    written = WRITTEN[name].write([CALL], "", documents())
    cut = [written[:end] for end in range(4, len(written), 7)]
    return [written, f"{written}\n", *cut, *(piece for piece in PIECES if piece), *MORE]


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITTEN)
def test_a_million_characters_are_read_in_half_a_second(name: str) -> None:
    protocol = WRITTEN[name]
    slow = []
    for again in repeated(name):
        text = (again * (LONG // len(again) + 1))[:LONG]
        begin = time.process_time()
        with suppress(MalformedCall):
            protocol.read(text, documents())
        protocol.says(text)
        if time.process_time() - begin > SECONDS:
            slow.append(again)
    assert slow == []
