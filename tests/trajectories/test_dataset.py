from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from envs.errors import DataError
from trajectories import bfcl_reader, dataset
from trajectories.dataset import (
    draw_sample,
    load_bfcl,
    load_embedded,
    load_path,
    read_trajectory,
    select_by_ids,
)
from trajectories.long_context_generator import generate_pack
from trajectories.prepared_trajectory import load_session
from trajectories.schema import MULTI_TURN, Category, LongContextSettings, Trajectory, Turn

ALL = list(MULTI_TURN)


# Our own format


def test_a_file(write_lines, help_desk, folders):
    path = write_lines("some.jsonl", help_desk, "", folders)
    loaded = load_path(path, ALL)
    assert loaded.name == str(path)
    assert list(loaded.trajectories.values()) == [help_desk, folders]
    assert (loaded.tolerant, loaded.folder) == (False, None)


def test_a_folder_is_all_its_files_by_name(write_lines, tmp_path, help_desk, folders):
    write_lines("b.jsonl", help_desk)
    write_lines("a.jsonl", folders)
    write_lines("c.json", "not read")
    assert list(load_path(tmp_path, ALL).trajectories) == ["folders_0", "help_desk_0"]


def test_only_the_categories_that_are_wanted(write_lines, help_desk, folders):
    path = write_lines("some.jsonl", help_desk, folders)
    assert list(load_path(path, [Category.BASE]).trajectories) == ["folders_0"]
    assert load_path(path, [Category.COMPOSITE]).trajectories == {}


def test_a_folder_without_files_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"has no \*.jsonl file"):
        load_path(tmp_path, ALL)


def test_a_bad_line_is_named_by_file_and_line(write_lines, help_desk):
    path = write_lines("some.jsonl", help_desk, '{"id": "x"}')
    with pytest.raises(DataError) as caught:
        load_path(path, ALL)
    assert str(caught.value).startswith(f"{path}:2: $.category: ")


def test_an_id_that_is_used_twice_is_named_even_across_files(write_lines, tmp_path, help_desk):
    write_lines("a.jsonl", help_desk)
    second = write_lines("b.jsonl", "", replace(help_desk, category=Category.BASE))
    with pytest.raises(DataError) as caught:
        load_path(tmp_path, [Category.COMPOSITE])
    assert str(caught.value) == f"{second}:2: the id 'help_desk_0' is used twice"


def test_the_hash_is_of_the_content(write_lines, tmp_path, help_desk, folders):
    one = load_path(write_lines("one/x.jsonl", help_desk), ALL).sha256
    same = load_path(write_lines("two/y.jsonl", help_desk), ALL).sha256
    other = load_path(write_lines("three/x.jsonl", folders), ALL).sha256
    assert one == same != other
    assert len(one) == 64


def test_the_hash_of_a_pipe_is_that_of_a_file(write_lines, help_desk):
    path = write_lines("x.jsonl", help_desk)
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as file:
        file.write(path.read_bytes())
    piped = load_path(Path(f"/dev/fd/{reader}"), ALL)
    os.close(reader)
    assert [*piped.trajectories] == ["help_desk_0"]
    assert piped.sha256 == load_path(path, ALL).sha256


def test_the_embedded_data_is_one_file_per_category(monkeypatch, write_lines, tmp_path, folders):
    write_lines("data/base.jsonl", folders)
    write_lines("data/other.jsonl", "not read")
    monkeypatch.setattr(dataset, "DATA", tmp_path / "data")
    loaded = load_embedded(ALL)
    assert (loaded.name, list(loaded.trajectories)) == ("turnwise", ["folders_0"])
    assert load_embedded([Category.COMPOSITE]).trajectories == {}


def test_short_strings_of_the_embedded_data_are_shared():
    trajectories = [*load_embedded([Category.BASE]).trajectories.values()]
    worlds = [name for each in trajectories for name in each.environments]
    # The parser's table of strings forgets a string on a collision.
    assert len(worlds) > 10 * len({id(name) for name in worlds})


def test_turns_and_messages_keep_no_dictionary(folders):
    [turn, *_] = read_trajectory(folders, "here").turns
    assert turn.messages
    assert not any(map(vars, (turn, *turn.messages)))


