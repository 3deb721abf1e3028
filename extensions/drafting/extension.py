"""Registration of the extension ``drafting``."""

from __future__ import annotations

from runner.extension import Command, Extension


class DraftingExtension(Extension):
    """Extension that drafts environments as scaffolds, or from OpenAPI files and MCP servers."""

    name = "drafting"
    commands = {
        "env new": Command(
            "environment tools",
            "Create files for a new environment with tests.",
            f"{__package__}.commands.new",
        )
    }


EXTENSION = DraftingExtension()
