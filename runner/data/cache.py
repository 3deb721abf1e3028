"""Folder of the cache, and cached counts of errors in initial configs."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import envs
from trajectories import bfcl_reader
from trajectories.dataset import Dataset


def cache_folder() -> Path:
    """Return the folder of BFCL's data in the pinned version; the folder can be missing."""
    return cache_root() / f"{bfcl_reader.PACKAGE}-{bfcl_reader.VERSION}"


def replies_folder() -> Path:
    """Return the folder of the shared reply cache."""
    return cache_root() / "replies"


def cache_root() -> Path:
    """Return ``TURNWISE_CACHE``, or ``turnwise`` in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("TURNWISE_CACHE") or Path(base) / "turnwise")


def cached_counts(dataset: Dataset, count: Callable[[], tuple[int, int]]) -> tuple[int, int]:
    """Return a data set's cached counts; count and cache them first if they are missing.

    A damaged cache file or a read-only folder is ignored.
    """
    path = cache_root() / "counts" / f"{_hash_simulator()}-{dataset.sha256[:16]}"
    try:
        first, second = map(int, path.read_text(encoding="ascii").split())
    except (OSError, ValueError):
        first, second = count()
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_text(f"{first} {second}\n", encoding="ascii")
            unfinished.replace(path)
    return first, second


def _hash_simulator() -> str:
    total = sha256()
    root = Path(envs.__file__).parent
    for path in sorted(root.rglob("*.py")):
        total.update(path.relative_to(root).as_posix().encode())
        total.update(sha256(path.read_bytes()).digest())
    return total.hexdigest()[:16]
