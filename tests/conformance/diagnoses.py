"""Causes of failures in recorded runs, as a person reads them, against what ``diagnose`` says.

A run is known by the hash of its verdicts; of runs that are not listed nothing is expected.

What is listed here was read to make the rules, and all of it has to agree. ``readings.csv`` has
five readings of 60 failures, drawn by chance, each by a reader who saw what was called and not what
``diagnose`` says: cause and sub-reason, and what could be said as well. The rules were mended after
each reading but the last.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from checkers.causes.diagnosis import MISSING, Cause, Diagnosis
from checkers.profile import BFCL
from runner.episodes.offline import examine_recorded
from runner.episodes.turn_loop import STEP_LIMIT
from runner.records.recorded_run import Run, open_run
from trajectories.dataset import Dataset, load_bfcl
from trajectories.prepared_trajectory import prepare
from trajectories.schema import MULTI_TURN

_FIRST = {
    Cause.ACTED_INSTEAD_OF_ASKING: "miss_param_65 miss_param_69 miss_param_86 miss_param_104",
    Cause.EXTRA_CALL: "base_88 long_context_6 long_context_88 miss_func_36 miss_param_75",
    Cause.IGNORED_ERROR: "base_48",
    # The first three leave out a step that the refused call after it needs, and nobody names.
    Cause.MISSING_CALL: "long_context_54 miss_func_63 miss_param_93 base_81 long_context_36 "
    "long_context_98 long_context_168 miss_func_32 miss_func_124 miss_func_155 miss_param_68 "
    "miss_param_174",
    Cause.NOT_OFFERED: "long_context_125 miss_param_52",
    Cause.REAUTHENTICATED: "miss_func_171 miss_param_164",
    Cause.WRONG_ARGUMENT: "base_61 long_context_37 long_context_61 long_context_143 miss_func_4 "
    "miss_func_109 miss_param_18 miss_param_29 miss_param_55 miss_param_147 "
    # Refused for what they were called with, and not tried again.
    "long_context_48 long_context_71 miss_func_187",
    Cause.WRONG_FUNCTION: "base_173 base_186 long_context_195 miss_param_28 miss_param_41 "
    "miss_param_173",
}
_SECOND = {
    Cause.ACTED_INSTEAD_OF_ASKING: "miss_func_1 miss_func_66 miss_param_8 miss_param_114 "
    "miss_param_191",
    # What they created again was there, and what they had read did not show it.
    Cause.ACTED_WITHOUT_LOOKING: "base_42 miss_param_11 miss_param_42",
    Cause.EXTRA_CALL: "base_16 base_36",
    Cause.LOOP: "miss_func_10",
    # The first three as above.
    Cause.MISSING_CALL: "miss_func_79 miss_func_86 miss_func_90 base_6 base_26 base_34 base_40 "
    "base_171 miss_func_30 miss_func_61 miss_func_108 miss_param_20 miss_param_64 miss_param_89 "
    "miss_param_93",
    Cause.UNREADABLE: "miss_func_101 miss_param_72",
    Cause.WRONG_ARGUMENT: "base_131 miss_func_85 miss_func_92 miss_func_99 miss_func_131 "
    "miss_param_32 miss_param_66 miss_param_110 miss_param_80 miss_param_184",
    Cause.WRONG_FUNCTION: "base_9 base_41 miss_param_177",
}
_READ: Mapping[str, Mapping[Cause, str]] = {
    "5f9b395ab1ab429d165fa10cb5d41b3ac434e2d96948a1d9bc6c04e7acbb6b7d": _FIRST,
    "22c7d8c9c7ebaf5efd0bac3d9f8e69e42d86efb79d37fcab588565d0cf7e7db1": _SECOND,
}


READINGS = Path(__file__).with_name("readings.csv")
AGREED = 0.94
"""Share of a run's failures in readings whose cause and sub-reason have to be as they were read."""


class Reading(NamedTuple):
    """One failure as somebody read it."""

    reading: int
    """Which of the readings, from 1."""
    id: str
    cause: str
    """Cause and sub-reason, as ``cause/sub_reason``."""
    as_well: str
    """What could be said with as good reason; empty where nothing could."""


def read_causes(run: Path) -> dict[str, Cause]:
    """Return the causes that were read off a run, by entry; none for a run that nobody has read."""
    read = _READ.get(_hash(run), {})
    return {f"multi_turn_{id}": cause for cause, ids in read.items() for id in ids.split()}


def readings_of(run: Path) -> list[Reading]:
    """Return what was read of the failures of a run."""
    with READINGS.open(encoding="utf-8", newline="") as file:
        return [
            Reading(int(row["reading"]), f"multi_turn_{row['entry']}", row["cause"], row["as_well"])
            for row in csv.DictReader(file)
            if _hash(run).startswith(row["run"])
        ]


def agreement(
    readings: list[Reading], found: Mapping[str, Diagnosis | None]
) -> Iterator[tuple[int, int, int]]:
    """Yield by reading how many failures were read, and of how many the same is said."""
    read = Counter(each.reading for each in readings)
    same = Counter(each.reading for each in readings if named(found[each.id]) == each.cause)
    for number in sorted(read):
        yield number, read[number], same[number]


def named(found: Diagnosis | None) -> str:
    """Return cause and sub-reason as readings have them.

    The readers did not know the sub-reason ``missing`` of several turns.
    """
    if found is None:
        return ""
    reason = None if found.sub_reason == MISSING else found.sub_reason
    return "/".join(filter(None, (found.cause.value, reason)))


def found_causes(run: Path, data: Path, ids: list[str]) -> dict[str, Diagnosis | None]:
    """Return what ``diagnose`` says of entries of a run.

    Args:
        run: A folder of result files.
        data: BFCL's data folder.
        ids: The entries.
    """
    source, dataset = open_run(run), load_bfcl(data, MULTI_TURN)
    return {id: _diagnosis(source, dataset, id) for id in ids}


def _hash(run: Path) -> str:
    return sha256((run / "verdicts.jsonl").read_bytes()).hexdigest()


def _diagnosis(run: Run, dataset: Dataset, id: str) -> Diagnosis | None:
    prepared = prepare(dataset, dataset.trajectories[id], BFCL)
    return examine_recorded(prepared, run.episodes[id, 0], BFCL, STEP_LIMIT).diagnosis
