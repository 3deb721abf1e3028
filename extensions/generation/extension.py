"""Registration of the extension ``generation``."""

from __future__ import annotations

from runner.extension import Command, Extension


class GenerationExtension(Extension):
    """Extension that generates entries: models write entries, and filters check each entry."""

    name = "generation"
    commands = {
        "generate": Command(
            "data authoring",
            "Let a model write entries, and keep the valid ones.",
            f"{__package__}.commands.generate",
        )
    }


EXTENSION = GenerationExtension()
