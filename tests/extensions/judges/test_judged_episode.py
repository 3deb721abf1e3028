"""How turns ended, what can be solved, and which labels follow without or with a judge."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from checkers.profile import BFCL, STRICT
from envs.errors import DataError
from extensions.judges.judged_episode import JudgedEpisode, LabelOptions, exhibits
from extensions.judges.label_figures import labelled
from extensions.judges.label_rules import TurnObservation
from extensions.judges.votes import Vote
from runner.records.episode_record import TurnEnd
from tests.runner.analysis.report.making import call, source_of, viewed
from trajectories.schema import Category, ExpectedCalls

RIGHT = [
    [call("create_ticket", title="Dark screen"), "I opened ticket 2."],
    ["I cannot close tickets yet."],
    [call("close_ticket", ticket_id=1), call("get_ticket", ticket_id=1), "Closed."],
]
SAID = [{"role": "user", "content": "My screen is dark."}]


@pytest.fixture
def exhibited(dataset_of, help_desk):
    """Return what makes an exhibit of recorded turns, with further members of its record."""

    def make(
        turns=RIGHT, entry=help_desk, show="steps", profile=BFCL, **more: Any
    ) -> JudgedEpisode:
        made = source_of({entry.id: turns}, {entry.id: more} if more else None)
        made = replace(made, definition=None)
        (exhibit,) = exhibits(viewed(dataset_of(entry), made, profile).episodes, show)
        return exhibit

    return make


def ends(*whys: str) -> dict[str, Any]:
    """Return members of a record in which turns ended so."""
    return {"turn_ends": [TurnEnd(n, why, None) for n, why in enumerate(whys)], "messages": SAID}  # type: ignore[arg-type]


def vote(*answers: str, **other: Any) -> Vote:
    """Return a vote in which a judge saw these answers, one a turn."""
    turns = [TurnObservation(n, "unsure", True, True, answer) for n, answer in enumerate(answers)]  # type: ignore[arg-type]
    return Vote("help_desk_0", 0, 0, "b", turns, **other)


def test_the_ground_truth_says_what_can_be_solved(exhibited) -> None:
    exhibit = exhibited()
    assert [turn.solvable for turn in exhibit.turns] == [True, False, True]
    assert exhibit.labels(vote("solved", "refusal", "solved"), LabelOptions()) == ["pass"] * 3
    assert exhibit.labels(vote("refusal", "solved", "solved"), LabelOptions()) == [
        "fail",
        "pass",
        "pass",
    ]
    judged = LabelOptions(solvable="judged")
    assert exhibit.labels(vote("refusal", "refusal", "solved"), judged) == [
        "unsure",
        "unsure",
        "pass",
    ]


def test_an_abstention_labels_nothing_and_a_script_says_outright(exhibited) -> None:
    exhibit = exhibited()
    assert exhibit.labels(vote(abstained="no"), LabelOptions()) is None
    assert exhibit.cast([vote(abstained="no")], LabelOptions()) == [[None]]
    told = vote(labels=["pass", "unsure", "pass"])
    assert exhibit.cast([told], LabelOptions()) == [["unsure"]]
    assert exhibit.cast([told], LabelOptions(unit="turn")) == [["pass"], ["unsure"], ["pass"]]


@pytest.mark.parametrize(
    ("why", "ended"),
    [
        ("answer", "answer"),
        ("cut_off", "cut_off"),
        ("step_limit", "step_limit"),
        ("empty", "nothing"),
        ("unreadable", "nothing"),
    ],
)
def test_the_record_says_how_a_turn_ended(exhibited, why: str, ended: str) -> None:
    exhibit = exhibited(**ends("answer", "answer", why))
    assert [turn.ended for turn in exhibit.turns] == ["answer", "answer", ended]
    assert exhibit.fails_unasked("episode") == (ended != "answer")
    assert not exhibit.fails_unasked("turn")
    assert exhibit.asked == ((0, 1, 2) if ended == "answer" else (0, 1))
    (found,) = labelled([exhibit], {}, LabelOptions(), 5) or [None]
    assert (found and found.label) == (None if ended == "answer" else "fail")


def test_a_result_file_does_not_say_and_counts_as_answered(exhibited) -> None:
    exhibit = exhibited([[call("get_ticket", ticket_id=1)], [], []])
    assert [turn.ended for turn in exhibit.turns] == ["answer"] * 3


def test_what_was_not_reached_is_not_asked_about(exhibited) -> None:
    exhibit = exhibited(RIGHT[:1], **ends("answer"))
    assert [turn.reached for turn in exhibit.turns] == [True, False, False]
    assert exhibit.asked == (0,)
    assert exhibit.units("turn") == [0]
    assert exhibit.labels(vote("solved"), LabelOptions()) == ["pass", "fail", "fail"]


def test_a_turn_beyond_the_limit_has_no_answer(exhibited) -> None:
    looks = [call("get_ticket", ticket_id=1)] * 25
    exhibit = exhibited([looks, [], []], profile=STRICT)
    assert exhibit.turns[0].ended == "step_limit"
    assert exhibit.turns[1].ended == "nothing"


def test_words_are_needed_where_only_they_are_shown(exhibited) -> None:
    silent = [[call("get_ticket", ticket_id=1)], [], []]
    with pytest.raises(DataError, match="help_desk_0, trial 0: the record has no answers in words"):
        exhibited(silent, show="answer")
    assert exhibited(silent, show="answer", **ends("empty")).fails_unasked("episode")


def test_verdicts_of_turns_end_with_the_one_that_failed(exhibited) -> None:
    wrong = [RIGHT[0], [call("create_ticket", title="x"), "Done."], RIGHT[2]]
    exhibit = exhibited(wrong, profile=STRICT)
    assert exhibit.passed is False
    assert [turn.passed for turn in exhibit.turns] == [True, False, None]
    assert exhibit.cause is not None


def test_errors_are_no_exhibits(dataset_of, help_desk) -> None:
    broken = source_of({help_desk.id: None}, {help_desk.id: {"outcome": "error", "error": "gone"}})
    made = replace(broken, definition=None)
    assert [*exhibits(viewed(dataset_of(help_desk), made).episodes, "steps")] == []


CHAT = {"name": "wait", "description": "Wait.", "parameters": {"type": "dict", "properties": {}}}


@pytest.mark.parametrize(
    ("category", "label"),
    [(Category.CHAT, "fail"), (Category.CHATABLE, "fail"), (Category.IRRELEVANCE, "pass")],
)
def test_a_chat_is_labelled_by_the_relevance_of_its_words(
    exhibited, help_desk, category: Category, label: str
) -> None:
    entry = replace(
        help_desk,
        id=f"{category}_0",
        category=category,
        environments=(),
        config={},
        turns=help_desk.turns[:1],
        expects=ExpectedCalls((CHAT,)),
    )
    exhibit = exhibited([["I would rather not say."]], entry)
    assert exhibit.passed is True
    assert exhibit.is_chat == (label == "fail")
    assert exhibit.labels(vote("refusal"), LabelOptions()) == [label]
    assert exhibit.labels(vote("solved"), LabelOptions()) == ["pass"]
    (found,) = labelled([exhibit], {exhibit.key: [vote("solved")] * 3}, LabelOptions(), 5)
    assert (found.passed is None) == exhibit.is_chat


@pytest.mark.parametrize("show", ["answer", "steps", "changes"])
def test_a_request_that_failed_is_no_answer(exhibited, single_turn, show: str) -> None:
    entry = single_turn("python", CHAT, {"wait": {}})
    more = ends() if show == "answer" else {}
    exhibit = exhibited([["Error during inference: gone"]], entry, show, **more)
    assert exhibit.passed is False
    assert exhibit.turns[0].ended == "nothing"
    assert exhibit.brief.parts[-1] == "The model gave no answer at all."


def test_calls_end_a_single_turn(exhibited, single_turn) -> None:
    entry = single_turn("python", CHAT, {"wait": {}})
    exhibit = exhibited([[call("wait")]], entry, **ends())
    assert (exhibit.passed, exhibit.turns[0].ended, exhibit.turns[0].solvable) == (
        True,
        "answer",
        True,
    )
    assert "(Calls of this entry are not executed.)" in exhibit.brief.parts


def test_merits_are_counted(exhibited) -> None:
    doings = exhibited().doings
    assert (doings.merits.milestones, doings.merits.functions, doings.merits.repeats) == (3, 3, 0)
    look = call("get_ticket", ticket_id=1)
    more = exhibited([[look, look, call("get_ticket", ticket_id=9), "x"], *RIGHT[1:]]).doings
    assert (more.merits.milestones, more.merits.functions, more.merits.repeats) == (2, 2, 1)
