from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest

from envs.errors import DataError
from extensions.authoring.making import build
from extensions.authoring.making.build import compose, long
from extensions.authoring.making.scenarios import (
    SCENARIOS,
    GeneratedItems,
    MissingFunction,
    MissingParameter,
    Scenario,
    read_scenario,
    read_scenarios,
)
from trajectories.long_context_generator import widen_config
from trajectories.schema import Category, Message, Turn

NAME = "files_ticket_disk_pressure"


@pytest.fixture
def scenarios(tmp_path):
    folder = tmp_path / "scenarios"
    folder.mkdir()
    shutil.copy(SCENARIOS / f"{NAME}.json", folder)
    return folder


@pytest.mark.slow
def test_the_committed_files_are_what_is_built():
    assert build.main(["--check"]) is None


def test_each_scenario_gives_a_trajectory_of_each_category():
    # The first reads nothing that there would be more of.
    names = ("files_thesis_chapters", NAME)
    built = build.build([read_scenario(SCENARIOS / f"{name}.json") for name in names])
    assert {category: len(members) for category, members in built.items()} == {
        Category.BASE: 2,
        Category.MISSING_PARAMETER: 2,
        Category.MISSING_FUNCTION: 2,
        Category.LONG_CONTEXT: 1,
        Category.COMPOSITE: 1,
    }
    for category, members in built.items():
        assert {t.category for t in members} == {category}


def test_what_is_withdrawn_is_not_built(scenarios, tmp_path):
    line = {"entry": f"composite_{NAME}", "reader": "A", "class": "wrong", "read": "0f"}
    reading = {**line, "reason": "a guess"}
    kept, gone = {**reading, "kept": "no guess"}, {**reading, "read": "1f", "withdrawn": "a guess"}
    record = tmp_path / "readings.jsonl"
    for lines, there in (([kept], 1), ([kept, gone], 0)):
        text = "".join(json.dumps(each) + "\n" for each in lines)
        record.write_text(text, encoding="utf-8")
        texts = build.texts(read_scenarios(scenarios), record=record)
        assert len(texts["composite.jsonl"].splitlines()) == there
        assert len(texts["long_context.jsonl"].splitlines()) == 1


@pytest.mark.slow
def test_files_are_written_and_checked(scenarios, tmp_path):
    places = (tmp_path, scenarios)
    source = scenarios / f"{NAME}.json"
    form = source.read_text(encoding="utf-8")
    source.write_text(json.dumps(json.loads(form)), encoding="utf-8")
    assert "miss_param.jsonl" in build.main(["--check"], *places)
    assert build.main([], *places) is None
    assert build.main(["--check"], *places) is None
    assert source.read_text(encoding="utf-8") == form
    (tmp_path / "composite.jsonl").write_text("", encoding="utf-8")
    assert build.main(["--check"], *places).startswith("composite.jsonl: out of date")


def test_bad_input_ends_in_one_line(scenarios, tmp_path):
    (scenarios / "odd.json").write_text("{}\n", encoding="utf-8")
    assert "odd.json: $.id: " in build.main([], tmp_path, scenarios)
    assert build.main(["--help"], tmp_path, scenarios).startswith("usage:")


SCENARIO = Scenario(
    "base_x",
    ("MessageAPI",),
    {"MessageAPI": {"current_user": "USR001"}},
    (
        Turn(
            (Message("user", "Tell Bob 'see you at six'."),),
            (
                "get_user_id(user='Bob')",
                "send_message(receiver_id='USR002', message='see you at six')",
            ),
        ),
        Turn(
            (Message("user", "Take it back, and show me the others."),),
            ("delete_message(receiver_id='USR002')", "view_messages_sent()"),
        ),
    ),
    MissingParameter(0, "Tell Bob that.", "That is 'see you at six'."),
    MissingFunction(1, ("delete_message",)),
    provenance={"author": "Turnwise"},
)


def shape(trajectory):
    return [(bool(t.messages), bool(t.ground_truth), t.offers) for t in trajectory.turns]


def test_all_three_are_there():
    harder = compose(SCENARIO, chars=3_000)
    assert (harder.id, harder.category) == ("composite_x", Category.COMPOSITE)
    assert harder.provenance == {"author": "Turnwise", "base": "base_x"}
    wide = widen_config(harder.environments, harder.config, harder.long_context)
    assert len(wide["MessageAPI"]["inbox"]) == harder.long_context.items + 3
    assert shape(harder) == [
        (True, False, ()),
        (True, True, ()),
        (True, False, ()),
        (False, True, ("delete_message",)),
    ]
    assert harder.held_out == ("delete_message",)


def test_both_may_be_about_the_same_turn():
    harder = compose(
        replace(SCENARIO, missing_function=MissingFunction(0, ("send_message",))), chars=3_000
    )
    assert shape(harder) == [
        (True, False, ()),
        (True, False, ()),
        (False, True, ("send_message",)),
        (True, True, ()),
    ]
    assert harder.turns[2].ground_truth == SCENARIO.turns[0].ground_truth


def test_the_same_seed_and_size_give_the_same_trajectory():
    assert compose(SCENARIO, 3, 3_000) == compose(SCENARIO, 3, 3_000)
    assert compose(SCENARIO, 3, 3_000) != compose(SCENARIO, 4, 3_000)


def test_a_value_that_can_be_had_otherwise_is_refused():
    told = MissingParameter(0, "Say 'see you at six' to Bob.", "Bob.")
    with pytest.raises(DataError, match="base_x: missing_parameter"):
        compose(replace(SCENARIO, missing_parameter=told))


def test_a_long_context_takes_the_place_of_a_world():
    around = replace(SCENARIO, world=GeneratedItems(7, 20))
    longer, harder = long(around, chars=3_000), compose(around, chars=3_000)
    for made in (longer, harder):
        assert made.config == SCENARIO.config
        wide = widen_config(made.environments, made.config, made.long_context)
        assert len(wide["MessageAPI"]["inbox"]) == made.long_context.items + 3
    assert len(around.base.config["MessageAPI"]["inbox"]) == 23


def test_what_is_not_to_be_long_is_not():
    short = replace(SCENARIO, not_long="nobody reads it")
    assert long(short) is None
    assert compose(short) is None
