"""What this extension registers."""

from __future__ import annotations

from runner.extension import Command, Extension


class ViewerExtension(Extension):
    """Shows all runs of a folder in the browser."""

    name = "viewer"
    commands = {
        "view": Command(
            "inspect",
            "Show all runs of a folder in the browser, live.",
            f"{__package__}.commands.view",
        ),
    }


EXTENSION = ViewerExtension()
