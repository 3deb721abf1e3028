"""Where we keep what we could fetch or work out again, and in it what ground truth leads to.

That is worked out once, and not once for every model. A trajectory's outcomes are found under
a hash of all that they follow from: its config, its calls, the long-context material, how arguments
are checked, and the sources of the simulator. Whatever cannot be read, is damaged or cannot be
written is worked out again, without a word. The form is marshal, as in Python's own byte-code
files, behind a hash of the content.
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
from envs.lazy import lazily
from envs.results import Declined, Result
from envs.session import Session
from envs.state import Snapshot
from trajectories import bfcl
from trajectories.dataset import Dataset
from trajectories.prepare import truth_outcomes
from trajectories.scene import read_truth
from trajectories.schema import LongContext, Trajectory

if TYPE_CHECKING:
    import pydantic
else:
    pydantic = lazily("pydantic")

_FORMAT = 2
_DIGEST = 32
_COUNTS = b"counts"
_KEEP = 12
"""How many files are kept: there is one for each choice of data and version of the simulator."""


def cache_folder() -> Path:
    """Return where BFCL's data of the pinned version is kept, whether or not it is there."""
    return cache_root() / f"{bfcl.PACKAGE}-{bfcl.VERSION}"


def replies_folder() -> Path:
    """Return where answers of models are kept for runs that are repeated."""
    return cache_root() / "replies"


def embeddings_folder() -> Path:
    """Return where the vectors of texts are kept that a server gave."""
    return cache_root() / "embeddings"


def cache_root() -> Path:
    """Return our folder; ``TURNWISE_CACHE`` names another than that in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("TURNWISE_CACHE") or Path(base) / "turnwise")


class TruthCache:
    """The outcomes of one data set's ground truth by key, as far as they have been asked for."""

    def __init__(self, dataset: Dataset, profile: Profile, kept: dict[bytes, bytes]) -> None:
        self._dataset = dataset
        self._profile = profile
        self._packs: dict[LongContext | None, bytes] = {}
        self.kept = kept
        self.grown = False

    def outcomes(self, trajectory: Trajectory, template: Session) -> tuple[TurnOutcome, ...]:
        """Return what the ground truth leads to; a kept snapshot has the compared fields only.

        Args:
            trajectory: Whose ground truth.
            template: Its session in the initial state, for when nothing is kept.
        """
        package = f"{envs.__name__}."
        ours = all(type(b).__module__.startswith(package) for b in template.backends.values())
        if not ours:
            # A backend of elsewhere, or a web service, may have changed; our sources do not tell.
            return truth_outcomes(trajectory, template)
        key = self._key(trajectory, template)
        if key in self.kept:
            return _restored(trajectory, marshal.loads(self.kept[key]))
        outcomes = truth_outcomes(trajectory, template)
        # What marshal cannot express is not kept.
        with suppress(ValueError):
            self.kept[key] = marshal.dumps(_plain(outcomes))
            self.grown = True
        return outcomes

    def _key(self, trajectory: Trajectory, template: Session) -> bytes:
        follows_from: Any = (
            trajectory.environments,
            trajectory.config,
            # How bulk is made is no part of the simulator, so what it made counts.
            template.snapshot().compared() if trajectory.long_context else None,
            [turn.ground_truth for turn in trajectory.turns],
            self._dataset.tolerant,
            self._profile.execution.checks_arguments,
            self._profile.execution.keeps_all,
            self._pack(trajectory),
        )
        # In version 2 equal values are always written alike.
        return sha256(marshal.dumps(follows_from, 2)).digest()

    def _pack(self, trajectory: Trajectory) -> bytes:
        wanted = trajectory.long_context
        if wanted not in self._packs:
            pack = repr(self._dataset.pack(trajectory))
            self._packs[wanted] = sha256(pack.encode("utf-8", "surrogatepass")).digest()
        return self._packs[wanted]


@contextmanager
def truth_cache(dataset: Dataset, profile: Profile) -> Iterator[TruthCache]:
    """Open the cache of a data set, and write it anew afterwards where it has grown."""
    folder = cache_folder().parent / "truth"
    path = folder / f"{_simulator(profile.execution.checks_arguments)}-{dataset.sha256[:16]}"
    cached = TruthCache(dataset, profile, _read(path))
    yield cached
    if cached.grown:
        with suppress(OSError):
            _write(path, cached.kept)


def counted(dataset: Dataset, count: Callable[[], Sequence[int]]) -> Sequence[int]:
    """Return what counting something in the configs of a data set gives; counted once."""
    folder = cache_folder().parent / "counts"
    path = folder / f"{_simulator(checks_arguments=False)}-{dataset.sha256[:16]}"
    kept = _read(path)
    if _COUNTS not in kept:
        kept = {_COUNTS: marshal.dumps([*count()])}
        with suppress(OSError):
            _write(path, kept)
    found: Sequence[int] = marshal.loads(kept[_COUNTS])
    return found


@cache
def _simulator(checks_arguments: bool) -> str:
    """Return a hash of what the outcomes depend on besides the data."""
    total = sha256(f"{_FORMAT} {marshal.version} {sys.version}".encode())
    if checks_arguments:
        # Whose messages refusals quote; a run that checks arguments loads it anyway.
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
    """Tell whether nobody else can write a file: whoever can decides what is right."""
    if not hasattr(os, "getuid"):
        return True
    return all(
        found.st_uid in (os.getuid(), 0) and not found.st_mode & (S_IWGRP | S_IWOTH)
        for found in (path.stat(), path.parent.stat())
    )


def _write(path: Path, kept: dict[bytes, bytes]) -> None:
    """Write the file in one step, and remove the oldest ones."""
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
    for old in files[_KEEP:]:
        old.unlink()


def _plain(outcomes: tuple[TurnOutcome, ...]) -> list[Any]:
    return [
        (
            [*map(_plain_call, calls)],
            [*map(_plain_result, results)],
            snapshot.compared(),
            acted,
        )
        for results, snapshot, acted, calls in outcomes
    ]


def _plain_call(call: Call | MalformedCall) -> tuple[Any, ...] | None:
    """Return a call as a plain value; None where it is read anew from its text."""
    if isinstance(call, MalformedCall) or call.nested:
        return None
    return call.name, call.args, dict(call.kwargs)


def _plain_result(result: Result) -> tuple[Any, ...]:
    error = result.error and (result.error.message, dict(result.error.fields))
    held = None if error else result.held
    if isinstance(held, Declined):
        return dict(held), error, result.changed, result.text, held.kind
    return held, error, result.changed, result.text, None


def _restored(trajectory: Trajectory, kept: list[Any]) -> tuple[TurnOutcome, ...]:
    outcomes = []
    for turn, (made, gave, states, acted) in zip(trajectory.turns, kept, strict=True):
        read = zip(made, turn.ground_truth, strict=True)
        calls = tuple([Call(*call) if call else read_truth(text) for call, text in read])
        results = tuple([_restored_result(*result) for result in gave])
        outcomes.append(TurnOutcome(results, Snapshot(states), acted, calls))
    return tuple(outcomes)


def _restored_result(value: Any, error: Any, changed: bool, text: str, kind: str | None) -> Result:
    value = value if kind is None else Declined(kind, **value)
    return Result(value, error and ToolError(error[0], **error[1]), changed, text)
