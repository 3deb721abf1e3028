"""What this extension registers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from envs.lazy import lazily
from runner.extension import Command, Extension, JsonObject, RunFeature

if TYPE_CHECKING:
    from extensions.compression import compression, feature
    from runner.live.settings import Settings
else:
    compression = lazily("extensions.compression.compression")
    feature = lazily("extensions.compression.feature")


class CompressionExtension(Extension):
    """Shortens tool results before a model reads them."""

    name = "compression"
    commands = {
        "compress": Command(
            "experiments",
            "Show what making long results short saves and loses.",
            f"{__package__}.commands.compress",
        ),
        "compress-keys": Command(
            "experiments",
            "Have a model say which members short results keep.",
            f"{__package__}.commands.compress_keys",
        ),
    }

    def options(self, command: str) -> type | None:
        """Return the options on compression of ``eval`` and ``search``."""
        return feature.CompressOptions if command in ("eval", "search") else None

    def features(self, options: Any, own: Any, settings: Settings) -> Sequence[RunFeature]:
        """Return how results are shortened."""
        return [own.feature] if own.feature else []

    def recorded(self, definition: JsonObject, where: str) -> RunFeature:
        """Return how results were shortened in a run."""
        made = compression.Compression.named(
            str(definition.get("compress")), definition.get("tokenizer")
        )
        found: RunFeature = feature.CompressionFeature(made)
        return found


EXTENSION = CompressionExtension()
