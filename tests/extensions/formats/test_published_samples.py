"""Samples that model families publish: each gives exactly its calls."""

from __future__ import annotations

import json

import pytest

from envs.calls import Call
from tests.extensions.formats.making import WRITTEN

DOCUMENTS = [
    {
        "name": name,
        "description": "A function.",
        "parameters": {
            "type": "object",
            "properties": {key: {"type": "string"} for key in parameters},
            "required": list(parameters),
        },
    }
    for name, parameters in {
        "get_current_weather": ("location", "unit"),
        "track": ("symbol",),
        "text-to-speech": ("text",),
    }.items()
]
WEATHER = [Call("get_current_weather", (), {"location": "beijing", "unit": "celsius"})]
FENCE = '```python\ntool_call(location="beijing", unit="celsius")\n```'
MESSAGE = {"role": "assistant", "metadata": "get_current_weather", "content": f" {FENCE}"}


@pytest.mark.parametrize("name", ["chatglm3", "chatglm3-raw"])
@pytest.mark.parametrize(
    ("text", "calls"),
    [
        # The training sample: a sentence, and then the call in a second message.
        (f"好的\uff0c让我们来查看今天的天气\n<|assistant|>get_current_weather\n{FENCE}", WEATHER),
        (f"I look it up.\n<|assistant|> get_current_weather\n {FENCE}", WEATHER),
        (f"get_current_weather\n{FENCE}", WEATHER),
        (json.dumps(MESSAGE), WEATHER),
        (
            "track\n ```python\ntool_call(symbol='10111')\n```",
            [Call("track", (), {"symbol": "10111"})],
        ),
        (
            "text-to-speech\n```python\ntool_call(text='Hi')\n```",
            [Call("text-to-speech", (), {"text": "Hi"})],
        ),
        ("根据查询结果\uff0c今天北京的气温为 22 摄氏度。", []),
    ],
)
def test_the_samples_of_chatglm3(name: str, text: str, calls: list[Call]) -> None:
    assert WRITTEN[name].read(text, DOCUMENTS) == calls
