"""Structured data from texts: every wrong, missing or invented field fails, and is named."""

from __future__ import annotations

import json
from copy import deepcopy

import pytest
import turnwise

from checkers.profile import STRICT
from extensions.extraction.fields import compare_fields
from runner.data.dataset_choice import load_dataset
from runner.episodes.single_turn import oracle_step
from tests.runner.commands.running import run as run_command

ITEMS = {"items": [[{"name": ["pen", "pens"], "count": [2]}, {"name": ["ink"], "count": [""]}]]}


@pytest.fixture(scope="module")
def entries():
    """The texts with their right calls: the name of the function, and the arguments."""
    found = load_dataset("extraction").trajectories.values()
    calls = [(entry, oracle_step(entry, STRICT)[0]) for entry in found]
    return [(entry, *next(iter(call.items()))) for entry, call in calls]


def verdict(entry, name, arguments):
    """Judge one call."""
    return turnwise.judge(entry, turns=[[[{name: arguments}]]])


def places(value, path=()):
    """Yield the path of each scalar in a value."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from places(member, (*path, name))
    elif isinstance(value, list):
        for place, member in enumerate(value):
            yield from places(member, (*path, place))
    else:
        yield path


def changed(value, path, change):
    """Return a value with a change at a path."""
    made = deepcopy(value)
    holder = made
    for step in path[:-1]:
        holder = holder[step]
    change(holder, path[-1])
    return made


def spoil(holder, key):
    """Replace a scalar by a wrong one."""
    value = holder[key]
    holder[key] = (
        (not value) if isinstance(value, bool) else 7.7 if not isinstance(value, str) else "zz"
    )


def remove(holder, key):
    """Remove a field or an item."""
    del holder[key]


def test_each_field_counts(entries):
    for entry, name, text in entries:
        arguments = json.loads(text)
        right = verdict(entry, name, arguments)
        assert right.valid
        assert right.measures["extraction.right"] == right.measures["extraction.fields"] > 3
        for path in places(arguments):
            for change in (spoil, remove):
                wrong = verdict(entry, name, changed(arguments, path, change))
                assert not wrong.valid, (entry.id, path, change)
                assert wrong.measures["extraction.right"] < right.measures["extraction.right"]
                assert str(path[0]) in wrong.failure.evidence.parameter


def test_a_field_that_the_text_does_not_state_must_be_left_out(entries):
    [found] = [each for each in entries if each[0].id == "extraction_dentist_mail"]
    entry, name, text = found
    arguments = json.loads(text)
    assert verdict(entry, name, {**arguments, "phone": None}).valid
    invented = verdict(entry, name, {**arguments, "phone": "555 0100"})
    assert not invented.valid
    assert invented.measures["extraction.invented"] == 1
    assert invented.failure.evidence.message == "the text does not state this field"
    old = verdict(entry, name, {**arguments, "date": "2024-07-09", "time": "10:15"})
    assert old.measures["extraction.fields"] - old.measures["extraction.right"] == 2


@pytest.mark.parametrize(
    ("given", "fields", "right", "invented"),
    [
        ([{"name": "Ink"}, {"name": " PENS.", "count": 2.0}], 4, 4, 0),
        ([{"name": "pen", "count": 2}], 4, 3, 0),
        ([{"name": "pen", "count": "2"}, {"name": "ink"}], 4, 3, 0),
        ([{"name": "pen", "count": True}, {"name": "ink"}], 4, 3, 0),
        ([{"name": "pen", "count": 2}, {"name": "ink"}, {"name": "cap"}], 5, 4, 1),
        ([{"name": "pen", "count": 2, "colour": "red"}, {"name": "ink"}], 5, 4, 1),
        ("pen, ink", 4, 1, 0),
        (None, 4, 1, 0),
    ],
)
def test_lists_are_compared_in_any_order(given, fields, right, invented):
    found = compare_fields(ITEMS, {"items": given})
    assert (found.fields, found.right, found.invented) == (fields, right, invented)


def test_one_call_of_the_function_is_right(entries):
    entry, name, text = entries[0]
    call = {name: text}
    assert turnwise.judge(entry, turns=[[[call]]]).valid
    assert not turnwise.judge(entry, turns=[[[call, call]]]).valid
    assert not turnwise.judge(entry, turns=[[[{"record_thing": text}]]]).valid
    silent = turnwise.judge(entry, turns=[["I recorded the invoice."]])
    assert not silent.valid
    assert silent.measures["extraction.right"] == 0


def test_eval_shows_the_share_of_right_fields(capsys):
    assert run_command("eval", "--model", "oracle", "--dataset", "extraction") == 0
    said = capsys.readouterr().out
    assert "fields right: 100.0%, invented fields 0" in said
    assert run_command("eval", "--model", "null", "--dataset", "extraction") == 0
    assert "fields right: 0.0%" in capsys.readouterr().out
