from __future__ import annotations

import gc
import json
from math import nan

import pytest

from checkers.evidence import StateEvidence
from checkers.reasons import Reason
from checkers.verdict import Failure, Verdict
from envs.state import Difference
from extensions.verify.commands import verify as module
from extensions.verify.verification import VerifiedEpisode
from runner.analysis.replayed_runs import replay_episodes
from runner.cli import main
from tests.runner.analysis.replayed_runs import (
    definition,
    error_record,
    record,
    truth_turns,
    write_run,
)


@pytest.fixture
def verify(capsys):
    """Run the command and return its status, what it prints, and what it notes."""

    def run(*arguments):
        status = main(["verify", *map(str, arguments)])
        said = capsys.readouterr()
        notes = [line for line in said.err.splitlines() if line.startswith("turnwise: ")]
        return status, said.out.splitlines(), notes

    return run


@pytest.fixture
def good(data, folders):
    """Return the record of an episode in which all is right."""
    return record(data, "folders_0", truth_turns(folders))


def test_a_run_that_is_as_recorded(verify, tmp_path, data, good):
    folder = write_run(tmp_path / "run", definition(data), good, error_record("folders_0", 1))
    assert verify(folder) == (
        0,
        [
            "1 of 1 verdicts are as recorded",
            "1 of 1 episodes' results are as recorded",
            "episodes without a recorded verdict: 1",
        ],
        [],
    )


def test_episodes_are_not_kept(verify, tmp_path, data, good, monkeypatch):
    def count(episodes, *_):
        for each in episodes:
            gc.collect()
            kept.append(sum(isinstance(one, VerifiedEpisode) for one in gc.get_objects()))
            yield each

    kept: list[int] = []
    monkeypatch.setattr(module, "progress", count)
    trials = [good._replace(trial=trial) for trial in range(4)]
    assert verify(write_run(tmp_path / "run", definition(data), *trials))[0] == 0
    assert len(kept) == 4
    assert max(kept) - min(kept) <= 1


def test_a_run_that_is_not(verify, tmp_path, data, good):
    failure = Failure(Reason.EMPTY_TURN)
    verdict = good.verdict._replace(valid=False, failure=failure, failed_turn=1)
    good.steps[0].results[:] = ["\033[2J"]
    folder = write_run(
        tmp_path / "run", definition(data, simulator="0.0.1"), good._replace(verdict=verdict)
    )
    status, lines, notes = verify(folder)
    assert status == 1
    assert lines == [
        "folders_0, trial 0: was multi_turn:empty_turn_model_response in turn 2, is now passed "
        "(valid, error_type, failed_turn)",
        "folders_0, trial 0: result differs in turn 1, step 1: "
        "mv(source='notes.txt', destination='old')",
        r"  was '\x1b[2J'",
        """  is  '{"result": "\\'notes.txt\\' moved to \\'old/notes.txt\\'"}'""",
        "0 of 1 verdicts are as recorded",
        "0 of 1 episodes' results are as recorded",
    ]
    assert [note.split(": ")[2] for note in notes] == ["simulator"]


@pytest.mark.parametrize(("actual", "differs"), [(1.0, False), (2.0, True)])
def test_only_other_differences_of_the_state_are_named(
    verify, tmp_path, data, monkeypatch, actual, differs
):
    def judge(expected, actual):
        evidence = StateEvidence(lambda: (Difference("x.y", expected, actual),))
        failed = {"failure": Failure(Reason.STATE_MISMATCH, evidence), "failed_turn": 0}
        return Verdict(valid=False, **failed, turns=3, turns_passed=0)

    made = record(data, "help_desk_0", [["No."], [], []])
    folder = write_run(tmp_path / "run", definition(data), made._replace(verdict=judge(nan, 1.0)))

    def replay(*values):
        for episode in replay_episodes(*values):
            judged = episode.judged._replace(verdict=judge(nan, actual))
            yield episode._replace(judged=judged)

    monkeypatch.setattr("extensions.verify.verification.replay_episodes", replay)
    status, lines, _ = verify(folder)
    assert status == differs
    line = (
        "  differences: was [{'path': 'x.y', 'expected': 'nan', 'actual': 1.0}], "
        "is now [{'path': 'x.y', 'expected': nan, 'actual': 2.0}]"
    )
    assert (line in lines) is differs


def test_other_data_is_named(verify, tmp_path, data, good, write_lines, help_desk, folders):
    folder = write_run(tmp_path / "run", definition(data), good)
    write_lines("data.jsonl", folders)
    status, _, notes = verify(folder)
    assert status == 0
    assert "the data has changed since the run" in notes[0]


def test_verdicts_in_folders_of_a_folder_count(verify, write_lines, data, tmp_path):
    write_lines(
        "results/BFCL_v4_multi_turn_base_result.json", {"id": "folders_0", "result": [[], []]}
    )
    other = {"id": "help_desk_0", "result": [[], [], []]}
    write_lines("results/more/BFCL_v4_multi_turn_base_result.json", other)
    for place, id in (("", "folders_0"), ("more/", "help_desk_0")):
        line = {"id": id, "valid": False}
        write_lines(f"results/{place}verdicts.jsonl", line)
    given = (tmp_path / "results", "--dataset", data, "--profile", "bfcl")
    assert verify(*given) == (0, ["2 of 2 verdicts are as recorded"], [])


def test_result_files_with_verdicts_beside_them(verify, write_lines, data):
    run = write_lines("results/run.json", {"id": "folders_0", "result": [[], []]})
    reason = "multi_turn:empty_turn_model_response"
    write_lines("results/verdicts.jsonl", {"id": "folders_0", "valid": False, "error_type": reason})
    given = (run, "--dataset", data, "--profile", "bfcl")
    assert verify(*given) == (0, ["1 of 1 verdicts are as recorded"], [])
    other = write_lines("other.jsonl", {"id": "folders_0", "valid": True, "error_type": None})
    status, lines, _ = verify(*given, "--verdicts", other)
    assert status == 1
    expected = f"folders_0, trial 0: was passed, is now {reason} in turn 1"
    assert lines[0] == f"{expected} (valid, error_type)"


def test_what_eval_writes_verifies_what_it_judged(verify, write_lines, data, tmp_path, capsys):
    run = write_lines("run.json", {"id": "folders_0", "result": [[[{"ls": "{}"}]], []]})
    output = tmp_path / "verdicts.jsonl"
    assert main(["score", str(run), "--dataset", str(data), "--output", str(output)]) == 0
    assert "differences" in json.loads(output.read_text(encoding="utf-8"))
    capsys.readouterr()
    assert verify(run, "--dataset", data)[:2] == (0, ["1 of 1 verdicts are as recorded"])


def test_without_verdicts_there_is_nothing_to_compare(verify, write_lines, data):
    run = write_lines("run.json", {"id": "folders_0", "result": [[], []]})
    status, lines, (note,) = verify(run, "--dataset", data)
    assert (status, lines) == (2, [])
    assert note.endswith("does not exist; name a file with verdicts")
