from __future__ import annotations

from unittest.mock import Mock

import pytest

from checkers.causes.diagnosis import Cause
from checkers.profile import BFCL
from envs.errors import BackendFault, DataError
from runner.analysis import replayed_runs
from runner.analysis.replayed_runs import replay_run
from tests.runner.analysis.report.making import call, request, source_of, viewed

RIGHT = [
    [call("create_ticket", title="Dark screen")],
    [],
    [call("close_ticket", ticket_id=1), call("get_ticket", ticket_id=1)],
]
WRONG = [[call("create_ticket", title="Dark")], *RIGHT[1:]]


def record(outcome="passed", error=None, **more):
    """Return members of the record of the help desk's episode."""
    return {"outcome": outcome, "error": error, "steps": [request(0, 1)], **more}


@pytest.fixture
def view_one(dataset_of, help_desk):
    """View a run of one episode."""

    def view(turns, record=None):
        records = record and {help_desk.id: record}
        run = viewed(dataset_of(help_desk), source_of({help_desk.id: turns}, records))
        [episode] = run.episodes
        return episode

    return view


def test_what_passes_has_neither_divergence_nor_diagnosis(view_one):
    episode = view_one(RIGHT)
    assert episode.judged.outcome == "passed"
    assert (episode.examined.place, episode.examined.diagnosis) == (None, None)


def test_what_fails_says_where_and_why(view_one):
    episode = view_one(WRONG)
    assert episode.judged.outcome == "failed"
    assert str(episode.examined.place) == "turn 1, step 1, call 1"
    assert episode.examined.diagnosis.cause is Cause.WRONG_ARGUMENT


def test_a_recorded_error_of_the_reference_is_a_failure_as_it_counts_it(view_one):
    episode = view_one(None)
    assert (episode.judged.outcome, episode.judged.error) == ("failed", None)


def test_an_error_of_the_harness_is_no_failure(view_one):
    episode = view_one(None, record("error", "the provider was down"))
    assert (episode.judged.outcome, episode.judged.error) == ("error", "the provider was down")
    assert episode.examined.diagnosis is None


def test_a_broken_backend_is_an_error_of_that_episode(view_one, monkeypatch):
    def broken(self, *args, **kwargs):
        raise BackendFault("get_ticket()", KeyError("id"))

    monkeypatch.setattr("runner.analysis.replayed_runs.examine_recorded", broken)
    episode = view_one(RIGHT)
    assert (episode.judged.outcome, episode.judged.error) == (
        "error",
        "get_ticket() raised KeyError: 'id'",
    )
    assert episode.examined is None


def test_episodes_come_in_the_order_of_the_data_and_by_trial(dataset_of, help_desk, folders):
    keys = [(folders.id, 1), (help_desk.id, 0), (folders.id, 0)]
    run = viewed(dataset_of(help_desk, folders), source_of({key: [[], []] for key in keys}))
    found = [(episode.trajectory.id, episode.recorded.trial) for episode in run.episodes]
    assert found == [(help_desk.id, 0), (folders.id, 0), (folders.id, 1)]


def test_a_run_of_other_data_is_refused(dataset_of, help_desk):
    with pytest.raises(DataError, match="'folders_0' is not in made-up"):
        viewed(dataset_of(help_desk), source_of({"folders_0": []}))


def test_an_empty_run_is_refused(dataset_of, help_desk):
    with pytest.raises(DataError, match="made-up: has no finished episode"):
        viewed(dataset_of(help_desk), source_of({}))


def test_only_selected_episodes_are_executed(dataset_of, help_desk, monkeypatch):
    counted = Mock(side_effect=replayed_runs.examine_recorded)
    monkeypatch.setattr(replayed_runs, "examine_recorded", counted)
    source = source_of({(help_desk.id, trial): RIGHT for trial in range(3)})
    run = replay_run(source, dataset_of(help_desk), BFCL, 20)
    assert counted.call_count == 0
    for each in (run, run._replace(episodes=[*run.episodes])):
        counted.reset_mock()
        assert [found.recorded.trial for found in each.select({(help_desk.id, 1)})] == [1]
        assert counted.call_count == (each is run)
