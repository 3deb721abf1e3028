"""What this extension registers."""

from __future__ import annotations

from runner.extension import Command, Extension


class SearchExtension(Extension):
    """Lets a model search with undo."""

    name = "search"
    commands = {
        "search": Command(
            "experiments",
            "Let a model search with undo, and compare with none.",
            f"{__package__}.commands.search",
        ),
    }


EXTENSION = SearchExtension()
