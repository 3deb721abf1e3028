"""Command ``turnwise env health``: checks the web services that REST entries call."""

from __future__ import annotations

from dataclasses import dataclass

from extensions.retired.rest.http_sender import ask_all, sender
from runner.commands import DONE, RUN_ERROR
from runner.commands.common_options import DataOptions, ServiceOptions, category_option, note
from runner.data import dataset_choice
from runner.show.terminal import say

EXAMPLE = "turnwise env health"


@dataclass(frozen=True, kw_only=True)
class Options(DataOptions, ServiceOptions):
    """Options for the entries."""

    category: str | None = category_option("rest")


def run(options: Options) -> int:
    """Send a request to every web service, and print the state of each service."""
    dataset = dataset_choice.load_named(options.dataset, options.category or "rest", note)
    endpoints = ask_all(dataset.trajectories.values(), sender(options.reach))
    for endpoint in endpoints:
        there = "answered by a fixture" if endpoint.fixture else "up"
        state = f"down: {endpoint.problem}" if endpoint.problem else there
        say(f"{endpoint.trajectory}  {endpoint.url}  {state}")
    down = sum(e.problem is not None for e in endpoints)
    note(f"{len(endpoints) - down} of {len(endpoints)} endpoints are up")
    return RUN_ERROR if down else DONE
