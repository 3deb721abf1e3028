"""Command ``turnwise view``: shows all runs of a folder in the browser."""

from __future__ import annotations

import asyncio
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING

from envs.lazy_modules import lazy_module
from runner.commands import DONE
from runner.commands.common_options import ErrataOption, note
from runner.commands.options import argument, option, port, switch
from runner.show.terminal import say
from trajectories.errors import DataError, require_extra

if TYPE_CHECKING:
    from extensions.viewer import viewer
else:
    # It needs an extra.
    viewer = lazy_module("extensions.viewer.viewer")

EXAMPLE = "turnwise view runs --open"


@dataclass(frozen=True, kw_only=True)
class Options(ErrataOption):
    """The runs, and the server."""

    folder: Path = argument(
        "folder that contains run folders", "FOLDER", required=False, default=Path("runs")
    )
    port: int = option("port to listen on (0: any free port)", "PORT", default=0, read=port)
    at: str = option("first page, such as run/mine", "PATH", default="")
    open: bool = switch("open the page in the browser")


def run(options: Options) -> int:
    """Serve until the user stops it."""
    if not options.folder.is_dir():
        raise DataError(str(options.folder), "is not a folder; name a folder of runs")
    with require_extra("view", "view"):
        serve = viewer.serve

    def started(url: str) -> None:
        address = url + options.at.lstrip("/")
        say(address)
        note(f"{options.folder}: anyone with this address can open the viewer; Ctrl-C stops it")
        if options.open:
            webbrowser.open(address)

    shown = viewer.Viewer(options.folder, options.errata)
    asyncio.run(serve(shown, options.port, token_urlsafe(24), started))
    return DONE
