"""The command ``turnwise score``: recorded result files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from checkers.profile import Mode
from runner.commands.judging import WorkOptions, judge_all, report, run_entry
from runner.commands.options import argument, option
from runner.commands.shared import DatasetOption, note, profile_of
from runner.data import choose
from runner.records import result_file

EXAMPLE = "turnwise score runs/mine --output verdicts.jsonl"


@dataclass(frozen=True, kw_only=True)
class Options(DatasetOption, WorkOptions):
    """What to score, and how."""

    paths: tuple[Path, ...] = argument("result file, or folder of them", "PATH")
    mode: Mode | None = option("how the model called functions (default: seen from the files)")


def run(options: Options) -> int:
    """Execute and judge recorded result files, and print what they score."""
    runs = choose.recorded_runs(*options.paths, mode=options.mode)
    wanted = result_file.categories_of(entry.id for entry, _ in runs.values())
    name = choose.dataset_name(options.dataset, runs)
    dataset = choose.dataset(name, wanted, note)
    profile = profile_of(options, dataset)
    trajectories = choose.trajectories(dataset, runs)
    judge = partial(run_entry, runs=runs, profile=profile, step_limit=options.step_limit)
    outcomes = judge_all(dataset, trajectories, profile, judge, options)
    return report(dataset, profile, trajectories, outcomes, len(trajectories))
