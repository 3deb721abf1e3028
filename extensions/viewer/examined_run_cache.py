"""Cache folder for examined runs, so that the viewer opens a run faster."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

from runner.data.cache import cache_root
from trajectories.dataset import DATA

_MAX_RUNS = 50
"""Maximum number of kept runs."""
_MAX_FILES = 1_000
"""Maximum number of files of a run in the cache; larger runs are not cached."""
_ROOT = Path(__file__).resolve().parents[2]
_PACKAGES = ("envs", "checkers", "trajectories", "runner", "extensions")


def examination_path(folder: Path, *settings: object) -> Path | None:
    """Return the cache file of a run; its name is a hash of the run, the code and the data.

    Return None if the run has too many files.
    """
    files = sorted(each for each in folder.rglob("*") if each.name != "lock")
    if len(files) > _MAX_FILES:
        return None
    state = [str(folder.resolve()), *map(str, settings), _hash_code(), *_stamps(files)]
    name = sha256(json.dumps(state).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return cache_root() / "examined" / f"{name}.json"


def read_examination(path: Path | None) -> str | None:
    """Return the cached JSON of a replayed run, or None."""
    with suppress(OSError, UnicodeDecodeError):
        return None if path is None else path.read_text(encoding="ascii")
    return None


def keep_examination(path: Path | None, text: str) -> None:
    """Store an examined run's JSON text, and delete the oldest files. OS errors are ignored."""
    if path is None:
        return
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(text, encoding="ascii")
        unfinished.replace(path)
        kept = sorted(path.parent.glob("*.json"), key=lambda each: -each.stat().st_mtime_ns)
        for old in kept[_MAX_RUNS:]:
            old.unlink(missing_ok=True)


@cache
def _hash_code() -> str:
    files = [path for name in _PACKAGES for path in (_ROOT / name).rglob("*.py")]
    return sha256("\n".join(_stamps(sorted([*files, *DATA.iterdir()]))).encode()).hexdigest()


def _stamps(files: Iterable[Path]) -> Iterator[str]:
    for path in files:
        with suppress(OSError):
            found = path.stat()
            yield f"{path.name} {found.st_ino} {found.st_size} {found.st_mtime_ns}"
