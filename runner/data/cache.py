"""The cache folder, and the cache of ground-truth outcomes.

The outcomes of an entry are computed once, not once per model. Their key is a hash of everything
that they depend on: config, calls, long-context material, argument checks and the simulator's
source. A file that is unreadable or damaged is silently replaced. Its format is a hash and marshal,
as in Python's byte-code files.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from stat import S_IWGRP, S_IWOTH
from typing import TYPE_CHECKING, Any

import envs
from checkers.profile import Profile
from checkers.verdict import TurnOutcome
from envs.calls import Call
from envs.errors import MalformedCall, ToolError
from envs.lazy_modules import lazy_module
from envs.results import DeclinedResult, Result
from envs.session import Session
from envs.state import Snapshot
from trajectories import bfcl
from trajectories.dataset import Dataset
from trajectories.prepare import play_truth
from trajectories.replay_queries import read_truth
from trajectories.schema import LongContext, Trajectory

if TYPE_CHECKING:
    import pydantic
else:
    pydantic = lazy_module("pydantic")

_FORMAT = 2
_DIGEST = 32
_COUNTS = b"counts"
_MAX_FILES = 12
"""Maximum number of files; one per choice of data and simulator version."""


def cache_folder() -> Path:
    """Return the folder of BFCL's data in the pinned version, which may not exist yet."""
    return cache_root() / f"{bfcl.PACKAGE}-{bfcl.VERSION}"


def replies_folder() -> Path:
    """Return the folder of the shared reply cache."""
    return cache_root() / "replies"


def embeddings_folder() -> Path:
    """Return the folder of embeddings from a server."""
    return cache_root() / "embeddings"


def cache_root() -> Path:
    """Return ``TURNWISE_CACHE``, or ``turnwise`` in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("TURNWISE_CACHE") or Path(base) / "turnwise")


class TruthCache:
    """Ground-truth outcomes of one data set, by the hash of their inputs."""

    def __init__(self, dataset: Dataset, profile: Profile, kept: dict[bytes, bytes]) -> None:
        self._dataset = dataset
        self._profile = profile
        self._packs: dict[LongContext | None, bytes] = {}
        self.kept = kept
        self.grown = False

    def outcomes(self, trajectory: Trajectory, template: Session) -> tuple[TurnOutcome, ...]:
        """Return the outcomes of an entry's ground truth, given its session in the initial state.

        Cached snapshots have only the compared fields.
        """
        package = f"{envs.__name__}."
        if not all(type(b).__module__.startswith(package) for b in template.backends.values()):
            # Changes of other packages' backends and of web services do not change the key.
            return play_truth(trajectory, template)
        key = self._key(trajectory, template)
        if key in self.kept:
            return _restore(trajectory, marshal.loads(self.kept[key]))
        outcomes = play_truth(trajectory, template)
        # Values that marshal does not support are not cached.
        with suppress(ValueError):
            self.kept[key] = marshal.dumps(_serialize(outcomes))
            self.grown = True
        return outcomes

    def _key(self, trajectory: Trajectory, template: Session) -> bytes:
        inputs: Any = (
            trajectory.environments,
            trajectory.config,
            # The code that makes bulk is outside the simulator, so its result counts.
            template.snapshot().compared() if trajectory.long_context else None,
            [turn.ground_truth for turn in trajectory.turns],
            self._dataset.tolerant,
            self._profile.execution.checks_arguments,
            self._profile.execution.keeps_all,
            self._pack(trajectory),
        )
        # Marshal version 2 writes equal values as equal bytes.
        return sha256(marshal.dumps(inputs, 2)).digest()

    def _pack(self, trajectory: Trajectory) -> bytes:
        kind = trajectory.long_context
        if kind not in self._packs:
            pack = repr(self._dataset.pack(trajectory))
            self._packs[kind] = sha256(pack.encode("utf-8", "surrogatepass")).digest()
        return self._packs[kind]


@contextmanager
def open_truth_cache(dataset: Dataset, profile: Profile) -> Iterator[TruthCache]:
    """Open the cache of a data set, and write it afterwards if it has grown."""
    folder = cache_folder().parent / "truth"
    path = folder / f"{_hash_simulator(profile.execution.checks_arguments)}-{dataset.sha256[:16]}"
    cached = TruthCache(dataset, profile, _read(path))
    yield cached
    if cached.grown:
        with suppress(OSError):
            _write(path, cached.kept)


def cached_counts(dataset: Dataset, count: Callable[[], Sequence[int]]) -> Sequence[int]:
    """Return the cached result of counting in the configs of a data set."""
    folder = cache_folder().parent / "counts"
    path = folder / f"{_hash_simulator(checks_arguments=False)}-{dataset.sha256[:16]}"
    kept = _read(path)
    if _COUNTS not in kept:
        kept = {_COUNTS: marshal.dumps([*count()])}
        with suppress(OSError):
            _write(path, kept)
    found: Sequence[int] = marshal.loads(kept[_COUNTS])
    return found


@cache
def _hash_simulator(checks_arguments: bool) -> str:
    """Return a hash of everything that outcomes depend on, except the data."""
    total = sha256(f"{_FORMAT} {marshal.version} {sys.version}".encode())
    if checks_arguments:
        # Refusals quote messages of pydantic.
        total.update(pydantic.VERSION.encode())
    root = Path(envs.__file__).parent
    for path in sorted(root.rglob("*.py")):
        total.update(path.relative_to(root).as_posix().encode())
        total.update(sha256(path.read_bytes()).digest())
    return total.hexdigest()[:16]


def _read(path: Path) -> dict[bytes, bytes]:
    try:
        content = path.read_bytes() if _is_ours(path) else b""
    except OSError:
        return {}
    if sha256(content[_DIGEST:]).digest() != content[:_DIGEST]:
        return {}
    try:
        kept = marshal.loads(content[_DIGEST:])
    except (EOFError, TypeError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _is_ours(path: Path) -> bool:
    """Tell whether only this user can write a file; its content decides verdicts."""
    if not hasattr(os, "getuid"):
        return True
    return all(
        found.st_uid in (os.getuid(), 0) and not found.st_mode & (S_IWGRP | S_IWOTH)
        for found in (path.stat(), path.parent.stat())
    )


def _write(path: Path, kept: dict[bytes, bytes]) -> None:
    """Write the file atomically and remove the oldest files."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    content = marshal.dumps(kept)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(sha256(content).digest() + content)
        unfinished.chmod(0o600)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    files = sorted(path.parent.iterdir(), key=lambda file: file.stat().st_mtime, reverse=True)
    for old in files[_MAX_FILES:]:
        old.unlink()


