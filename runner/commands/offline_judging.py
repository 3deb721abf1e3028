"""Offline judging of many entries, with progress, verdict lines and a score."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from checkers.profile import BFCL, Profile
from checkers.verdict import Verdict
from envs import __version__
from envs.errors import DataError
from envs.lazy_modules import lazy_module
from envs.state import make_encoder
from runner.analysis.figure_lines import both_lines, format_percent, progress_text, summary
from runner.analysis.figures import RunFigures
from runner.commands import BELOW, DONE, OVER_BUDGET, RUN_ERROR
from runner.commands.common_options import ErrataOption, WorkOptions, note
from runner.data import dataset_choice
from runner.episodes.info_verdict import add_reported_info, fail_without_info
from runner.episodes.judging import ENTRY_TIMEOUT, TimeAndMemoryLimits
from runner.live.workers import Workers, workers_of
from runner.records.durable_files import write_output
from runner.records.episode_record import EpisodeRecord, RecordedEpisode
from runner.show.terminal import format_count, progress, say
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import PreparedTrajectory, prepare
from trajectories.schema import Trajectory

if TYPE_CHECKING:
    from runner.analysis import corrected_judging
    from runner.analysis.corrected_judging import CorrectedJudging, JudgeRecord
    from runner.data import errata
else:
    # Few runs are judged with errata.
    errata = lazy_module("runner.data.errata")
    corrected_judging = lazy_module("runner.analysis.corrected_judging")


def workers_for(options: WorkOptions) -> Workers:
    """Return the workers that the options select.

    Raises DataError if the options contradict each other, or Ray is not installed.
    """
    local = options.engine == "local"
    if options.entry_timeout is not None and local and options.workers is None:
        raise DataError("--entry-timeout", "needs --workers N; add --workers 1")
    allowance = TimeAndMemoryLimits(options.entry_timeout or ENTRY_TIMEOUT, options.memory)
    return workers_of(options.engine, options.address, options.workers, allowance)


def correction_for(
    options: ErrataOption,
    dataset: Dataset,
    profile: Profile,
    judge: JudgeRecord,
    *,
    require_info: bool,
) -> CorrectedJudging | None:
    """Return the judging with the selected errata, if any.

    Raises DataError if the errata cannot be used.
    """
    if options.errata == "none":
        return None
    readings = errata.open_errata(options.errata, dataset, note)
    if readings is None:
        return None
    return corrected_judging.CorrectedJudging(dataset, readings, profile, judge, require_info)


def judge_all(
    dataset: Dataset,
    trajectories: Sequence[Trajectory],
    profile: Profile,
    run: Callable[[PreparedTrajectory], Verdict],
    options: WorkOptions,
    entries: Mapping[str, RecordedEpisode] | None = None,
) -> list[EpisodeRecord]:
    """Judge entries, show progress and write verdict lines to ``--output``.

    Args:
        entries: Episodes of the recorded run by id, if any.

    Raises:
        DataError: An option, file or entry cannot be used.
    """
    dataset_choice.require_languages(trajectories)
    judged = workers_for(options).judge(dataset, trajectories, profile, run)
    if entries is not None:
        known = dataset.trajectories
        told = (add_reported_info(each, known[each.id], entries[each.id]) for each in judged)
        judged = (
            each._replace(extensions=own) if (own := entries[each.id].record.extensions) else each
            for each in told
        )
    if options.require_info:
        judged = map(fail_without_info, judged)
    # Collecting loaded modules again and again takes a sixth of the time.
    gc.freeze()
    shown = progress(judged, len(trajectories), "judged", sys.stderr)
    if options.output is None:
        return list(shown)
    encode = make_encoder(allow_nan=False)
    header = {"profile": profile.name, "dataset": dataset.name, "data_sha256": dataset.sha256}
    outcomes = []

    def line(outcome: EpisodeRecord) -> str:
        outcomes.append(outcome)
        return encode({**outcome.verdict_line(), **header}) + "\n"

    write_output(options.output, map(line, shown))
    return outcomes


def report(
    dataset: Dataset,
    profile: Profile,
    figures: RunFigures,
    population: int,
    mend: CorrectedJudging | None,
    least: float | None,
) -> int:
    """Print the score and the version of the data; return the exit status."""
    # Without this call, Python visits all objects when it exits.
    gc.freeze()
    for line in summary(figures, 1, population, field=profile is BFCL):
        say(line)
    if mend is not None:
        for line in both_lines(figures, mend.figures(figures), mend.readings):
            say(line)
    say(
        f"data {dataset.name} {dataset.version}, sha256 {dataset.sha256[:12]}; "
        f"profile {profile.name}; turnwise {__version__}"
    )
    note_failing_truths(dataset, profile, figures)
    errors = [outcome for outcome in figures.outcomes if outcome.verdict is None]
    for outcome in errors:
        note(f"{outcome.id}: {outcome.error}")
    return apply_threshold(least, figures, RUN_ERROR if errors else DONE)


def note_failing_truths(dataset: Dataset, profile: Profile, figures: RunFigures) -> None:
    """Warn if ground-truth calls in a user's data file fail."""
    if dataset.tolerant or not Path(dataset.name).exists():
        return
    ids = {each.id for each in figures.outcomes if each.verdict} & dataset.trajectories.keys()
    for id in ids - dataset.truths.keys():
        prepare(dataset, dataset.trajectories[id], profile)
    failing = [id for id in dataset.trajectories if id in ids and not dataset.truths[id]]
    if failing:
        note(
            f"warning: ground-truth calls fail in {format_count(len(failing), 'entry')}; the first "
            f"entry is {failing[0]}; run turnwise dataset validate {dataset.name}"
        )


def apply_threshold(least: float | None, figures: RunFigures | None, status: int) -> int:
    """Return the exit status for ``--fail-under``, and print the reason for a failure."""
    if least is None or status not in (DONE, OVER_BUDGET):
        return status
    if figures is None or figures.is_unfinished:
        reached = progress_text(figures.progress) if figures else "of no episode"
        note(f"--fail-under needs a finished run; the score is {reached}")
        return RUN_ERROR
    rate = figures.overall
    if rate is not None and rate.value >= least:
        return status
    note(
        f"the overall score, {format_percent(rate and rate.value)}, "
        f"is below {format_percent(least)}"
    )
    return BELOW
