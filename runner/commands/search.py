"""The command ``turnwise search``: what going back on a step is worth, at the same budget."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.commands.common import (
    DONE,
    RUN_ERROR,
    add_data_options,
    add_profile_options,
    new_command,
    note,
    positive,
    profile_of,
    written,
)
from runner.data import choose
from runner.show.table import table
from trajectories.errors import DataError

if TYPE_CHECKING:
    from runner.rollouts.search_runs import Searched

_SCRIPTED = "scripted:"


def add_command(commands: Any) -> None:
    """Add the command to those of the command line."""
    text = "Let a model search with undo (DFSDT), beside the same model without (ReAct)."
    parser = new_command(commands, "search", _search, text)
    parser.add_argument(
        "--model",
        required=True,
        metavar="NAME",
        help="a live model, or scripted:RATE: knows the ground truth, errs in this share of calls",
    )
    parser.add_argument("--base-url", metavar="URL", help="an OpenAI-compatible server")
    parser.add_argument("--mode", choices=["fc", "prompt"], default="fc", help="(%(default)s)")
    parser.add_argument(
        "--concurrency", type=positive, default=16, metavar="N", help="(%(default)s)"
    )
    parser.add_argument(
        "--children",
        type=positive,
        default=3,
        metavar="N",
        help="steps tried at a node at most (%(default)s); 1 is ReAct",
    )
    parser.add_argument(
        "--max-calls", type=positive, default=100, metavar="N", help="requests for an entry (100)"
    )
    parser.add_argument(
        "--max-nodes", type=positive, default=100, metavar="N", help="steps for an entry (100)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of scripted errors (0)")
    parser.add_argument("--ids", metavar="IDS", help="only these entries, separated by commas")
    parser.add_argument("--limit", type=positive, metavar="N", help="only the first N entries")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="write one JSON line per entry and method"
    )
    add_data_options(parser)
    add_profile_options(parser)


def _search(options: argparse.Namespace) -> int:
    # What makes schemas and talks to models is imported by this command only.
    import asyncio

    from runner.rollouts.search_runs import Search, run_searches

    rate = _error_rate(options.model)
    if rate is not None and options.mode != "fc":
        raise DataError("--mode", "a scripted model makes tool calls: fc")
    wanted = choose.categories(options.category, options.dataset)
    dataset = choose.dataset(options.dataset, wanted, note)
    entries = [t for t in choose.trajectories(dataset, None) if t.expects is None]
    what = Search(
        options.model,
        rate,
        options.seed,
        options.mode,
        dataset,
        profile_of(options, dataset),
        options.step_limit,
        options.max_calls,
        options.max_nodes,
        options.base_url,
        options.concurrency,
    )
    chosen = choose.part(entries, options.ids, options.limit, None, 0)
    methods = {"ReAct": 1, f"DFSDT, {options.children} children": options.children}
    found = {name: asyncio.run(run_searches(what, chosen, n)) for name, n in methods.items()}
    if options.output:
        with written(options.output) as file:
            for name, results in found.items():
                file.writelines(json.dumps({"method": name, **r.to_json()}) + "\n" for r in results)
    print(table([_HEADING, *(_row(name, results) for name, results in found.items())]))
    print(
        f"at most {options.max_calls} requests and {options.max_nodes} steps an entry; "
        f"model {options.model}; data {dataset.name}; profile {what.profile.name}"
    )
    errors = [result for results in found.values() for result in results if result.error]
    for result in errors:
        note(f"{result.id}: {result.error}")
    return RUN_ERROR if errors else DONE


_HEADING = ["method", "entries", "passed", "score", "95%", "requests", "steps", "undone", "cut"]


def _row(name: str, results: Sequence[Searched]) -> list[str]:
    from checkers.statistics import wilson

    found = [result.found for result in results if result.found is not None]
    passed = sum(one.verdict.valid for one in found)
    low, high = wilson(passed, len(found))
    return [
        name,
        str(len(found)),
        str(passed),
        f"{passed / len(found):.1%}" if found else "-",
        f"{low:.1%} to {high:.1%}",
        f"{sum(one.model_calls for one in found) / max(1, len(found)):.1f}",
        f"{sum(one.nodes for one in found) / max(1, len(found)):.1f}",
        f"{sum(one.given_up for one in found) / max(1, len(found)):.1f}",
        str(sum(one.exhausted for one in found)),
    ]


def _error_rate(model: str) -> float | None:
    """Return the error rate of a scripted model, or None for a live one.

    Raises:
        DataError: It is no share.
    """
    if not model.startswith(_SCRIPTED):
        return None
    try:
        rate = float(model.removeprefix(_SCRIPTED))
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise DataError("--model", f"{model}: the rate must be a number from 0 to 1")
    return rate
