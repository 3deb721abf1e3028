from __future__ import annotations

import json
import os

import pytest

from envs.errors import DataError
from runner.extension import bfcl_readers
from trajectories import bfcl_reader
from trajectories.dataset import load_bfcl
from trajectories.schema import (
    MULTI_TURN,
    SINGLE_TURN,
    Category,
    LongContextSettings,
    Message,
    Trajectory,
    Turn,
)

SAID = (Message("user", "Open a ticket."),)
CALL = "create_ticket(title='A', priority=3)"


def loaded(folder, category):
    """Return the trajectories of a category as a list."""
    return list(bfcl_reader.load(folder, category, bfcl_readers()))


def test_an_entry_becomes_a_trajectory(bfcl_folder):
    first, second = loaded(bfcl_folder, Category.BASE)
    assert first == Trajectory(
        id="multi_turn_base_0",
        category=Category.BASE,
        environments=("TicketAPI",),
        config={"TicketAPI": {"current_user": "ann"}},
        turns=(Turn(SAID, (CALL,)),),
        provenance={"source": "bfcl-eval", "base": "0"},
    )
    assert second.turns == (Turn(SAID, ("logout()",)), Turn(SAID, ()))


def test_entries_of_one_number_are_made_from_the_same_scenario(bfcl_folder):
    found = [t for category in MULTI_TURN for t in loaded(bfcl_folder, category)]
    assert [t.base for t in found] == ["0", "1", "0", "0", "0"]


def test_functions_that_an_entry_excludes_are_offered_all_the_same(bfcl_folder):
    # BFCL has the member and never looks at it.
    trajectory = loaded(bfcl_folder, Category.BASE)[0]
    assert trajectory.excluded == ()
    assert trajectory.offered(("logout",), 0) == {"logout"}


def test_missed_functions_are_handed_over_in_their_turn(bfcl_folder):
    [trajectory] = loaded(bfcl_folder, Category.MISSING_FUNCTION)
    assert trajectory.turns == (Turn(SAID, ()), Turn((), (CALL,), ("create_ticket",)))
    assert trajectory.held_out == ("create_ticket",)


@pytest.mark.parametrize(
    ("category", "long"),
    [
        (Category.BASE, None),
        (Category.MISSING_FUNCTION, None),
        (Category.LONG_CONTEXT, LongContextSettings("bfcl")),
        (Category.COMPOSITE, LongContextSettings("bfcl")),
    ],
)
def test_long_context_belongs_to_two_categories(bfcl_folder, category, long):
    assert {t.long_context for t in loaded(bfcl_folder, category)} == {long}


def test_a_category_may_be_empty(bfcl_folder):
    assert loaded(bfcl_folder, Category.MISSING_PARAMETER) == []


def test_answers_are_found_by_their_id(bfcl_folder, write_lines):
    path = bfcl_folder / bfcl_reader.list_data_files(Category.BASE)[1]
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(reversed(lines)), encoding="utf-8")
    assert [len(t.turns) for t in loaded(bfcl_folder, Category.BASE)] == [1, 2]


@pytest.mark.parametrize("number", [0, 1])
def test_a_missing_file_is_named(bfcl_folder, number):
    path = bfcl_folder / bfcl_reader.list_data_files(Category.BASE)[number]
    path.unlink()
    with pytest.raises(DataError, match="cannot be read: No such file") as caught:
        loaded(bfcl_folder, Category.BASE)
    assert str(path) in str(caught.value)


def edit(folder, number, index, member, value):
    """Change a member of a base entry; ... takes it out."""
    path = folder / bfcl_reader.list_data_files(Category.BASE)[number]
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    if value is ...:
        del entries[index][member]
    else:
        entries[index][member] = value
    path.write_text("".join(f"{json.dumps(e)}\n" for e in entries), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("id", ...),
        ("id", "multi_turn_base_99"),
        ("id", [1]),
        ("question", ...),
        ("question", [[]] * 3),
        ("question", "text"),
        ("question", [["text"], []]),
        ("question", [[{"role": "user"}], []]),
        ("involved_classes", ...),
        ("involved_classes", None),
        ("initial_config", ...),
        ("initial_config", []),
        ("missed_function", []),
        ("missed_function", {"1": 5}),
    ],
)
def test_an_entry_of_another_form_is_named_by_file_and_line(bfcl_folder, member, value):
    path = edit(bfcl_folder, 0, 1, member, value)
    with pytest.raises(DataError) as caught:
        loaded(bfcl_folder, Category.BASE)
    text = str(caught.value)
    assert text.startswith(f"{path}:2: is not an entry of this data set")
    assert "\n" not in text


