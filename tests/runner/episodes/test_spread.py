from __future__ import annotations

import os
import signal
from functools import partial

import pytest

from checkers.profile import STRICT
from runner.cli import main
from runner.episodes.evaluate import evaluate, run_oracle
from runner.episodes.spread import (
    Judge,
    chunks,
    evaluate_in_processes,
    outcomes_of,
    without_trajectories,
)
from trajectories.dataset import load_embedded
from trajectories.errors import DataError
from trajectories.schema import Category

DATA = load_embedded([Category.BASE])
SOME = list(DATA.trajectories.values())[:10]
ORACLE = partial(run_oracle, profile=STRICT)


def complain(prepared):
    """Complain of the user's data."""
    raise DataError("data.jsonl:7", "no good: mend it")


def die(prepared):
    """End the process."""
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("workers", [1, 2, 3, 40])
@pytest.mark.parametrize("count", [0, 1, 7, 100, 1000])
def test_chunks_are_all_of_it_in_order(count, workers):
    parts = chunks(range(count), workers)
    assert [number for part in parts for number in part] == list(range(count))
    assert all(1 <= len(part) <= 32 for part in parts)


def test_processes_judge_as_one_does_in_its_order():
    there = list(evaluate_in_processes(DATA, SOME, STRICT, ORACLE, workers=2))
    assert there == list(evaluate(DATA, SOME, STRICT, ORACLE))


def test_the_output_has_the_same_bytes(tmp_path, capsys):
    said = []
    for name, more in (("one", []), ("two", ["--workers", "2"])):
        output = tmp_path / f"{name}.jsonl"
        command = ["eval", "--model", "null", "--category", "base", "--limit", "20"]
        assert main([*command, "--output", str(output), *more]) == 0
        said.append((capsys.readouterr().out, output.read_bytes()))
    assert said[0] == said[1]


def test_a_killed_process_is_told():
    with pytest.raises(DataError, match="--workers: a process was killed"):
        list(evaluate_in_processes(DATA, SOME[:2], STRICT, die, workers=1))


def test_a_judge_returns_what_is_wrong_with_the_data_as_text():
    judge = Judge(without_trajectories(DATA), STRICT, complain)
    with pytest.raises(DataError, match=r"^data\.jsonl:7: no good: mend it$"):
        outcomes_of(judge.do(SOME))
