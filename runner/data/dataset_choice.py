"""Selection of data sets and entries by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from checkers.calls.call_entry import Language, UnjudgeableEntry, read_expected_type
from checkers.profile import PROFILES, STRICT, Mode, Profile
from envs.errors import ConfigProblem, DataError, require_type, suggest_name
from envs.lazy_modules import lazy_module
from envs.registry import BACKENDS, check_config
from envs.session import Session
from runner import extension
from runner.records import bfcl_result_file
from runner.records.recorded_run import Run
from trajectories.dataset import (
    Dataset,
    draw_sample,
    load_bfcl,
    load_embedded,
    load_path,
    select_by_ids,
)
from trajectories.schema import (
    EXECUTABLE,
    FACTS,
    MULTI_TURN,
    RETIRED,
    SINGLE_TURN,
    Category,
    JudgingMethod,
    Subset,
    Trajectory,
)

if TYPE_CHECKING:
    import logging

    from checkers.replies import code
    from runner.data import api_parameters, bfcl_download, cache, web_services
    from runner.data.web_services import AllowedServices
    from trajectories import bfcl_reader, subsets
else:
    # Only needed for Java entries, BFCL's data, web services and the public API.
    code = lazy_module("checkers.replies.code")
    bfcl_download = lazy_module(".bfcl_download", __package__)
    bfcl_reader = lazy_module("trajectories.bfcl_reader")
    cache = lazy_module(".cache", __package__)
    logging = lazy_module("logging")
    api_parameters = lazy_module(".api_parameters", __package__)
    web_services = lazy_module("runner.data.web_services")
    subsets = lazy_module("trajectories.subsets")

Notify = Callable[[str], object]

_OFFLINE = frozenset(BACKENDS)


SUITES: Mapping[str, Sequence[Category]] = {
    "multi_turn": MULTI_TURN,
    "single_turn": SINGLE_TURN,
    "executable": EXECUTABLE,
    "retired": RETIRED,
    "all": tuple(Category),
}


def parse_categories(names: str | None, dataset_name: str | None) -> list[Category]:
    """Return the categories in a comma-separated list of categories and suites.

    If ``names`` is None, return the default categories of the data set. BFCL's retired categories
    are returned only if the user selects a retired category, or a suite of retired categories.

    Raises DataError if a name is not a category.
    """
    if names is None:
        is_published = dataset_name is None or is_bfcl(dataset_name)
        groups: list[Sequence[Category]] = [MULTI_TURN if is_published else tuple(Category)]
    else:
        groups = [_find_categories(name.strip()) for name in names.split(",")]
    retired = {c for c in Category if is_bfcl(dataset_name) and FACTS[c].status == "retired"}
    wanted: set[Category] = set()
    for group in map(set, groups):
        wanted.update(group - retired or group)
    return [category for category in Category if category in wanted]


def _find_categories(name: str) -> Sequence[Category]:
    if name in SUITES:
        return SUITES[name]
    if name not in list(Category):
        raise DataError("--category", _unknown(name, "a category", [*SUITES, *Category]))
    return [Category(name)]


def is_bfcl(dataset_name: str | None) -> bool:
    """Tell whether a name is ``bfcl`` or ``bfcl:FOLDER``."""
    return dataset_name is not None and dataset_name.partition(":")[0] == "bfcl"


def guess_dataset_name(name: str | None, ids: Iterable[str]) -> str | None:
    """Return the given name of a data set, or ``bfcl`` if the ids have BFCL's form."""
    if name is None and any(map(bfcl_result_file.category_of, ids)):
        return "bfcl"
    return name


def open_dataset(
    name: str | None,
    wanted: Sequence[Category],
    notify: Notify,
    reach: AllowedServices | None = None,
    ids: Collection[str] | None = None,
) -> Dataset:
    """Load a data set by name; download BFCL's data set unless it is cached.

    Args:
        name: Name, file or folder; None for the built-in data set.
        wanted: Categories to load.
        notify: Called when a download starts.
        reach: Web services that REST entries can call; None for the fixture only.
        ids: Ids of the entries that are needed (default: all); others may be missing.

    Raises:
        DataError: The data set does not exist, cannot be read, or has no entry of the categories.
    """
    if name is None:
        loaded = load_embedded(wanted)
    elif is_bfcl(name):
        loaded = _load_bfcl(find_bfcl_folder(name, notify), wanted, name, ids)
    elif os.path.exists(name):
        loaded = load_path(Path(name), wanted)
    else:
        found = [each.dataset(name, wanted) for each in extension.load_extensions().values()]
        if not any(found):
            known = "must be `bfcl`, `bfcl:FOLDER`, or an existing path (default: built-in data)"
            raise DataError("--dataset", f"{name!r} {known}")
        loaded = next(filter(None, found))
    if not loaded.trajectories and len(wanted) == len(Category):
        raise DataError("--dataset", f"{loaded.name} has no entries")
    if not loaded.trajectories:
        raise DataError("--category", f"{loaded.name} has no entries in {', '.join(wanted)}")
    return replace(loaded, connect=partial(_connect, reach=reach))


