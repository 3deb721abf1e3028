"""What this extension registers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from envs.lazy import lazily
from runner.extension import Command, Extension, JsonObject, RunFeature
from trajectories.errors import DataError

if TYPE_CHECKING:
    from extensions.retrieval import feature, parts_of_runs
    from runner.commands.export import TranscriptsOfRun
    from runner.live.settings import Settings
else:
    feature = lazily("extensions.retrieval.feature")
    parts_of_runs = lazily("extensions.retrieval.parts_of_runs")


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
        """Return the options on retrieval of ``eval``, and on splits of ``export``."""
        if command == "export":
            return parts_of_runs.SplitOptions
        return feature.RetrieveOptions if command == "eval" else None

    def check_export(self, options: Any, own: Any) -> None:
        """Refuse options that contradict each other."""
        parts_of_runs.check_split(options, own)

    def export(self, options: Any, own: Any, found: Sequence[TranscriptsOfRun]) -> bool:
        """Write the two files of a split."""
        if own.split is not None:
            parts_of_runs.write_parts(options, own, found)
        return own.split is not None

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
