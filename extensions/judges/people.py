"""What people say of the episodes of a run: JSON lines with ``id``, ``trial`` and ``passed``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from runner.records.record import Key
from trajectories.errors import DataError, did_you_mean
from trajectories.jsonl import read_objects


def read_people(path: Path, known: Collection[Key]) -> Mapping[Key, bool]:
    """Read labels of people, one for each episode that has one.

    Raises:
        DataError: It cannot be read, names an episode that there is not, or one twice.
    """
    found: dict[Key, bool] = {}
    ids = {id for id, _ in known}
    for where, line in read_objects(path):
        match line:
            case {"id": str(id), "passed": bool(passed)}:
                trial = line.get("trial", 0)
            case _:
                raise DataError(where, 'must have "id" (text) and "passed" (true or false)')
        if type(trial) is not int:
            raise DataError(where, f"$.trial: must be a whole number, is {trial!r:.40}")
        if (id, trial) not in known:
            if id in ids:
                raise DataError(where, f"the run has no trial {trial} of {id}")
            raise DataError(where, f"{id!r:.80} is no entry of the run{did_you_mean(id, ids)}")
        if (id, trial) in found:
            raise DataError(where, f"{id}, trial {trial}, has a label already")
        found[id, trial] = passed
    if not found:
        raise DataError(str(path), "holds no label")
    return found
