from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from checkers.causes.diagnosis import Cause
from checkers.profile import BFCL, STRICT
from envs.errors import DataError
from runner.analysis.comparison import compare_each
from runner.analysis.comparison_lines import lines
from runner.commands.compare import ComparisonRule
from runner.records.recorded_run import Run
from tests.runner.analysis import entries
from tests.runner.records.made import answered
from trajectories.schema import Category

RIGHT = [
    [[{"mv": '{"source": "notes.txt", "destination": "old"}'}]],
    [[{"cd": '{"folder": "old"}'}, {"wc": '{"file_name": "notes.txt"}'}]],
]
LAZY = [RIGHT[0], []]
WRONG = [[[{"mv": '{"source": "notes.txt", "destination": "new"}'}]], RIGHT[1]]


def run(name, **entries):
    """Return a run: the trials of each entry, which are turns, None, or the text of an error."""
    episodes = {
        (id, number): recorded(id, number, turns)
        for id, trials in entries.items()
        for number, turns in enumerate(trials)
    }
    return Run(name, Path(name), episodes)


def recorded(id, trial, turns):
    """Return one recorded episode."""
    if isinstance(turns, str):
        return answered(id, None, trial=trial, outcome="error", error=turns)
    return answered(id, turns, trial=trial)


@pytest.fixture
def data(dataset_of, folders):
    """Return a data set of six entries, of which two are made from one."""
    entries = [replace(folders, id=f"e{n}", provenance={"base": f"e{n}"}) for n in range(5)]
    again = replace(entries[0], id="f0", category=Category.LONG_CONTEXT)
    return dataset_of(*entries, again)


@pytest.fixture
def compared(data):
    """Compare two runs."""

    def compare(first, second):
        return compare_each((first, second), data, BFCL, (20, 20))[0]

    return compare


def shown(comparison):
    """Return a comparison as text."""
    return "\n".join(line.text for line in lines(comparison))


def test_who_flips_and_why(compared):
    first = run("one", e0=[RIGHT], e1=[RIGHT], e2=[LAZY], e3=[LAZY])
    second = run("two", e0=[RIGHT], e1=[LAZY], e2=[RIGHT], e3=[WRONG])
    found = compared(first, second)
    assert [entry.trajectory.id for entry in found.lost] == ["e1"]
    assert [entry.trajectory.id for entry in found.gained] == ["e2"]
    assert found.lost[0].diagnosis.cause is Cause.MISSING_CALL
    assert found.gained[0].diagnosis.cause is Cause.MISSING_CALL
    assert (found.overall.first, found.overall.second) == (0.5, 0.5)


def test_causes_are_counted_in_both_runs(compared):
    first = run("one", e0=[LAZY], e1=[LAZY], e2=[WRONG])
    second = run("two", e0=[WRONG], e1=[RIGHT], e2=[WRONG])
    causes = {count.cause: (count.first, count.second) for count in compared(first, second).causes}
    assert causes == {Cause.MISSING_CALL: (2, 0), Cause.WRONG_ARGUMENT: (1, 2)}


def test_only_entries_that_both_have_are_compared(compared):
    found = compared(
        run("one", e0=[RIGHT], e1=[RIGHT], e2=[RIGHT]), run("two", e0=[RIGHT], e4=[LAZY])
    )
    assert [entry.trajectory.id for entry in found.entries] == ["e0"]
    assert found.left_out == (2, 1, 0)
    assert "left out: 2 only in A, 1 only in B\n" in shown(found)


def test_an_error_that_is_not_the_models_is_left_out(compared):
    found = compared(run("one", e0=[RIGHT], e1=[RIGHT]), run("two", e0=[RIGHT], e1=["no server"]))
    assert found.left_out.errors == 1
    assert "1 without a judged trial" in shown(found)


def test_an_entry_without_a_record_has_failed(compared):
    found = compared(run("one", e0=[RIGHT]), run("two", e0=[None]))
    assert found.lost[0].diagnosis.cause is Cause.UNREADABLE


def test_single_turns_are_compared_too(dataset_of, single_turn):
    entry = single_turn("python", entries.WAIT, entries.ANSWER)
    right, wrong, failed = (
        run("one", **{entry.id: [[[step]]]})
        for step in (entries.RIGHT, entries.WRONG, "Error during inference: 500")
    )
    found = compare_each((right, wrong), dataset_of(entry), BFCL, (20, 20))[0]
    assert found.categories.keys() == {Category.SIMPLE_PYTHON}
    assert found.lost[0].diagnosis.cause is Cause.WRONG_ARGUMENT
    with pytest.raises(DataError, match="has no judged entry in common"):
        compare_each((right, failed), dataset_of(entry), STRICT, (20, 20))[0]