def test_one_object_is_read_for_any_place(folders):
    with pytest.raises(DataError, match=r"^here: \$\.id"):
        read_trajectory({}, "here")


# BFCL's data


def test_the_reference_s_data_is_loaded_as_it_is(bfcl_folder):
    loaded = load_bfcl(bfcl_folder, [Category.MISSING_FUNCTION, Category.BASE])
    assert list(loaded.trajectories) == [
        "multi_turn_miss_func_0",
        "multi_turn_base_0",
        "multi_turn_base_1",
    ]
    assert (loaded.name, loaded.version) == ("bfcl", "unknown")
    assert (loaded.tolerant, loaded.folder) == (True, bfcl_folder)


def test_the_cache_knows_its_version(bfcl_folder):
    manifest = json.dumps({"version": "1.2"})
    (bfcl_folder / bfcl_reader.MANIFEST_FILE).write_text(manifest, encoding="utf-8")
    assert load_bfcl(bfcl_folder, [Category.BASE], "other").version == "1.2"


@pytest.mark.parametrize("manifest", [b"", b"[]", b"{}", b"\xff"])
def test_a_manifest_of_another_form_is_a_data_error(bfcl_folder, manifest):
    (bfcl_folder / bfcl_reader.MANIFEST_FILE).write_bytes(manifest)
    with pytest.raises(DataError, match=bfcl_reader.MANIFEST_FILE):
        load_bfcl(bfcl_folder, [Category.BASE])


def test_a_folder_of_something_else_is_refused(tmp_path):
    with pytest.raises(DataError) as caught:
        load_bfcl(tmp_path, [Category.BASE])
    assert str(caught.value) == (
        f"{tmp_path}: is not a data folder of bfcl-eval: BFCL_v4_multi_turn_base.json is missing"
    )


def test_the_hash_is_of_questions_and_answers(bfcl_folder):
    before = load_bfcl(bfcl_folder, [Category.BASE]).sha256
    with (bfcl_folder / bfcl_reader.list_data_files(Category.BASE)[1]).open(
        "a", encoding="utf-8"
    ) as file:
        file.write("\n")
    assert load_bfcl(bfcl_folder, [Category.BASE]).sha256 != before


# Long-context material


def test_a_trajectory_that_is_not_long_has_no_pack(dataset_of, folders):
    assert dataset_of(folders).pack(folders) is None


def test_generated_material_is_made_once(dataset_of, folders):
    bulk = LongContextSettings("generated", 4, 10)
    long = replace(folders, environments=("VehicleControlAPI",), config={}, long_context=bulk)
    some = dataset_of(long)
    assert some.pack(long) == generate_pack(long.long_context)
    assert some.pack(replace(long, id="other")) is some.pack(long)


def test_what_no_backend_shows_is_not_made(dataset_of, folders):
    long = replace(folders, long_context=LongContextSettings("generated", 4, 10))
    assert dataset_of(long).pack(long) is None


def test_a_config_is_as_wide_as_its_bulk(dataset_of, folders):
    long = replace(folders, long_context=LongContextSettings("generated", 4, 40))
    some = dataset_of(folders, long)
    assert some.config(folders) is folders.config
    wide = some.config(long)
    assert wide == some.config(long) != folders.config
    there = load_session(some, long).snapshot().states["GorillaFileSystem"]["root"]
    assert there == wide["GorillaFileSystem"]["root"]


def test_the_reference_s_material_comes_from_its_folder(bfcl_folder):
    loaded = load_bfcl(bfcl_folder, [Category.LONG_CONTEXT])
    [trajectory] = loaded.trajectories.values()
    assert loaded.pack(trajectory) == bfcl_reader.load_pack(bfcl_folder)


def test_the_reference_s_material_is_nowhere_else(dataset_of, folders):
    long = replace(folders, long_context=LongContextSettings("bfcl"))
    with pytest.raises(DataError, match="needs BFCL's long-context material"):
        dataset_of(long).pack(long)


A, B = ("TicketAPI",), ("GorillaFileSystem", "TicketAPI")
BASE, LONG = Category.BASE, Category.LONG_CONTEXT


