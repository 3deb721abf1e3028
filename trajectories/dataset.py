"""Loading of data sets and selection of entries."""

from __future__ import annotations

import gc
import marshal
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from envs.backend import AS_BFCL, OWN, BfclDeviations
from envs.errors import DataError, require_type, suggest_name
from envs.lazy_modules import lazy_module
from envs.session import Session
from trajectories.jsonl import RepeatedMember, parse_object, read_objects, read_text
from trajectories.schema import Category, JudgingMethod, LongContextSettings, Trajectory

if TYPE_CHECKING:
    import random

    from envs.long_context import LongContextPack
    from trajectories import bfcl_reader, long_context_generator, record_validation
    from trajectories.offered_functions import OfferedFunctions
else:
    # Only samples need it.
    random = lazy_module("random")
    # Imports pydantic, which is slow to load and not needed for BFCL's data.
    record_validation = lazy_module(".record_validation", __package__)
    # Most data sets are not BFCL's, and few have generated material.
    bfcl_reader = lazy_module(".bfcl_reader", __package__)
    long_context_generator = lazy_module(".long_context_generator", __package__)

DATA = Path(__file__).with_name("data")
EMBEDDED = "turnwise"


@dataclass(eq=False, repr=False)
class Dataset:
    """A loaded data set."""

    name: str
    """Name or path, as given by the user."""
    version: str
    """Version of the data, or ``unknown``."""
    sha256: str
    """Hash of the files that were read, in hex."""
    trajectories: Mapping[str, Trajectory]
    """Maps ids to trajectories, in the order of the files."""
    tolerant: bool = False
    """True for BFCL's data: irregular initial configs are allowed, and backends behave like BFCL's.
    """
    folder: Path | None = None
    """Folder of BFCL's data, for its long-context material."""
    connect: Callable[[Session], None] | None = None
    """Function that connects a session to the web services of the entry, if allowed."""
    offering: Mapping[str, OfferedFunctions] | None = None
    """Maps trajectories to their offered functions; None stands for all functions."""
    session: type[Session] = Session
    """Class of the sessions."""
    truths: dict[str, bool] = field(default_factory=dict)
    """Maps ids to true if all ground-truth calls succeed. BFCL's entries are not recorded."""
    _newest_pack: tuple[LongContextSettings, LongContextPack] | None = None

    def __repr__(self) -> str:
        """Return the data set in one line."""
        size = len(self.trajectories)
        return f"Dataset({self.name} {self.version}: {size} trajectories, {self.sha256[:12]})"

    @property
    def profile(self) -> str:
        """Name of the default profile for the data."""
        return "bfcl" if self.folder else "strict"

    def behaviour(self, *, keeps_all: bool = True) -> BfclDeviations:
        """Return the differences between the data set's backends and BFCL's backends."""
        return AS_BFCL if self.tolerant else OWN._replace(keeps_all=keeps_all)

    def offering_of(self, trajectory: Trajectory) -> OfferedFunctions | None:
        """Return the functions that are offered in a trajectory; None stands for all functions."""
        return self.offering.get(trajectory.id) if self.offering else None

    def config(self, trajectory: Trajectory) -> Mapping[str, Mapping[str, Any]]:
        """Return the initial config of a trajectory's session, including generated items."""
        require_type("trajectory", trajectory, Trajectory, described="a Trajectory")
        bulk = trajectory.long_context
        if bulk is None or bulk.source != "generated":
            return trajectory.config
        try:
            return long_context_generator.widen_config(
                trajectory.environments, trajectory.config, bulk
            )
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            # The config does not fit the backends; loading it reports the error.
            return trajectory.config

    def pack(self, trajectory: Trajectory) -> LongContextPack | None:
        """Return the long-context material that is not in the trajectory's config, or None.

        Raises DataError if BFCL's material is needed and missing.
        """
        require_type("trajectory", trajectory, Trajectory, described="a Trajectory")
        wanted = trajectory.long_context
        if wanted is None:
            return None
        if wanted.source == "generated" and long_context_generator.SHOWN_BY.isdisjoint(
            trajectory.environments
        ):
            return None
        # Nearly all entries have different settings, so only the newest pack is kept.
        newest = self._newest_pack
        if newest is None or newest[0] != wanted:
            newest = self._newest_pack = wanted, self._make_pack(wanted)
        return newest[1]

    def _make_pack(self, wanted: LongContextSettings) -> LongContextPack:
        if wanted.source == "generated":
            return long_context_generator.generate_pack(wanted)
        if self.folder is None:
            raise DataError(
                self.name, "needs BFCL's long-context material; run turnwise dataset fetch bfcl"
            )
        return bfcl_reader.load_pack(self.folder)


