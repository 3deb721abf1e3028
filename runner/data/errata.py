"""Errata files, opened by the name that the user typed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from envs.errors import DataError
from envs.lazy_modules import lazy_module
from runner.data.dataset_choice import Notify
from trajectories.dataset import Dataset
from trajectories.errata import BFCL
from trajectories.fingerprint import fingerprint
from trajectories.jsonl import read_objects
from trajectories.schema import Trajectory

if TYPE_CHECKING:
    from trajectories.errata import corrections, errata_file
    from trajectories.errata.corrections import CorrectedEntries
else:
    # Most runs need no errata, and pydantic takes longer to load than a run to be judged.
    errata_file = lazy_module("trajectories.errata.errata_file")
    corrections = lazy_module("trajectories.errata.corrections")

_MAX_IDS = 5


def open_errata(name: str, dataset: Dataset, notify: Notify) -> CorrectedEntries | None:
    """Return the corrected entries of a data set; None if the name is ``none``.

    Raises DataError if the file does not exist or does not fit the data. ``notify`` receives
    messages about errata that are not applied.
    """
    if name == "none":
        return None
    path = BFCL if name == "bfcl" else Path(name)
    if not path.is_file():
        raise DataError("--errata", f"{name!r} must be `bfcl`, `none` or an existing file")
    name = path.name if name != "bfcl" else name
    found = corrections.correct_dataset(dataset, errata_file.read_errata(path), name)
    for ids, what in (
        (found.stale, "has changed since its review, so its erratum is not applied"),
        (found.needless, "is already corrected in the data; delete its line"),
    ):
        if ids:
            more = f" and {len(ids) - _MAX_IDS} more" if len(ids) > _MAX_IDS else ""
            notify(f"errata {name}: {', '.join(ids[:_MAX_IDS])}{more} {what}")
    return found


_KNOWN_ERRORS = {
    "mended": "known data error (--errata bfcl corrects the entry)",
    "ambiguous": "known ambiguity (--errata bfcl judges the entry leniently)",
    "withdrawn": "known data error (--errata bfcl leaves out the entry)",
}
"""Maps the kind of an erratum to the first words of the note that describes the error."""


def describe_data_error(trajectory: Trajectory) -> str | None:
    """Describe the known error of a published entry, or return None."""
    published, description = _known_errors().get(trajectory.id, ("", ""))
    return description if published and published == fingerprint(trajectory) else None


@cache
def _known_errors() -> Mapping[str, tuple[str, str]]:
    return {
        line["id"]: (line["published"], f"{_KNOWN_ERRORS[line['judgement']]}: {line['reason']}")
        for _, line in read_objects(BFCL)
        if line["judgement"] in _KNOWN_ERRORS
    }
