"""Registration of the extension ``adapters``."""

from __future__ import annotations

from runner.extension import Extension


class AdaptersExtension(Extension):
    """Extension that makes rollouts and functions usable in other libraries."""

    name = "adapters"


EXTENSION = AdaptersExtension()
