"""From what the user typed to data: models, categories, data sets, recorded runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from checkers.calls.documents import MissingGrammar
from checkers.profile import BFCL, PROFILES, STRICT, Mode, Profile
from envs.errors import ConfigProblem
from envs.lazy import lazily
from envs.registry import BACKENDS, check_config
from envs.session import Session
from runner import extension
from runner.data.cache import cache_folder, counted
from runner.records import result_file
from runner.records.run import Run
from trajectories import bfcl
from trajectories.dataset import Dataset, by_ids, load_bfcl, load_embedded, load_path, sample
from trajectories.errors import DataError, did_you_mean
from trajectories.schema import (
    EXECUTABLE,
    FACTS,
    MULTI_TURN,
    RETIRED,
    SINGLE_TURN,
    Category,
    JudgedBy,
    Split,
    Trajectory,
)

if TYPE_CHECKING:
    import logging

    from checkers.replies import code
    from runner.data import fetch, services
    from runner.data.services import Reach
    from trajectories import splits
else:
    # What Java takes, or a download, is loaded for one only; all the rest starts faster without.
    code = lazily("checkers.replies.code")
    fetch = lazily(".fetch", __package__)
    logging = lazily("logging")
    services = lazily("runner.data.services")
    splits = lazily("trajectories.splits")

Notify = Callable[[str], object]
"""Takes a line for the user."""


def _for_every_model(categories: Iterable[Category]) -> tuple[Category, ...]:
    return tuple([category for category in categories if not FACTS[category].in_text])


SUITES: Mapping[str, Sequence[Category]] = {
    "multi_turn": MULTI_TURN,
    "single_turn": SINGLE_TURN,
    "executable": _for_every_model(EXECUTABLE),
    "retired": RETIRED,
    "all": _for_every_model(Category),
}
"""Names that stand for several categories. What not every model can do is in none."""


def categories(names: str | None, dataset_name: str | None) -> list[Category]:
    """Return the categories that a comma-separated list names, by themselves or by their suite.

    Without a list these are all that a file holds, and the multi-turn ones of a data set. A suite
    of BFCL is what BFCL publishes, unless all of the suite is retired: what counts in no score
    is to be named.

    Raises:
        DataError: A name is not a category.
    """
    if names is None:
        published = dataset_name is None or is_bfcl(dataset_name)
        asked: list[Sequence[Category]] = [MULTI_TURN if published else tuple(Category)]
    else:
        asked = [_named(name.strip()) for name in names.split(",")]
    retired = {c for c in Category if is_bfcl(dataset_name) and FACTS[c].status == "retired"}
    wanted: set[Category] = set()
    for named in map(set, asked):
        wanted.update(named - retired or named)
    return [category for category in Category if category in wanted]


def _named(name: str) -> Sequence[Category]:
    if name in SUITES:
        return SUITES[name]
    if name not in list(Category):
        raise DataError("--category", _unknown(name, "a category", [*SUITES, *Category]))
    return [Category(name)]


def is_bfcl(dataset_name: str | None) -> bool:
    """Tell whether a name is that of BFCL's data."""
    return dataset_name is not None and dataset_name.partition(":")[0] == "bfcl"


def dataset_name(name: str | None, ids: Iterable[str]) -> str | None:
    """Return the name of the data set that entries are of: as given, else as their ids say.

    Args:
        name: What the user typed, or None.
        ids: Of the entries; those of BFCL's data are known by their form.
    """
    if name is None and any(map(result_file.category_of, ids)):
        return "bfcl"
    return name


def dataset(
    name: str | None,
    wanted: Sequence[Category],
    notify: Notify,
    reach: Reach | None = None,
) -> Dataset:
    """Load the data set of a name; BFCL's is downloaded when it is not in the cache.

    Args:
        name: What the user typed, or None for the embedded data set.
        wanted: Which categories to load.
        notify: Told when a download begins.
        reach: Which web services REST entries may ask; None for those that we bring along.

    Raises:
        DataError: There is no such data set, it cannot be read, or has nothing of what is wanted.
    """
    if name is None:
        loaded = load_embedded(wanted)
    elif is_bfcl(name):
        loaded = _bfcl(bfcl_folder(name, notify), wanted, name)
    elif name and Path(name).exists():
        loaded = load_path(Path(name), wanted)
    else:
        found = [each.dataset(name, wanted) for each in extension.extensions().values()]
        data = next((each for each in found if each), None)
        if data is None:
            known = f"{name!r} is neither bfcl, bfcl:FOLDER nor a file or folder"
            raise DataError("--dataset", known)
        loaded = data
    if not loaded.trajectories and len(wanted) == len(Category):
        raise DataError("--dataset", f"{loaded.name} holds no entry")
    if not loaded.trajectories:
        raise DataError("--category", f"{loaded.name} has nothing in {', '.join(wanted)}")
    return replace(loaded, connect=partial(_connect, reach=reach))


