"""The command ``turnwise search``: what going back on a step is worth, at the same budget."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass

from checkers.profile import Mode
from checkers.statistics import wilson
from runner.commands import DONE, RUN_ERROR
from runner.commands.options import option, positive
from runner.commands.shared import EntriesOptions, JudgingOptions, OutputOption, note
from runner.data import choose
from runner.data.choose import profile_for
from runner.data.wording import Observations, observations_for, wording_of
from runner.episodes.evaluate import kind_of
from runner.episodes.scripted import Scripted
from runner.models.compression import Compression
from runner.records.files import written
from runner.rollouts.search_runs import Search, Searched, run_searches
from runner.show.terminal import say, table
from trajectories.errors import DataError

EXAMPLE = "turnwise search --model scripted:0.2 --limit 20"


@dataclass(frozen=True, kw_only=True)
class Options(EntriesOptions, OutputOption, JudgingOptions):
    """Who searches, and how far."""

    model: str = option(
        "a live model, or scripted:RATE: knows the ground truth, errs in this share of calls",
        "NAME",
        required=True,
    )
    base_url: str | None = option("an OpenAI-compatible server", "URL")
    mode: Mode = option("function calling, or calls in text", default="fc")
    protocol: str | None = option(
        "how functions are shown and calls are written (docs/protocols.md)", "NAME"
    )
    concurrency: int = option("requests at once", "N", default=16, read=positive)
    children: int = option(
        "steps tried at a node at most; 1 is ReAct", "N", default=3, read=positive
    )
    max_calls: int = option("requests for an entry", "N", default=100, read=positive)
    max_nodes: int = option("steps for an entry", "N", default=100, read=positive)
    observations: Observations | None = option(
        "whose texts where calls are refused (default: bfcl for its data under its profile)"
    )
    compress: str | None = option(
        "make results of more than so many tokens short before the model reads them",
        "LIMIT[,cut|ends|keys]",
    )
    tokenizer: str | None = option(
        "with --compress: a tokenizer.json that counts (default: four characters a token)", "PATH"
    )
    seed: int = option("of scripted errors", "S", default=0)


def run(options: Options) -> int:
    """Search with undo and without, and print both."""
    rate = None
    if options.model.startswith(choose.SCRIPTED):
        rate = Scripted.named(options.model, policies=False).error_rate
    if rate is not None and options.mode != "fc":
        raise DataError("--mode", "a scripted model makes tool calls: fc")
    if rate is not None and options.protocol is not None:
        raise DataError("--protocol", "is for a live model; a scripted one makes tool calls")
    dataset = choose.dataset_named(options.dataset, options.category, note)
    entries = choose.trajectories(dataset, None, options.split)
    entries = [entry for entry in entries if not kind_of(entry).is_single_turn]
    profile = profile_for(dataset, options.profile)
    observations = observations_for(options.observations, dataset, profile)
    wording_of(observations, dataset)  # that texts are missing is said before anything is asked
    if options.tokenizer and not options.compress:
        raise DataError("--tokenizer", "counts the tokens for --compress; add it")
    compress, tokenizer = options.compress, options.tokenizer
    compression = Compression.named(compress, tokenizer) if compress else None
    what = Search(
        options.model,
        rate,
        options.seed,
        options.mode,
        dataset,
        profile,
        options.step_limit,
        options.max_calls,
        options.max_nodes,
        options.base_url,
        options.concurrency,
        observations,
        compression,
        options.protocol,
    )
    _ = what.settings  # that a protocol cannot be used is said before anything is asked
    chosen = choose.part(entries, options.ids, options.limit, None, 0)
    methods = {"ReAct": 1, f"DFSDT, {options.children} children": options.children}
    found = {name: asyncio.run(run_searches(what, chosen, n)) for name, n in methods.items()}
    if options.output:
        with written(options.output) as file:
            for name, results in found.items():
                file.writelines(json.dumps({"method": name, **r.to_json()}) + "\n" for r in results)
    say(table([_HEADING, *(_row(name, results) for name, results in found.items())]))
    say(
        f"at most {options.max_calls} requests and {options.max_nodes} steps an entry; "
        f"model {options.model}; data {dataset.name}; profile {what.profile.name}; "
        f"observations {what.observations}"
    )
    records = [result.record for results in found.values() for result in results]
    errors = [record for record in records if record.error]
    for record in errors:
        note(f"{record.id}: {record.error}")
    return RUN_ERROR if errors else DONE


_HEADING = ["method", "entries", "passed", "score", "95%", "requests", "steps", "undone", "cut"]


def _row(name: str, results: Sequence[Searched]) -> list[str]:
    found = [result.effort for result in results if result.record.verdict is not None]
    passed = sum(result.record.outcome == "passed" for result in results)
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
