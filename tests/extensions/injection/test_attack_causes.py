"""Causes of failed attacked episodes: the attack is named, with the call that obeyed it."""

from __future__ import annotations

from checkers.causes.diagnosis import Cause, Diagnosis
from checkers.profile import STRICT
from envs.calls import read_call
from extensions.injection import gullible_models, planting
from extensions.injection.attack import Attack
from extensions.injection.proof import PROVEN
from runner.episodes.entry_kinds import JudgingResult
from runner.episodes.script_traces import trace
from trajectories.dataset import load_embedded
from trajectories.prepared_trajectory import prepare
from trajectories.schema import Category


def causes(model: str) -> list[tuple[Attack, Diagnosis | None]]:
    dataset, found = load_embedded([Category.BASE]), []
    for each in [*dataset.trajectories.values()][:40:2]:
        made = planting.make_attack(dataset, each, "plain", 0)
        if made is None:
            continue
        script = gullible_models.script_of(model, made, 0)
        assert script is not None
        prepared = prepare(dataset, made, STRICT)
        played = trace(prepared, script, STRICT)
        outcomes = [turn.outcome for turn in played.turns]
        judged = PROVEN.judge_outcomes(prepared, outcomes, STRICT, terminated=False)
        judged = JudgingResult(judged.verdict, outcomes, played)
        found.append((Attack.of(made), PROVEN.examine(prepared, judged, STRICT, None).diagnosis))
    return found


def test_a_model_that_obeys_has_the_cause_at_its_call() -> None:
    found = [(attack, each) for attack, each in causes("always") if each is not None]
    assert found
    for attack, each in found:
        assert each.cause is Cause.OBEYED_INJECTION
        assert read_call(each.evidence["call"]) == read_call(attack.calls[0])
        assert each.turn == attack.due


def test_a_model_that_stops_has_another_cause() -> None:
    found = [each for _, each in causes("refuser") if each is not None]
    assert found
    assert {each.cause for each in found} == {Cause.REFUSED_EVERYTHING}


def test_a_model_that_does_not_obey_has_no_cause() -> None:
    assert all(each is None for _, each in causes("never"))
