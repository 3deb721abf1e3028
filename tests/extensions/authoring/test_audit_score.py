from __future__ import annotations

from checkers.multi_turn_verdict import inference_error
from checkers.reasons import Reason
from checkers.verdict import Failure, Verdict
from extensions.authoring.audit_score import EpisodesScore, score


def test_a_score_counts_episodes_and_turns():
    verdicts = [
        Verdict(True, None, None, 3, 3),
        Verdict(False, Failure(Reason.EMPTY_TURN), 2, 4, 2),
        inference_error(5),
    ]
    assert score(iter(verdicts)) == EpisodesScore(entries=3, passed=1, turns=12, turns_passed=5)


def test_the_score_of_nothing():
    nothing = score([])
    assert nothing == EpisodesScore(0, 0, 0, 0)
    assert nothing.rate == 0.0


def test_a_rate():
    assert EpisodesScore(entries=100, passed=50, turns=0, turns_passed=0).rate == 0.5
