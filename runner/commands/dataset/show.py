"""The command ``turnwise dataset show``: what is in a data set."""

from __future__ import annotations

import json
from dataclasses import dataclass

from runner.commands import DONE
from runner.commands.options import argument, option, switch
from runner.commands.shared import note
from runner.data import choose
from runner.show.terminal import table
from trajectories.validation import to_json

EXAMPLE = "turnwise dataset show --category base"


@dataclass(frozen=True, kw_only=True)
class Options:
    """Which data to show."""

    dataset: str | None = argument(
        "bfcl, bfcl:FOLDER, or a trajectory file or folder (default: what comes along)",
        "NAME",
        required=False,
    )
    category: str | None = option("only these categories", "NAMES")
    ids: str | None = option("print these trajectories as JSON", "IDS")
    warnings: bool = switch("list what is irregular in the initial configs")


def run(options: Options) -> int:
    """Print a data set's contents, or some of its trajectories."""
    dataset = choose.dataset_named(options.dataset, options.category, note)
    if options.ids:
        for id in options.ids.split(","):
            print(json.dumps(to_json(choose.trajectory(dataset, id.strip())), indent=2))
        return DONE
    print(table(choose.contents(dataset)))
    problems = choose.irregularities(dataset)
    if options.warnings:
        for id, problem in problems:
            print(f"warning: {id}: {problem}")
    print(
        f"{dataset.name} {dataset.version}, sha256 {dataset.sha256}; "
        f"{len(problems)} irregularities in {len({id for id, _ in problems})} initial configs"
    )
    return DONE
