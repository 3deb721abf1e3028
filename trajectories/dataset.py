"""Data sets: our embedded one, files in its format, and BFCL's; and parts of them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from envs.backend import AS_BFCL, OWN, Behaviour
from envs.lazy import lazily
from envs.long_context import Pack
from envs.session import Session
from trajectories import bfcl
from trajectories.errors import DataError, did_you_mean
from trajectories.jsonl import parse_object, read_objects
from trajectories.schema import Category, JudgedBy, LongContext, Trajectory

if TYPE_CHECKING:
    from trajectories import packs, validation
    from trajectories.offering import Offering
else:
    # It brings pydantic, which takes longer to load than BFCL's data, where it is not needed.
    validation = lazily(".validation", __package__)
    # Few data sets have material of our own.
    packs = lazily(".packs", __package__)

DATA = Path(__file__).with_name("data")
"""Where the data set is that comes with the package."""
EMBEDDED = "turnwise"
"""What it is called."""


@dataclass(repr=False)
class Dataset:
    """A loaded data set.

    Attributes:
        name: What the user asked for.
        version: Version of the data, as far as it says one.
        sha256: Hash of the content of the files read, in hex.
        trajectories: By id, in the order of the files.
        tolerant: Whether it is BFCL's: irregular initial configs are loaded as they are, and
            backends behave as there.
        folder: Where BFCL's data is, for its long-context material; None for ours.
        connect: Joins a session to the web services that its entry asks; None where none may be.
        offering: Which functions models are offered, by trajectory; None for all that there are.
    """

    name: str
    version: str
    sha256: str
    trajectories: dict[str, Trajectory]
    tolerant: bool = False
    folder: Path | None = None
    connect: Callable[[Session], None] | None = None
    offering: Mapping[str, Offering] | None = None
    _packs: dict[LongContext, Pack] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Return the data set in one line, whatever its size."""
        size = len(self.trajectories)
        return f"Dataset({self.name} {self.version}: {size} trajectories, {self.sha256[:12]})"

    def behaviour(self, *, keeps_all: bool = True) -> Behaviour:
        """Return where the backends of its sessions do as BFCL's do."""
        return AS_BFCL if self.tolerant else OWN._replace(keeps_all=keeps_all)

    def offering_of(self, trajectory: Trajectory) -> Offering | None:
        """Return which functions a trajectory's model is offered; None for all that it offers."""
        return self.offering.get(trajectory.id) if self.offering else None

    def config(self, trajectory: Trajectory) -> Mapping[str, Mapping[str, Any]]:
        """Return the initial config that a trajectory's session is loaded with, bulk and all."""
        bulk = trajectory.long_context
        if bulk is None or bulk.source != "generated":
            return trajectory.config
        try:
            return packs.widened(trajectory.environments, trajectory.config, bulk)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            # It is no config of these backends, as whoever loads it will be told.
            return trajectory.config

    def pack(self, trajectory: Trajectory) -> Pack | None:
        """Return the bulky material that a trajectory's session is loaded with, or None.

        None too where no backend of it shows what is generated besides its config.

        Raises:
            DataError: BFCL's material is wanted and not there.
        """
        wanted = trajectory.long_context
        if wanted is None:
            return None
        if wanted.source == "generated" and packs.SHOWN_BY.isdisjoint(trajectory.environments):
            return None
        if wanted not in self._packs:
            self._packs[wanted] = self._make_pack(wanted)
        return self._packs[wanted]

    def _make_pack(self, wanted: LongContext) -> Pack:
        if wanted.source == "generated":
            return packs.generate(wanted)
        if self.folder is None:
            raise DataError(self.name, "needs the long-context material of bfcl, which is not here")
        return bfcl.load_pack(self.folder)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Keep the garbage collector from looking through what is loaded, all of which stays.

    It would do so again and again, which takes half of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@_collector_paused()
