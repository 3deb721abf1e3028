"""Generator of colleagues with similar names, and of messages to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trajectories.generated_items.item_settings import ItemSettings
from trajectories.vocabulary import Vocabulary


def fill(
    config: dict[str, Any], whole: Mapping[str, Any], vocabulary: Vocabulary, bulk: ItemSettings
) -> None:
    """Add users with much higher ids, and insert messages before the existing messages."""
    people = whole["user_map"]
    count = bulk.count("users") // 4
    names = [*vocabulary.namesakes(people), *(vocabulary.person() for _ in range(4 * count))]
    free = [name for name in dict.fromkeys(names) if name not in people][:count]
    added = {name: f"USR{whole['user_count'] + 500 + i}" for i, name in enumerate(free)}
    receivers = list(added.values())
    sent = [
        {vocabulary.choice(receivers): vocabulary.remark("message")}
        for _ in range(bulk.count("messages") if added else 0)
    ]
    config["user_map"] = {**people, **added}
    config["inbox"] = [*sent, *whole["inbox"]]
    config["user_count"] = whole["user_count"]
    config["message_count"] = whole["message_count"] + len(sent)
