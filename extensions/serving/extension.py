"""What this extension registers."""

from __future__ import annotations

from runner.extension import Command, Extension


class ServingExtension(Extension):
    """Offers the functions of a session to MCP clients."""

    name = "serving"
    commands = {
        "env serve": Command(
            "environment tools",
            "Offer functions to MCP clients, a session to each.",
            f"{__package__}.commands.serve",
        ),
    }


EXTENSION = ServingExtension()
