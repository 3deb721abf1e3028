"""What the name of a model stands for."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs.errors import DataError
from runner.models.model_name import (
    AgentName,
    LiveName,
    ModelName,
    NullName,
    OracleName,
    ReplayName,
    ScriptedName,
    agent_name,
    parse_model_name,
    parse_user_model_name,
)


@pytest.mark.parametrize(
    "expected",
    [
        OracleName("oracle"),
        NullName("null"),
        ScriptedName("scripted:0.1"),
        ReplayName("replay:/a b/c:d"),
        AgentName("python:my_agent:answer"),
        LiveName("gpt-4o"),
        LiveName("anthropic/claude"),
        LiveName("llama3:8b"),
    ],
    ids=lambda model: model.text,
)
def test_a_name_is_of_one_type(expected: ModelName) -> None:
    for found in (parse_user_model_name(expected.text, None), parse_model_name(expected.text)):
        assert found == expected
        assert type(found) is type(expected)


def test_a_name_has_an_argument() -> None:
    replay = parse_model_name("replay:/a b/c:d")
    assert isinstance(replay, ReplayName)
    assert replay.path == Path("/a b/c:d")
    assert parse_model_name("scripted:0.1,tools=0.2").argument == "0.1,tools=0.2"
    assert parse_model_name(agent_name("mine:answer")).argument == "mine:answer"


def test_who_is_asked_and_where() -> None:
    names = ("oracle", "null", "scripted:0", "replay:x", "python:a:b", "gpt-4o")
    assert [parse_model_name(name).is_live for name in names] == [False] * 4 + [True] * 2
    assert [parse_model_name(name).is_hosted for name in names] == [False] * 5 + [True]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "'' names no model"),
        ("replay:", "'replay:' names no model"),
        ("oracl", "'oracl': did you mean oracle?"),
        ("Oracle", "'Oracle': did you mean oracle?"),
        ("nul", "'nul': did you mean null?"),
    ],
)
def test_a_name_that_is_nearly_another_is_refused(name: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        parse_user_model_name(name, None)
    assert str(caught.value) == f"--model: {message}"


def test_a_server_may_have_a_model_of_any_name() -> None:
    assert parse_user_model_name("oracl", "http://127.0.0.1:1/v1") == LiveName("oracl")
