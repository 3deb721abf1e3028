"""Judging many entries offline: with progress and verdict lines, by one process or several."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Protocol

from checkers.profile import BFCL, Profile
from checkers.verdict import Verdict
from envs import __version__
from envs.lazy import lazily
from runner.analysis.figure_lines import both_lines, percent, summary
from runner.analysis.figures import RunFigures
from runner.commands import BELOW, DONE, RUN_ERROR
from runner.commands.shared import (
    WorkOptions,
    note,
)
from runner.data import choose
from runner.episodes.allowance import ENTRY_TIMEOUT, Allowance
from runner.episodes.telling import requiring_told, with_telling
from runner.live.workers import Workers, workers_of
from runner.records.files import written
from runner.records.record import EpisodeRecord, Recorded
from runner.show.terminal import progress, say
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.prepare import Prepared
from trajectories.schema import Trajectory

if TYPE_CHECKING:
    from runner.analysis import mended
    from runner.analysis.mended import JudgeRecord, Mend
    from runner.data import errata
else:
    # Few runs are judged with errata.
    errata = lazily("runner.data.errata")
    mended = lazily("runner.analysis.mended")


def workers_for(options: WorkOptions) -> Workers:
    """Return the workers that the options name.

    Raises:
        DataError: The options contradict each other, or Ray is not installed.
    """
    local = options.engine == "local"
    if options.entry_timeout is not None and local and options.workers is None:
        raise DataError("--entry-timeout", "needs --workers N: a process cannot end itself")
    allowance = Allowance(options.entry_timeout or ENTRY_TIMEOUT, options.memory)
    return workers_of(options.engine, options.address, options.workers, allowance)


class Readable(Protocol):
    """Options on how a run is judged besides by its profile."""

    @property
    def errata(self) -> str:
        """What the user called the errata."""
        ...

    @property
    def require_told(self) -> bool:
        """Whether an episode passes only if the facts asked for are told."""
        ...


def mend_for(
    options: Readable, dataset: Dataset, profile: Profile, judge: JudgeRecord
) -> Mend | None:
    """Return how a run is judged with the errata that the user named, None where with none.

    Raises:
        DataError: They cannot be used.
    """
    if options.errata == "none":
        return None
    readings = errata.open_errata(options.errata, dataset, note)
    if readings is None:
        return None
    return mended.Mend(dataset, readings, profile, judge, options.require_told)


def judge_all(
    dataset: Dataset,
    trajectories: Sequence[Trajectory],
    profile: Profile,
    run: Callable[[Prepared], Verdict],
    options: WorkOptions,
    entries: Mapping[str, Recorded] | None = None,
) -> list[EpisodeRecord]:
    """Judge trajectories, show progress, and write verdict lines where they are wanted.

    ``entries`` holds what a recorded run has of them; None if there is no run.

    Raises:
        DataError: Something of the user's cannot be used.
    """
    choose.require_languages(trajectories)
    judged = workers_for(options).judge(dataset, trajectories, profile, run)
    if entries is not None:
        known = dataset.trajectories
        judged = (with_telling(each, known[each.id], entries[each.id]) for each in judged)
    if options.require_told:
        judged = map(requiring_told, judged)
    # What is loaded by now stays; looking through it again takes a sixth of the time.
    gc.freeze()
    shown = progress(judged, len(trajectories), "judged", sys.stderr)
    if options.output is None:
        return list(shown)
    header = {"profile": profile.name, "dataset": dataset.name, "data_sha256": dataset.sha256}
    with written(options.output) as file:
        return list(_written_lines(shown, header, file))


def _written_lines(
    outcomes: Iterable[EpisodeRecord], header: dict[str, str], file: IO[str]
) -> Iterator[EpisodeRecord]:
    for outcome in outcomes:
        file.write(json.dumps({**outcome.verdict_line(), **header}, allow_nan=False) + "\n")
        yield outcome


def report(
    dataset: Dataset,
    profile: Profile,
    trajectories: Sequence[Trajectory],
    outcomes: Sequence[EpisodeRecord],
    population: int,
    mend: Mend | None,
    least: float | None = None,
) -> int:
    """Print the table and what the data were; return the exit status."""
    figures = RunFigures(outcomes, trajectories)
    for line in summary(figures, 1, population, field=profile is BFCL):
        say(line)
    if mend is not None:
        for line in both_lines(figures, mend.figures(figures), mend.readings):
            say(line)
    say(
        f"data {dataset.name} {dataset.version}, sha256 {dataset.sha256[:12]}; "
        f"profile {profile.name}; turnwise {__version__}"
    )
    errors = [outcome for outcome in outcomes if outcome.verdict is None]
    for outcome in errors:
        note(f"{outcome.id}: {outcome.error}")
    return held_to(least, figures, RUN_ERROR if errors else DONE)


def held_to(least: float | None, figures: RunFigures, status: int) -> int:
    """Return the exit status of a run that is to score so much at least; say where it does not."""
    if least is None or status != DONE:
        return status
    rate = figures.overall
    if rate is not None and rate.value >= least:
        return status
    note(f"the score of all, {percent(rate and rate.value)}, is below {percent(least)}")
    return BELOW
