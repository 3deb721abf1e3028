from __future__ import annotations

import pytest

from envs.errors import DataError
from runner.records.bfcl_result_file import (
    categories_of,
    find_result_files,
    has_result_file,
    read,
    read_verdicts,
)
from trajectories.schema import MULTI_TURN, SINGLE_TURN, Category

CALL = [{"f": '{"a": 1}'}]


# Finding


def test_a_file_stands_for_itself(write_lines):
    path = write_lines("any name.txt")
    assert find_result_files([path]) == [path]


def test_a_folder_stands_for_its_result_files(write_lines, tmp_path):
    second = write_lines("run/b/BFCL_v4_multi_turn_base_result.json")
    first = write_lines("run/a/BFCL_v4_multi_turn_miss_func_result.json")
    third = write_lines("run/c/BFCL_v4_simple_python_result.json")
    write_lines("run/a/BFCL_v4_multi_turn_base_score.json")
    other = write_lines("other.json")
    assert find_result_files([other, tmp_path / "run"]) == [other, first, second, third]


def test_a_folder_without_such_files_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"is not a run folder and contains no \*_result.json file"):
        find_result_files([tmp_path])


def test_a_path_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"nothing.json: does not exist"):
        find_result_files([tmp_path / "nothing.json"])


# Reading


def test_a_file_in_function_calling_form(write_lines):
    path = write_lines(
        "run.json",
        {"id": "a", "result": [[CALL, "Done."], [None, []]], "latency": [[0.1]]},
        {"id": "b", "result": []},
    )
    assert [(each.where, each.id, each.turns, each.mode) for each in read(path)] == [
        (f"{path}:1", "a", [[CALL, "Done."], [None, []]], "fc"),
        (f"{path}:2", "b", [], "fc"),
    ]


def test_a_file_in_prompting_form(write_lines):
    path = write_lines("run.json", {"id": "a", "result": [["[f(a=1)]", "Done."]]})
    [entry] = read(path)
    assert entry.mode == "prompt"
    assert entry.turns == [["[f(a=1)]", "Done."]]


@pytest.mark.parametrize(
    ("steps", "mode"),
    [
        ([CALL], "fc"),
        (["text", CALL], "fc"),
        (["text"], "prompt"),
        ([[], None], "prompt"),
        ([], "prompt"),
    ],
)
def test_the_mode_is_seen_from_any_step_of_any_entry(write_lines, steps, mode):
    lines = [{"id": "a", "result": [["text"]]}, {"id": "b", "result": [[], steps]}]
    assert [each.mode for each in read(write_lines("run.json", *lines))] == [mode, mode]


@pytest.mark.parametrize("mode", ["fc", "prompt"])
def test_the_mode_may_be_told(write_lines, mode):
    path = write_lines("run.json", {"id": "a", "result": [[CALL]]})
    assert [each.mode for each in read(path, mode)] == [mode]


@pytest.mark.parametrize("result", ["Error: too many requests", None, {}, 5])
def test_a_result_that_is_no_list_is_a_recorded_error(write_lines, result):
    path = write_lines("run.json", {"id": "a", "result": result, "traceback": "..."})
    [entry] = read(path)
    assert entry.turns is None
    assert entry.mode == "prompt"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"result": []}, '$.id: must be a string; a result line is {"id": ..., "result": ...}'),
        ({"id": 5, "result": []}, "$.id: must be a string"),
        ({"id": "b"}, "$.result: is missing"),
        (
            {"id": "b", "turns": []},
            "$.result: is missing; the file contains entries; use --dataset or --model",
        ),
        (
            {"id": "b", "valid": True, "turns": 3},
            "$.result: is missing; the file contains verdicts, not a run",
        ),
        ({"id": "b", "result": ["text"]}, "$.result[0]: must be a list of steps"),
        ({"id": "b", "result": [[], {}]}, "$.result[1]: must be a list of steps"),
        (
            {"id": "b", "result": [[], ["", 5]]},
            "$.result[1][1]: must be a string, null or a list of",
        ),
        ({"id": "b", "result": [[["f()"]]]}, "$.result[0][0]: must be a string, null or a list of"),
        ({"id": "b", "result": [[[*CALL, None]]]}, "$.result[0][0]: must be a string"),
        ("{", "is not valid JSON"),
        ("[]", "must be a JSON object"),
    ],
)
def test_a_line_of_another_form_is_named_by_file_and_line(write_lines, line, message):
    path = write_lines("run.json", {"id": "a", "result": []}, line)
    with pytest.raises(DataError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}:2: {message}")


