"""What commands share that put requests to a model: options, preflight, price, exit status."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checkers.profile import Profile
from runner.commands import DONE, INTERRUPTED, RUN_ERROR
from runner.commands.eval_options import PaceOptions, ReachedOptions, SamplingOptions, settings_in
from runner.commands.options import option, switch
from runner.commands.shared import note
from runner.live.campaign import Plan
from runner.live.conduct import Connect, preflight
from runner.live.settings import Settings, read_settings
from runner.models.base import ModelError, RequestOptions, Usage
from runner.models.connect import price_of
from runner.models.prompting import DEFAULT, read_prompts
from trajectories.dataset import Dataset
from trajectories.errors import DataError


@dataclass(frozen=True, kw_only=True)
class CachedAskingOptions(ReachedOptions, SamplingOptions, PaceOptions):
    """How models are asked whose answers are kept for every later run."""

    reply_cache: str | None = option("where answers are kept (default: one of ours)", "DIR")
    no_cache: bool = switch(
        "ask also what was asked before elsewhere, and keep no answers there",
        excludes=("--reply-cache",),
    )
    dry_run: bool = switch("say what would be asked, ask nothing")

    def settings(self, **others: Any) -> Settings:
        """Return the settings of options and file.

        Raises:
            DataError: A file or an option cannot be used.
        """
        flags: Mapping[str, Any] = {**settings_in(self), **others}
        if not self.no_cache:
            flags = {**flags, "reply_cache": self.reply_cache or ""}
        return read_settings(self.config, flags)


def plan_of(options: Any, dataset: Dataset, profile: Profile, settings: Settings) -> Plan:
    """Return what the episodes of a run are like, given options with a model and a step limit.

    Raises:
        DataError: The prompts cannot be read, or texts are missing.
    """
    check_budget(options.model, settings)
    path = Path(settings.prompts) if settings.prompts else DEFAULT
    prompts = read_prompts(path, nests=profile.execution.checks_arguments)
    plan = Plan(options.model, dataset, profile, options.step_limit, settings, prompts)
    # That texts are missing is said before anything is asked.
    plan.wording()
    return plan


def check_budget(model: str, settings: Settings) -> None:
    """Refuse a budget in dollars where nobody knows what a token costs: it would never be used up.

    Raises:
        DataError: The price is unknown.
    """
    if settings.max_cost is not None and not price_of(model, settings.request_options()):
        raise DataError(
            "--max-cost", f"the price of {model} is not known; give it by --price IN,OUT"
        )


def is_ready(plan: Plan, connect: Connect) -> bool:
    """Tell whether the model answers; say why where it does not."""
    try:
        asyncio.run(preflight(plan, connect))
    except ModelError as error:
        note(f"{error}")
        return False
    return True


def cost_line(model: str, options: RequestOptions, usage: Usage, without: str) -> str:
    """Return the line on what requests would cost, given what is not counted."""
    price = price_of(model, options)
    cost = price and price.of(usage)
    if price is None or cost is None:
        return f"the price of {model} is not known: no dollars without --price IN,OUT"
    return (
        f"about ${cost:.2f}, an estimate: {usage.completion} completion tokens, without {without}, "
        f"at ${price.input * 1e6:g} and ${price.output * 1e6:g} per million tokens in and out"
    )


def exit_status(stop_reason: str | None, *, failed: bool) -> int:
    """Return the exit status, given why it ended before all was done and whether it failed."""
    if failed:
        return RUN_ERROR
    return INTERRUPTED if stop_reason == "interrupted" else DONE
