"""One run of ``turnwise eval`` with a live model: its episodes are done, and kept in a folder."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from runner.commands import DONE, INTERRUPTED, RUN_ERROR
from runner.commands.eval_options import EvalOptions
from runner.commands.judging import workers_for
from runner.commands.shared import note
from runner.data import choose
from runner.live.campaign import Plan
from runner.live.conduct import Ending, open_jobs, open_store
from runner.live.meter import Meter
from runner.live.scripted_model import ScriptedModel
from runner.live.settings import Settings
from runner.models.base import Model
from runner.models.connect import connect, price_of
from runner.records.files import NotWritten
from runner.records.masking import Secrets
from runner.records.record import Life, Selection, Spent
from runner.records.run import is_run
from runner.records.store import RunStore, read_run_file
from trajectories.errors import DataError
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
    selection = _selection(options, folder if resumes else None)
    many = len(trajectories) * options.trials
    with open_store(folder, plan, selection, sys.argv, episodes=many, resumes=resumes) as store:
        jobs = open_jobs(store, trajectories, options.trials, options.only)
        begun = sum(bool(job.course) for job in jobs)
        going_on = f", {begun} of them from where they were" if begun else ""
        note(f"{len(jobs)} episodes to do{going_on}, kept in {store.folder}")
        if store.lost_tools:
            note(
                f"warning: {len(store.lost_tools)} tool lists are lost that episodes name, and the "
                "data do not give them any more: export cannot write those episodes"
            )

        meter = Meter(len(jobs), sys.stderr, time.monotonic)
        # What is loaded by now stays; looking through it again and again took a tenth of the time.
        gc.freeze()
        begun_at = time.monotonic()
        try:
            ending = workers_for(options).conduct(plan, store, jobs, connect_to, meter)
        except NotWritten as error:
            # The disk is full, say: what was kept is whole, and the run can go on.
            ending = Ending(str(error), failed=True, spent=Spent())
        if jobs:
            _keep_life(store, plan, time.monotonic() - begun_at, options.gpu_price)
        _say_what_was_masked(store.secrets)
        return ending, _status(ending, store)


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


def _status(ending: Ending, store: RunStore) -> int:
    if ending.stop_reason is None:
        errors = "error" in store.done.values()
        return RUN_ERROR if errors else DONE
    if ending.failed:
        return RUN_ERROR
    return INTERRUPTED if ending.stop_reason == "interrupted" else DONE


def _selection(options: EvalOptions, begun: Path | None) -> Selection:
    """Return what the user chose of the data, for the run's definition.

    Args:
        options: The user's.
        begun: The folder of a run that goes on: it has the same categories as they are spelled
            there, if these are the same.
    """
    category = options.category
    if begun is not None and is_run(begun):
        spelled = read_run_file(begun)["definition"].get("selection", {}).get("category")
        name = options.dataset
        if choose.categories(spelled, name) == choose.categories(category, name):
            category = spelled
    return Selection(
        category,
        options.ids,
        options.limit,
        options.sample,
        options.sample_seed if options.sample else None,
        options.trials,
        options.split,
    )


def connect_to(plan: Plan) -> Model:
    """Connect to the model of a plan; one that knows the ground truth needs no connection."""
    if not choose.model(plan.model, plan.settings.base_url).live:
        return ScriptedModel(plan)
    return connect(plan.model, plan.settings.request_options())


def check_budget(model: str, settings: Settings) -> None:
    """Refuse a budget in dollars where nobody knows what a token costs: it would never be used up.

    Raises:
        DataError: The price is unknown.
    """
    if settings.max_cost is not None and not price_of(model, settings.request_options()):
        raise DataError(
            "--max-cost", f"the price of {model} is not known; give it by --price IN,OUT"
        )
