"""Registration of the extension ``streaming``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from envs.lazy_modules import lazy_module
from runner.extension import Extension, JsonObject, RunFeature

if TYPE_CHECKING:
    from extensions.streaming import feature
    from runner.analysis.figure_table import FigureRow
    from runner.live.run_settings import Settings
    from runner.records.episode_record import ExtensionData
else:
    feature = lazy_module("extensions.streaming.feature")


class StreamingExtension(Extension):
    """Extension that streams the answers of live models."""

    name = "streaming"

    def options(self, command: str) -> type | None:
        """Return the option of ``eval``."""
        return feature.StreamOptions if command == "eval" else None

    def features(self, options: Any, own: Any, settings: Settings) -> Sequence[RunFeature]:
        """Return the run feature if answers are streamed."""
        return [feature.StreamingFeature()] if own.stream else []

    def recorded(self, definition: JsonObject, where: str) -> RunFeature:
        """Return the feature of a recorded run."""
        return feature.StreamingFeature()

    def episode(self, member: JsonObject, where: str) -> ExtensionData:
        """Return the times to the first token in an episode."""
        return feature.FirstTokens.of(member, where)

    def figures(self) -> Sequence[FigureRow]:
        """Return the table row for the time to the first token."""
        return feature.FIGURES


EXTENSION = StreamingExtension()
