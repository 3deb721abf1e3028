"""Registration of the extension ``splits``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from envs.lazy_modules import lazy_module
from runner.extension import Extension, JsonObject, RunFeature
from runner.records.json_codec import read

if TYPE_CHECKING:
    from extensions.export.commands.export import TranscriptsOfRun
    from extensions.splits import export_split, feature
    from runner.live.run_settings import Settings
    from trajectories.dataset import Dataset
else:
    export_split = lazy_module("extensions.splits.export_split")
    feature = lazy_module("extensions.splits.feature")


class SplitsExtension(Extension):
    """Extension that separates training entries from held-out entries."""

    name = "splits"

    def options(self, command: str) -> type | None:
        """Return the options of ``eval`` or ``export`` that select a split."""
        if command == "export":
            return export_split.SplitOptions
        return feature.PartOptions if command == "eval" else None

    def entries(self, dataset: Dataset, own: Any) -> Dataset:
        """Return the entries of the selected split."""
        return own.feature.entries(dataset) if own.feature else dataset

    def features(self, options: Any, own: Any, settings: Settings) -> Sequence[RunFeature]:
        """Return the run feature that selects the entries of the split, if one is given."""
        return [own.feature] if own.feature else []

    def recorded(self, definition: JsonObject, where: str) -> RunFeature:
        """Return the run feature with the split that the recorded run used."""
        return feature.SplitFeature(read(feature.SplitPart, definition, where))

    def check_export(self, options: Any, own: Any) -> None:
        """Check the split options."""
        export_split.check_split(options, own)

    def export(self, options: Any, own: Any, found: Sequence[TranscriptsOfRun]) -> bool:
        """Write the training and the held-out transcripts."""
        if own.split is not None:
            export_split.write_parts(options, own, found)
        return own.split is not None


EXTENSION = SplitsExtension()