@contextmanager
def pause_collector() -> Iterator[None]:
    """Pause the garbage collector, which would double the loading time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@pause_collector()
def load_bfcl(
    folder: Path,
    categories: Sequence[Category],
    name: str = "bfcl",
    readers: Mapping[JudgingMethod, bfcl_reader.EntryReader] = MappingProxyType({}),
    ids: Collection[str] | None = None,
) -> Dataset:
    """Load BFCL's categories from its data folder or the cache; skip categories that BFCL lacks.

    ``readers`` maps additional judging methods to functions that read entries. Entries that
    are not in ``ids`` may be skipped.

    Raises DataError if the folder is not a data folder, or if an entry has an unknown structure.
    """
    if not (folder / bfcl_reader.list_data_files(Category.BASE)[0]).is_file():
        raise DataError(
            str(folder),
            f"is not a data folder of {bfcl_reader.PACKAGE}: "
            f"{bfcl_reader.list_data_files(Category.BASE)[0]} is missing",
        )
    there = [category for category in categories if category in bfcl_reader.CATEGORIES]
    configs = RepeatedMember("initial_config", "path")
    load = partial(bfcl_reader.load, folder, readers=readers, ids=ids, configs=configs)
    trajectories = {t.id: t for category in there for t in load(category)}
    read = [folder / file for category in there for file in bfcl_reader.list_data_files(category)]
    manifest = folder / bfcl_reader.MANIFEST_FILE
    version = "unknown"
    if manifest.is_file():
        known = parse_object(read_text(manifest), str(manifest))
        if not isinstance(known.get("version"), str):
            raise DataError(str(manifest), "the version is missing; delete and refetch the folder")
        version = known["version"]
    return Dataset(name, version, _hash_files(read), trajectories, tolerant=True, folder=folder)


def load_embedded(categories: Sequence[Category]) -> Dataset:
    """Load categories of the built-in data set."""
    paths = [path for each in categories if (path := DATA / f"{each}.jsonl").is_file()]
    return Dataset(EMBEDDED, "3", _hash_files(paths), _BuiltInEntries(paths))


class _BuiltInEntries(Mapping[str, Trajectory]):
    def __init__(self, paths: Iterable[Path]) -> None:
        self._entries: dict[str, Trajectory | tuple[str, str]] = {}
        self._shared: dict[bytes, Any] = {}
        for path in paths:
            for number, line in enumerate(read_text(path).removesuffix("\n").split("\n"), start=1):
                self._entries[line.split('"', 4)[3]] = f"{path}:{number}", line

    def __getitem__(self, id: str) -> Trajectory:
        entry = self._entries[id]
        if isinstance(entry, tuple):
            where, line = entry
            # This parser makes equal short strings one object.
            value = record_validation.from_json(line)
            entry = read_trajectory(value, where)
            turns = tuple(map(self._share, value["turns"], entry.turns))
            config = self._share(value["config"], entry.config)
            self._entries[id] = entry = replace(entry, turns=turns, config=config)
        return entry

    def _share(self, value: Any, made: Any) -> Any:
        return self._shared.setdefault(sha256(marshal.dumps(value, 2)).digest(), made)

    def __contains__(self, id: object) -> bool:
        return id in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def load_path(path: Path, categories: Sequence[Category]) -> Dataset:
    """Load a trajectory file or a folder of trajectory files.

    In a folder, only files with the name of a category are read, such as ``base.jsonl``. In a
    folder without such files, all ``*.jsonl`` files are read.

    Raises DataError if no file is found, or if a line is not a trajectory.
    """
    paths = _list_files(path) if path.is_dir() else [path]
    if not paths:
        raise DataError(str(path), "has no *.jsonl file")
    trajectories: dict[str, Trajectory] = {}
    total = sha256()
    for file in paths:
        # Read once, because a second reading of a pipe gives nothing.
        text = read_text(file)
        total.update(sha256(text.encode()).digest())
        for where, entry in read_objects(file, text=text):
            trajectory = read_trajectory(entry, where)
            if trajectory.id in trajectories:
                raise DataError(where, f"the id {trajectory.id!r} is used twice")
            trajectories[trajectory.id] = trajectory
    selected = {id: t for id, t in trajectories.items() if t.category in categories}
    return Dataset(str(path), "unknown", total.hexdigest(), selected)


def _list_files(folder: Path) -> list[Path]:
    named = [folder / f"{category}.jsonl" for category in Category]
    return [path for path in named if path.is_file()] or sorted(folder.glob("*.jsonl"))


def read_trajectory(entry: dict[str, Any], where: str) -> Trajectory:
    """Return the trajectory of a JSON object.

    Raises DataError if a field is missing, unknown or of the wrong type.
    """
    return record_validation.validate(entry, where)


def _hash_files(paths: Iterable[Path]) -> str:
    total = sha256()
    for path in paths:
        total.update(sha256(path.read_bytes()).digest())
    return total.hexdigest()


Stratum = tuple[Category, tuple[str, ...]]
"""Category and backends of an entry, for stratified samples."""


def select_by_ids(trajectories: Sequence[Trajectory], ids: Iterable[str]) -> list[Trajectory]:
    """Return the trajectories with these ids, in the order of the data set.

    Raises DataError if an id is unknown.
    """
    wanted = set(ids)
    known = [trajectory.id for trajectory in trajectories]
    for id in sorted(wanted.difference(known)):
        near = suggest_name(id, known) or "; turnwise dataset list shows the ids"
        raise DataError("--ids", f"unknown id {id!r}{near}")
    return [trajectory for trajectory in trajectories if trajectory.id in wanted]


def draw_sample(trajectories: Sequence[Trajectory], size: int, seed: int) -> list[Trajectory]:
    """Return a sample stratified by category and backends; equal seeds give equal samples."""
    if size >= len(trajectories):
        return list(trajectories)
    strata: dict[Stratum, list[int]] = {}
    for index, trajectory in enumerate(trajectories):
        strata.setdefault((trajectory.category, trajectory.environments), []).append(index)
    source = random.Random(seed)
    order = [index for members in strata.values() for index in source.sample(members, len(members))]
    # Systematic sampling in the order of strata: every entry has the same chance, and every
    # stratum gets its share to within one entry.
    start = source.randrange(len(order))
    taken = {order[(start + turn * len(order)) // size % len(order)] for turn in range(size)}
    return [trajectories[index] for index in sorted(taken)]
