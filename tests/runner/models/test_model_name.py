"""What the name of a model stands for."""

from __future__ import annotations

import json
import pickle
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
    ids=str,
)
def test_a_name_is_of_one_type(expected: ModelName) -> None:
    found = parse_model_name(str(expected))
    found.check(None)
    assert found == expected
    assert type(found) is type(expected)


def test_a_name_has_an_argument() -> None:
    assert parse_model_name("replay:/a b/c:d").recording == Path("/a b/c:d")
    assert parse_model_name("oracle").recording is None
    assert parse_model_name("scripted:0.1,tools=0.2").argument == "0.1,tools=0.2"
    assert parse_model_name(agent_name("mine:answer")).argument == "mine:answer"


def test_who_is_asked_and_where() -> None:
    names = ("oracle", "null", "scripted:0", "replay:x", "python:a:b", "gpt-4o")
    assert [parse_model_name(name).is_live for name in names] == [False] * 4 + [True] * 2
    assert [parse_model_name(name).is_hosted for name in names] == [False] * 5 + [True]
    assert [name for name in names if parse_model_name(name).is_agent] == ["python:a:b"]


def test_how_an_offline_model_plays() -> None:
    names = ("oracle", "null", "scripted:0", "replay:x", "python:a:b", "gpt-4o")
    models = [parse_model_name(name) for name in names]
    assert [model for model in models if model.is_scripted] == ["scripted:0"]
    assert [model for model in models if model.takes_features] == ["oracle", "null"]
    assert [model for model in models if not model.makes_calls] == ["null"]
    assert [model for model in models if not model.plays_entries] == ["replay:x"]


def test_a_name_is_the_string_in_files() -> None:
    name = ScriptedName("scripted:0.1")
    assert json.loads(json.dumps({"model": name})) == {"model": "scripted:0.1"}
    again = pickle.loads(pickle.dumps(name))
    assert (again, type(again)) == (name, ScriptedName)
    assert type(str(name)) is str


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
        parse_model_name(name).check(None)
    assert str(caught.value) == f"--model: {message}"


def test_a_server_may_have_a_model_of_any_name() -> None:
    name = parse_model_name("oracl")
    name.check("http://127.0.0.1:1/v1")
    assert type(name) is LiveName