def _connect(session: Session, reach: Reach | None) -> None:
    if not session.backends.keys() <= BACKENDS.keys():
        services.connect(session, reach or services.FIXTURE_ONLY)


def _bfcl(folder: Path, wanted: Sequence[Category], name: str = "bfcl") -> Dataset:
    """Load BFCL's data, with the readers of extensions where the core has none."""
    if {FACTS[category].judged_by for category in wanted} <= {JudgedBy.STATE, JudgedBy.CALLS}:
        return load_bfcl(folder, wanted, name)
    return load_bfcl(folder, wanted, name, extension.bfcl_readers())


def dataset_named(name: str | None, wanted: str | None, notify: Notify) -> Dataset:
    """Load what a list of categories names of a data set, as ``dataset`` and ``categories`` do."""
    return dataset(name, categories(wanted, name), notify)


def load_dataset(
    name: str | Path | Dataset | None = None, *, categories: str | Sequence[str] | None = None
) -> Dataset:
    """Load a data set, for those who import us.

    >>> import turnwise
    >>> turnwise.load_dataset(categories="base")
    Dataset(turnwise 3: ... trajectories, ...)

    Args:
        name: A file or folder of trajectories, ``bfcl``, ``bfcl:FOLDER``, or None for the data set
            that comes with turnwise. One that is loaded is taken as it is.
        categories: Names of categories or suites, such as ``base`` or ``single_turn``; by default
            all that a file holds, and the multi-turn ones of a data set.

    Raises:
        DataError: There is nothing of such a name.
    """
    if isinstance(name, Dataset):
        return name
    if categories is not None and not isinstance(categories, str):
        categories = ",".join(categories)
    named = None if name is None else str(name)
    return dataset_named(named, categories, _warn)


def _warn(line: str) -> None:
    logging.getLogger(__name__).warning(line)


def profile_for(data: Dataset, name: str | None = None) -> Profile:
    """Return the profile of a name, or the one that suits the data: BFCL's its own, else strict.

    Raises:
        DataError: There is none of that name.
    """
    if name is not None and name not in PROFILES:
        raise DataError("profile", f"{name!r} is none of {', '.join(PROFILES)}")
    return PROFILES[name] if name else BFCL if data.folder else STRICT


def has_bfcl() -> bool:
    """Tell whether BFCL's data is in the cache."""
    return (cache_folder() / bfcl.MANIFEST_FILE).is_file()


def bfcl_folder(name: str, notify: Notify) -> Path:
    """Return the folder of BFCL's data, ``bfcl`` or ``bfcl:FOLDER``, fetching it if need be.

    Raises:
        DataError: The name is neither, or the data cannot be fetched.
    """
    if name.startswith("bfcl:"):
        return Path(name.removeprefix("bfcl:"))
    if name != "bfcl":
        raise DataError("--dataset", f"{name!r} is neither bfcl nor bfcl:FOLDER")
    folder = cache_folder()
    if has_bfcl():
        return folder
    notify(f"fetching {bfcl.PACKAGE} {bfcl.VERSION} into {folder}")
    return fetch.fetch()


def trajectories(data: Dataset, run: Run | None, split: str | None = None) -> list[Trajectory]:
    """Return the trajectories to run: all, or those that a recorded run is of; or a part of them.

    Args:
        data: What there is.
        run: The recorded run, or None.
        split: The name of the part, or None for all.

    Raises:
        DataError: The recorded run is of a trajectory that the data set does not have, or there is
            nothing in the part.
    """
    if split is not None:
        return splits.of_split(trajectories(data, run), Split(split))
    if run is None:
        return list(data.trajectories.values())
    for recorded in run.episodes.values():
        if recorded.id not in data.trajectories:
            message = _unknown(recorded.id, f"in {data.name}", data.trajectories)
            raise DataError(recorded.where, message)
    return [data.trajectories[id] for id in run.ids]


