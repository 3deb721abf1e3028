"""What a turn waits for, by name."""

from __future__ import annotations

from dataclasses import replace

from checkers.required_info import Text
from trajectories.missing_information import list_missing_names
from trajectories.schema import Message, Turn


def test_functions_that_come_later_are_named_with_what_they_do(help_desk) -> None:
    names = [list_missing_names(help_desk, turn) for turn in range(3)]
    assert (names[0], names[2]) == ([], [])
    assert names[1][0] == "close ticket"
    assert "ticket" in names[1][1]


def test_a_value_that_comes_later_is_named_by_its_parameter(folders) -> None:
    turns = (
        Turn((Message("user", "Make a folder here."),), ()),
        Turn((Message("user", "Call it drafts."),), ("mkdir(dir_name='drafts')",)),
    )
    name, description = list_missing_names(replace(folders, turns=turns), 0)
    assert name == "dir name"
    assert "director" in description.lower()


def test_where_both_are_missing_each_is_waited_for_in_its_turn(folders) -> None:
    turns = (
        Turn((Message("user", "Make a folder here."),), ()),
        Turn((Message("user", "Call it drafts."),), ()),
        Turn((), ("mkdir(dir_name='drafts')",), ("mkdir",)),
    )
    made = replace(folders, turns=turns)
    assert [(list_missing_names(made, turn) or [""])[0] for turn in range(3)] == [
        "dir name",
        "mkdir",
        "",
    ]


def test_a_turn_that_has_all_it_needs_waits_for_nothing(folders) -> None:
    for turn in range(len(folders.turns)):
        assert list_missing_names(folders, turn) == []
    question = Turn((Message("user", "Where were we at first?"),), (), tells=(Text("home"),))
    assert list_missing_names(replace(folders, turns=(question, *folders.turns)), 0) == []
    idle = Turn((Message("user", "Thanks!"),), ())
    assert (
        list_missing_names(replace(folders, turns=(*folders.turns, idle)), len(folders.turns)) == []
    )
