"""The command ``turnwise view``: all runs of a folder in the browser."""

from __future__ import annotations

import asyncio
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING

from envs.lazy import lazily
from runner.commands import DONE
from runner.commands.options import argument, option, port, switch
from runner.commands.shared import ErrataOption, note
from runner.show.terminal import say
from trajectories.errors import DataError, needing

if TYPE_CHECKING:
    from extensions.viewer import viewer
else:
    # It needs an extra.
    viewer = lazily("extensions.viewer.viewer")

EXAMPLE = "turnwise view runs --open"


@dataclass(frozen=True, kw_only=True)
class Options(ErrataOption):
    """What to show, and where."""

    folder: Path = argument(
        "folder with run folders in it", "FOLDER", required=False, default=Path("runs")
    )
    port: int = option("where to listen (0: any free port)", "PORT", default=0, read=port)
    at: str = option(
        "begin at this page: a path as the button on a page copies it, such as run/mine",
        "PATH",
        default="",
    )
    open: bool = switch("open it in the browser")


def run(options: Options) -> int:
    """Serve until the user ends it."""
    if not options.folder.is_dir():
        raise DataError(str(options.folder), "is no folder")
    with needing("view", "view"):
        serve = viewer.serve

    def started(url: str) -> None:
        address = url + options.at.lstrip("/")
        say(address)
        note(f"{options.folder}: the viewer is at this address for who has it; Ctrl-C ends it")
        if options.open:
            webbrowser.open(address)

    shown = viewer.Viewer(options.folder, options.errata)
    asyncio.run(serve(shown, options.port, token_urlsafe(24), started))
    return DONE
