"""Command ``turnwise dataset author``: a page for writing and reviewing ground truths."""

from __future__ import annotations

import asyncio
import webbrowser
from dataclasses import dataclass
from functools import cache
from os.path import realpath
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING

from envs.errors import DataError, require_extra
from envs.lazy_modules import lazy_module
from extensions.authoring.author.entry_file import EntryFile, check_name
from runner.commands import DONE
from runner.commands.common_options import note
from runner.commands.options import argument, option, port, switch
from runner.data import dataset_choice
from runner.records.durable_files import check_writable
from runner.show.terminal import say
from trajectories.dataset import DATA, Dataset

if TYPE_CHECKING:
    from extensions.authoring.author import author_app
else:
    # It needs an extra.
    author_app = lazy_module("extensions.authoring.author.author_app")

EXAMPLE = "turnwise dataset author mine.jsonl --name Ada --open"


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options for the data file and the server."""

    file: Path = argument("JSONL file of entries; it is created on the first save", "FILE")
    dataset: str | None = option("data set with entries to copy (default: built-in)", "NAME")
    name: str = option(
        "name of the author or reviewer; users can change the name on the page", default=""
    )
    port: int = option("port to listen on (0: any free port)", "PORT", default=0, read=port)
    open: bool = switch("open the page in the browser")


def run(options: Options) -> int:
    """Serve the page until the user stops the server."""
    check_writable(options.file)
    if Path(realpath(options.file)).is_relative_to(DATA.resolve()):
        raise DataError(str(options.file), "is in the built-in data; name another file")
    name = check_name(options.name) if options.name else ""
    EntryFile(options.file).entries()
    with require_extra("view", "dataset author"):
        serve = author_app.serve

    @cache
    def source() -> Dataset:
        return dataset_choice.load_named(options.dataset, None, note)

    def started(url: str) -> None:
        say(url, flush=True)
        note(
            f"{options.file}: anyone with this address can write the file; Ctrl-C stops the server"
        )
        if options.open:
            webbrowser.open(url)

    author = author_app.Author(options.file, source, name)
    asyncio.run(serve(author, options.port, token_urlsafe(24), started))
    return DONE
