"""Registration of the extension ``serving``."""

from __future__ import annotations

from runner.extension import Command, Extension


class ServingExtension(Extension):
    """Extension that serves sessions over MCP, and episodes over MCP and HTTP."""

    name = "serving"
    commands = {
        "env serve": Command(
            "environment tools",
            "Serve functions over MCP, with a session for each client.",
            f"{__package__}.commands.env_serve",
        )
    }


EXTENSION = ServingExtension()
