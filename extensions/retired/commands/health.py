"""The command ``turnwise env health``: whether what REST entries ask is up."""

from __future__ import annotations

from dataclasses import dataclass

from extensions.retired.rest.web import ask_all, sender
from runner.commands import DONE, RUN_ERROR
from runner.commands.shared import DataOptions, ReachOptions, category_option, note
from runner.data import choose
from runner.show.terminal import say

EXAMPLE = "turnwise env health"


@dataclass(frozen=True, kw_only=True)
class Options(DataOptions, ReachOptions):
    """What to ask."""

    category: str | None = category_option("rest")


def run(options: Options) -> int:
    """Ask every web service, and print which are up."""
    dataset = choose.dataset_named(options.dataset, options.category or "rest", note)
    endpoints = ask_all(dataset.trajectories.values(), sender(options.reach))
    for endpoint in endpoints:
        there = "answered by a fixture" if endpoint.fixture else "up"
        state = f"down: {endpoint.problem}" if endpoint.problem else there
        say(f"{endpoint.trajectory}  {endpoint.url}  {state}")
    down = sum(e.problem is not None for e in endpoints)
    note(f"{len(endpoints) - down} of {len(endpoints)} endpoints are up")
    return RUN_ERROR if down else DONE
