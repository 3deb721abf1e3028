"""Labels of what a judge saw: the tables row by row and exhaustively, majorities, agreement."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import get_args

import pytest

from extensions.judges.label_rules import (
    AnswerKind,
    Confusion,
    Ended,
    EpisodeMerits,
    JudgeLabel,
    JudgingRules,
    Preference,
    RatedLabel,
    Solvable,
    TurnObservation,
    VoteRounds,
    choose_better,
    combine_orders,
    find_majority,
    find_preference,
    is_decided,
    is_settled,
    label_chat,
    label_episode,
    label_turn,
    measure_agreement,
    summarize_rounds,
)

ENDINGS = get_args(Ended)
SOLVABLE, ANSWERS = get_args(Solvable), get_args(AnswerKind)
RULES: tuple[JudgingRules, ...] = get_args(JudgingRules)
EITHER = (True, False)
TALKING = ("answer", "give_up")
P, F, U = "pass", "fail", "unsure"

ROWS: list[tuple[object, ...]] = [
    # solvable, ended, information, tried all, answers: paper, toolbench, stable
    ("yes", "give_up", [False], [True], ANSWERS, P, F, F),
    ("yes", "give_up", [True], EITHER, ANSWERS, F, F, F),
    ("yes", "give_up", EITHER, [False], ANSWERS, F, F, F),
    ("yes", "answer", EITHER, EITHER, ["solved"], P, P, P),
    ("yes", "answer", [False], [True], ["refusal", "partly"], P, F, F),
    ("yes", "answer", [True], EITHER, ["refusal", "partly"], F, F, F),
    ("yes", "answer", [False], [False], ["refusal", "partly"], F, F, F),
    ("yes", "answer", EITHER, EITHER, ["false_claim"], F, F, F),
    ("yes", "answer", EITHER, EITHER, ["undeterminable"], U, U, U),
    ("no", "give_up", EITHER, EITHER, ANSWERS, P, P, F),
    ("no", "answer", EITHER, EITHER, ["solved"], P, P, P),
    ("no", "answer", EITHER, EITHER, ["refusal", "partly"], P, P, F),
    ("no", "answer", EITHER, EITHER, ["false_claim"], F, P, F),
    ("no", "answer", EITHER, EITHER, ["undeterminable"], U, P, U),
    ("unsure", "answer", EITHER, EITHER, ["solved"], P, P, P),
    ("unsure", "give_up", EITHER, EITHER, ["solved"], P, P, F),
    ("unsure", "answer", EITHER, EITHER, ["undeterminable"], U, U, U),
    ("unsure", "answer", EITHER, EITHER, ["refusal", "partly", "false_claim"], U, U, F),
    ("unsure", "give_up", EITHER, EITHER, [*ANSWERS[1:]], U, U, F),
    *[(s, e, EITHER, EITHER, ANSWERS, F, F, F) for s in SOLVABLE for e in ENDINGS[2:]],
]


def table() -> dict[tuple[object, ...], tuple[str, str, str]]:
    """Return what the rows say of every input; no two of them may differ."""
    found: dict[tuple[object, ...], tuple[str, str, str]] = {}
    for solvable, ended, information, tried, answers, *labels in ROWS:
        for case in product([solvable], [ended], information, tried, answers):  # type: ignore[call-overload]
            expected = tuple(labels)
            assert found.setdefault(case, expected) == expected
    return found


def test_every_input_has_one_label_and_it_is_the_tables() -> None:
    rows = table()
    inputs = [*product(SOLVABLE, ENDINGS, EITHER, EITHER, ANSWERS)]
    assert len(inputs) == 3 * 5 * 2 * 2 * 5 == len(rows)
    for solvable, ended, information, tried, answer in inputs:
        observed = TurnObservation(0, solvable, information, tried, answer)
        said = tuple(label_turn(observed, ended, rules) for rules in RULES[:3])
        assert said == rows[solvable, ended, information, tried, answer]
        fac = label_turn(observed, ended, "fac")
        assert fac == (P if ended == "answer" and answer == "solved" else F)


def test_toolbench_is_its_own_table_of_three_by_three() -> None:
    # Solvable, unsolvable, unsure; solved, unsolved, unsure: as its code has them.
    theirs = {"yes": (P, F, U), "no": (P, P, P), "unsure": (P, U, U)}
    kinds: tuple[AnswerKind, ...] = ("solved", "refusal", "undeterminable")
    for solvable in SOLVABLE:
        seen = [TurnObservation(0, solvable, True, True, kind) for kind in kinds]
        assert tuple(label_turn(o, "answer", "toolbench") for o in seen) == theirs[solvable]


@pytest.mark.parametrize(
    ("answer", "label"),
    [("solved", P), ("partly", F), ("refusal", F), ("false_claim", F), ("undeterminable", U)],
)
def test_a_chat_passes_by_its_words(answer: AnswerKind, label: str) -> None:
    assert label_chat(TurnObservation(0, "no", False, False, answer), "answer") == label
    assert label_chat(TurnObservation(0, "no", False, False, answer), "nothing") == F


def test_an_episode_is_as_good_as_its_turns() -> None:
    assert label_episode([P, P]) == P
    assert label_episode([P, U]) == U
    assert label_episode([U, F, P]) == F


# Votes


@pytest.mark.parametrize(
    ("cast", "votes", "label"),
    [
        ([P, P, P], 5, P),
        ([P, P], 5, U),
        ([P, P, F, F], 4, U),
        ([P, P, None, None, F], 5, U),
        ([F, F, F, P, P], 5, F),
        ([U, U, U], 5, U),
        ([], 5, U),
    ],
)
def test_a_label_needs_more_than_half_of_all_votes(cast, votes, label) -> None:
    assert find_majority(cast, votes) == label


def test_votes_are_settled_when_no_further_one_can_change_the_label() -> None:
    for votes in (3, 4, 5, 6):
        for length in range(votes + 1):
            for cast in product([P, F, U, None], repeat=length):
                ends = product([P, F, U, None], repeat=votes - length)
                possible = {find_majority([*cast, *rest], votes) for rest in ends}
                assert is_settled(cast, votes) == (len(possible) == 1), cast


def drawn(source: Random, right: float, votes: int) -> list[JudgeLabel]:
    """Return votes on something that passed."""
    return [P if source.random() < right else F for _ in range(votes)]


@pytest.mark.parametrize(("votes", "expected"), [(5, 0.94208), (3, 0.896)])
def test_more_votes_are_right_more_often(votes: int, expected: float) -> None:
    source = Random(1)
    right = sum(find_majority(drawn(source, 0.8, votes), votes) == P for _ in range(10_000))
    assert right / 10_000 == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(("right", "expected"), [(0.8, 3.6336), (0.95, 3.1642)])
def test_stopping_early_spares_votes_and_changes_nothing(right: float, expected: float) -> None:
    source, taken = Random(2), 0
    for _ in range(10_000):
        cast = drawn(source, right, 5)
        needed = next(n for n in range(6) if is_settled(cast[:n], 5))
        assert find_majority(cast[:needed], 5) == find_majority(cast, 5)
        taken += needed
    assert taken / 10_000 == pytest.approx(expected, abs=0.02)


def test_rounds_are_the_first_votes_the_second_votes_and_so_on() -> None:
    assert summarize_rounds([[P, P, F], [F, P], [U, None]]) == VoteRounds(2, 0.75, 0.25)
    assert summarize_rounds([]) is None
    assert summarize_rounds([[P], []]) is None


# StableToolBench's published sample: three queries, three rounds, two methods. Facts only.
SAMPLE = {
    "588": ([F, F, F], [P, P, P], ["win"] * 3),
    "608": ([P, P, P], [P, P, P], ["win"] * 3),
    "1073": ([P, P, P], [P, P, P], ["win", "lose", "win"]),
}


def test_the_published_sample_sums_up_as_published() -> None:
    found = summarize_rounds([first for first, _, _ in SAMPLE.values()])
    assert found is not None
    assert (round(100 * found.mean, 1), found.deviation) == (66.7, 0.0)
    assert summarize_rounds([second for _, second, _ in SAMPLE.values()]) == VoteRounds(3, 1.0, 0.0)
    wins: list[Preference] = [find_preference(votes, 3) for *_, votes in SAMPLE.values()]
    assert wins == ["win", "win", "win"]


# Preferences


def test_a_preference_counts_where_both_orders_agree() -> None:
    said = {pair: combine_orders(*pair) for pair in product(["first", "second", "equal"], repeat=2)}
    assert {pair for pair, won in said.items() if won == "win"} == {("second", "first")}
    assert {pair for pair, won in said.items() if won == "lose"} == {("first", "second")}


def test_the_first_criterion_that_separates_decides() -> None:
    assert choose_better({"richness": "equal", "facts": "second", "reason": "first"}) == "second"
    assert choose_better({"repetition": "first", "milestones": "second"}) == "second"
    assert choose_better({}) == "equal"


def test_merits_are_compared_one_by_one() -> None:
    assert EpisodeMerits(3, 2, 1).against(EpisodeMerits(2, 2, 0)) == {
        "milestones": "first",
        "exploration": "equal",
        "repetition": "second",
    }


def test_a_draw_is_a_tie() -> None:
    assert find_preference(["win", "win", "tie", "tie", "lose"], 5) == "tie"
    assert find_preference(["win", "win", None, "win"], 5) == "win"
    for length in range(6):
        for cast in product(["win", "tie", "lose", None], repeat=length):
            rests = product(["win", "tie", "lose", None], repeat=5 - length)
            possible = {find_preference([*cast, *rest], 5) for rest in rests}
            assert is_decided(cast, 5) == (len(possible) == 1)


# Agreement


def rated(*counts: int) -> list[RatedLabel]:
    """Return labels as often as told, in the order of a confusion's members, each by itself."""
    cases: list[tuple[JudgeLabel, bool]] = [*product([P, F, U], [True])]  # type: ignore[list-item]
    cases += [*product([P, F, U], [False])]  # type: ignore[list-item]
    found = [case for case, count in zip(cases, counts, strict=False) for _ in range(count)]
    return [RatedLabel(str(n), label, passed) for n, (label, passed) in enumerate(found)]


