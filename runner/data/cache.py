"""Where this program keeps what it could fetch or work out again."""

from __future__ import annotations

import os
from pathlib import Path

from trajectories import bfcl


def cache_folder() -> Path:
    """Return where the data of the pinned version is kept, whether or not it is there.

    ``TURNWISE_CACHE`` names another place than ``turnwise`` in the user's cache folder.
    """
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    root = Path(os.environ.get("TURNWISE_CACHE") or Path(base) / "turnwise")
    return root / f"{bfcl.PACKAGE}-{bfcl.VERSION}"
