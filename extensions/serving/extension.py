"""Registration of the extension ``serving``."""

from __future__ import annotations

from runner.extension import Command, Extension


class ServingExtension(Extension):
    """Extension with servers for sessions (MCP) and for episodes (MCP or HTTP)."""

    name = "serving"
    commands = {
        "env serve": Command(
            "environment tools",
            "Serve functions over MCP, with a session for each client.",
            f"{__package__}.commands.env_serve",
        )
    }


EXTENSION = ServingExtension()
