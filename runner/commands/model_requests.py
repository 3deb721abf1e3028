"""Functions and options of commands that send requests to a model."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from checkers.profile import Profile
from envs.errors import DataError
from runner.commands import DONE, INTERRUPTED, OVER_BUDGET, RUN_ERROR
from runner.commands.common_options import note
from runner.live.budget import is_budget_stop
from runner.live.live_run import RunInputs
from runner.live.run_control import Connect, preflight
from runner.live.run_settings import Settings
from runner.models.model_connection import price_of
from runner.models.model_name import ModelName
from runner.models.model_types import ModelError, RequestOptions, Usage
from runner.models.prompting import DEFAULT, read_prompts
from trajectories.dataset import Dataset


def plan_of(options: Any, dataset: Dataset, profile: Profile, settings: Settings) -> RunInputs:
    """Return the plan of a run from ``options``, which contain a model and a step limit.

    Raises DataError if the prompts cannot be read, or the wording of refused calls is missing.
    """
    check_budget(options.model, settings)
    path = Path(settings.prompts) if settings.prompts else DEFAULT
    prompts = read_prompts(path, nests=profile.execution.checks_arguments)
    plan = RunInputs(options.model, dataset, profile, options.step_limit, settings, prompts)
    # An error comes before the first request if texts of refused calls are missing.
    plan.wording()
    return plan


def check_budget(model: ModelName, settings: Settings) -> None:
    """Check that the price per token is known if the budget is in dollars.

    Raises DataError if the price is unknown.
    """
    if settings.max_cost is not None and not price_of(model, settings.request_options()):
        raise DataError("--max-cost", f"the price of {model} is unknown; add --price IN,OUT")


def is_ready(plan: RunInputs, connect: Connect) -> bool:
    """Tell whether the model answers a test request; print the error if it does not."""
    try:
        asyncio.run(preflight(plan, connect))
    except ModelError as error:
        note(f"{error}")
        return False
    return True


def cost_line(model: ModelName, options: RequestOptions, usage: Usage, without: str) -> str:
    """Return a line with the estimated cost; ``without`` names the costs that are not included."""
    price = price_of(model, options)
    cost = price and price.of(usage)
    if price is None or cost is None:
        return f"cost unknown: {model} has no known price; add --price IN,OUT"
    return (
        f"estimated cost ${cost:.2f} for {usage.completion} completion tokens, without {without}; "
        f"price per million tokens: ${price.input * 1e6:g} input, ${price.output * 1e6:g} output"
    )


def exit_status(stop_reason: str | None, *, failed: bool) -> int:
    """Return the exit status of a run; ``failed`` tells whether an error ended the run."""
    if failed:
        return RUN_ERROR
    if is_budget_stop(stop_reason):
        return OVER_BUDGET
    return INTERRUPTED if stop_reason == "interrupted" else DONE
