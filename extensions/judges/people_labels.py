"""Reader of the labels that people gave to episodes.

Each label is one JSON line with ``id`` and ``passed``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from envs.errors import DataError, suggest_name
from runner.records.episode_record import Key
from trajectories.jsonl import read_objects


def make_label_hint(runs: str) -> str:
    """Return how to make a file of labels of the named runs, for an error message."""
    return f"save labels on the page that `turnwise label {runs}` writes"


def read_people(path: Path, known: Collection[Key]) -> Mapping[Key, bool]:
    """Read the labels that people gave to episodes.

    Raises DataError if the file cannot be read, an episode is unknown, or an episode occurs twice.
    """
    found: dict[Key, bool] = {}
    ids = {id for id, _ in known}
    for where, line in read_objects(path):
        match line:
            case {"id": str(id), "passed": bool(passed)}:
                trial = line.get("trial", 0)
            case _:
                raise DataError(where, 'must have "id" (string) and "passed" (true or false)')
        if type(trial) is not int:
            raise DataError(where, f"$.trial: must be a whole number, but is {trial!r:.40}")
        if (id, trial) not in known:
            if id in ids:
                raise DataError(where, f"the run has no trial {trial} of {id}")
            raise DataError(where, f"the run has no entry {id!r:.80}{suggest_name(id, ids)}")
        if (id, trial) in found:
            raise DataError(where, f"{id}, trial {trial}, has two labels; keep one")
        found[id, trial] = passed
    if not found:
        raise DataError(str(path), f"has no labels; {make_label_hint('RUN')}")
    return found
