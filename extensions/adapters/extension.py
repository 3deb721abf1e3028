"""Registration of the extension ``adapters``."""

from __future__ import annotations

from runner.extension import Extension


class AdaptersExtension(Extension):
    """Adapters of rollouts and functions to other libraries."""

    name = "adapters"


EXTENSION = AdaptersExtension()
