from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from checkers.profile import BFCL, STRICT
from envs.errors import DataError
from runner.data import bfcl_download, dataset_choice
from runner.records.recorded_run import Run, open_run
from trajectories import bfcl_reader
from trajectories.schema import MULTI_TURN, SINGLE_TURN, Category

ALL = list(MULTI_TURN)


@pytest.fixture(autouse=True)
def no_download(monkeypatch, tmp_path):
    """Have an empty cache, and a download fail the test."""

    def download(work):
        raise AssertionError("a download was started")

    monkeypatch.setattr(bfcl_download, "_download", download)
    monkeypatch.setenv("TURNWISE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def cached(bfcl_folder):
    """Put the made-up data into the cache."""
    folder = bfcl_download.cache_folder()
    folder.parent.mkdir(parents=True)
    bfcl_folder.rename(folder)
    (folder / bfcl_reader.MANIFEST_FILE).write_text('{"version": "7"}', encoding="utf-8")
    return folder


def silent(line):
    """Stand for the user where there is nothing to tell."""
    raise AssertionError(line)


# Categories


@pytest.mark.parametrize(
    ("names", "categories"),
    [
        ("base", [Category.BASE]),
        ("long_context,base", [Category.BASE, Category.LONG_CONTEXT]),
        (" base , miss_func,base", [Category.BASE, Category.MISSING_FUNCTION]),
        ("composite", [Category.COMPOSITE]),
    ],
)
@pytest.mark.parametrize("dataset", [None, "bfcl"])
def test_categories_that_are_named(names, categories, dataset):
    assert dataset_choice.parse_categories(names, dataset) == categories


@pytest.mark.parametrize("dataset", [None, "some.jsonl", "bfcl_like.jsonl", "bfcl"])
def test_without_names_it_is_all_but_the_reference_s_retired_one(dataset):
    expected = {None: ALL, "bfcl": ALL[:-1]}.get(dataset, list(Category))
    assert dataset_choice.parse_categories(None, dataset) == expected
    assert dataset_choice.parse_categories(None, "bfcl:folder") == ALL[:-1]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("bse", "'bse' is not a category; did you mean base?"),
        ("base,long", "'long' is not a category"),
        ("xyz", "'xyz' is not a category"),
        ("", "'' is not a category"),
        ("base,", "'' is not a category"),
    ],
)
def test_a_category_that_there_is_not(names, message):
    with pytest.raises(DataError) as caught:
        dataset_choice.parse_categories(names, None)
    assert str(caught.value).startswith(f"--category: {message}")


def test_a_suite_stands_for_its_categories():
    assert dataset_choice.parse_categories("single_turn", None) == list(SINGLE_TURN)
    assert dataset_choice.parse_categories("multi_turn,multiple", None) == [
        *MULTI_TURN,
        Category.MULTIPLE,
    ]
    assert dataset_choice.parse_categories("all", None) == [*Category]
    assert {Category.REST, Category.NESTED} <= {
        *dataset_choice.parse_categories("executable", None)
    }
    assert dataset_choice.parse_categories("nested", None) == [Category.NESTED]


def test_the_retired_suite_is_all_there_is_of_it_for_the_reference_too():
    retired = "chatable,sql,exec_simple,exec_multiple,exec_parallel,exec_parallel_multiple,rest"
    for dataset in (None, "bfcl"):
        assert ",".join(dataset_choice.parse_categories("retired", dataset)) == retired
    published = dataset_choice.parse_categories("all", "bfcl")
    assert not {*published} & {
        *dataset_choice.parse_categories("retired", None),
        Category.COMPOSITE,
    }


@pytest.mark.parametrize("name", ["bfcl", "bfcl:folder"])
def test_a_suite_of_the_reference_is_what_it_publishes(name):
    published = ALL[:-1]
    assert dataset_choice.parse_categories("multi_turn,multiple", name) == [
        *published,
        Category.MULTIPLE,
    ]
    assert Category.COMPOSITE not in dataset_choice.parse_categories("all", name)
    assert dataset_choice.parse_categories("multi_turn,composite", name) == ALL


