"""Command ``turnwise score``: executes and judges recorded result files."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from checkers.profile import Mode
from checkers.verdict import Verdict
from envs.lazy_modules import lazy_module
from runner.analysis.figures import RunFigures
from runner.commands.common_options import REASONS, DatasetOption, WorkOptions, note
from runner.commands.offline_judging import correction_for, judge_all, report
from runner.commands.options import argument, option
from runner.data import dataset_choice
from runner.data.dataset_choice import choose_profile
from runner.episodes.judging import run_recorded
from runner.records import bfcl_result_file
from runner.records.durable_files import check_writable
from runner.records.episode_record import EpisodeRecord
from runner.records.recorded_run import open_run
from trajectories.dataset import pause_collector
from trajectories.prepared_trajectory import PreparedTrajectory

if TYPE_CHECKING:
    from runner.analysis import corrected_judging
else:
    # Few runs are judged with errata.
    corrected_judging = lazy_module("runner.analysis.corrected_judging")

EXAMPLE = "turnwise score runs/mine --output verdicts.jsonl"
NOTES = REASONS


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Options(DatasetOption, WorkOptions):
    """Options for the result files."""

    paths: tuple[Path, ...] = argument("result file, or folder of result files", "PATH")
    mode: Mode | None = option("how the model called functions (default: read from the files)")


def run(options: Options) -> int:
    """Execute and judge recorded result files and print their score."""
    check_writable(options.output)
    with pause_collector():
        recorded = open_run(*options.paths, mode=options.mode)
        dataset = recorded.dataset or dataset_choice.open_dataset(
            dataset_choice.guess_dataset_name(options.dataset, recorded.ids),
            bfcl_result_file.categories_of(recorded.ids),
            note,
            ids=recorded.ids,
        )
        # The loaded data stays in memory, so the collector need not visit it.
        gc.freeze()
    profile = choose_profile(dataset, options.profile)
    trajectories = dataset_choice.list_entries(dataset, recorded)
    entries = recorded.entries()
    judge = partial(run_recorded, entries=entries, profile=profile, step_limit=options.step_limit)

    def judge_again(prepared: PreparedTrajectory, record: EpisodeRecord) -> Verdict:
        rejudge = corrected_judging.judge_of(recorded, profile, options.step_limit)
        return rejudge(prepared, record)

    mend = correction_for(options, dataset, profile, judge_again, require_info=options.require_info)
    outcomes = judge_all(dataset, trajectories, profile, judge, options, entries)
    figures = RunFigures(outcomes, trajectories, progress=recorded.progress)
    return report(dataset, profile, figures, len(trajectories), mend, options.fail_under)
