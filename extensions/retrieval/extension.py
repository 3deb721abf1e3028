"""What this extension registers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from envs.lazy import lazily
from runner.extension import Command, Extension, JsonObject, RunFeature
from trajectories.errors import DataError

if TYPE_CHECKING:
    from extensions.retrieval import feature
    from runner.live.settings import Settings
else:
    feature = lazily("extensions.retrieval.feature")


class RetrievalExtension(Extension):
    """Offers a model only the functions that retrieval finds."""

    name = "retrieval"
    commands = {
        "retrieve query": Command(
            "retrieval", "Find the functions that a text asks for.", f"{__package__}.commands.query"
        ),
        "retrieve evaluate": Command(
            "retrieval",
            "Measure how well rankings find what is needed.",
            f"{__package__}.commands.evaluate",
        ),
        "retrieve train": Command(
            "retrieval",
            "Train a ranking by queries and what they need.",
            f"{__package__}.commands.train",
        ),
    }

    def options(self, command: str) -> type | None:
        """Return the options on retrieval of ``eval``."""
        return feature.RetrieveOptions if command == "eval" else None

    def features(self, options: Any, own: Any, settings: Settings) -> Sequence[RunFeature]:
        """Return what is retrieved."""
        retrieval = own.retrieval
        if own.no_keep and settings.mode == "prompt":
            why = "is for function calling: what a prompt has said cannot be taken back"
            raise DataError("--no-keep", why)
        return [feature.RetrievalFeature(retrieval)] if retrieval else []

    def recorded(self, definition: JsonObject, where: str) -> RunFeature:
        """Return what a run retrieved."""
        found: RunFeature = feature.recorded(definition, where)
        return found


EXTENSION = RetrievalExtension()
