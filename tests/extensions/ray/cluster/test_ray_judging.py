"""Judging on a real cluster gives what judging here gives, even if a worker is killed."""

from __future__ import annotations

import json
import os
import signal
from functools import partial

import pytest

from checkers.profile import STRICT
from envs.errors import DataError
from extensions.pools import parallel
from extensions.pools.worker_processes import MAX_TRIES
from extensions.ray.ray_workers import RayWorkers
from runner.cli import main
from runner.episodes.judging import TimeAndMemoryLimits, evaluate
from runner.episodes.offline import run_null, run_oracle
from runner.records.episode_record import EpisodeRecord
from trajectories.dataset import load_embedded
from trajectories.schema import Category

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")

DATA = load_embedded([Category.BASE, Category.MISSING_FUNCTION])
ALL = list(DATA.trajectories.values())


def run_and_die(prepared, marker, profile):
    """Run the ground truth; the first process that comes to a certain trajectory is killed."""
    if prepared.trajectory.id == ALL[20].id and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return run_oracle(prepared, profile)


def run_and_always_die(prepared, profile):
    """Run the ground truth; any process that comes to a certain trajectory is killed."""
    if prepared.trajectory.id == ALL[0].id:
        os.kill(os.getpid(), signal.SIGKILL)
    return run_oracle(prepared, profile)


def run_and_stall(prepared, profile):
    """Run the ground truth; any process that comes to a certain trajectory waits for ever."""
    if prepared.trajectory.id == ALL[1].id:
        signal.pause()
    return run_oracle(prepared, profile)


def run_and_complain(prepared, profile):
    """Complain of the user's data."""
    raise DataError("data.jsonl:7", "no good: mend it")


@pytest.mark.parametrize("run", [run_oracle, run_null])
def test_the_outcomes_are_those_of_one_process_in_its_order(cluster, run):
    there = RayWorkers(cluster).judge(DATA, ALL, STRICT, partial(run, profile=STRICT))
    here = evaluate(DATA, ALL, STRICT, partial(run, profile=STRICT))
    assert [j.to_json() for j in there] == [j.to_json() for j in here]


def test_what_a_killed_worker_had_is_judged_by_another(cluster, tmp_path):
    run = partial(run_and_die, marker=tmp_path / "killed", profile=STRICT)
    there = list(RayWorkers(cluster).judge(DATA, ALL, STRICT, run))
    assert (tmp_path / "killed").exists()
    assert there == list(evaluate(DATA, ALL, STRICT, partial(run_oracle, profile=STRICT)))


def test_what_kills_every_worker_is_an_error_and_the_rest_goes_on(cluster, monkeypatch):
    monkeypatch.setattr(parallel, "chunks", lambda some, _: [some[:1], some[1:3]])
    run = partial(run_and_always_die, profile=STRICT)
    first, *rest = RayWorkers(cluster).judge(DATA, ALL[:3], STRICT, run)
    message = f"the judging process failed {MAX_TRIES} times: it was killed by SIGKILL"
    assert first == EpisodeRecord.of(ALL[0], None, message)
    assert [judged.verdict.valid for judged in rest] == [True, True]


def test_what_stalls_is_an_error_and_the_rest_goes_on(cluster):
    run, allowance = partial(run_and_stall, profile=STRICT), TimeAndMemoryLimits(seconds=4.0)
    there = RayWorkers(cluster, allowance).judge(DATA, ALL[:3], STRICT, run)
    first, second, third = there
    message = "judging took more than 4 seconds (--entry-timeout)"
    assert second == EpisodeRecord.of(ALL[1], None, message)
    assert [judged.verdict.valid for judged in (first, third)] == [True, True]


def test_a_complaint_comes_back_as_it_was(cluster):
    run = partial(run_and_complain, profile=STRICT)
    with pytest.raises(DataError, match=r"^data\.jsonl:7: no good: mend it$"):
        list(RayWorkers(cluster).judge(DATA, ALL, STRICT, run))


def test_the_command_prints_and_writes_the_same(cluster, tmp_path, capsys):
    said = []
    for name, more in (("here", []), ("there", ["--engine", "ray"])):
        output = tmp_path / f"{name}.jsonl"
        command = ["eval", "--model", "null", "--category", "base", "--output", str(output)]
        assert main([*command, *more]) == 0
        said.append((capsys.readouterr().out, output.read_bytes()))
    assert said[0] == said[1]
    assert json.loads(said[0][1].splitlines()[0])["valid"] is False
