"""The command ``turnwise env health``: whether what REST entries ask is up."""

from __future__ import annotations

from dataclasses import dataclass

from runner.commands import DONE, RUN_ERROR
from runner.commands.options import switch
from runner.commands.shared import DataOptions, note
from runner.data import choose
from runner.data.rest.web import ask_all, getter

EXAMPLE = "turnwise env health"


@dataclass(frozen=True, kw_only=True)
class Options(DataOptions):
    """What to ask."""

    allow_network: bool = switch("ask other machines too, where entries name them")


def run(options: Options) -> int:
    """Ask every web service, and print which are up."""
    dataset = choose.dataset_named(options.dataset, options.category or "rest", note)
    endpoints = ask_all(dataset.trajectories.values(), getter(options.allow_network))
    for endpoint in endpoints:
        state = f"down: {endpoint.problem}" if endpoint.problem else "up"
        print(f"{endpoint.trajectory}  {endpoint.url}  {state}")
    down = sum(e.problem is not None for e in endpoints)
    note(f"{len(endpoints) - down} of {len(endpoints)} endpoints are up")
    return RUN_ERROR if down else DONE
