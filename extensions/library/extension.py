"""Registration of the extension ``library``."""

from __future__ import annotations

from runner.extension import Extension


class LibraryExtension(Extension):
    """Environments of plain functions."""

    name = "library"


EXTENSION = LibraryExtension()
