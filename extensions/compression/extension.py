"""Registration of the extension ``compression``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from envs.lazy_modules import lazy_module
from runner.extension import Command, Extension, JsonObject, RunFeature

if TYPE_CHECKING:
    from extensions.compression import compression, feature
    from runner.live.run_settings import Settings
else:
    compression = lazy_module("extensions.compression.compression")
    feature = lazy_module("extensions.compression.feature")

_COMMANDS = f"{__package__}.commands"


class CompressionExtension(Extension):
    """Extension that compresses tool results before a model reads them."""

    name = "compression"
    commands = {
        "compress": Command(
            "experiments",
            "Measure the savings and losses of compressed results.",
            f"{_COMMANDS}.compress",
        ),
        "compress-keys": Command(
            "experiments",
            "Draft a list of the fields that compressed results keep.",
            f"{_COMMANDS}.compress_keys",
        ),
    }

    def options(self, command: str) -> type | None:
        """Return the compression options of ``eval`` and ``search``."""
        return feature.CompressOptions if command in ("eval", "search") else None

    def features(self, options: Any, own: Any, settings: Settings) -> Sequence[RunFeature]:
        """Return the compression feature that the options describe."""
        return [own.feature] if own.feature else []

    def recorded(self, definition: JsonObject, where: str) -> RunFeature:
        """Return the compression feature of a recorded run."""
        made = compression.Compression.named(
            str(definition.get("compress")), definition.get("tokenizer")
        )
        return feature.CompressionFeature(made)


EXTENSION = CompressionExtension()