def _serialize(outcomes: tuple[TurnOutcome, ...]) -> list[Any]:
    return [
        (
            [*map(_serialize_call, calls)],
            [*map(_serialize_result, results)],
            snapshot.compared(),
            acted,
        )
        for results, snapshot, acted, calls in outcomes
    ]


def _serialize_call(call: Call | MalformedCall) -> tuple[Any, ...] | None:
    """Return a call as a plain value; None for a call that is parsed from its text again."""
    if isinstance(call, MalformedCall) or call.nested:
        return None
    return call.name, call.args, dict(call.kwargs)


def _serialize_result(result: Result) -> tuple[Any, ...]:
    error = result.error and (result.error.message, dict(result.error.fields))
    held = None if error else result.held
    if isinstance(held, DeclinedResult):
        return dict(held), error, result.changed, result.text, held.kind
    return held, error, result.changed, result.text, None


def _restore(trajectory: Trajectory, kept: list[Any]) -> tuple[TurnOutcome, ...]:
    outcomes = []
    for turn, (calls, results, states, acted) in zip(trajectory.turns, kept, strict=True):
        texts = zip(calls, turn.ground_truth, strict=True)
        made = tuple([Call(*call) if call else read_truth(text) for call, text in texts])
        gave = tuple([_restore_result(*result) for result in results])
        outcomes.append(TurnOutcome(gave, Snapshot(states), acted, made))
    return tuple(outcomes)


def _restore_result(value: Any, error: Any, changed: bool, text: str, kind: str | None) -> Result:
    value = value if kind is None else DeclinedResult(kind, **value)
    return Result(value, error and ToolError(error[0], **error[1]), changed, text)
