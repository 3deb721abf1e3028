"""A setting that is declared is an option, a key of a file, part of the definition, and sent."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import pytest

from envs.errors import DataError
from runner.commands.eval_options import given_settings, make_options
from runner.commands.options import build_parser, parse
from runner.live import run_settings as live
from runner.live.run_settings import Settings, read_settings
from runner.models import agent_model
from runner.models.agent_model import refuse_options
from runner.models.model_types import RequestOptions
from runner.models.settings import (
    LiveSettings,
    declare,
    get_info,
    list_definition_settings,
)
from runner.records.json_codec import read
from runner.records.run_definition import ModelSettings, recorded_settings_class

USUAL = Settings().defining().to_json()


@dataclass(frozen=True, kw_only=True)
class Fake:
    """Settings of a test."""

    fancy: Literal["on", "off"] | None = declare("whether it is fancy", sent="provider", place=99)
    depth: int | None = declare("how deep", "N", least=2, sent="sampling", place=98)
    pushes: bool = declare("defines nothing", default=False)


@dataclass(frozen=True, kw_only=True)
class More(Fake, Settings):
    """The settings and those of the test."""


class MoreAsked(recorded_settings_class(More)):  # type: ignore[misc]
    """What defines a run by them."""

    to_json = ModelSettings.to_json


@pytest.fixture
def more(monkeypatch: pytest.MonkeyPatch) -> type[More]:
    """Let everything know of the further settings."""
    monkeypatch.setattr(live, "ModelSettings", MoreAsked)
    monkeypatch.setattr(live, "Settings", More)
    monkeypatch.setattr(agent_model, "LiveSettings", More)
    return More


def typed(*words: str) -> Any:
    """Return the options that a user typed."""
    record = make_options(Fake)
    return parse(record, build_parser(record, "fake", "Test.", "turnwise fake"), words)


def test_a_setting_is_an_option_that_may_be_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert vars(typed()) == {"fancy": None, "depth": None, "pushes": None}
    assert (typed("--fancy", "on").fancy, typed("--depth", "4").depth) == ("on", 4)
    with pytest.raises(SystemExit):
        typed("--fancy", "maybe")
    assert "invalid choice: 'maybe' (choose from 'on', 'off')" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        typed("--help")
    assert "--depth N" in capsys.readouterr().out


@pytest.mark.usefixtures("more")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("fancy = 'maybe'", "fancy: input should be 'on' or 'off', got 'maybe'"),
        ("depth = 1", "depth: must be at least 2, got 1"),
        ("dept = 3", "dept: unknown key; did you mean depth?"),
    ],
)
def test_a_setting_is_a_key_of_a_file(line: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    path.write_text("fancy = 'off'\ndepth = 5\n", encoding="utf-8")
    found: Any = read_settings(path, {"depth": 6})
    assert (found.fancy, found.depth) == ("off", 6)
    path.write_text(line, encoding="utf-8")
    with pytest.raises(DataError) as info:
        read_settings(path, {})
    assert str(info.value) == f"{path}: {said}"


def test_a_setting_defines_a_run_where_it_has_a_place(more: type[More]) -> None:
    usual = more().defining().to_json()
    # A run of today's format says nothing of it, and is gone on with.
    assert usual == USUAL
    given = more(fancy="on", depth=4).defining()
    assert [*given.to_json()][-2:] == ["depth", "fancy"]
    assert read(MoreAsked, given.to_json(), "x") == given
    assert read(MoreAsked, usual, "x") == more().defining()


def test_a_setting_reaches_the_client_and_an_agent_refuses_it(more: type[More]) -> None:
    options = more(fancy="off", depth=4).request_options()
    assert (options.provider, options.sampling) == ({"fancy": False}, {"depth": 4})
    with pytest.raises(
        DataError, match="--depth: only servers use this option; change the code of python:m:f"
    ):
        refuse_options("python:m:f", options)
    with pytest.raises(DataError, match="--fancy: only servers use this option"):
        refuse_options("python:m:f", RequestOptions(provider={"fancy": False}))


def test_what_may_be_repeated_is_a_mapping_and_none_where_it_was_not_given() -> None:
    class Given:
        def __init__(self, **values: Any) -> None:
            vars(self).update(values)

    given = given_settings(Given(extra_headers=(("A", "b"),), errors_as=(), extra_body={}, seed=0))
    assert (given["extra_headers"], given["errors_as"]) == ({"A": "b"}, None)
    assert (given["extra_body"], given["seed"], given["mode"]) == ({}, 0, None)


def test_places_in_a_definition_are_each_of_one_setting() -> None:
    places = [get_info(member).place for member in fields(LiveSettings) if get_info(member).place]
    assert sorted(places) == [*range(1, len(places) + 1)]
    members = list_definition_settings(LiveSettings)
    assert [member.name for member in members] == [*ModelSettings._fields]
    assert [*USUAL] == [m.name for m in members if m.always]