def make(sizes):
    """Return trajectories, as many of each stratum as wanted, mixed."""
    rounds = [
        [(stratum, number) for stratum, size in sizes.items() if number < size]
        for number in range(max(sizes.values()))
    ]
    return [
        Trajectory(f"{category}_{len(backends)}_{number}", category, backends, {}, (Turn((), ()),))
        for members in rounds
        for (category, backends), number in members
    ]


def strata(trajectories):
    """Count the trajectories of each stratum."""
    return Counter((t.category, t.environments) for t in trajectories)


def ids(trajectories):
    """Return the ids of trajectories."""
    return [t.id for t in trajectories]


# By id


def test_trajectories_of_ids_are_in_the_order_of_the_data_set():
    three = make({(BASE, A): 3})
    assert select_by_ids(three, ["base_1_2", "base_1_0", "base_1_2"]) == [three[0], three[2]]
    assert select_by_ids(three, iter(ids(three))) == three
    assert select_by_ids(three, []) == []


def test_an_unknown_id_is_told_the_nearest():
    with pytest.raises(
        DataError, match=r"^--ids: unknown id 'base_1_9'; did you mean base_1_\d\?$"
    ):
        select_by_ids(make({(BASE, A): 3}), ["base_1_1", "base_1_9"])


def test_an_id_that_resembles_none_is_told_so():
    with pytest.raises(
        DataError, match=r"^--ids: unknown id 'zzz'; turnwise dataset list shows the ids$"
    ):
        select_by_ids(make({(BASE, A): 3}), ["zzz", "base_1_1"])


# Samples

MIXED = {(BASE, A): 20, (BASE, B): 40, (LONG, A): 20, (LONG, B): 120}


def test_every_stratum_has_its_share():
    taken = draw_sample(make(MIXED), 20, seed=1)
    assert strata(taken) == {(BASE, A): 2, (BASE, B): 4, (LONG, A): 2, (LONG, B): 12}


@pytest.mark.parametrize("size", [0, 1, 7, 99, 199])
def test_a_sample_has_its_size_and_nothing_twice_in_the_order_of_the_data_set(size):
    population = make(MIXED)
    taken = draw_sample(population, size, seed=3)
    assert len(taken) == size
    places = [population.index(t) for t in taken]
    assert places == sorted(set(places))


@pytest.mark.parametrize("size", [200, 201, 10**9])
def test_a_sample_of_all_is_all(size):
    population = make(MIXED)
    assert draw_sample(population, size, seed=1) == population


def test_the_same_seed_gives_the_same_sample_and_another_one_another():
    population = make(MIXED)
    first, again, other = (ids(draw_sample(population, 20, seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_a_larger_stratum_is_never_shorter_of_members_than_its_share():
    for size in range(1, 200):
        for stratum, count in strata(draw_sample(make(MIXED), size, seed=size)).items():
            assert abs(count - size * MIXED[stratum] / 200) < 1


def test_every_member_of_a_stratum_can_be_drawn():
    population = make(MIXED)
    drawn = {id for seed in range(150) for id in ids(draw_sample(population, 20, seed))}
    assert drawn == set(ids(population))


@pytest.mark.parametrize(
    "sizes",
    [
        {(category, backends): 1 for category in MULTI_TURN for backends in (A, B)},
        {(BASE, A): 2, (BASE, B): 8, (LONG, A): 2, (LONG, B): 8},
    ],
    ids=["strata of one", "strata of less than a whole share"],
)
def test_members_of_small_strata_can_be_drawn_too(sizes):
    # Else a small sample always has the same few strata, and its score is not that of the whole.
    population = make(sizes)
    drawn = Counter(id for seed in range(400) for id in ids(draw_sample(population, 3, seed)))
    assert set(drawn) == set(ids(population))


def test_a_small_sample_of_our_data_set_is_not_always_of_the_same_part():
    population = list(load_embedded(list(MULTI_TURN)).trajectories.values())
    drawn = {id for seed in range(500) for id in ids(draw_sample(population, 30, seed))}
    assert len(drawn) == len(population)
