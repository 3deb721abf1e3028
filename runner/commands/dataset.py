"""The command ``turnwise dataset``: which data sets there are, and what is in them."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from runner.commands.common import DONE, new_command, note, positive, written
from runner.data import choose
from runner.show.table import table


def add_command(commands: Any) -> None:
    """Add the command to those of the command line."""
    parser = new_command(commands, "dataset", _dataset_list, "List, show and fetch data sets.")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    new_command(actions, "list", _dataset_list, "List the data sets there are.")
    show = new_command(actions, "show", _dataset_show, "Show what is in a data set.")
    show.add_argument("dataset", nargs="?", metavar="NAME", help="as for --dataset of eval")
    show.add_argument("--category", metavar="NAMES", help="only these categories")
    show.add_argument("--id", metavar="ID", help="print one trajectory as JSON")
    show.add_argument(
        "--warnings", action="store_true", help="list what is irregular in the initial configs"
    )
    build = new_command(actions, "build", _dataset_build, "Build the four harder categories anew.")
    build.add_argument("folder", type=Path, metavar="FOLDER", help="where to write them")
    build.add_argument(
        "--source", type=Path, metavar="DIR", help="base.jsonl and notes.jsonl (default: ours)"
    )
    build.add_argument(
        "--size", type=positive, metavar="N", help="items of each kind in long contexts (200)"
    )
    build.add_argument("--seed", type=int, metavar="S", help="of the bulk (default: by entry)")
    fetch = new_command(actions, "fetch", _dataset_fetch, "Download a data set into the cache.")
    fetch.add_argument("dataset", choices=["bfcl"], metavar="NAME", help="bfcl")


def _dataset_list(_: argparse.Namespace) -> int:
    rows = [["data set", "version", "trajectories", "where"]]
    rows += choose.known_datasets()
    print(table(rows))
    return DONE


def _dataset_show(options: argparse.Namespace) -> int:
    dataset = choose.dataset(
        options.dataset, choose.categories(options.category, options.dataset), note
    )
    if options.id:
        from trajectories.validation import to_json

        print(json.dumps(to_json(choose.trajectory(dataset, options.id)), indent=2))
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


def _dataset_build(options: argparse.Namespace) -> int:
    # Plays every ground truth, and only this command needs what that takes.
    from trajectories.making.build import FOLDER, ITEMS, texts

    files = texts(options.source or FOLDER, options.seed, options.size or ITEMS)
    for path, text in files.items():
        with written(options.folder / path.name) as file:
            file.write(text)
        print(options.folder / path.name)
    return DONE


def _dataset_fetch(options: argparse.Namespace) -> int:
    print(choose.bfcl_folder(options.dataset, note))
    return DONE
