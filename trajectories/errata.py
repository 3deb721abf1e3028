"""Corrections to a data set as an overlay: the published files stay as they are.

JSON lines, ``{"id", "turn", "ground_truth": [...], "reason"}``: the ground truth of that turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from envs.calls import parse_call
from envs.errors import MalformedCall
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.jsonl import read_objects

_MEMBERS = ("id", "turn", "ground_truth", "reason")


class Erratum(NamedTuple):
    """The corrected ground truth of one turn."""

    where: str
    """File and line."""
    id: str
    turn: int
    ground_truth: tuple[str, ...]
    reason: str


def read_errata(path: Path) -> list[Erratum]:
    """Read a file of corrections.

    Raises:
        DataError: A line is not a correction, one of its calls is none, or it gives no reason.
    """
    return [_erratum(where, line) for where, line in read_objects(path)]


def corrected(dataset: Dataset, errata: Sequence[Erratum]) -> Dataset:
    """Return a data set with corrections applied.

    Args:
        dataset: As published; it stays as it is.
        errata: Corrections; those of entries that are not loaded are left aside.

    Raises:
        DataError: An entry has no such turn, or a turn is corrected twice.
    """
    trajectories = dict(dataset.trajectories)
    seen: dict[tuple[str, int], str] = {}
    for where, id, turn, ground_truth, _ in errata:
        if (id, turn) in seen:
            raise DataError(where, f"turn {turn} of {id} is corrected on {seen[id, turn]} already")
        seen[id, turn] = where
        if id not in trajectories:
            continue
        turns = list(trajectories[id].turns)
        if turn >= len(turns):
            raise DataError(where, f"$.turn: {id} has {len(turns)} turns, counted from 0")
        turns[turn] = replace(turns[turn], ground_truth=ground_truth)
        trajectories[id] = replace(trajectories[id], turns=tuple(turns))
    return replace(dataset, trajectories=trajectories)


def _erratum(where: str, line: dict[str, Any]) -> Erratum:
    if sorted(line) != sorted(_MEMBERS):
        raise DataError(where, f"must have the members {', '.join(_MEMBERS)}, and no other")
    id, turn, calls, reason = (line[name] for name in _MEMBERS)
    if not isinstance(id, str):
        raise DataError(where, "$.id: must be text")
    if type(turn) is not int or turn < 0:
        raise DataError(where, "$.turn: must be the index of a turn, from 0")
    if not isinstance(calls, list) or not all(isinstance(call, str) for call in calls):
        raise DataError(where, "$.ground_truth: must be a list of call texts")
    if not isinstance(reason, str) or not reason.strip():
        raise DataError(where, "$.reason: must say why")
    for index, call in enumerate(calls):
        try:
            parse_call(call)
        except MalformedCall as error:
            raise DataError(where, f"$.ground_truth[{index}]: {error}") from None
    return Erratum(where, id, turn, tuple(calls), reason)
