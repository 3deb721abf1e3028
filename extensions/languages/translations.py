"""Translated entries: built-in entries with other user messages and the same ground truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from trajectories.dataset import Dataset, load_embedded
from trajectories.jsonl import read_objects
from trajectories.schema import MULTI_TURN, Category, Message, Trajectory

NAME = "translated"
_FILE = Path(__file__).parent / "data" / "translations.jsonl"


def load_translated(categories: Sequence[Category]) -> Dataset:
    """Load the translated entries of categories."""
    embedded = load_embedded(MULTI_TURN)
    lines = [line for _, line in read_objects(_FILE)]
    found = {each.id: each for each in _translate(embedded.trajectories, lines)}
    kept = {id: each for id, each in found.items() if each.category in categories}
    digest = sha256(embedded.sha256.encode() + _FILE.read_bytes()).hexdigest()
    return replace(embedded, name=NAME, sha256=digest, trajectories=kept)


def _translate(
    entries: Mapping[str, Trajectory], lines: Sequence[Mapping[str, Any]]
) -> Iterator[Trajectory]:
    for line in lines:
        entry, language = entries[line["base"]], line["language"]
        turns = [
            replace(turn, messages=(Message("user", text),) if text else ())
            for turn, text in zip(entry.turns, line["messages"], strict=True)
        ]
        yield replace(
            entry,
            id=f"{entry.id}_{language}",
            turns=tuple(turns),
            provenance={**entry.provenance, "base": entry.base, "language": language},
            tags=(*entry.tags, language),
        )
