"""Registration of the extension ``align``."""

from __future__ import annotations

from runner.extension import Command, Extension


class AlignExtension(Extension):
    """Extension that shows episodes of several runs side by side."""

    name = "align"
    commands = {
        "align": Command(
            "further inspection",
            "Show up to five episodes of one entry side by side.",
            f"{__package__}.commands.align",
        )
    }


EXTENSION = AlignExtension()
