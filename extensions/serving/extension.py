"""Registration of the extension ``serving``."""

from __future__ import annotations

from runner.extension import Command, Extension


class ServingExtension(Extension):
    """MCP server for the functions of a session."""

    name = "serving"
    commands = {
        "env serve": Command(
            "environment tools",
            "Serve functions to MCP clients, each with its own session.",
            f"{__package__}.commands.env_serve",
        )
    }


EXTENSION = ServingExtension()