def part(
    everything: Sequence[Trajectory],
    ids: str | None,
    limit: int | None,
    size: int | None,
    seed: int,
) -> list[Trajectory]:
    """Return the part of the trajectories that the user wants.

    Args:
        everything: What there is.
        ids: Ids separated by commas, or None for all.
        limit: How many of them, from the first, or None for all.
        size: Size of a stratified sample, or None for no sampling.
        seed: Seed of the sample.

    Raises:
        DataError: There is none of an id.
    """
    chosen = list(everything)
    if ids is not None:
        chosen = by_ids(chosen, [id.strip() for id in ids.split(",")])
    if size is not None:
        chosen = sample(chosen, size, seed)
    return chosen[:limit]


def require_languages(trajectories: Iterable[Trajectory]) -> None:
    """Make sure, before any is judged, that the languages of all entries can be read.

    Raises:
        DataError: An entry is in Java or JavaScript, and the libraries for it are not installed.
    """
    for trajectory in trajectories:
        if trajectory.language != "python":
            try:
                return code.require()
            except MissingGrammar as error:
                raise DataError(trajectory.category, str(error)) from None
    return None


def require_nesting(trajectories: Iterable[Trajectory], profile: Profile, mode: Mode) -> None:
    """Make sure, before any is asked, that entries of calls in calls can be done.

    Raises:
        DataError: The profile knows no value of a call, or the model cannot write one in another.
    """
    for trajectory in trajectories:
        if FACTS[trajectory.category].in_text:
            if not profile.execution.checks_arguments:
                raise DataError(
                    trajectory.category, f"calls in calls have values under {STRICT.name} only"
                )
            if mode != "prompt":
                raise DataError(
                    trajectory.category,
                    "calls in calls are written in text: use --mode prompt, no --protocol",
                )


def trajectory(data: Dataset, id: str) -> Trajectory:
    """Return one trajectory.

    Raises:
        DataError: There is none of that id.
    """
    if id not in data.trajectories:
        raise DataError("ID", _unknown(id, f"in {data.name}", data.trajectories))
    return data.trajectories[id]


def known_datasets() -> list[list[str]]:
    """Return name, version, size, place and standing of every data set."""
    embedded, known = load_embedded(list(Category)), extension.extensions().values()
    folder = cache_folder()
    here = (folder / bfcl.MANIFEST_FILE).is_file()
    size = str(len(_bfcl(folder, list(Category)).trajectories)) if here else "-"
    where = str(folder) if here else "not fetched; turnwise dataset fetch bfcl"
    return [
        [
            embedded.name,
            embedded.version,
            str(len(embedded.trajectories)),
            "comes with turnwise",
            next(filter(None, (each.reviews(embedded) for each in known)), "-"),
        ],
        ["bfcl", bfcl.VERSION, size, where, "-"],
    ]


def contents(data: Dataset) -> list[list[str]]:
    """Return a heading and, per category, how many trajectories, turns and calls there are."""
    rows = [["category", "trajectories", "turns", "ground-truth calls"]]
    for category in Category:
        found = [t for t in data.trajectories.values() if t.category is category]
        turns = sum(len(t.turns) for t in found)
        calls = sum(t.known_calls for t in found)
        if found:
            rows.append([category, str(len(found)), str(turns), str(calls)])
    return rows


def irregularities(data: Dataset) -> list[tuple[str, ConfigProblem]]:
    """Return what a strict load would say of the initial configs, with the trajectory's id."""
    return [
        (id, problem)
        for id, t in data.trajectories.items()
        for problem in check_config(t.environments, t.config)
    ]


def number_of_irregularities(data: Dataset) -> tuple[int, int]:
    """Return how many irregularities a data set's initial configs have, and in how many they are.

    They are looked for once: to check configs takes longer than all else before a run begins.
    """

    def count() -> tuple[int, int]:
        found = irregularities(data)
        return len(found), len({id for id, _ in found})

    problems, configs = counted(data, count)
    return problems, configs


def _unknown(name: str, what: str, known: Iterable[str]) -> str:
    names = list(known)
    there_are = f": {', '.join(names)}" if len(names) < 10 else ""
    return f"{name!r} is not {what}{did_you_mean(name, names) or there_are}"
