from __future__ import annotations

import json
from dataclasses import replace

import pytest

from checkers.required_info import Date, Items, Number, Text, YesNo
from envs.errors import DataError
from trajectories.record_validation import to_json, validate
from trajectories.schema import AlternativeRead, Category, LongContextSettings

WHERE = "file.jsonl:7"


def test_a_trajectory_comes_back_from_its_json(help_desk, folders):
    long = replace(
        folders,
        category=Category.LONG_CONTEXT,
        excluded=("rm",),
        long_context=LongContextSettings("generated", 3, 10),
        provenance={"source": "by hand"},
    )
    alternative = AlternativeRead("get_ticket(ticket_id=1)", ("get_user_tickets()",))
    last = replace(help_desk.turns[2], accepts=(alternative,))
    accepting = replace(help_desk, turns=(*help_desk.turns[:2], last))
    for trajectory in (help_desk, folders, long, accepting):
        line = json.dumps(to_json(trajectory))
        assert validate(json.loads(line), WHERE) == trajectory


def test_a_turn_with_more_calls_than_an_episode_may_make_is_refused(folders):
    entry = json.loads(json.dumps(to_json(folders)))
    entry["turns"][0]["ground_truth"] = ["pwd()"] * 201
    with pytest.raises(DataError, match=r"turns\[0\]: has more than 200 calls"):
        validate(entry, WHERE)


@pytest.mark.parametrize("field", ["environments", "turns", "tags"])
def test_a_text_in_place_of_a_list_is_said_to_be_no_list(help_desk, field):
    entry = json.loads(json.dumps(to_json(help_desk))) | {field: "TicketAPI"}
    with pytest.raises(DataError, match=rf"\$\.{field}: input should be a valid list$"):
        validate(entry, WHERE)


def test_an_entry_with_more_expected_calls_than_an_episode_may_make_is_refused(single_turn):
    document = {"name": "f", "description": "F", "parameters": {"type": "dict", "properties": {}}}
    entry = json.loads(json.dumps(to_json(single_turn("python", document, {"f": {}}))))
    assert validate(entry, WHERE).known_calls == 1
    entry["expects"]["answers"] *= 201
    with pytest.raises(DataError, match=r"turns\[0\]: has more than 200 calls"):
        validate(entry, WHERE)


FACTS = (
    Number(5),
    Number(26.4172, "gallon", decimals=2, tolerance=0.5),
    Text("Open"),
    Text("BOS", ("Boston",)),
    Items(("a", 2, 2.5), ordered=True),
    YesNo(False, ("locked",), ("ajar",), "rear left"),
    Date("2024-06-01"),
)


def telling(help_desk, *facts):
    turns = (replace(help_desk.turns[0], tells=facts), *help_desk.turns[1:])
    return replace(help_desk, turns=turns)


def test_what_the_user_is_told_comes_back_as_it_was(help_desk):
    line = json.dumps(to_json(telling(help_desk, *FACTS)))
    assert validate(json.loads(line), WHERE).turns[0].tells == FACTS


def test_a_fact_is_written_without_members_at_their_default(help_desk):
    [number, _, text, *_] = to_json(telling(help_desk, *FACTS))["turns"][0]["tells"]
    assert (number, text) == ({"number": 5}, {"text": "Open"})


@pytest.mark.parametrize(
    ("fact", "message"),
    [
        ({}, "Number.number: field required"),
        ({"number": "x"}, "Number.number"),
        ({"number": 5, "units": "USD"}, "Number.units: unknown field"),
        ({"number": 5, "text": "five"}, "Number.text: unknown field"),
        ({"number": 5, "decimals": -1}, "Number: value error, `decimals` must be"),
        ({"text": 5}, "Text.text: "),
        ({"items": [None]}, "Items.items[0]"),
        ({"items": []}, "Items: value error, `items` is empty"),
        ({"yes": True}, "YesNo.about: field required"),
        ({"yes": True, "about": "locked"}, "YesNo.about: "),
        ({"date": "1 June"}, "Date: value error, `date` must have the form 2024-06-01"),
    ],
)
def test_a_fact_of_no_kind_is_refused_as_the_kind_that_it_is_nearest_to(help_desk, fact, message):
    entry = changed(to_json(help_desk), ["turns", 0, "tells"], [fact])
    with pytest.raises(DataError) as caught:
        validate(entry, WHERE)
    assert str(caught.value).startswith(f"{WHERE}: $.turns[0].tells[0].{message}")