def _connect(session: Session, reach: AllowedServices | None) -> None:
    if not _OFFLINE.issuperset(session.backends):
        web_services.connect(session, reach or web_services.FIXTURE_ONLY)


def _load_bfcl(
    folder: Path, wanted: Sequence[Category], name: str = "bfcl", ids: Collection[str] | None = None
) -> Dataset:
    if {FACTS[category].judged_by for category in wanted} <= {
        JudgingMethod.STATE,
        JudgingMethod.CALLS,
    }:
        found = load_bfcl(folder, wanted, name, ids=ids)
        # If an id is missing, the error names similar ids of the whole data set.
        complete = ids is None or all(id in found.trajectories for id in ids)
        return found if complete else load_bfcl(folder, wanted, name)
    return load_bfcl(folder, wanted, name, extension.bfcl_readers())


def load_named(name: str | None, wanted: str | None, notify: Notify) -> Dataset:
    """Load a data set by name and comma-separated categories."""
    return open_dataset(name, parse_categories(wanted, name), notify)


def load_dataset(
    name: str | Path | Dataset | None = None, *, categories: str | Sequence[str] | None = None
) -> Dataset:
    """Load a data set (public API).

    >>> import turnwise
    >>> turnwise.load_dataset(categories="base")
    Dataset(turnwise 3: ... trajectories, ...)

    Raises DataError if the data set or a category does not exist.

    Args:
        name: A file or folder of entries, ``bfcl``, ``bfcl:FOLDER``, None for the built-in data
            set, or a loaded data set.
        categories: Names of categories or suites, such as ``base`` or ``single_turn`` (default: all
            categories of a file, the multi-turn categories of another data set).
    """
    described = "the name or path of a data set, or a Dataset"
    require_type("dataset", name, None, str, Path, Dataset, described=described)
    api_parameters.require_names("categories", categories)
    if isinstance(name, Dataset):
        if categories is not None:
            raise DataError("categories", "is for a name or path; a Dataset has its own entries")
        return name
    if categories is not None and not isinstance(categories, str):
        categories = ",".join(categories)
    with api_parameters.name_parameters():
        return load_named(None if name is None else str(name), categories, _warn)


def _warn(line: str) -> None:
    logging.getLogger(__name__).warning(line)


def choose_profile(data: Dataset, name: str | None = None) -> Profile:
    """Return the profile of this name, or the default profile for the data.

    Raises DataError if the name is unknown.
    """
    if name is not None and name not in PROFILES:
        raise DataError("profile", f"{name!r} is not one of {', '.join(PROFILES)}")
    return PROFILES[name or data.profile]


def has_bfcl() -> bool:
    """Tell whether BFCL's data is in the cache."""
    return (cache.cache_folder() / bfcl_reader.MANIFEST_FILE).is_file()


def find_bfcl_folder(name: str, notify: Notify) -> Path:
    """Return the data folder of ``bfcl`` or ``bfcl:FOLDER``; download the data if necessary.

    Raises DataError if the name is unknown, or if the data cannot be downloaded.
    """
    if name.startswith("bfcl:"):
        return Path(name.removeprefix("bfcl:"))
    if name != "bfcl":
        raise DataError("--dataset", f"{name!r} must be `bfcl` or `bfcl:FOLDER`")
    folder = cache.cache_folder()
    if has_bfcl():
        return folder
    notify(f"downloading {bfcl_reader.PACKAGE} {bfcl_reader.VERSION} into {folder}")
    return bfcl_download.fetch()


def filter_by_tag(entries: Sequence[Trajectory], tag: str | None) -> list[Trajectory]:
    """Return the entries with a tag, or all entries. Raises DataError if no entry has the tag."""
    found = [entry for entry in entries if tag is None or tag in entry.tags]
    if not found and tag is not None:
        known = {each for entry in entries for each in entry.tags}
        raise DataError("--tag", f"no entry has the tag {tag!r:.80}{suggest_name(tag, known)}")
    return found


def list_entries(
    data: Dataset, run: Run | None, subset: str | None = None, tag: str | None = None
) -> list[Trajectory]:
    """Return the entries of a data set: all entries, or the entries of a run, subset or tag.

    Raises DataError if the data set lacks an entry of the run, or if no entry is left.
    """
    if tag is not None:
        return filter_by_tag(list_entries(data, run, subset), tag)
    if subset is not None:
        return subsets.entries_of_subset(list_entries(data, run), Subset(subset))
    if run is None:
        return list(data.trajectories.values())
    for recorded in run.episodes.values():
        if recorded.id not in data.trajectories:
            message = _unknown(recorded.id, f"in {data.name}", data.trajectories)
            raise DataError(recorded.where, message)
    return [data.trajectories[id] for id in run.ids]