def test_trials_are_compared_by_pass_rate(compared):
    first = run("one", e0=[RIGHT, LAZY], e1=[LAZY, LAZY], e2=[RIGHT, RIGHT])
    second = run("two", e0=[WRONG, LAZY, WRONG], e1=[RIGHT, LAZY, LAZY], e2=[RIGHT] * 3)
    found = compared(first, second)
    assert found.trials == (2, 3)
    assert [(e.pair.first.passed, e.pair.second.passed) for e in found.entries] == [
        (1, 0),
        (0, 1),
        (2, 3),
    ]
    assert found.lost[0].diagnosis.cause is Cause.WRONG_ARGUMENT
    assert "up to 2 (A) and 3 (B) trials each" in shown(found)
    assert "e0  1/2 0/3  wrong_argument" in shown(found)


def test_causes_are_compared_by_share_of_episodes(compared):
    first = run("one", e0=[LAZY], e1=[RIGHT])
    second = run("two", e0=[LAZY] * 4, e1=[LAZY] + [RIGHT] * 3)
    found = compared(first, second)
    (count,) = found.causes
    assert (count.first, count.second) == (1, 5)
    assert found.cause_shares(count) == (1 / 2, 5 / 8)
    assert found.to_json()["causes"][0]["shares"] == [1 / 2, 5 / 8]
    (line,) = [line for line in shown(found).splitlines() if line.startswith("missing_call ")]
    assert line.split()[1:4] == ["50.0%", "62.5%", "+12.5"]


def test_entries_of_one_scenario_are_kept_together(compared):
    lost = compared(run("one", e0=[RIGHT], f0=[RIGHT]), run("two", e0=[LAZY], f0=[LAZY]))
    assert lost.overall.mcnemar == 0.5
    assert lost.overall.p_value == 1.0
    assert "sign-flip test across 1 scenario" in shown(lost)
    assert list(lost.categories) == [Category.BASE, Category.LONG_CONTEXT]


def test_independent_single_trials_are_tested_by_mcnemar(compared):
    found = compared(run("one", e0=[RIGHT], e1=[LAZY]), run("two", e0=[LAZY], e1=[LAZY]))
    assert "p is from McNemar's exact test." in shown(found)


def test_a_difference_within_noise_is_called_so(compared):
    ids = ["e0", "e1", "e2", "e3"]
    found = compared(
        run("one", **{id: [LAZY] for id in ids}),
        run("two", **{id: [RIGHT if id == "e0" else LAZY] for id in ids}),
    )
    text = shown(found)
    assert "Within noise: B minus A is +25.0 points" in text
    assert f"about {found.overall.needed} entries are needed (" in text
    assert "trials per entry in both runs (now: 1)." in text


def test_runs_that_do_not_differ(compared):
    text = shown(compared(run("one", e0=[LAZY]), run("two", e0=[LAZY])))
    assert "All entries have equal scores" in text
    assert "To settle it" not in text


def test_a_clear_difference_is_named(dataset_of, folders):
    entries = [replace(folders, id=f"e{n}", provenance={}) for n in range(8)]
    sides = [{entry.id: [turns] for entry in entries} for turns in (RIGHT, LAZY)]
    data = dataset_of(*entries)
    found = compare_each((run("one", **sides[0]), run("two", **sides[1])), data, BFCL, (20, 20))[0]
    assert "A is better than B by 100.0 points" in shown(found)
    assert "To settle it" not in shown(found)


@pytest.mark.parametrize(("scenarios", "worse"), [(1, False), (8, True)])
def test_only_a_difference_beyond_noise_breaks_the_rule(dataset_of, folders, scenarios, worse):
    entries = [
        replace(folders, id=f"e{n}", provenance={"base": str(n % scenarios)}) for n in range(8)
    ]
    sides = [{entry.id: [turns] for entry in entries} for turns in (RIGHT, LAZY)]
    data = dataset_of(*entries)
    found = compare_each((run("one", **sides[0]), run("two", **sides[1])), data, BFCL, (20, 20))[0]
    assert (ComparisonRule("significant").violation(found) is not None) is worse
    assert found.overall.is_noise is not worse
    low, high = found.overall.interval
    assert (low <= 0.0 <= high) is not worse


def test_the_same_in_json(compared):
    shown = compared(run("one", e0=[RIGHT]), run("two", e0=[LAZY])).to_json()
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    assert [run["name"] for run in shown["runs"]] == ["one", "two"]
    assert shown["overall"]["difference"] == -1.0
    assert list(shown["categories"]) == ["base"]
    assert shown["lost"][0]["diagnosis"]["cause"] == "missing_call"
    assert shown["gained"] == []


def test_runs_with_nothing_in_common(compared):
    with pytest.raises(DataError, match="has no judged entry in common"):
        compared(run("one", e0=[RIGHT]), run("two", e1=[RIGHT]))


def test_an_entry_that_the_data_lacks(compared):
    with pytest.raises(DataError, match="one: 'gone' is not in made-up"):
        compared(run("one", gone=[RIGHT]), run("two", gone=[RIGHT]))
