"""Registration of the extension ``export``."""

from __future__ import annotations

from runner.extension import Command, Extension


class ExportExtension(Extension):
    """Extension that writes runs in the formats of other tools."""

    name = "export"
    commands = {
        "export": Command(
            "further inspection",
            "Write a run as BFCL result files or as transcripts.",
            f"{__package__}.commands.export",
        )
    }


EXTENSION = ExportExtension()
