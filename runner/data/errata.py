"""From the errata that the user named to how a data set is read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from envs.lazy import lazily
from runner.data.choose import Notify
from trajectories.dataset import Dataset
from trajectories.errors import DataError

if TYPE_CHECKING:
    from trajectories.errata import file, readings
    from trajectories.errata.readings import Readings
else:
    # Most runs are judged as published, and pydantic takes longer to load than they to be judged.
    file = lazily("trajectories.errata.file")
    readings = lazily("trajectories.errata.readings")

_MOST_IDS = 5
"""How many ids a note names."""


def open_errata(name: str, dataset: Dataset, notify: Notify) -> Readings | None:
    """Return what errata make of a data set; None where the user wants none.

    Args:
        name: ``none``, ``bfcl``, or a file.
        dataset: What is judged.
        notify: Told of errata that do not fit the data, or that it no longer needs.

    Raises:
        DataError: There is no such file, or it cannot be applied to the data.
    """
    if name == "none":
        return None
    path = file.BFCL if name == "bfcl" else Path(name)
    if not path.is_file():
        raise DataError("--errata", f"{name!r} is neither bfcl, none nor a file")
    name = path.name if name != "bfcl" else name
    found = readings.read(dataset, file.read_errata(path), name)
    for ids, what in (
        (found.stale, "was judged on another text than it has now, and stays as published"),
        (found.needless, "reads as its erratum says already: take the line out"),
    ):
        if ids:
            more = f" and {len(ids) - _MOST_IDS} more" if len(ids) > _MOST_IDS else ""
            notify(f"errata {name}: {', '.join(ids[:_MOST_IDS])}{more} {what}")
    return found
