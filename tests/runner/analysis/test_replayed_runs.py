from __future__ import annotations

import json

import pytest

from checkers.profile import BFCL, STRICT
from checkers.reasons import Reason
from envs.errors import DataError
from runner.analysis.replayed_runs import dataset_of
from runner.episodes.judging import judge_recorded
from runner.records.recorded_run import Run, open_run
from tests.runner.analysis.replayed_runs import (
    definition,
    error_record,
    record,
    truth_turns,
    write_run,
)
from trajectories.prepared_trajectory import prepare


@pytest.fixture
def run(data, tmp_path, folders, help_desk):
    """Write a run of both, one of them with a second trial, which ended in an error."""
    return write_run(
        tmp_path / "run",
        definition(data),
        record(data, "folders_0", truth_turns(folders)),
        error_record("folders_0", trial=1),
        record(data, "help_desk_0", [["I will not."], [], []]),
    )


@pytest.fixture
def result_file(tmp_path):
    """Write a result file of a function-calling model."""
    path = tmp_path / "some_model" / "BFCL_v4_multi_turn_base_result.json"
    path.parent.mkdir()
    lines = [
        {"id": "multi_turn_base_0", "result": [[[{"logout": "{}"}], "Done."]]},
        {"id": "multi_turn_base_1", "result": "Error during inference: no"},
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def test_a_run_folder_is_read_with_what_defines_it(run, data):
    source = open_run(run)
    assert (source.name, source.path, source.profile) == ("org/model", run, STRICT)
    assert source.definition == definition(data)
    assert list(source.episodes) == [("folders_0", 0), ("folders_0", 1), ("help_desk_0", 0)]
    episode = source.episodes["help_desk_0", 0]
    assert (episode.turns, episode.mode, episode.error) == (
        [["I will not."], [], []],
        "prompt",
        None,
    )
    assert episode.record.outcome == "failed"


def test_an_episode_that_ended_in_an_error_has_no_steps(run):
    episode = open_run(run).episodes["folders_0", 1]
    assert (episode.turns, episode.error) == (None, "the server was gone")


def test_a_result_file_is_read(result_file):
    source = open_run(result_file)
    assert (source.name, source.definition, source.profile) == (
        "BFCL_v4_multi_turn_base_result",
        None,
        None,
    )
    found = source.episodes["multi_turn_base_0", 0]
    assert (found.mode, found.record.outcome, found.error) == ("fc", None, None)
    failed = source.episodes["multi_turn_base_1", 0]
    assert (failed.turns, failed.error) == (
        None,
        "the result file contains an error in place of steps",
    )


def test_a_folder_of_result_files_is_named_after_itself(result_file):
    assert open_run(result_file.parent).name == "some_model"


def test_the_mode_of_a_result_file_can_be_said(result_file):
    assert open_run(result_file, mode="prompt").episodes["multi_turn_base_0", 0].mode == "prompt"


def test_a_single_turn_is_one_step(tmp_path):
    path = tmp_path / "BFCL_v4_multiple_result.json"
    path.write_text('{"id": "multiple_0", "result": "no"}\n', encoding="utf-8")
    assert open_run(path).episodes["multiple_0", 0].turns == [["no"]]


@pytest.mark.parametrize(
    "member", ["model", "settings", "dataset", "profile", "step_limit", "selection"]
)
def test_a_run_that_does_not_say_how_it_was_made_is_refused(tmp_path, data, member):
    folder = write_run(tmp_path / "other", definition(data, **{member: None}))
    with pytest.raises(DataError, match=rf"run\.json: \$\.definition\.{member}: must be "):
        open_run(folder)


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        open_run(tmp_path / "nothing")


def test_the_episodes_of_one_trajectory_are_read_alone(run):
    # A line that cannot be parsed shows that the others are not.
    with (run / "episodes.jsonl").open("a", encoding="utf-8") as file:
        file.write("{no JSON\n{nor this\n")
    assert list(open_run(run, only="folders_0").episodes) == [("folders_0", 0), ("folders_0", 1)]


def test_a_line_that_only_names_an_id_is_not_an_episode_of_it(tmp_path, data, folders, help_desk):
    other = record(data, "help_desk_0", [[], ["I know of folders_0.", "folders_0"], []])
    folder = write_run(
        tmp_path / "run", definition(data), other, record(data, "folders_0", truth_turns(folders))
    )
    assert list(open_run(folder, only="folders_0").episodes) == [("folders_0", 0)]


def test_a_record_that_is_no_episode_s_is_refused(run):
    with (run / "episodes.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": "folders_0", "trial": "2"}\n')
    with pytest.raises(
        DataError, match=r"episodes\.jsonl:4: \$\.trial: must be a whole number, but is '2'"
    ):
        open_run(run, only="folders_0")


def test_one_episode_of_a_result_file_comes_without_the_others(result_file):
    source = open_run(result_file, only="multi_turn_base_1")
    assert list(source.episodes) == [("multi_turn_base_1", 0)]
    assert source.episode("multi_turn_base_1", 0).turns is None


def test_an_episode_that_is_not_there_is_asked_for_in_vain(run):
    with pytest.raises(
        DataError, match=r"'folders_1' is not an entry of this run; did you mean folders_0\?"
    ):
        open_run(run, only="folders_1")


def test_a_trial_that_is_not_there_is_asked_for_in_vain(run):
    with pytest.raises(DataError, match="has no trial 2 of folders_0, only trial 0, 1"):
        open_run(run).episode("folders_0", 2)


def test_the_data_of_a_run_is_the_one_that_it_names(run, data):
    said = []
    dataset = dataset_of(open_run(run), None, said.append)
    assert (dataset.name, said) == (str(data), [])


def test_the_data_of_a_run_that_has_changed_is_said_to_have(run, data, write_lines, folders):
    source = open_run(run)
    write_lines("data.jsonl", folders)
    said = []
    dataset_of(source, None, said.append)
    (line,) = said
    assert line.startswith(f"{run}: the data has changed since the run: {data}")


def test_the_user_may_name_other_data(run, write_lines, help_desk):
    other = write_lines("other.jsonl", help_desk)
    assert dataset_of(open_run(run), str(other), lambda line: None).name == str(other)


def test_the_data_of_result_files_is_seen_from_their_ids(bfcl_folder, monkeypatch):
    run = Run("x", bfcl_folder, {("multi_turn_base_0", 0): None})
    monkeypatch.setattr(
        "runner.data.dataset_choice.find_bfcl_folder", lambda name, notify: bfcl_folder
    )
    dataset = dataset_of(run, None, lambda line: None)
    assert set(dataset.trajectories) == {"multi_turn_base_0", "multi_turn_base_1"}


@pytest.mark.parametrize(
    ("turns", "reason", "reached"),
    [
        (None, Reason.INFERENCE_ERROR, None),
        ([[]], Reason.FORCE_TERMINATED, 1),
        ([[], []], Reason.EMPTY_TURN, 2),
        ([[], [], []], Reason.FORCE_TERMINATED, 2),
    ],
)
def test_an_episode_is_judged_again(dataset_of, folders, turns, reason, reached):
    ready = prepare(dataset_of(folders), folders, BFCL)
    verdict, _, trace = judge_recorded(ready, turns, "fc", BFCL, traced=True)
    assert verdict == judge_recorded(ready, turns, "fc", BFCL).verdict
    assert verdict.failure.reason is reason
    assert (trace and len(trace.turns)) == reached
