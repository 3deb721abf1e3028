"""Execution of live runs for ``turnwise eval``; a run folder stores the episodes."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from runner.commands.common_options import EntriesOptions, note
from runner.commands.eval_options import EvalOptions
from runner.commands.model_requests import exit_status
from runner.commands.offline_judging import workers_for
from runner.data import dataset_choice
from runner.live.live_run import EpisodeJob, RunInputs
from runner.live.progress_display import ProgressDisplay
from runner.live.run_control import RunEnding, open_jobs, open_store, order_seed
from runner.models.model_connection import connect, load_client
from runner.models.model_types import Model
from runner.records.durable_files import RUN_FILE, WriteError
from runner.records.episode_record import RunSegment, RunSpending
from runner.records.json_codec import read
from runner.records.recorded_run import is_run
from runner.records.run_definition import RunFile, Selection
from runner.records.run_file_mask import SecretMask
from runner.records.run_files import read_run_file
from runner.records.run_store import RunStore
from runner.show.terminal import format_count
from trajectories.schema import Trajectory


def run_plan(
    plan: RunInputs,
    folder: Path,
    trajectories: Sequence[Trajectory],
    options: EvalOptions,
    *,
    resumes: bool,
) -> tuple[RunEnding, int]:
    """Play and store the episodes of a run; return its ending and the exit status.

    Raises DataError if the folder cannot be used.
    """

    def play(store: RunStore) -> RunEnding:
        seed = order_seed(plan, store)
        jobs = open_jobs(store, trajectories, options.trials, options.only, seed)
        report_jobs(store, jobs)
        if store.lost_tools:
            note(
                f"warning: {store.folder}: tool lists are missing ({len(store.lost_tools)}) and "
                "cannot be restored; turnwise export skips the episodes with these lists"
            )
        meter = ProgressDisplay(len(jobs), sys.stderr, time.monotonic)
        ending = workers_for(options).conduct(plan, store, jobs, connect_to, meter)
        return ending if jobs else ending._replace(idle=True)

    selection = selection_of(
        options, folder if resumes else None, options.sample, options.sample_seed, options.trials
    )
    if options.engine == "local" and plan.model.is_live:
        # Loaded before the clock of the segment starts.
        load_client(plan.model, plan.settings.request_options())
    episodes, price = len(trajectories) * options.trials, options.gpu_price
    return run_segment(
        plan, folder, selection, play, episodes=episodes, resumes=resumes, gpu_price=price
    )


def run_segment(
    plan: RunInputs,
    folder: Path,
    selection: Selection,
    play: Callable[[RunStore], RunEnding],
    *,
    episodes: int,
    resumes: bool,
    gpu_price: float | None = None,
) -> tuple[RunEnding, int]:
    """Run one segment of a run; return its ending and the exit status.

    Args:
        play: Function that plays and stores the remaining episodes.
        episodes: Number of episodes of the whole run.
        gpu_price: Hourly price of the GPU server.

    Raises:
        DataError: The folder cannot be used.
    """
    with open_store(folder, plan, selection, sys.argv, episodes=episodes, resumes=resumes) as store:
        # Collecting loaded modules again and again took a tenth of the time.
        gc.freeze()
        started_at = time.monotonic()
        try:
            ending = play(store)
        except WriteError as error:
            # For example a full disk. Stored episodes are complete, and the run can be resumed.
            ending = RunEnding(str(error), failed=True, spent=RunSpending())
        if not ending.idle:
            seconds = round(time.monotonic() - started_at, 3)
            with suppress(WriteError):
                store.put_life(RunSegment(seconds, plan.settings.concurrency, gpu_price))
        _report_masking(store.secrets)
        errors = ending.stop_reason is None and "error" in store.done.values()
        return ending, exit_status(ending.stop_reason, failed=ending.failed or errors)


def report_jobs(store: RunStore, jobs: Sequence[EpisodeJob]) -> None:
    """Print the number of remaining episodes and the folder for them."""
    begun = sum(bool(job.course) for job in jobs)
    resumed = f" ({begun} resumed)" if begun else ""
    note(f"running {format_count(len(jobs), 'episode')}{resumed}; run folder: {store.folder}")


def _report_masking(secrets: SecretMask) -> None:
    if secrets.masked:
        note(f"*** replaces a key or password {secrets.masked} times in the model's answers")
    if secrets.kept:
        note(
            "warning: a key or password occurs in this data and is not masked there: "
            f"{', '.join(dict.fromkeys(secrets.kept)):.200}"
        )
    if secrets.altered:
        note(
            "warning: the recorded calls of these episodes contain a masked key or password, so a "
            f"replay may give other results: {', '.join(dict.fromkeys(secrets.altered)):.200}"
        )


def selection_of(
    options: EntriesOptions,
    begun: Path | None,
    sample: int | None = None,
    sample_seed: int = 0,
    trials: int = 1,
) -> Selection:
    """Return the chosen entries for the run's definition."""
    category = options.category
    if begun is not None and is_run(begun):
        file = read(RunFile, read_run_file(begun), str(begun / RUN_FILE))
        spelled = file.definition.selection.category
        name = options.dataset
        if dataset_choice.parse_categories(spelled, name) == dataset_choice.parse_categories(
            category, name
        ):
            category = spelled
    return Selection(
        category,
        options.ids,
        limit=options.limit,
        sample=sample,
        sample_seed=sample_seed if sample else None,
        trials=trials,
        subset=options.subset,
        tag=options.tag,
    )


def connect_to(plan: RunInputs) -> Model:
    """Connect to the model of a run; a feature can provide a scripted model instead."""
    for feature in plan.settings.features:
        if not plan.model.is_live:
            model = feature.model(plan)
            if model is not None:
                return model
    model = connect(plan.model, plan.settings.request_options())
    for feature in plan.settings.features:
        model = feature.wrapped(model, plan)
    return model
