"""What this extension registers."""

from __future__ import annotations

from runner.extension import Command, Extension


class RetiredExtension(Extension):
    """Executes the retired sets of BFCL, web services among them."""

    name = "retired"
    commands = {
        "env health": Command(
            "environment tools",
            "Ask every web service that REST entries need.",
            f"{__package__}.commands.health",
        ),
    }


EXTENSION = RetiredExtension()