def load_bfcl(
    folder: Path,
    categories: Sequence[Category],
    name: str = "bfcl",
    readers: Mapping[JudgedBy, bfcl.EntryReader] = MappingProxyType({}),
) -> Dataset:
    """Load those of the categories that BFCL has, from its data folder or our cache of it.

    ``readers`` are for entries that are not judged by their state or calls.

    Raises:
        DataError: The folder is not one, or an entry is not of the expected form.
    """
    if not (folder / bfcl.files(Category.BASE)[0]).is_file():
        raise DataError(
            str(folder),
            f"is no data folder of {bfcl.PACKAGE}: {bfcl.files(Category.BASE)[0]} is missing",
        )
    there = [category for category in categories if category in bfcl.CATEGORIES]
    trajectories = {t.id: t for category in there for t in bfcl.load(folder, category, readers)}
    read = [folder / file for category in there for file in bfcl.files(category)]
    manifest = folder / bfcl.MANIFEST_FILE
    version = "unknown"
    if manifest.is_file():
        known = parse_object(manifest.read_text(encoding="utf-8"), str(manifest))
        if not isinstance(known.get("version"), str):
            raise DataError(str(manifest), "names no version; delete the folder and fetch it anew")
        version = known["version"]
    return Dataset(name, version, _digest(read), trajectories, tolerant=True, folder=folder)


def load_embedded(categories: Sequence[Category]) -> Dataset:
    """Load categories of the data set that comes with the package."""
    found = [DATA / f"{category}.jsonl" for category in categories]
    return _load_files([path for path in found if path.is_file()], EMBEDDED, "3")


def load_path(path: Path, categories: Sequence[Category]) -> Dataset:
    """Load a trajectory file, or those of a folder, in our own format.

    A folder's are those named after categories, such as ``base.jsonl``, or, where it has none of
    them, all ``*.jsonl`` files.

    Raises:
        DataError: There is nothing to read, or a line is not a trajectory.
    """
    paths = _files_of(path) if path.is_dir() else [path]
    if not paths:
        raise DataError(str(path), "holds no *.jsonl file")
    dataset = _load_files(paths, str(path), "unknown")
    dataset.trajectories = {
        id: t for id, t in dataset.trajectories.items() if t.category in categories
    }
    return dataset


def _files_of(folder: Path) -> list[Path]:
    named = [folder / f"{category}.jsonl" for category in Category]
    return [path for path in named if path.is_file()] or sorted(folder.glob("*.jsonl"))


def _load_files(paths: Sequence[Path], name: str, version: str) -> Dataset:
    trajectories: dict[str, Trajectory] = {}
    for path in paths:
        for where, entry in read_objects(path):
            trajectory = read_trajectory(entry, where)
            if trajectory.id in trajectories:
                raise DataError(where, f"the id {trajectory.id!r} is used twice")
            trajectories[trajectory.id] = trajectory
    return Dataset(name, version, _digest(paths), trajectories)


def read_trajectory(entry: dict[str, Any], where: str) -> Trajectory:
    """Return the trajectory that a JSON object describes.

    Raises:
        DataError: It is not of the expected form.
    """
    return validation.validate(entry, where)


def _digest(paths: Iterable[Path]) -> str:
    total = sha256()
    for path in paths:
        total.update(sha256(path.read_bytes()).digest())
    return total.hexdigest()


Stratum = tuple[Category, tuple[str, ...]]
"""What trajectories of a sample have in common: category and backends."""


def by_ids(trajectories: Sequence[Trajectory], ids: Iterable[str]) -> list[Trajectory]:
    """Return the trajectories of some ids, in the order of the data set.

    Raises:
        DataError: There is none of an id.
    """
    wanted = set(ids)
    known = [trajectory.id for trajectory in trajectories]
    for id in sorted(wanted.difference(known)):
        raise DataError("--ids", f"no {id!r} here{did_you_mean(id, known)}")
    return [trajectory for trajectory in trajectories if trajectory.id in wanted]


def sample(trajectories: Sequence[Trajectory], size: int, seed: int) -> list[Trajectory]:
    """Return a sample in which every category and backend has its share.

    The same seed gives the same sample. If there are not more than wanted, all are taken.
    """
    if size >= len(trajectories):
        return list(trajectories)
    strata: dict[Stratum, list[int]] = {}
    for index, trajectory in enumerate(trajectories):
        strata.setdefault((trajectory.category, trajectory.environments), []).append(index)
    source = Random(seed)
    order = [index for members in strata.values() for index in source.sample(members, len(members))]
    # Entries at even distances in strata's order, from a random start: each has the same chance,
    # and no stratum is a whole entry off its share, however small it is.
    start = source.randrange(len(order))
    taken = {order[(start + turn * len(order)) // size % len(order)] for turn in range(size)}
    return [trajectories[index] for index in sorted(taken)]
