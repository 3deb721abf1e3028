"""Axes, levels, and the runs that an experiment has."""

from __future__ import annotations

import json

import pytest

from envs.errors import DataError
from extensions.experiments.axes import (
    AXES,
    Levels,
    parse_axes,
    plan_blocks,
    vary_dataset,
    vary_recorded_dataset,
)
from extensions.experiments.function_counts import list_needed_functions
from runner.data.dataset_choice import load_dataset
from trajectories.replay_queries import list_own_functions


@pytest.fixture(scope="module")
def data():
    return load_dataset(categories="base,multiple")


def runs(*given, design=None):
    """Return per block its axis and the names of its runs."""
    blocks = plan_blocks(parse_axes(given), design, 0)
    return [(block.axis, [levels.name for levels in block.runs.values()]) for block in blocks]


def test_one_axis_is_a_run_a_level():
    assert runs("tools=need,10,all") == [("tools", ["tools=need", "tools=10", "tools=all"])]
    assert runs("names=codes") == [("names", ["names=codes"])]


def test_each_axis_is_varied_alone_from_the_first_levels():
    assert runs("tools=10,20", "names=plain,codes") == [
        ("tools", ["tools=10,names=plain", "tools=20,names=plain"]),
        ("names", ["tools=10,names=plain", "tools=10,names=codes"]),
    ]


def test_places_are_varied_where_something_stands_beside():
    assert runs("tools=need,5,20", "place=head,tail")[1] == (
        "place",
        ["tools=20,place=head", "tools=20,place=tail"],
    )
    assert runs("tools=need,all,20", "distractors=far,near")[1][1][0] == "tools=all,distractors=far"


def test_distractors_alone_are_as_many_as_twenty():
    assert runs("distractors=far,near") == [
        ("distractors", ["tools=20,distractors=far", "tools=20,distractors=near"])
    ]


def test_all_combinations_are_a_block_for_each_rest():
    found = runs("tools=10,20", "names=plain,codes", design="full")
    assert [axis for axis, _ in found] == ["tools", "tools", "names", "names"]
    assert {name for _, names in found for name in names} == {
        f"tools={tools},names={names}" for tools in (10, 20) for names in ("plain", "codes")
    }


def test_a_latin_design_deals_every_entry_out_to_one_level_of_an_axis(data):
    (block,) = plan_blocks(parse_axes(["tools=10,20,40"]), "latin", 3)
    ids = [id for id, t in data.trajectories.items() if t.expects is None]
    parts = [{*vary_dataset(data, levels, ids).sizes} for levels in block.runs.values()]
    assert set.union(*parts) == {*ids}
    assert sum(map(len, parts)) == len(ids)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["tols=5"], "'tols' is not an axis; did you mean tools"),
        (["weather=5"], "'weather' is not an axis; the axes are tools, distractors"),
        (["tools=ned"], "'ned' is not a level of tools; did you mean need"),
        (["tools=0"], "tools=0: must be 1 to 512"),
        (["tools=513"], "tools=513: must be 1 to 512; no provider accepts more"),
        (["tools=-1"], "'-1' is not a level of tools; the levels are need, all or a number"),
        (["tools"], "tools needs levels, such as tools=need,all"),
        (["tools=5,5"], "tools has the level 5 twice"),
        (["tools=5,05"], "'05' is not a level of tools; write 5"),
        (["tools=५"], "'५' is not a level of tools; write 5"),
        (["tools=5,,6"], "'' is not a level of tools"),
        (["tools=5", "tools=6"], "tools is given twice"),
        (["place=head", "order=shuffled"], "`place` and `order` cannot be combined"),
        (["words=shorter"], "'shorter' is not a level of words; the levels are as-is or a file"),
        (["names=code"], "'code' is not a level of names; did you mean codes"),
    ],
)  # fmt: skip
def test_what_is_no_axis_or_level_is_one_line(given, message):
    with pytest.raises(DataError) as raised:
        parse_axes(given)
    assert message in str(raised.value)


def test_levels_are_written_and_read_with_the_run(tmp_path):
    words = tmp_path / "words.json"
    words.write_text("{}")
    axes = {"tools": "20", "place": "tail", "descriptions": str(words)}
    levels = Levels(axes, 7, "place", ("head", "tail"))
    value = json.loads(json.dumps(levels.to_json()))
    assert Levels.from_json(value, "run.json") == levels
    assert levels.name == "tools=20,place=tail,descriptions=words"
    assert value["descriptions_sha256"].startswith("44136fa3")


@pytest.mark.parametrize("value", [{}, {"seed": "x"}, {"seed": 0, "tools": "many"}, {"seed": None}])
def test_damaged_levels_are_told(value):
    with pytest.raises(DataError):
        Levels.from_json(value, "run.json")


def test_the_data_of_a_run_are_made_anew_from_its_definition(data):
    levels = Levels({"tools": "20"}, 1)
    made = vary_dataset(data, levels, [*data.trajectories])
    again = vary_recorded_dataset(data, Levels.from_json(levels.to_json(), "run.json"))
    assert again.trajectories == made.dataset.trajectories
    assert again.trajectories != data.trajectories
    assert vary_recorded_dataset(data, Levels({"names": "codes"})) is data
    assert made.sizes == {id: len(list_own_functions(t)) for id, t in again.trajectories.items()}
    assert all(
        size >= max(2, len(list_needed_functions(data.trajectories[id])))
        for id, size in made.sizes.items()
    )


def test_what_entries_need_beyond_a_number_is_counted(data):
    ids = [id for id, t in data.trajectories.items() if t.expects is None]
    made = vary_dataset(data, Levels({"tools": "2"}), ids)
    assert 0 < made.raised <= len(ids)
    assert made.raised == sum(len(list_needed_functions(data.trajectories[id])) > 2 for id in ids)


def test_other_words_of_users_are_taken_from_a_file(data, tmp_path):
    id = next(iter(data.trajectories))
    said = data.trajectories[id]
    turns = [["Please: " + m.content for m in turn.messages] for turn in said.turns]
    file = tmp_path / "said.jsonl"
    file.write_text(json.dumps({"id": id, "turns": turns}) + "\n")
    made = vary_dataset(data, Levels({"words": str(file)}), [*data.trajectories])
    assert [*made.sizes] == [id]
    assert len(made.left_out) == len(data.trajectories) - 1
    assert made.dataset.trajectories[id].turns[0].messages[0].content.startswith("Please: ")
    file.write_text(json.dumps({"id": id, "turns": turns[:1]}) + "\n")
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(file.read_bytes())
    with pytest.raises(DataError, match="user messages per turn"):
        vary_dataset(data, Levels({"words": str(copy)}), [id])


def test_words_that_no_longer_tell_what_is_needed_are_left_out(data, tmp_path):
    entries = [t for t in data.trajectories.values() if t.expects is None][:4]
    file = tmp_path / "mute.jsonl"
    lines = [{"id": t.id, "turns": [["Go on."] for _ in t.turns]} for t in entries]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    made = vary_dataset(data, Levels({"words": str(file)}), [t.id for t in entries])
    assert (made.sizes, made.left_out) == ({}, [t.id for t in entries])


def test_every_axis_has_levels():
    assert all(AXES.values())
