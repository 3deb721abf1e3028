"""Functions whose names a family cannot write are renamed, and calls come back as the real ones."""

from __future__ import annotations

import json

import pytest

from checkers.profile import STRICT
from envs.calls import Call
from envs.errors import MalformedCall
from envs.results import Result
from extensions.formats.registry import PROTOCOLS
from runner.models.calling_formats.format_types import TextFormat
from runner.models.conversation import ConversationSettings, conversation_of
from runner.models.model_types import Reply, Usage
from runner.models.prompting import read_prompts
from runner.models.toolbox import Toolbox
from trajectories.schema import Message

_SCHEMA = {"type": "dict", "properties": {"city": {"type": "string", "description": "A city."}}}
NAMES = ("maps.get-route", "2fa-login", "a" * 80, "plain")
DOCUMENTS = [{"name": n, "description": "Do it.", "parameters": _SCHEMA} for n in NAMES]
WRITTEN = [each for each in PROTOCOLS.values() if isinstance(each, TextFormat)]


@pytest.mark.parametrize("protocol", WRITTEN, ids=lambda protocol: protocol.name)
@pytest.mark.parametrize("place", range(len(NAMES)))
def test_calls_come_back_as_the_real_ones(protocol: TextFormat, place: int) -> None:
    assert STRICT.replies.answers_unreadable_steps
    style = ConversationSettings(Toolbox(DOCUMENTS), read_prompts(), "all", protocol=protocol)
    chat = conversation_of(style, "fc")
    chat.start_turn([Message("user", "Go.")], frozenset(NAMES), ())
    shown = chat._documents[place]["name"]  # type: ignore[attr-defined]
    assert shown in str(chat.messages[0]["content"])
    text = protocol.write([Call(shown, (), {"city": "Oslo"})], "", chat._documents)  # type: ignore[attr-defined]
    step = chat.read(Reply(text, (), None, "stop", Usage(), 0.0))
    assert step == [{NAMES[place]: json.dumps({"city": "Oslo"})}]
    chat.observe([Call(NAMES[place], (), {"city": "Oslo"})], [Result.refused(MalformedCall("no"))])
