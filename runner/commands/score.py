"""The command ``turnwise score``: recorded result files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from checkers.profile import Mode
from checkers.verdict import Verdict
from envs.lazy import lazily
from runner.commands.judging import judge_all, mend_for, report
from runner.commands.options import argument, option
from runner.commands.shared import REASONS, DatasetOption, WorkOptions, note
from runner.data import choose
from runner.data.choose import profile_for
from runner.episodes.evaluate import run_recorded
from runner.records import result_file
from runner.records.record import EpisodeRecord
from runner.records.run import open_run
from trajectories.prepare import Prepared

if TYPE_CHECKING:
    from runner.analysis import mended
else:
    # Few runs are judged with errata.
    mended = lazily("runner.analysis.mended")

EXAMPLE = "turnwise score runs/mine --output verdicts.jsonl"
NOTES = REASONS


@dataclass(frozen=True, kw_only=True)
class Options(DatasetOption, WorkOptions):
    """What to score, and how."""

    paths: tuple[Path, ...] = argument("result file, or folder of them", "PATH")
    mode: Mode | None = option("how the model called functions (default: seen from the files)")


def run(options: Options) -> int:
    """Execute and judge recorded result files, and print what they score."""
    recorded = open_run(*options.paths, mode=options.mode)
    name = choose.dataset_name(options.dataset, recorded.ids)
    dataset = choose.dataset(name, result_file.categories_of(recorded.ids), note)
    profile = profile_for(dataset, options.profile)
    trajectories = choose.trajectories(dataset, recorded)
    entries = recorded.entries()
    judge = partial(run_recorded, entries=entries, profile=profile, step_limit=options.step_limit)

    def judge_again(prepared: Prepared, record: EpisodeRecord) -> Verdict:
        rejudge = mended.judge_of(recorded, profile, options.step_limit)
        return rejudge(prepared, record)

    mend = mend_for(options, dataset, profile, judge_again)
    outcomes = judge_all(dataset, trajectories, profile, judge, options, entries)
    least, population = options.fail_under, len(trajectories)
    return report(
        dataset,
        profile,
        trajectories=trajectories,
        outcomes=outcomes,
        population=population,
        mend=mend,
        least=least,
    )
