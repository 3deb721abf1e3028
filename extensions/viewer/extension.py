"""Registration of the extension ``viewer``."""

from __future__ import annotations

from runner.extension import Command, Extension


class ViewerExtension(Extension):
    """Extension that shows runs in the browser."""

    name = "viewer"
    commands = {
        "view": Command(
            "interactive tools",
            "Show all runs of a folder in the browser.",
            f"{__package__}.commands.view",
        ),
        "runs": Command(
            "interactive tools",
            "List the runs of a folder with progress and scores.",
            f"{__package__}.commands.runs",
        ),
        "annotate": Command(
            "interactive tools",
            "Set tags and notes on a run or an episode.",
            f"{__package__}.commands.annotate",
        ),
    }


EXTENSION = ViewerExtension()
