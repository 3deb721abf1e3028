"""What this extension registers."""

from __future__ import annotations

from runner.extension import Command, Extension


class GenerationExtension(Extension):
    """Has models write entries, and keeps what proves right."""

    name = "generation"
    commands = {
        "generate": Command(
            "data authoring",
            "Have a model write entries, and keep what proves right.",
            f"{__package__}.commands.generate",
        ),
    }


EXTENSION = GenerationExtension()