def test_a_known_confusion() -> None:
    found = measure_agreement(rated(20, 10, 0, 5, 15))
    assert found.confusion == Confusion(20, 10, 0, 5, 15, 0)
    assert found.figures == pytest.approx(
        {"agreement": 0.7, "precision": 0.8, "recall": 2 / 3, "specificity": 0.75, "kappa": 0.4}
    )
    for name, (low, high) in found.intervals.items():  # type: ignore[misc]
        assert low < found.figures[name] < high  # type: ignore[operator]


def test_who_always_passes_agrees_by_chance_only() -> None:
    found = measure_agreement(rated(30, 0, 0, 20))
    assert (found.figures["agreement"], found.figures["kappa"]) == (0.6, 0.0)
    assert (found.figures["recall"], found.figures["specificity"]) == (1.0, 0.0)


def test_who_is_unsure_is_not_right() -> None:
    found = measure_agreement(rated(3, 0, 1, 0, 3, 1)).figures
    assert (found["agreement"], found["recall"], found["specificity"]) == (0.75, 0.75, 0.75)
    assert found["precision"] == 1.0


def test_full_agreement_has_the_interval_of_as_many_trials() -> None:
    low, high = measure_agreement(rated(10)).intervals["agreement"] or (0, 0)
    assert (round(low, 3), round(high, 3)) == (0.722, 1.0)


