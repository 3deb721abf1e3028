"""What this extension registers."""

from __future__ import annotations

from runner.extension import Command, Extension


class DraftingExtension(Extension):
    """Writes new environments: scaffolds, and drafts from OpenAPI files and MCP servers."""

    name = "drafting"
    commands = {
        "env new": Command(
            "environment tools",
            "Make a new environment, with tests, to be rewritten.",
            f"{__package__}.commands.new",
        ),
    }


EXTENSION = DraftingExtension()
