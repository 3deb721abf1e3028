"""Compression in a run: tool results are shortened before the model reads them."""

from __future__ import annotations

from dataclasses import dataclass

from extensions.compression.compression import Compression, compress_observations
from runner.commands.options import option
from runner.extension import JsonObject, RunFeature
from runner.models.conversation import Observe


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CompressOptions:
    """Compression of tool results."""

    compress: str | None = option(
        "shorten tool results of more than LIMIT tokens by a method: cut, ends (default) or keys",
        "LIMIT[,METHOD]",
    )
    tokenizer: str | None = option(
        "tokenizer.json (default: 4 characters per token)", "PATH", needs="--compress"
    )

    @property
    def feature(self) -> CompressionFeature | None:
        """Compression feature; None if ``--compress`` is not given.

        Raises DataError if the limit is invalid, or the tokenizer cannot be read.
        """
        if self.compress is None:
            return None
        return CompressionFeature(Compression.named(self.compress, self.tokenizer))


@dataclass(frozen=True)
class CompressionFeature(RunFeature):
    """Compression of tool results."""

    extension = "compression"
    flag = "--compress"
    how: Compression

    def definition(self) -> JsonObject:
        """Return limit, method and tokenizer."""
        counted = {} if self.how.tokenizer is None else {"tokenizer": self.how.tokenizer}
        return {"compress": str(self.how), **counted}

    def observe(self, observe: Observe | None) -> Observe | None:
        """Return a function that compresses the text of a call's result."""
        return compress_observations(observe, self.how)
