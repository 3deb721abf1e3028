"""Data for forms on pages: multi-turn entries that match a search, and example configs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from envs.errors import DataError
from envs.registry import backend_class, get_example_file, with_worlds
from trajectories.dataset import Dataset
from trajectories.jsonl import parse_object, read_text
from trajectories.schema import JudgingMethod, Trajectory

_MAX_FOUND = 30


def find_entries(data: Dataset, words: str) -> dict[str, Any]:
    """Return, as JSON, the entries whose id, category or messages contain all words."""
    wanted = words.casefold().split()
    found = [
        each
        for each in data.trajectories.values()
        if has_state(each) and all(word in _searched(each) for word in wanted)
    ]
    shown = [entry_row(each) for each in found[:_MAX_FOUND]]
    return {"name": data.name, "entries": shown, "more": len(found) - len(shown)}


def get_entry(data: Dataset, id: str) -> Trajectory:
    """Return a multi-turn entry.

    Raises DataError if the entry does not exist, or if its verdict does not depend on the state.
    """
    if id not in data.trajectories:
        raise DataError(data.name, f"has no entry {id!r:.80}")
    check_has_state(data.trajectories[id])
    return data.trajectories[id]


def check_has_state(trajectory: Trajectory) -> None:
    """Raise DataError if the entry's verdict does not depend on the state."""
    if not has_state(trajectory):
        category = trajectory.category
        why = f"the category {category} is not judged by state; choose an entry of another category"
        raise DataError(trajectory.id, why)


def has_state(trajectory: Trajectory) -> bool:
    """Tell whether the entry's verdict depends on the state."""
    return trajectory.judged_by is JudgingMethod.STATE


def entry_row(trajectory: Trajectory) -> dict[str, Any]:
    """Return the table row of an entry."""
    return {
        "id": trajectory.id,
        "category": trajectory.category.value,
        "environments": list(trajectory.environments),
        "turns": len(trajectory.turns),
        "opening": trajectory.opening[:200],
        "edited": has_state(trajectory),
        "author": trajectory.provenance.get("author", ""),
    }


def example_configs(environments: Sequence[str]) -> Mapping[str, Any]:
    """Return an example config for each environment, and for each world that an environment uses.

    Raises ConfigError for an unknown name, and DataError if a file is damaged.
    """
    found: dict[str, Any] = {}
    wanted = with_worlds(tuple(environments))
    for name in wanted:
        file = get_example_file(backend_class(name))
        if file.is_file():
            configs = parse_object(read_text(file), str(file))
            found |= {each: configs[each] for each in wanted if each in configs}
    return found


def read_names(value: object) -> list[str]:
    """Return a list of names. Raises DataError if the value is not a non-empty list of strings."""
    if not isinstance(value, list) or not value or not all(isinstance(n, str) for n in value):
        raise DataError("environments", "must list at least one environment")
    return value


def _searched(trajectory: Trajectory) -> str:
    words = " ".join(turn.words for turn in trajectory.turns)
    return f"{trajectory.id} {trajectory.category} {words}".casefold()