@pytest.mark.parametrize(
    ("member", "value"),
    [
        *(("id", ...), ("id", [1]), ("ground_truth", ...), ("ground_truth", [[]] * 3)),
        ("ground_truth", [["pwd()"] * 201, []]),
    ],
)
def test_an_answer_of_another_form_is_a_data_error(bfcl_folder, member, value):
    edit(bfcl_folder, 1, 1, member, value)
    with pytest.raises(DataError, match=":2: is not an entry"):
        loaded(bfcl_folder, Category.BASE)


@pytest.mark.parametrize(
    ("environment", "file"),
    [
        ("TicketAPI", "multi_turn_func_doc/ticket_api.json"),
        ("TwitterAPI", "multi_turn_func_doc/posting_api.json"),
        ("TravelAPI", "multi_turn_func_doc/travel_booking.json"),
    ],
)
def test_where_the_documents_of_functions_are(environment, file):
    assert bfcl_reader.function_docs_file(environment) == file


# Long-context material


def test_material_is_read_and_never_run(material):
    found = bfcl_reader.read_material(material)
    assert set(found) == set(bfcl_reader.CONSTANTS)
    assert found["FILES_TAIL_USED"] == ["log.txt"]
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("MA_5_EXTENSION = [1.5, -2.0]", ""),
        ("MA_5_EXTENSION = [1.5, -2.0]", "MA_5_EXTENSION = make()"),
        ("MA_5_EXTENSION = [1.5, -2.0]", "MA_5_EXTENSION = [1.5"),
        ("MA_5_EXTENSION = [1.5, -2.0]", "MA_5_EXTENSION = '\0'"),
        ('WATCH_LIST_EXTENSION = ["AAA", "BBB", ...]', "WATCH_LIST_EXTENSION = 5"),
    ],
    ids=["missing", "no literal", "no Python", "null byte", "no list"],
)
def test_material_that_is_not_all_there_is_refused(bfcl_folder, material, old, new):
    module = bfcl_folder.parent / bfcl_reader.MATERIAL_MODULE
    module.write_text(material.replace(old, new), encoding="utf-8")
    with pytest.raises(DataError, match=r"long-context material cannot be read.*; fetch"):
        bfcl_reader.load_pack(bfcl_folder)


def test_a_pack_from_the_package_itself(bfcl_folder):
    pack = bfcl_reader.load_pack(bfcl_folder)
    assert pack.file_suffix == " and so on"
    assert pack.untouched_files == ["log.txt"]
    assert pack.moving_average_5 == (1.5, -2.0)
    assert pack.moving_average_20 == (2.5,)
    assert pack.sector_stocks == {"Technology": ["CCC"], "Automobile": ["DDD"]}
    assert pack.order_metadata == {"note": "about {symbol}"}


def test_the_watch_list_ends_as_in_the_reference(bfcl_folder):
    assert bfcl_reader.load_pack(bfcl_folder).watch_list == ["AAA", "BBB", ...]


def test_a_pack_from_the_cache_is_the_same(bfcl_folder, material, tmp_path):
    cached = tmp_path / "cached"
    cached.mkdir()
    text = json.dumps(bfcl_reader.read_material(material))
    (cached / bfcl_reader.LONG_CONTEXT_FILE).write_text(text, encoding="utf-8")
    assert bfcl_reader.load_pack(cached) == bfcl_reader.load_pack(bfcl_folder)


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "{"])
def test_a_cache_of_another_form_is_refused(tmp_path, text):
    (tmp_path / bfcl_reader.LONG_CONTEXT_FILE).write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="long-context material cannot be read"):
        bfcl_reader.load_pack(tmp_path)


