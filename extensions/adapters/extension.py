"""What this extension registers."""

from __future__ import annotations

from runner.extension import Extension


class AdaptersExtension(Extension):
    """Adapts rollouts and functions to other libraries."""

    name = "adapters"


EXTENSION = AdaptersExtension()
