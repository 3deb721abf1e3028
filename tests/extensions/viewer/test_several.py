from __future__ import annotations

from dataclasses import replace

import pytest

from checkers.profile import BFCL
from envs.errors import DataError
from extensions.viewer.viewer_pages import flips, several_json
from runner.analysis.comparison import compare_each
from tests.runner.analysis.report.making import call, source_of

RIGHT = [
    [call("mv", source="notes.txt", destination="old")],
    [call("cd", folder="old"), call("wc", file_name="notes.txt")],
]
LAZY = [RIGHT[0], []]


@pytest.fixture
def compared(dataset_of, folders):
    """Compare runs, each given as turns by entry."""
    dataset = dataset_of(*[replace(folders, id=f"e{n}", provenance={}) for n in range(4)])

    def compare(*runs):
        return compare_each([*map(source_of, runs)], dataset, BFCL, [20] * len(runs))

    return compare


def test_runs_are_compared_over_what_all_have(compared):
    found = compared(
        {"e0": RIGHT, "e1": RIGHT, "e2": RIGHT},
        {"e0": RIGHT, "e1": LAZY},
        {"e0": LAZY, "e1": RIGHT},
    )
    shown = several_json(found)
    assert (shown["entries"], shown["left_out"], shown["unjudged"]) == (2, [1, 0, 0], 0)
    assert shown["scores"] == [1.0, 0.5, 0.5]
    assert [each["difference"] for each in shown["against"]] == [-0.5, -0.5]
    assert shown["categories"] == {"base": [1.0, 0.5, 0.5]}
    assert shown["causes"] == [{"cause": "missing_call", "shares": [0.0, 0.5, 0.5]}]


def test_p_values_are_corrected_for_all_comparisons(compared):
    found = several_json(compared({"e0": RIGHT}, {"e0": RIGHT}, {"e0": LAZY}))
    assert all(each["corrected"] >= each["p_value"] for each in found["against"])
    assert found["against"][1]["corrected"] == min(1.0, 2 * found["against"][1]["p_value"])


def test_an_entry_that_is_alike_in_all_is_no_flip(compared):
    same = {"e0": RIGHT, "e1": LAZY, "e2": RIGHT}
    found = compared(same, same, {**same, "e2": LAZY})
    assert [flip.trajectory.id for flip in flips(found)] == ["e2"]
    [shown] = several_json(found)["flips"]
    assert [each["passed"] for each in shown["runs"]] == [1, 1, 0]
    assert shown["runs"][2]["diagnosis"]["cause"] == "missing_call"


def test_runs_without_a_common_entry(compared):
    with pytest.raises(DataError, match="has no judged entry in common"):
        compared({"e0": RIGHT, "e1": RIGHT}, {"e0": RIGHT}, {"e1": RIGHT})


def test_two_of_several_are_as_the_two_alone(dataset_of, folders):
    dataset = dataset_of(*[replace(folders, id=f"e{n}", provenance={}) for n in range(2)])
    runs = source_of({"e0": RIGHT, "e1": LAZY}), source_of({"e0": LAZY, "e1": LAZY})
    alone = compare_each(runs, dataset, BFCL, (20, 20))[0]
    assert alone == compare_each([*runs, runs[0]], dataset, BFCL, [20] * 3)[0]