def test_members_at_their_default_are_left_out(help_desk):
    shown = to_json(help_desk)
    assert list(shown) == ["id", "category", "environments", "config", "turns"]
    assert [list(turn) for turn in shown["turns"]] == [
        ["messages", "ground_truth"],
        ["messages", "ground_truth"],
        ["messages", "ground_truth", "offers"],
    ]


def changed(entry, path, value):
    """Put a value at a path of an entry; ... takes out what is there."""
    *way, last = path
    here = entry
    for step in way:
        here = here[step]
    if value is ...:
        del here[last]
    else:
        here[last] = value
    return entry


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["id"], ..., "$.id: "),
        (["id"], 5, "$.id: "),
        (["id"], None, "$.id: "),
        (["category"], "bse", "$.category: "),
        (["environments"], "TicketAPI", "$.environments: "),
        (["environments", 0], 1, "$.environments[0]: "),
        (["config"], [], "$.config: "),
        (["config", "TicketAPI"], 1, "$.config.TicketAPI: "),
        (["turns"], ..., "$.turns: "),
        (["turns"], [], "$.turns: must have at least one turn"),
        (
            ["turns"],
            [{"messages": [], "ground_truth": []}] * 101,
            "$.turns: must have at most",
        ),
        (["turns", 1], "text", "$.turns[1]: "),
        (["turns", 1, "ground_truth"], ..., "$.turns[1].ground_truth: "),
        (["turns", 0, "ground_truth"], "f()", "$.turns[0].ground_truth: "),
        (["turns", 0, "ground_truth", 0], None, "$.turns[0].ground_truth[0]: "),
        (["turns", 0, "messages", 0, "role"], "tool", "$.turns[0].messages[0].role: "),
        (["turns", 0, "messages", 0, "content"], None, "$.turns[0].messages[0].content: "),
        (["turns", 0, "messages", 0, "extra"], 1, "$.turns[0].messages[0].extra: "),
        (["turns", 2, "offers"], "close_ticket", "$.turns[2].offers: "),
        (["turns", 2, "offer"], [], "$.turns[2].offer: "),
        (
            ["turns", 2, "accepts"],
            [{"call": "get_ticket(ticket_id=2)", "instead": ["get_user_tickets()"]}],
            "$.turns[2].accepts[0].call: is not a ground-truth call of this turn",
        ),
        (
            ["turns", 2, "accepts"],
            [{"call": "get_ticket(ticket_id=1)", "instead": []}],
            "$.turns[2].accepts[0].instead: must have at least one call",
        ),
        (
            ["turns", 2, "accepts"],
            [{"call": "get_ticket(ticket_id=1)", "instead": ["get_user_tickets()", "x"]}],
            "$.turns[2].accepts[0].instead[1]: ",
        ),
        (["turns", 2, "accepts"], [{"call": "f()"}], "$.turns[2].accepts[0].instead: "),
        (["unknown"], 1, "$.unknown: "),
        (["long_context"], {"source": "elsewhere"}, "$.long_context.source: "),
        (["long_context"], {"source": "generated", "seeds": 1}, "$.long_context.seeds: "),
        (["long_context"], {"source": "generated", "items": "many"}, "$.long_context.items: "),
        (["provenance"], {"source": 1}, "$.provenance.source: "),
    ],
)
def test_what_is_wrong_is_named_with_its_place_in_one_line(help_desk, path, value, message):
    entry = changed(to_json(help_desk), path, value)
    with pytest.raises(DataError) as caught:
        validate(entry, WHERE)
    text = str(caught.value)
    assert text.startswith(f"{WHERE}: {message}")
    assert "\n" not in text


def test_an_entry_that_is_nested_too_deep_for_json_is_refused(help_desk):
    deep = "x"
    for _ in range(300):
        deep = [deep]
    with pytest.raises(DataError, match="has a value that is nested too deep"):
        to_json(replace(help_desk, extensions={"x": {"deep": deep}}))
