"""The command ``turnwise compress-keys``: which members of long results to keep, as a draft."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from envs.calls import Call
from envs.registry import names
from extensions.compression.compression import Compression, paths_of
from extensions.compression.member_drafting import Long, drafted_members
from extensions.experiments.drafting import NOT_REACHED
from runner.commands import DONE, RUN_ERROR
from runner.commands.options import argument, option, positive
from runner.commands.shared import EntriesOptions, category_option, note
from runner.data import choose
from runner.models.base import ModelError, RequestOptions
from runner.models.connect import connect
from runner.models.tools import own_documents
from runner.records.files import write_whole
from runner.show.terminal import say
from trajectories.dataset import Dataset
from trajectories.errors import DataError, did_you_mean
from trajectories.prepare import load_session
from trajectories.scene import truth_calls
from trajectories.schema import JudgedBy, Trajectory

EXAMPLE = "turnwise compress-keys TicketAPI --model gpt-5-mini -o TicketAPI.json"

NOTES = (
    "The model is asked once for each function of the backend that has a result of more than "
    "--tokens in the data, and shown its document, its members and that result. What it writes is "
    "for people to read; put into configs/compression/ it is what --compress LIMIT,keys keeps.\n\n"
)


@dataclass(frozen=True, kw_only=True)
class Options(EntriesOptions):
    """Whose results are to be made short, and who says how."""

    category: str | None = category_option("long_context")
    backend: str = argument("the backend, such as TicketAPI", "BACKEND")
    model: str = option("the live model that is asked", "NAME", required=True)
    base_url: str | None = option(
        "address of an OpenAI-compatible server (default: the provider's own)", "URL"
    )
    output: Path = option(
        "where to write the draft", "FILE", required=True, flags=("--output", "-o")
    )
    tokens: int = option("results of more tokens are long", "N", default=1024, read=positive)
    concurrency: int = option("requests at once", "N", default=4, read=positive)


def run(options: Options) -> int:
    """Write which members are kept, and say of which functions there is no draft."""
    if options.backend not in names():
        advice = did_you_mean(options.backend, names())
        raise DataError("BACKEND", f"there is no backend {options.backend!r:.80}{advice}")
    category = options.category or "long_context"
    dataset = choose.dataset_named(options.dataset, category, note)
    found = choose.trajectories(dataset, None, options.split)
    chosen = choose.part(found, options.ids, options.limit, None, 0)
    functions = _long(dataset, chosen, options.backend, Compression.named(f"{options.tokens}"))
    if not functions:
        message = (
            f"no result of {options.backend} has more than {options.tokens} tokens and members"
        )
        raise DataError("--tokens", f"{message} in {category}")
    try:
        client = connect(options.model, RequestOptions(base_url=options.base_url))
        drafts, stopped = asyncio.run(drafted_members(client, functions, options.concurrency))
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
        say(f"{len(kept)} of {len(drafts)} functions have members in {options.output}; read them")
    if stopped is not None:
        note(stopped)
    return DONE if kept and stopped is None else RUN_ERROR


def _long(
    dataset: Dataset, entries: list[Trajectory], backend: str, limit: Compression
) -> list[Long]:
    """Return the functions of a backend that have long results with members, and the longest."""
    longest: dict[str, str] = {}
    for entry in entries:
        if entry.judged_by is not JudgedBy.CALLS and backend in entry.environments:
            for name, text in _results(dataset, entry, backend):
                long = limit.tokens(text) > limit.limit and bool(paths_of(text))
                if long and len(text) > len(longest.get(name, "")):
                    longest[name] = text
    documents = {str(each["name"]): each for each in own_documents([backend])}
    return [Long(name, documents[name], longest[name]) for name in documents if name in longest]


def _results(dataset: Dataset, entry: Trajectory, backend: str) -> Iterator[tuple[str, str]]:
    session = load_session(dataset, entry)
    for turn in entry.turns:
        for call in truth_calls(turn):
            text = session.call(call).text
            tool = session.tools.get(call.name) if isinstance(call, Call) else None
            if tool is not None and tool.backend == backend:
                yield tool.name, text
