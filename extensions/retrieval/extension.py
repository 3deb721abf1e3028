"""Registration of the extension ``retrieval``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from envs.errors import DataError
from envs.lazy_modules import lazy_module
from runner.extension import Command, Extension, JsonObject, RunFeature

if TYPE_CHECKING:
    from extensions.retrieval import feature
    from runner.live.run_settings import Settings
else:
    feature = lazy_module("extensions.retrieval.feature")

_COMMANDS = f"{__package__}.commands"


class RetrievalExtension(Extension):
    """Extension that offers a model only retrieved functions."""

    name = "retrieval"
    commands = {
        "retrieve query": Command(
            "retrieval", "Find the functions that match a text.", f"{_COMMANDS}.query"
        ),
        "retrieve evaluate": Command(
            "retrieval", "Measure the quality of rankings.", f"{_COMMANDS}.evaluate"
        ),
        "retrieve train": Command(
            "retrieval", "Train a ranking on queries and their functions.", f"{_COMMANDS}.train"
        ),
    }

    def options(self, command: str) -> type | None:
        """Return the retrieval options of ``eval``."""
        return feature.RetrieveOptions if command == "eval" else None

    def features(self, options: Any, own: Any, settings: Settings) -> Sequence[RunFeature]:
        """Return the run feature that the options describe."""
        retrieval = own.retrieval
        if own.no_keep and settings.mode == "prompt":
            why = (
                "needs --mode fc, because functions in a prompt cannot change after the first turn"
            )
            raise DataError("--no-keep", why)
        return [feature.RetrievalFeature(retrieval)] if retrieval else []

    def recorded(self, definition: JsonObject, where: str) -> RunFeature:
        """Return the retrieval feature of a recorded run."""
        return feature.recorded(definition, where)


EXTENSION = RetrievalExtension()
