"""Command ``turnwise view``: shows all runs of a folder in the browser."""

from __future__ import annotations

import asyncio
import webbrowser
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING

from envs.errors import DataError, require_extra
from envs.lazy_modules import lazy_module
from runner.commands import DONE
from runner.commands.common_options import ErrataOption, note
from runner.commands.eval_options import ConnectionOptions, given_settings
from runner.commands.model_requests import check_budget
from runner.commands.options import above_zero, argument, option, port, positive, switch
from runner.data import dataset_choice
from runner.live.run_settings import read_settings
from runner.models.model_name import ModelName, parse_model_name
from runner.models.prompting import DEFAULT, read_prompts
from runner.show.terminal import say
from trajectories.dataset import Dataset

if TYPE_CHECKING:
    from extensions.viewer import chat_room, viewer
else:
    # Only chats need this module.
    chat_room = lazy_module("extensions.viewer.chat_room")
    # This module needs an extra.
    viewer = lazy_module("extensions.viewer.viewer")

EXAMPLE = "turnwise view runs --open"


@dataclass(frozen=True, kw_only=True)
class Options(ErrataOption, ConnectionOptions):
    """Options for the runs and the server."""

    folder: Path = argument(
        "folder that contains run folders", "FOLDER", required=False, default=Path("runs")
    )
    port: int = option("port to listen on (0: any free port)", "PORT", default=0, read=port)
    at: str = option("first page, such as run/mine", "PATH", default="")
    open: bool = switch("open the page in the browser")
    model: ModelName | None = option(
        "model for chats, such as gpt-4o-mini or scripted:0.1", "NAME", read=parse_model_name
    )
    dataset: str | None = option("data set with the entries for chats (default: built-in)", "NAME")
    max_requests: int | None = option(
        "maximum number of requests of all chats together", "N", read=positive
    )
    max_cost: float | None = option(
        "maximum cost of all chats in US dollars", "USD", read=above_zero
    )


def run(options: Options) -> int:
    """Run the server until the user stops it."""
    if not options.folder.is_dir():
        raise DataError(str(options.folder), "is not a folder; give a folder that contains runs")
    with require_extra("view", "view"):
        serve = viewer.serve

    def started(url: str) -> None:
        address = url + options.at.lstrip("/")
        say(address, flush=True)
        note(
            f"{options.folder}: anyone with this address can open the viewer; Ctrl-C stops the "
            "server"
        )
        if options.open:
            webbrowser.open(address)

    chats = _chat_room(options) if options.model is not None else None
    shown = viewer.Viewer(options.folder, options.errata, chats=chats)
    asyncio.run(serve(shown, options.port, token_urlsafe(24), started))
    return DONE


def _chat_room(options: Options) -> chat_room.ChatRoom:
    """Return a chat room for the chosen model. Raises DataError if an option cannot be used."""
    assert options.model is not None
    options.model.check(options.base_url)
    settings = read_settings(options.config, given_settings(options))
    check_budget(options.model, settings)
    prompts = read_prompts(Path(settings.prompts) if settings.prompts else DEFAULT, nests=True)

    @cache
    def source() -> Dataset:
        return dataset_choice.load_named(options.dataset, None, note)

    return chat_room.ChatRoom(options.folder, options.model, settings, prompts, source)
