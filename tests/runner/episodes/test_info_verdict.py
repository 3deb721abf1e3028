"""What recorded words told, and what becomes of an episode where all must be told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checkers.evidence import UnreportedInfoEvidence
from checkers.reasons import Reason
from checkers.required_info import Fact, Number, Text
from checkers.verdict import Failure, Verdict
from runner.episodes.info_verdict import fail_without_info, find_reported_info
from runner.records.episode_record import EpisodeRecord, InfoReport, UnreportedFact
from tests.runner.records.made import episode
from trajectories.schema import Trajectory, Turn

CALL = [{"ls": "{}"}]


def telling(trajectory: Trajectory, *facts: Fact) -> Trajectory:
    """Return a trajectory of two turns, of which each has these facts."""
    turn = Turn(trajectory.turns[0].messages, ("ls()",), tells=facts)
    return replace(trajectory, turns=(turn, turn))


def test_facts_are_looked_for_in_the_words_that_end_their_turn(folders) -> None:
    asked = telling(folders, Number(3), Text("notes"))
    found = find_reported_info(
        asked, [["3 notes?", CALL, "There are 3 notes."], [CALL, "It is 3."]]
    )
    assert found == InfoReport(4, 2, [UnreportedFact(1, "'notes'")], 0, 0)


def test_in_turns_that_were_not_reached_or_ended_in_calls_nothing_is_told(folders) -> None:
    asked = telling(folders, Number(3))
    assert find_reported_info(asked, [["It is 3."]]) == InfoReport(
        2, 2, [UnreportedFact(1, "3")], 0, 0
    )
    cut_off = find_reported_info(asked, [["3"], ["3", CALL]])
    assert cut_off is not None
    assert cut_off.untold == [UnreportedFact(1, "3")]


@pytest.mark.parametrize("turns", [None, [], [[CALL], [CALL]], [[None], [[]]], [["", CALL], [""]]])
def test_where_no_words_are_on_record_nothing_is_known(folders, turns) -> None:
    assert find_reported_info(telling(folders, Number(3)), turns) is None


def test_where_nothing_is_asked_nothing_is_known(folders) -> None:
    assert find_reported_info(telling(folders), [["It is 3."], ["3"]]) is None


def test_a_turn_that_waits_is_one_in_which_something_may_be_asked_for(help_desk) -> None:
    answers = [["Done."], ["There is no function to close a ticket."], ["Done."]]
    assert find_reported_info(help_desk, answers) == InfoReport(0, 0, [], 1, 1)
    silent = find_reported_info(help_desk, [["Done."]] * 3)
    assert silent == InfoReport(0, 0, [], 1, 0)


@pytest.mark.parametrize(
    ("answers", "untold"),
    [
        (["3 open.", "You have 7, but I cannot close any.", "Closed."], []),
        (["3 open.", "I cannot close any.", "Closed, 7 are left."], []),
        (
            ["You have 7, 3 of them open.", "I cannot close any.", "Closed."],
            [UnreportedFact(2, "7")],
        ),
        (["You have some.", "You have 3 and 7.", "Closed."], [UnreportedFact(0, "3")]),
    ],
)
def test_what_a_request_that_waits_asks_may_be_told_in_either_turn(
    help_desk, answers, untold
) -> None:
    first, request, handover = help_desk.turns
    told = (replace(first, tells=(Number(3),)), request, replace(handover, tells=(Number(7),)))
    found = find_reported_info(replace(help_desk, turns=told), [[answer] for answer in answers])
    assert found == InfoReport(2, 2, untold, 1, 1 if "I cannot" in answers[1] else 0)


MISSED = InfoReport(
    3, 2, [UnreportedFact(1, "3"), UnreportedFact(1, "'a'"), UnreportedFact(2, "'b'")], 0, 0
)


def told(outcome, telling: InfoReport | None) -> EpisodeRecord:
    return episode("x", 0, "base", outcome, 4, 4)._replace(telling=telling)


def test_the_first_turn_that_leaves_something_out_fails() -> None:
    record = fail_without_info(told("passed", MISSED))
    evidence = UnreportedInfoEvidence(("3", "'a'"))
    assert record.outcome == "failed"
    assert record.verdict == Verdict(False, Failure(Reason.NOT_TOLD, evidence), 1, 4, 1)
    assert Verdict.from_json(record.verdict.to_json()) == record.verdict
    assert record.verdict_line()["untold"] == ["3", "'a'"]


def test_an_outcome_without_a_verdict_fails_alike() -> None:
    record = fail_without_info(told("passed", MISSED)._replace(verdict=None))
    evidence = UnreportedInfoEvidence(("3", "'a'"))
    assert record.verdict == Verdict(False, Failure(Reason.NOT_TOLD, evidence), 1, 0, 1)
    kept = told("passed", None)._replace(verdict=None)
    assert fail_without_info(kept) is kept


@pytest.mark.parametrize(
    "record",
    [
        told("failed", MISSED),
        told("error", MISSED),
        told("passed", None),
        told("passed", InfoReport(3, 2, [], 1, 0)),
    ],
)
def test_other_outcomes_stay(record) -> None:
    assert fail_without_info(record) is record


def test_what_was_told_is_kept_in_a_run() -> None:
    record = told("passed", MISSED)
    assert EpisodeRecord.from_json(record.to_json(), "here").telling == MISSED
    assert "telling" not in told("passed", None).to_json()
