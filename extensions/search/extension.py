"""What this extension registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envs.lazy import lazily
from runner.extension import Command, Extension, JsonObject, RunFeature

if TYPE_CHECKING:
    from extensions.search import feature
else:
    feature = lazily("extensions.search.feature")


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

    def recorded(self, definition: JsonObject, where: str) -> RunFeature:
        """Return how the model of a run searched."""
        found: RunFeature = feature.recorded(definition, where)
        return found


EXTENSION = SearchExtension()
