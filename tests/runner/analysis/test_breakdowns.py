from __future__ import annotations

from dataclasses import replace

from runner.analysis.breakdowns import Breakdown, breakdowns, score_part
from runner.analysis.report.run_report import shorten_steps
from tests.runner.analysis.report.making import call, request, source_of, viewed
from trajectories.schema import DifficultyLabel

RIGHT = [
    [call("create_ticket", title="Dark screen"), "I opened ticket 2."],
    [],
    [call("close_ticket", ticket_id=1), call("get_ticket", ticket_id=1)],
]
WRONG = [[], [], []]


def made(dataset_of, help_desk, requests=None):
    """Return the episodes of three entries: two of them pass, one with labels."""
    entries = [
        replace(help_desk, id="a", labels=(DifficultyLabel.LOOK_UP, DifficultyLabel.CONDITION)),
        replace(help_desk, id="b"),
        replace(help_desk, id="c", labels=(DifficultyLabel.LOOK_UP,)),
    ]
    turns = {"a": RIGHT, "b": RIGHT, "c": WRONG}
    records = {
        id: {"steps": [request(0, 1)] * count, "messages": [{"role": "user", "content": "?"}]}
        for id, count in (requests or {}).items()
    }
    return given(viewed(dataset_of(*entries), source_of(turns, records)))


def given(run):
    """Return the records and entries of a run."""
    entries = {each.trajectory.id: each.trajectory for each in run.episodes}
    return [*map(shorten_steps, run.episodes)], entries


def parts(found: Breakdown) -> list[tuple[str, int, int]]:
    return [tuple(part) for part in found.parts]


def test_an_episode_counts_for_each_of_its_labels(dataset_of, help_desk):
    [by_label] = breakdowns(*made(dataset_of, help_desk))
    assert by_label.title == "Score by difficulty"
    assert parts(by_label) == [("look_up", 1, 2), ("condition", 1, 1), ("no label", 1, 1)]


def test_a_pass_needs_its_requests_within_the_budget(dataset_of, help_desk):
    both = made(dataset_of, help_desk, {"a": 4, "b": 17, "c": 30})
    by_budget = breakdowns(*both)[1]
    assert parts(by_budget) == [("at most 5", 1, 3), ("at most 10", 1, 3), ("at most 20", 2, 3)]
    assert by_budget.to_json()["parts"][0] == {"label": "at most 5", "passed": 1, "judged": 3}


def test_the_steps_of_result_files_count_as_requests(dataset_of, help_desk):
    reads = [call("get_ticket", ticket_id=1)] * 4
    turns = {"a": RIGHT, "b": [[*reads, *RIGHT[0]], *RIGHT[1:]]}
    entries = [replace(help_desk, id=id) for id in turns]
    [by_budget] = breakdowns(*given(viewed(dataset_of(*entries), source_of(turns, {}))))
    assert parts(by_budget) == [("at most 5", 1, 2), ("at most 10", 2, 2)]


def test_errors_do_not_count(dataset_of, help_desk):
    [first, *others], _ = made(dataset_of, help_desk)
    assert score_part("all", [first._replace(outcome="error"), *others]) == ("all", 1, 2)
