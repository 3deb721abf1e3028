"""Functions for items that a world stores by id, such as orders and meetings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from envs.errors import NotFound, Refused

FIRST_ADDED = 700_000
"""First number of the items that a long context adds. Entries use only smaller numbers."""


def find_item(
    items: Mapping[str, Mapping[str, Any]], noun: str, id: str, status: str | None = None
) -> Mapping[str, Any]:
    """Return an item. Raises NotFound if the id is unknown, and Refused if the status is wrong."""
    if id not in items:
        raise NotFound(f"There is no {noun} {id!r:.40}.")
    item = items[id]
    if status is not None and item["status"] != status:
        raise Refused(f"{noun.capitalize()} {id} is {item['status']}, not {status}.")
    return item


def find_reused_ids(
    config: Mapping[str, Any], name: str, counter: str, prefix: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield an error for each existing id that the counter will reach."""
    next_id = config.get(counter, 1)
    for id in config.get(name, {}):
        number = id.removeprefix(prefix)
        if number.isascii() and number.isdigit() and int(number) >= next_id:
            yield f".{name}[{id!r}]", f"must be below {counter} ({next_id})"
