"""Generator of finished tickets, and of logs for existing tickets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trajectories.generated_items.item_settings import ItemSettings
from trajectories.vocabulary import Vocabulary

_LOG = 8


def fill(
    config: dict[str, Any], whole: Mapping[str, Any], vocabulary: Vocabulary, bulk: ItemSettings
) -> None:
    """Add older tickets with unused ids, and add a log to the existing tickets."""
    queue = whole["ticket_queue"]
    first = min((ticket["id"] for ticket in queue), default=whole["ticket_counter"])
    people = list(dict.fromkeys(ticket["created_by"] for ticket in queue if "created_by" in ticket))
    people += [vocabulary.person().lower().replace(" ", ".") for _ in people or "one"]
    numbers = [
        n for n in range(max(1, first - bulk.count("tickets")), first) if str(n) not in bulk.without
    ]
    added = [
        {
            "id": number,
            **dict(zip(("title", "description"), vocabulary.matter(), strict=True)),
            "status": vocabulary.one("status"),
            "priority": vocabulary.number(1, 5),
            "created_by": vocabulary.choice(people),
        }
        for number in numbers
    ]
    log = bulk.count("logs") // _LOG if bulk.lengthens else 0
    longer = [
        ticket
        if f"ticket {ticket['id']}" in bulk.without
        else {**ticket, "description": _append_log(ticket["description"], vocabulary, log)}
        for ticket in queue
    ]
    config["ticket_queue"] = [*added, *longer]


def _append_log(description: str, vocabulary: Vocabulary, count: int) -> str:
    if not count:
        return description
    return "\n".join([description, "Log of the desk:", *vocabulary.lines(count)]).strip()
