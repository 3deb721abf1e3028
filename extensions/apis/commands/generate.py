"""Command ``turnwise env generate``: generates entries from recorded answers, and tests them."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from itertools import count
from os.path import realpath
from pathlib import Path
from typing import Any

from envs.errors import DataError, suggest_name
from envs.registry import names
from extensions.apis.collection import ApiCollection
from extensions.apis.entries import ApiEntryMaker, write_scripted
from extensions.apis.sampled_calls import load_example, sample_calls
from runner.commands import DONE, RUN_ERROR
from runner.commands.common_options import note
from runner.commands.options import argument, index, option, positive
from runner.models.model_connection import connect
from runner.models.model_name import ModelName, parse_model_name
from runner.models.model_types import Model, ModelError, Request, RequestOptions
from runner.records.durable_files import write_whole
from runner.show.terminal import format_count, say

EXAMPLE = "turnwise env generate faker.json -o faker.jsonl --model scripted"

NOTES = (
    "Run the command in the folder that contains the collection and its module. Each request asks "
    "the writer for ten instructions. The command keeps an entry only if every call is necessary: "
    "the entry must fail as soon as any single call is removed.\n"
)
_SCRIPTED = "scripted"
_MAX_IDLE_REQUESTS = 5
"""The command ends after this number of consecutive requests without a new entry."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options for the collection, the writer and the output file."""

    collection: Path = argument("file of a collection, or name of an environment", "FILE|NAME")
    output: Path = option("file for the entries", "FILE", required=True, flags=("--output", "-o"))
    model: ModelName = option(
        "live model that writes the instructions, or scripted (needs no server)",
        "NAME",
        default=ModelName(_SCRIPTED),
        read=parse_model_name,
    )
    base_url: str | None = option(
        "address of an OpenAI-compatible server (default: the provider's own)", "URL"
    )
    number: int = option("entries to generate", "N", default=10, read=positive)
    seed: int = option("seed of random draws", "S", default=0, read=index)


def run(options: Options) -> int:
    """Write the entries, and print the reasons for refused instructions."""
    if options.output.exists():
        raise DataError(str(options.output), "exists already; use another name")
    maker = _make_maker(options.collection, options.seed)
    try:
        entries = asyncio.run(_write(options, maker))
    except ModelError as error:
        note(f"{error}")
        return RUN_ERROR
    lines = [json.dumps(entry, ensure_ascii=False).encode() + b"\n" for entry in entries]
    if lines:
        write_whole(options.output, lines, named=True)
    say(f"{format_count(len(entries), 'entry')} in {options.output}")
    for reason, number in sorted(maker.yields.items()):
        say(f"  {reason:<12} {number:>5}")
    return DONE if len(entries) == options.number else RUN_ERROR


def _make_maker(path: Path, seed: int) -> ApiEntryMaker:
    if str(path) in names():
        config = load_example(str(path))
        sampled = sample_calls(str(path), config, seed)
        if not sampled.answers:
            raise DataError(str(path), "no sampled call succeeds on the example config")
        return ApiEntryMaker(sampled, config, seed)
    if Path(realpath(path)).parent != Path.cwd():
        raise DataError(str(path), f"is in another folder; run the command in {path.parent}")
    if not path.exists():
        hint = suggest_name(str(path), names()) or "; turnwise env tools lists the names"
        raise DataError(str(path), f"is neither a file nor an environment{hint}")
    collection = ApiCollection.load(path).usable()
    if not collection.answers:
        raise DataError(str(path), "has no usable answer; run turnwise env record")
    return ApiEntryMaker(collection, {f"{path.stem}:{collection.name}": {}}, seed)


async def _write(options: Options, maker: ApiEntryMaker) -> list[dict[str, Any]]:
    live = options.model != _SCRIPTED
    model = connect(options.model, RequestOptions(base_url=options.base_url)) if live else None
    entries: list[dict[str, Any]] = []
    idle = 0
    try:
        for number in count():
            shown = maker.draw(number)
            if model is None:
                reply = write_scripted(maker.collection, shown, options.seed)
            else:
                reply = await _ask(model, maker.prompt(shown))
            found = [*maker.entries(shown, reply, options.model)]
            entries += found
            idle = 0 if found else idle + 1
            if len(entries) >= options.number or idle == _MAX_IDLE_REQUESTS:
                return entries[: options.number]
    finally:
        if model is not None:
            await model.close()
    return entries


async def _ask(model: Model, prompt: str) -> str:
    return (await model.ask(Request([{"role": "user", "content": prompt}], None))).text or ""