def test_perfect_kappa_has_an_interval() -> None:
    found = measure_agreement(rated(10, 0, 0, 0, 10))
    assert found.figures["kappa"] == 1.0
    low, high = found.intervals["kappa"] or (0, 0)
    assert (round(low, 2), high) == (0.68, 1.0)
    assert measure_agreement(rated(10)).intervals["kappa"] is None


@pytest.mark.parametrize(("right", "kappa"), [(0.95, 0.9), (0.75, 0.5), (0.5, 0.0)])
def test_nine_in_ten_intervals_contain_kappa(right: float, kappa: float) -> None:
    source, held = Random(1), 0
    for _ in range(200):
        labels = [(passed, source.random() < right) for passed in (True, False) for _ in range(30)]
        found = measure_agreement(
            [
                RatedLabel(str(n), P if passed is ok else F, passed)
                for n, (passed, ok) in enumerate(labels)
            ]
        )
        low, high = found.intervals["kappa"] or (1, 0)
        held += low <= kappa <= high
    assert held >= 180


def test_what_came_from_one_scenario_is_counted_together() -> None:
    alone = measure_agreement(rated(20, 10, 0, 5, 15)).intervals["agreement"]
    together = [
        each._replace(cluster=str(int(each.cluster) // 10)) for each in rated(20, 10, 0, 5, 15)
    ]
    wide = measure_agreement(together).intervals["agreement"]
    assert alone is not None
    assert wide is not None
    assert wide[1] - wide[0] > alone[1] - alone[0]


def test_of_nothing_there_is_no_figure() -> None:
    found = measure_agreement([])
    assert {*found.figures.values()} == {None}
    assert {*found.intervals.values()} == {None}
