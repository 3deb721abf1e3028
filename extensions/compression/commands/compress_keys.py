"""Command ``turnwise compress-keys``: a model lists the fields that compressed results keep."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from envs.calls import Call
from envs.errors import DataError, suggest_name
from envs.registry import names
from extensions.compression.compression import Compression, list_paths
from extensions.compression.field_drafting import LongResult, draft_members
from extensions.experiments.paraphrase_drafts import NOT_REACHED
from runner.commands import DONE, RUN_ERROR
from runner.commands.common_options import EntriesOptions, category_option, note
from runner.commands.options import argument, option, positive
from runner.data import dataset_choice
from runner.models.model_connection import connect
from runner.models.model_name import ModelName, parse_model_name
from runner.models.model_types import ModelError, RequestOptions
from runner.models.toolbox import own_documents
from runner.records.durable_files import write_whole
from runner.show.terminal import say
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import load_session
from trajectories.replay_queries import read_truth_calls
from trajectories.schema import JudgingMethod, Trajectory

EXAMPLE = "turnwise compress-keys TicketAPI --model gpt-5-mini -o TicketAPI.json"

NOTES = (
    "The command looks for functions with results of more than --tokens tokens. For each of these "
    "functions, the model gets the function's document and one long result. Review the draft, "
    "then move it to configs/compression/, where --compress LIMIT,keys reads it.\n"
)


@dataclass(frozen=True, kw_only=True)
class Options(EntriesOptions):
    """Options for the backend, the model and the output file."""

    category: str | None = category_option("long_context")
    backend: str = argument("backend, such as TicketAPI", "BACKEND")
    model: ModelName = option("live model", "NAME", required=True, read=parse_model_name)
    base_url: str | None = option(
        "address of an OpenAI-compatible server (default: the provider's own)", "URL"
    )
    output: Path = option("file for the draft", "FILE", required=True, flags=("--output", "-o"))
    tokens: int = option(
        "minimum length of long results, in tokens", "N", default=1024, read=positive
    )
    concurrency: int = option("requests at once", "N", default=4, read=positive)


def run(options: Options) -> int:
    """Write the drafts, and print the functions without a draft."""
    if options.backend not in names():
        advice = suggest_name(options.backend, names())
        raise DataError("BACKEND", f"unknown backend {options.backend!r:.80}{advice}")
    category = options.category or "long_context"
    dataset = dataset_choice.load_named(options.dataset, category, note)
    found = dataset_choice.list_entries(dataset, None, options.subset, options.tag)
    chosen = dataset_choice.select_entries(found, options.ids, options.limit)
    limit = Compression.named(f"{options.tokens}")
    functions = _find_long_results(dataset, chosen, options.backend, limit)
    if not functions:
        which = f"no result of {options.backend} in {category}"
        message = f"{which} has fields and exceeds {options.tokens} tokens; lower the limit"
        raise DataError("--tokens", message)
    try:
        client = connect(options.model, RequestOptions(base_url=options.base_url))
        drafts, stopped = asyncio.run(draft_members(client, functions, options.concurrency))
    except ModelError as error:
        note(f"{error}")
        return RUN_ERROR
    if stopped is not None and all(draft.problem == NOT_REACHED for draft in drafts):
        note(stopped)
        return RUN_ERROR
    for draft in drafts:
        if draft.problem is not None:
            note(f"{draft.name}: {draft.problem}")
    kept = {draft.name: {"keep": [*draft.paths]} for draft in drafts if draft.paths}
    if kept:
        text = json.dumps(kept, indent=1, ensure_ascii=False)
        write_whole(options.output, [text.encode("utf-8", "backslashreplace"), b"\n"], named=True)
        say(
            f"{options.output}: lists the kept fields for {len(kept)} of {len(drafts)} functions; "
            "review the file"
        )
    if stopped is not None:
        note(stopped)
    return DONE if kept and stopped is None else RUN_ERROR


def _find_long_results(
    dataset: Dataset, entries: list[Trajectory], backend: str, limit: Compression
) -> list[LongResult]:
    longest: dict[str, str] = {}
    for entry in entries:
        if entry.judged_by is not JudgingMethod.CALLS and backend in entry.environments:
            for name, text in _results(dataset, entry, backend):
                long = limit.tokens(text) > limit.limit and bool(list_paths(text))
                if long and len(text) > len(longest.get(name, "")):
                    longest[name] = text
    documents = {str(each["name"]): each for each in own_documents([backend])}
    return [
        LongResult(name, documents[name], longest[name]) for name in documents if name in longest
    ]


def _results(dataset: Dataset, entry: Trajectory, backend: str) -> Iterator[tuple[str, str]]:
    session = load_session(dataset, entry)
    for turn in entry.turns:
        for call in read_truth_calls(turn):
            text = session.call(call).text
            tool = session.tools.get(call.name) if isinstance(call, Call) else None
            if tool is not None and tool.backend == backend:
                yield tool.name, text