def select_entries(
    everything: Sequence[Trajectory],
    ids: str | None,
    limit: int | None,
    size: int | None = None,
    seed: int = 0,
) -> list[Trajectory]:
    """Select entries by id, then by stratified sample, then by limit.

    Args:
        ids: Ids separated by commas; None for all entries.
        limit: Maximum number of entries, or None.
        size: Size of a stratified sample, or None.

    Raises:
        DataError: An id does not exist.
    """
    chosen = list(everything)
    if ids is not None:
        chosen = select_by_ids(chosen, [id.strip() for id in ids.split(",")])
    if size is not None:
        chosen = draw_sample(chosen, size, seed)
    return chosen[:limit]


def require_languages(trajectories: Iterable[Trajectory]) -> None:
    """Check that the languages of all entries can be parsed.

    Raises DataError if an entry is in Java or JavaScript and the libraries are missing.
    """
    if any(trajectory.language != "python" for trajectory in trajectories):
        code.require()


def report_untyped(
    dataset: Dataset, trajectories: Iterable[Trajectory], notify: Notify = _warn
) -> None:
    """Report untyped parameters in expected calls.

    Raises DataError if a type is unknown, except in BFCL's data. Call this before any request.
    """
    untyped = []
    for entry in trajectories:
        named = (
            {name for answer in entry.expects.answers for name in answer} if entry.expects else ()
        )
        for document in entry.documents or ():
            if document["name"] not in named:
                continue
            for name, schema in document["parameters"]["properties"].items():
                where = f"{entry.id}: parameter {name} of {document['name']}"
                if "type" not in schema and entry.language == Language.PYTHON:
                    untyped.append(where)
                    continue
                try:
                    read_expected_type(schema, Language(entry.language))
                except UnjudgeableEntry as error:
                    if not dataset.tolerant:
                        raise DataError(where, str(error)) from None
    if untyped:
        more = f" and {len(untyped) - 1} more" if untyped[1:] else ""
        notify(f"{untyped[0]}{more}: no type is given; it is inferred from the accepted values")


def leave_out_nesting(
    trajectories: Sequence[Trajectory],
    names: str | None,
    profile: Profile,
    mode: Mode,
    notify: Notify,
) -> list[Trajectory]:
    """Omit entries with nested calls unless both the profile and the mode support nested calls.

    Raises DataError if the user selected a category with nested calls, or if no entry remains.
    """
    nested = [each for each in trajectories if FACTS[each.category].in_text]
    missing = None
    if not profile.execution.checks_arguments:
        missing = f"nested calls need --profile {STRICT.name}"
    elif mode != "prompt":
        missing = "nested calls need --mode prompt; omit --calling-format"
    if not nested or missing is None:
        return [*trajectories]
    category = nested[0].category
    if len(nested) == len(trajectories) or category in (names or "").split(","):
        raise DataError(category, missing)
    notify(f"{len(nested)} entries of {category} are left out: {missing}")
    return [each for each in trajectories if not FACTS[each.category].in_text]


def get_entry(data: Dataset, id: str) -> Trajectory:
    """Return one entry. Raises DataError if the id does not exist."""
    if id not in data.trajectories:
        raise DataError("ID", _unknown(id, f"in {data.name}", data.trajectories))
    return data.trajectories[id]


def list_datasets() -> list[list[str]]:
    """Return name, version, size, folder and review status of every data set."""
    embedded, known = load_embedded(list(Category)), extension.load_extensions().values()
    reviews = next(filter(None, (each.reviews(embedded) for each in known)), "-")
    folder, size = cache.cache_folder(), "-"
    where = "missing; run turnwise dataset fetch bfcl"
    if has_bfcl():
        where, size = str(folder), str(len(_load_bfcl(folder, list(Category)).trajectories))
    count = str(len(embedded.trajectories))
    return [
        [embedded.name, embedded.version, count, "built-in", reviews],
        ["bfcl", bfcl_reader.VERSION, size, where, "-"],
    ]


def find_irregularities(data: Dataset) -> list[tuple[str, ConfigProblem]]:
    """Check all initial configs strictly; return each error with the id of its entry."""
    return [
        (id, problem)
        for id, t in data.trajectories.items()
        for problem in check_config(t.environments, t.config)
    ]


def count_irregularities(data: Dataset) -> tuple[int, int]:
    """Count the config errors and the faulty configs of a data set. The counts are cached."""

    def count() -> tuple[int, int]:
        found = find_irregularities(data)
        return len(found), len({id for id, _ in found})

    return cache.cached_counts(data, count)


def _unknown(name: str, what: str, known: Iterable[str]) -> str:
    names = list(known)
    choices = f"; choose from {', '.join(names)}" if len(names) < 10 else ""
    return f"{name!r} is not {what}{suggest_name(name, names) or choices}"
