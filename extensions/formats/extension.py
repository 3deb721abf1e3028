"""What this extension registers."""

from __future__ import annotations

from runner.extension import Extension


class FormatsExtension(Extension):
    """Shows functions to a model and reads its calls in the formats of other model families."""

    name = "formats"


EXTENSION = FormatsExtension()
