from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NotRequired

import pytest
from typing_extensions import TypedDict

from envs.backend import Backend


class Room(TypedDict):
    size: int
    name: NotRequired[str]


class HouseConfig(TypedDict, total=False):
    colour: Literal["red", "blue"]
    rooms: list[Room]
    keys_by_door: dict[str, Room | None]
    height: float
    owner: str | None


class House(Backend):
    Config = HouseConfig

    @classmethod
    def references(cls, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        if config.get("owner") == "nobody":
            yield ".owner", "lives nowhere"
            yield "", "is haunted"


def problems(config):
    return [str(problem) for problem in House.check_config(config)]


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"colour": "red", "height": 3, "owner": None},
        {"rooms": [], "keys_by_door": {"front door": None}},
        {"rooms": [{"size": 1}, {"size": 2, "name": "x"}], "keys_by_door": {"a": {"size": 1}}},
    ],
)
def test_a_config_that_fits(config):
    assert problems(config) == []


@pytest.mark.parametrize(
    ("config", "found"),
    [
        ({"color": "red"}, ["$.House.color: unknown key; did you mean colour?"]),
        ({"zzz": 1}, ["$.House.zzz: unknown key; remove it"]),
        ({"a b": 1}, ["$.House['a b']: unknown key; remove it"]),
        ({"colour": "green"}, ["$.House.colour: input should be 'red' or 'blue', got 'green'"]),
        ({"height": "3"}, ["$.House.height: input should be a valid number, got '3'"]),
        ({"owner": 5}, ["$.House.owner: input should be a valid string, got 5"]),
        ({"rooms": {}}, ["$.House.rooms: input should be a valid list, got {}"]),
        ({"rooms": [{}]}, ["$.House.rooms[0].size: is missing"]),
        (
            {"rooms": [{"size": 1}, {"size": "x" * 100, "nam": ""}]},
            [
                f"$.House.rooms[1].size: input should be a valid integer, got '{'x' * 56}...",
                "$.House.rooms[1].nam: unknown key; remove it",
            ],
        ),
        (
            {"rooms": [{"size": True}]},
            ["$.House.rooms[0].size: input should be a valid integer, got True"],
        ),
        (
            {"keys_by_door": {"front door": {"size": None}}},
            ["$.House.keys_by_door['front door'].size: input should be a valid integer, got None"],
        ),
        ({"owner": "nobody"}, ["$.House.owner: lives nowhere", "$.House: is haunted"]),
        (
            {"owner": "nobody", "height": ""},
            ["$.House.height: input should be a valid number, got ''"],
        ),
    ],
)
def test_a_config_that_does_not_fit(config, found):
    assert problems(config) == found


@pytest.mark.parametrize("config", [None, [], "x", 5])
def test_a_config_that_is_no_object(config):
    [problem] = problems(config)
    assert problem == f"$.House: input should be a valid dictionary, got {config!r}"


def test_a_backend_checks_its_own_config():
    assert [str(problem) for problem in House.check_config({"zzz": 1})] == [
        "$.House.zzz: unknown key; remove it"
    ]
