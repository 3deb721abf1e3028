"""What this extension registers."""

from __future__ import annotations

from runner.extension import Command, Extension


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


EXTENSION = CompressionExtension()
