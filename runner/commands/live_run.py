"""One run of ``turnwise eval`` with a live model: its episodes are done, and kept in a folder."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from runner.commands.asking import exit_status
from runner.commands.eval_options import EvalOptions
from runner.commands.judging import workers_for
from runner.commands.shared import EntriesOptions, note
from runner.data import choose
from runner.live.campaign import Job, Plan
from runner.live.conduct import Ending, open_jobs, open_store
from runner.live.meter import Meter
from runner.models.base import Model
from runner.models.connect import connect, load_client
from runner.models.model_name import parsed
from runner.records.definition import Selection
from runner.records.files import NotWritten
from runner.records.masking import Secrets
from runner.records.record import Life, Spent
from runner.records.run import is_run
from runner.records.run_files import read_run_file
from runner.records.store import RunStore
from trajectories.schema import Trajectory


def run_plan(
    plan: Plan,
    folder: Path,
    trajectories: Sequence[Trajectory],
    options: EvalOptions,
    *,
    resumes: bool,
) -> tuple[Ending, int]:
    """Do the episodes of a run and keep them; return how it ended, and the exit status.

    Raises:
        DataError: The folder cannot be used.
    """

    def sit(store: RunStore) -> Ending:
        jobs = open_jobs(store, trajectories, options.trials, options.only)
        say_what_is_to_do(store, jobs)
        if store.lost_tools:
            note(
                f"warning: {len(store.lost_tools)} tool lists are lost that episodes name, and the "
                "data do not give them any more: export cannot write those episodes"
            )
        meter = Meter(len(jobs), sys.stderr, time.monotonic)
        ending = workers_for(options).conduct(plan, store, jobs, connect_to, meter)
        return ending if jobs else ending._replace(idle=True)

    selection = selection_of(
        options, folder if resumes else None, options.sample, options.sample_seed, options.trials
    )
    many = len(trajectories) * options.trials
    if options.engine == "local" and parsed(plan.model).is_live:
        # The time of a sitting is that of its requests.
        load_client(plan.model, plan.settings.request_options())
    return keep_run(
        plan, folder, selection, sit, episodes=many, resumes=resumes, gpu_price=options.gpu_price
    )


def keep_run(
    plan: Plan,
    folder: Path,
    selection: Selection,
    sit: Callable[[RunStore], Ending],
    *,
    episodes: int,
    resumes: bool,
    gpu_price: float | None = None,
) -> tuple[Ending, int]:
    """Do a sitting of a run; return how it ended, and the exit status.

    Args:
        plan: What its episodes are like.
        folder: Where it is kept.
        selection: Which episodes it has.
        sit: Does episodes that are left, and keeps them.
        episodes: How many it is to have.
        resumes: Whether it goes on.
        gpu_price: What the machine of the model costs per hour.

    Raises:
        DataError: The folder cannot be used.
    """
    command = sys.argv
    with open_store(folder, plan, selection, command, episodes=episodes, resumes=resumes) as store:
        # What is loaded by now stays; looking through it again and again took a tenth of the time.
        gc.freeze()
        begun_at = time.monotonic()
        try:
            ending = sit(store)
        except NotWritten as error:
            # The disk is full, say: what was kept is whole, and the run can go on.
            ending = Ending(str(error), failed=True, spent=Spent())
        if not ending.idle:
            _keep_life(store, plan, time.monotonic() - begun_at, gpu_price)
        _say_what_was_masked(store.secrets)
        errors = ending.stop_reason is None and "error" in store.done.values()
        return ending, exit_status(ending.stop_reason, failed=ending.failed or errors)


def say_what_is_to_do(store: RunStore, jobs: Sequence[Job]) -> None:
    """Tell the user how many episodes are left, and where they are kept."""
    begun = sum(bool(job.course) for job in jobs)
    going_on = f", {begun} of them from where they were" if begun else ""
    note(f"{len(jobs)} episodes to do{going_on}, kept in {store.folder}")


def _keep_life(store: RunStore, plan: Plan, seconds: float, gpu_price: float | None) -> None:
    with suppress(NotWritten):
        store.put_life(Life(round(seconds, 3), plan.settings.concurrency, gpu_price))


def _say_what_was_masked(secrets: Secrets) -> None:
    if secrets.masked:
        note(f"a key or password was masked as *** {secrets.masked} times in what the model said")
    if secrets.kept:
        where = ", ".join(dict.fromkeys(secrets.kept))
        note(
            "warning: a key or password of this run is also an ordinary word of the data, and "
            f"stands there unmasked: {where:.200}"
        )
    if secrets.altered:
        where = ", ".join(dict.fromkeys(secrets.altered))
        note(
            "warning: calls held a key or password, which is masked there too; executed again they "
            f"may give other results: {where:.200}"
        )


def selection_of(
    options: EntriesOptions,
    begun: Path | None,
    sample: int | None = None,
    sample_seed: int = 0,
    trials: int = 1,
) -> Selection:
    """Return what the user chose of the data, for the run's definition.

    Args:
        options: The user's.
        begun: The folder of a run that goes on: it has the same categories as they are spelled
            there, if these are the same.
        sample: Size of a stratified sample, or None.
        sample_seed: Its seed.
        trials: How often each entry is done.
    """
    category = options.category
    if begun is not None and is_run(begun):
        spelled = read_run_file(begun)["definition"].get("selection", {}).get("category")
        name = options.dataset
        if choose.categories(spelled, name) == choose.categories(category, name):
            category = spelled
    seed = sample_seed if sample else None
    ids, limit, split = options.ids, options.limit, options.split
    return Selection(
        category, ids, limit=limit, sample=sample, sample_seed=seed, trials=trials, split=split
    )


def connect_to(plan: Plan) -> Model:
    """Connect to the model of a plan; one that knows the ground truth needs no connection."""
    for feature in plan.settings.features:
        if not parsed(plan.model).is_live:
            model = feature.model(plan)
            if model is not None:
                return model
    return connect(plan.model, plan.settings.request_options())