def test_an_id_that_occurs_twice_is_named_with_both_lines(write_lines):
    line = {"id": "a", "result": []}
    path = write_lines("run.json", line, "", line)
    with pytest.raises(DataError) as caught:
        read(path)
    assert str(caught.value) == f"{path}:3: duplicate id 'a', first used at {path}:1"


# Categories


@pytest.mark.parametrize("category", MULTI_TURN)
def test_ids_of_the_reference_name_their_category(category):
    ids = [f"multi_turn_{category}_17", f"multi_turn_{category}_3"]
    assert categories_of(ids) == [category]


def test_several_categories_come_in_their_own_order():
    ids = ["multi_turn_long_context_0", "multi_turn_base_0"]
    assert categories_of(ids) == [Category.BASE, Category.LONG_CONTEXT]


@pytest.mark.parametrize("category", [c for c in SINGLE_TURN if c is not Category.CHAT])
def test_ids_of_single_turn_entries_name_their_category(category):
    ids = [f"{category}_17", f"{category}_3-0-12"]
    assert categories_of(ids) == [category]


@pytest.mark.parametrize(
    "id",
    [
        "",
        "base_0",
        "multi_turn_base",
        "multi_turn_bse_0",
        "multi_turn_base_0_1",
        "multi_turn_multiple_1",
    ],
)
def test_any_other_id_may_be_of_any_category(id):
    assert categories_of(["multi_turn_base_0", id]) == list(Category)


def test_the_result_of_a_single_turn_entry_is_its_step(write_lines):
    path = write_lines("run.json", {"id": "simple_java_0", "result": CALL})
    [entry] = read(path)
    assert (entry.turns, entry.mode) == ([[CALL]], "fc")
    path = write_lines("run.json", {"id": "live_simple_0-0-0", "result": 5})
    with pytest.raises(DataError, match=r"\$.result: must be a string, null or a list"):
        read(path)


def test_a_folder_s_result_files_are_those_of_known_categories(tmp_path):
    names = [
        "BFCL_v4_multi_turn_base_result.json",
        "BFCL_v4_live_simple_result.json",
        "BFCL_v4_memory_kv_result.json",
        "BFCL_v4_multi_turn_multiple_result.json",
        "verdicts.jsonl",
    ]
    for name in names:
        (tmp_path / name).touch()
    assert [path.name for path in find_result_files([tmp_path])] == sorted(names[:2])


# Verdicts


def test_a_score_file_names_its_failed_entries_below_their_number(write_lines):
    failed = {"id": "multi_turn_base_1", "valid": False, "error": {"error_type": "e"}}
    path = write_lines("BFCL_v4_multi_turn_base_score.json", {"total_count": 2}, failed)
    passed = {"valid": True, "error_type": None}
    assert read_verdicts(path, ["multi_turn_base_0", "multi_turn_base_1"]) == {
        ("multi_turn_base_0", 0): passed,
        ("multi_turn_base_1", 0): {"valid": False, "error_type": "e"},
    }
    with pytest.raises(DataError, match="covers 2 entries, but the run has 1"):
        read_verdicts(path, ["multi_turn_base_0"])


@pytest.mark.parametrize(
    ("line", "key", "message"),
    [
        ({"id": "a", "valid": True}, ("a", 0), None),
        ({"id": "a", "valid": None, "trial": 3, "error": "lost"}, ("a", 3), None),
        ({"id": "a", "valid": False, "trial": 0}, ("a", 0), None),
        ({"id": "a", "valid": True, "trial": -1}, None, "$.trial: must be at least 0, but is -1"),
        (
            {"id": "a", "valid": True, "trial": True},
            None,
            "$.trial: must be at least 0, but is True",
        ),
        ({"id": "a", "valid": True, "trial": "1"}, None, "$.trial: must be at least 0, but is '1'"),
        ({"id": "a", "valid": 1}, None, 'is not a verdict: it must have "id" and "valid"'),
        ({"id": 5, "valid": True}, None, 'is not a verdict: it must have "id" and "valid"'),
        ({"id": "a"}, None, 'is not a verdict: it must have "id" and "valid"'),
    ],
)
def test_a_verdict_line_has_id_trial_and_verdict(write_lines, line, key, message):
    first = {"id": "z", "valid": True}
    path = write_lines("verdicts.jsonl", first, line)
    if message is None:
        assert read_verdicts(path, []) == {("z", 0): first, key: line}
    else:
        with pytest.raises(DataError) as caught:
            read_verdicts(path, [])
        assert str(caught.value) == f"{path}:2: {message}"