# Data sets


def test_a_data_set_is_a_file_or_folder(write_lines, tmp_path, help_desk, folders):
    path = write_lines("some/a.jsonl", help_desk)
    write_lines("some/b.jsonl", folders)
    assert list(dataset_choice.open_dataset(str(path), ALL, silent).trajectories) == ["help_desk_0"]
    assert len(dataset_choice.open_dataset(str(tmp_path / "some"), ALL, silent).trajectories) == 2


def test_a_data_set_is_the_reference_s_in_a_folder(bfcl_folder):
    loaded = dataset_choice.open_dataset(f"bfcl:{bfcl_folder}", [Category.BASE], silent)
    assert (loaded.name, len(loaded.trajectories)) == (f"bfcl:{bfcl_folder}", 2)


def test_a_data_set_is_the_reference_s_in_the_cache(cached):
    loaded = dataset_choice.open_dataset("bfcl", [Category.BASE], silent)
    assert (loaded.name, loaded.version, loaded.folder) == ("bfcl", "7", cached)


def test_the_reference_s_data_is_fetched_where_it_is_not_in_the_cache(monkeypatch, bfcl_folder):
    told = []
    monkeypatch.setattr(dataset_choice.bfcl_download, "fetch", lambda: bfcl_folder)
    loaded = dataset_choice.open_dataset("bfcl", [Category.BASE], told.append)
    assert loaded.folder == bfcl_folder
    [line] = told
    assert "downloading bfcl-eval" in line
    assert str(bfcl_download.cache_folder()) in line


@pytest.mark.parametrize("name", ["", "nothing.jsonl", "bfc", "BFCL", "turnwise"])
def test_a_data_set_that_there_is_not(monkeypatch, tmp_path, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError) as caught:
        dataset_choice.open_dataset(name, ALL, silent)
    known = "`bfcl`, `bfcl:FOLDER`, or an existing path (default: built-in data)"
    assert str(caught.value) == f"--dataset: {name!r} must be {known}"


def test_a_data_set_without_what_is_wanted(write_lines, folders):
    path = write_lines("some.jsonl", folders)
    with pytest.raises(DataError, match=r"--category: .*some.jsonl has no entries in composite"):
        dataset_choice.open_dataset(str(path), [Category.COMPOSITE], silent)


def test_only_the_reference_s_data_has_a_folder():
    with pytest.raises(DataError, match="'other' must be `bfcl` or `bfcl:FOLDER`"):
        dataset_choice.find_bfcl_folder("other", silent)
    assert dataset_choice.find_bfcl_folder("bfcl:x/y", silent) == Path("x/y")


def test_the_data_sets_there_are_without_a_cache():
    ours, reference = dataset_choice.list_datasets()
    assert ours[0] == "turnwise"
    assert reference[:3] == ["bfcl", bfcl_reader.VERSION, "-"]
    assert "dataset fetch bfcl" in reference[3]


def test_the_data_sets_there_are_with_a_cache(cached):
    _, reference = dataset_choice.list_datasets()
    assert reference == ["bfcl", bfcl_reader.VERSION, "25", str(cached), "-"]


def test_what_a_strict_load_would_say(dataset_of, help_desk, folders):
    config = {"TicketAPI": {"ticket_counter": "one", "queue": []}, "Other": {}}
    odd = replace(help_desk, id="odd", config=config)
    found = dataset_choice.find_irregularities(dataset_of(folders, odd, help_desk))
    assert [(id, problem.path) for id, problem in found] == [
        ("odd", "$.Other"),
        ("odd", "$.TicketAPI.ticket_counter"),
        ("odd", "$.TicketAPI.queue"),
    ]


# Recorded runs


