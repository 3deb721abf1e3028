from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from checkers.profile import BFCL, STRICT
from trajectories import replay_queries
from trajectories.dataset import load_embedded
from trajectories.prepared_trajectory import load_session
from trajectories.replay_queries import PlayedTruths, play_truth
from trajectories.schema import MULTI_TURN


@pytest.fixture(scope="module")
def dataset():
    return load_embedded(MULTI_TURN)


@pytest.fixture
def played(monkeypatch):
    """Return the ids whose ground truth was played."""
    played = []

    def play(trajectory, template):
        played.append(trajectory.id)
        return play_truth(trajectory, template)

    monkeypatch.setattr(replay_queries, "play_truth", play)
    return played


def seen(outcomes):
    return [
        (
            [(r.ok, r.text, r.members, r.changed, r.value) for r in outcome.results],
            [getattr(r.held, "kind", None) for r in outcome.results],
            [*outcome.calls],
            outcome.snapshot.to_json(),
            outcome.acted,
        )
        for outcome in outcomes
    ]


def name_scenario(entry):
    return entry.id.removeprefix(f"{entry.category}_")


@pytest.mark.parametrize(
    "part",
    [slice(3, None, 60), pytest.param(slice(None), marks=pytest.mark.slow)],
    ids=["some", "all"],
)
@pytest.mark.parametrize("profile", [BFCL, STRICT], ids=lambda profile: profile.name)
def test_shared_outcomes_are_those_of_playing(dataset, profile, part, played):
    entries = [*dataset.trajectories.values()]
    scenarios = {name_scenario(each) for each in entries[part]}
    some = [each for each in entries if name_scenario(each) in scenarios]
    rules, truths = profile.execution, PlayedTruths()
    for entry in some:
        options = {"checks_arguments": rules.checks_arguments, "keeps_all": rules.keeps_all}
        template = load_session(dataset, entry, **options)
        start, outcomes = truths.play(entry, partial(load_session, dataset, entry, **options))
        assert seen(outcomes) == seen(play_truth(entry, template))
        assert start.snapshot() == template.snapshot()
    assert len(played) < 0.7 * len(some)


def test_entries_that_differ_in_more_than_empty_turns_are_played(dataset, played):
    entries = dataset.trajectories.values()
    entry = next(each for each in entries if each.category == "miss_param")
    long = next(each for each in entries if each.long_context)
    calls = (replace(entry.turns[0], ground_truth=("pwd()",)), *entry.turns[1:])
    truths = PlayedTruths()
    for each in (
        entry,
        replace(entry, id="again"),
        replace(entry, id="calls", turns=calls),
        replace(entry, id="config", config={}),
        replace(entry, id="long", long_context=long.long_context),
    ):
        truths.play(each, partial(load_session, dataset, each))
    assert played == [entry.id, "calls", "config", "long"]


def test_a_full_store_forgets_the_oldest_outcome(dataset, played):
    truths = PlayedTruths(1)
    first, second, *_ = dataset.trajectories.values()
    for each in (first, second, second, first):
        truths.play(each, partial(load_session, dataset, each))
    assert played == [first.id, second.id, first.id]