@pytest.mark.parametrize("name", ["long_context.json", bfcl_reader.MATERIAL_MODULE])
def test_a_named_pipe_is_no_material(tmp_path, name):
    folder = tmp_path / "data"
    pipe = (folder if name == "long_context.json" else tmp_path) / name
    folder.mkdir()
    pipe.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(pipe)
    with pytest.raises(DataError, match=r"cannot be read \(.*: is a named pipe; write its content"):
        bfcl_reader.load_pack(folder)


def test_a_folder_without_material_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"cannot be read.*; fetch the data again"):
        bfcl_reader.load_pack(tmp_path)


CATEGORIES = [category for category in bfcl_reader.CATEGORIES if category in SINGLE_TURN]
each = pytest.mark.parametrize("category", CATEGORIES)


@each
def test_a_single_turn_is_a_trajectory_of_one_turn_with_its_own_functions(bfcl_folder, category):
    (trajectory,) = bfcl_reader.load(bfcl_folder, category, bfcl_readers())
    assert (trajectory.id, trajectory.category) == (f"{category}_0", category)
    assert trajectory.environments == ()
    (turn,) = trajectory.turns
    assert turn.messages == (Message("user", "Wait five seconds."),)
    offered = [function["name"] for function in trajectory.expects.functions]
    assert offered == ([] if category is Category.CHATABLE else ["wait"])
    answered = len(bfcl_reader.list_data_files(category)) == 2
    assert trajectory.expects.answers == (({"wait": {"n": [5]}},) if answered else ())


@each
def test_the_language_is_that_of_the_category(bfcl_folder, category):
    (trajectory,) = bfcl_reader.load(bfcl_folder, category, bfcl_readers())
    expected = {Category.SIMPLE_JAVA: "java", Category.SIMPLE_JAVASCRIPT: "javascript"}
    assert trajectory.expects.language == expected.get(category, "python")


@pytest.mark.parametrize(
    "change",
    [
        {"question": []},
        {"question": [[{"role": "user"}]]},
        {"function": [{"description": "No name."}]},
        {"function": None},
        {"id": "simple_python_1"},
    ],
)
def test_a_single_turn_of_another_form_is_named_by_file_and_line(bfcl_folder, change):
    path = bfcl_folder / bfcl_reader.list_data_files(Category.SIMPLE_PYTHON)[0]
    entry = {**json.loads(path.read_text(encoding="utf-8")), **change}
    path.write_text(json.dumps(entry), encoding="utf-8")
    with pytest.raises(DataError, match=f"{path.name}:1: is not an entry of this data set"):
        list(bfcl_reader.load(bfcl_folder, Category.SIMPLE_PYTHON, bfcl_readers()))


def test_a_missing_file_of_single_turns_is_named(bfcl_folder):
    (bfcl_folder / bfcl_reader.list_data_files(Category.MULTIPLE)[1]).unlink()
    with pytest.raises(DataError, match=r"possible_answer/BFCL_v4_multiple\.json"):
        list(bfcl_reader.load(bfcl_folder, Category.MULTIPLE, bfcl_readers()))


def test_only_the_wanted_entries_are_read(bfcl_folder):
    whole = load_bfcl(bfcl_folder, [Category.BASE])
    id = next(reversed(whole.trajectories))
    some = load_bfcl(bfcl_folder, [Category.BASE], ids=[id])
    assert some.trajectories == {id: whole.trajectories[id]}
    assert some.sha256 == whole.sha256


def test_a_single_turn_entry_with_too_many_expected_calls_is_refused(bfcl_folder):
    path = bfcl_folder / "possible_answer" / "BFCL_v4_parallel.json"
    answer = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    answer["ground_truth"] *= 201
    path.write_text(f"{json.dumps(answer)}\n", encoding="utf-8")
    with pytest.raises(DataError, match="a turn has at most 200 calls"):
        loaded(bfcl_folder, Category.PARALLEL)