def test_recorded_runs_of_several_files_each_with_its_mode(write_lines):
    one = write_lines("one.json", {"id": "a", "result": [[[{"f": "{}"}]]]})
    two = write_lines("two.json", {"id": "b", "result": [["[f()]"]]})
    entries = open_run(one, two).entries()
    assert {id: (entry.where, entry.mode) for id, entry in entries.items()} == {
        "a": (f"{one}:1", "fc"),
        "b": (f"{two}:1", "prompt"),
    }
    told = open_run(one, two, mode="fc").entries()
    assert {entry.mode for entry in told.values()} == {"fc"}


def test_an_id_in_two_files_is_named_with_both_places(write_lines):
    line = {"id": "a", "result": []}
    one, two = write_lines("one.json", line), write_lines("two.json", "", line)
    with pytest.raises(DataError) as caught:
        open_run(one, two)
    assert str(caught.value) == f"{two}:2: a is also in {one}:1; score one run at a time"


# Trajectories


def test_all_trajectories_or_those_that_runs_are_of(dataset_of, write_lines, help_desk, folders):
    data = dataset_of(help_desk, folders)
    assert dataset_choice.list_entries(data, None) == [help_desk, folders]
    runs = open_run(write_lines("run.json", {"id": "folders_0", "result": []}))
    assert dataset_choice.list_entries(data, runs) == [folders]
    assert dataset_choice.list_entries(data, Run("none", Path(), {})) == []


def test_a_run_of_a_trajectory_that_there_is_not(dataset_of, write_lines, folders):
    path = write_lines("run.json", {"id": "folders_1", "result": []})
    runs = open_run(path)
    with pytest.raises(DataError) as caught:
        dataset_choice.list_entries(dataset_of(folders), runs)
    message = f"{path}:1: 'folders_1' is not in made-up; did you mean folders_0?"
    assert str(caught.value) == message


def test_one_trajectory(dataset_of, help_desk, folders):
    data = dataset_of(help_desk, folders)
    assert dataset_choice.get_entry(data, "folders_0") is folders
    with pytest.raises(DataError, match=r"'folder_0' is not in made-up; did you mean folders_0\?"):
        dataset_choice.get_entry(data, "folder_0")
    with pytest.raises(
        DataError, match="'xyz' is not in made-up; choose from help_desk_0, folders_0"
    ):
        dataset_choice.get_entry(data, "xyz")


def test_of_many_names_none_is_listed(dataset_of, folders):
    many = [replace(folders, id=f"folders_{n}") for n in range(50)]
    with pytest.raises(DataError, match=r"'xyz' is not in made-up$"):
        dataset_choice.get_entry(dataset_of(*many), "xyz")


def test_calls_in_calls_are_for_models_that_write_text_and_for_the_profile_that_knows_their_value():
    some = dataset_choice.open_dataset(None, [Category.NESTED], print).trajectories.values()
    some = [*some]
    assert dataset_choice.leave_out_nesting(some, None, STRICT, "prompt", print) == some
    with pytest.raises(
        DataError,
        match=r"^nested: nested calls need --mode prompt; omit --calling-format$",
    ):
        dataset_choice.leave_out_nesting(some, None, STRICT, "fc", print)
    with pytest.raises(DataError, match=r"^nested: nested calls need --profile strict$"):
        dataset_choice.leave_out_nesting(some, None, BFCL, "prompt", print)


def test_nested_calls_are_left_out_of_a_suite_where_they_cannot_be_written(help_desk):
    nested = [*dataset_choice.open_dataset(None, [Category.NESTED], print).trajectories.values()]
    some, notes = [*nested, help_desk], []
    assert dataset_choice.leave_out_nesting(some, "all", STRICT, "prompt", notes.append) == some
    assert dataset_choice.leave_out_nesting(some, "all", STRICT, "fc", notes.append) == [help_desk]
    assert notes == [
        f"{len(nested)} entries of nested are left out: "
        "nested calls need --mode prompt; omit --calling-format"
    ]
    with pytest.raises(DataError, match=r"^nested: nested calls need"):
        dataset_choice.leave_out_nesting(some, "base,nested", STRICT, "fc", notes.append)