HEAD = {"total_count": 1}


@pytest.mark.parametrize(
    ("name", "lines", "message"),
    [
        ("BFCL_v4_multi_turn_base_score.json", [HEAD], None),
        ("multi_turn_base_score.json", [HEAD], None),
        ("BFCL_v4_multi_turn_base.json", [HEAD], ": a score file is named after its category: "),
        ("BFCL_v4_other_score.json", [HEAD], ": a score file is named after its category: "),
        (
            "BFCL_v4_multi_turn_miss_func_score.json",
            [HEAD],
            ": covers 1 entries, but the run has 0",
        ),
        (
            "multi_turn_base_score.json",
            [{"total_count": 2}],
            ": covers 2 entries, but the run has 1",
        ),
        ("multi_turn_base_score.json", [HEAD, {"id": "a"}], ":2: is not a line of a score file"),
        (
            "multi_turn_base_score.json",
            [HEAD, {"id": "a", "valid": True, "error_type": "e"}],
            ":2: is not a line of a score file",
        ),
    ],
)
def test_a_score_file_covers_the_entries_of_its_category(write_lines, name, lines, message):
    path = write_lines(name, *lines)
    ids = ["multi_turn_base_7", "other", "simple_python_1"]
    if message is None:
        assert read_verdicts(path, ids) == {
            ("multi_turn_base_7", 0): {"valid": True, "error_type": None}
        }
    else:
        with pytest.raises(DataError) as caught:
            read_verdicts(path, ids)
        assert str(caught.value).startswith(f"{path}{message}")


def test_a_folder_has_the_verdicts_of_its_score_files(write_lines, tmp_path):
    failed = {"id": "simple_python_0", "valid": False, "error_type": "e"}
    write_lines("b/simple_python_score.json", HEAD, failed)
    write_lines("a/multi_turn_base_score.json", HEAD)
    write_lines("a/verdicts.jsonl", {"id": "x", "valid": True})
    assert read_verdicts(tmp_path, ["simple_python_0", "multi_turn_base_0"]) == {
        ("multi_turn_base_0", 0): {"valid": True, "error_type": None},
        ("simple_python_0", 0): {"valid": False, "error_type": "e"},
    }
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"empty: holds no \*_score\.json file$"):
        read_verdicts(tmp_path / "empty", [])


def test_a_failed_request_is_the_model_s_fault_if_its_kind_is_known(write_lines):
    path = write_lines(
        "run.json",
        {"id": "a", "result": "Error during inference: too long", "fault": "context_overflow"},
        {"id": "b", "result": "Error during inference: busy"},
        {"id": "c", "result": [], "fault": "context_overflow"},
        {"id": "d", "result": "refused", "fault": 5},
        {"id": "e", "result": " refused ", "fault": "refused"},
    )
    records = {each.id: each.record for each in read(path)}
    assert {id: record.fault for id, record in records.items()} == {
        "a": ("context_overflow", "too long"),
        **dict.fromkeys("bcd"),
        "e": ("refused", "refused "),
    }
    errors = {id: record.error for id, record in records.items()}
    error = "the result file contains an error in place of steps"
    assert errors == {**dict.fromkeys("abde", error), "c": None}


@pytest.mark.parametrize(
    ("name", "id", "category"),
    [
        ("BFCL_v4_multi_turn_base_result.json", "a", "base"),
        ("multi_turn_base_result.json", "a", "base"),
        ("multi_turn_base_result.json", "multi_turn_miss_func_1", "miss_func"),
        ("multi_turn_base_results.json", "a", ""),
        ("other_result.json", "a", ""),
    ],
)
def test_the_category_of_an_entry_is_that_of_its_id_or_else_of_its_file(
    write_lines, name, id, category
):
    [entry] = read(write_lines(name, {"id": id, "result": []}))
    assert entry.record.category == category
    assert has_result_file(["x.json", name]) is bool(category and name.endswith("_result.json"))
