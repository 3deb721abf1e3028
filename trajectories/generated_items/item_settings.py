"""Settings of generated long-context material."""

from __future__ import annotations

from typing import NamedTuple

FEW = 40
"""Maximum number of items of a kind that the entry does not read."""
KINDS = (
    "lines", "files", "tickets", "logs", "users", "messages", "tweets", "comments", "following",
    "orders", "transactions", "stocks", "cards", "bookings", "car", "towns",
)  # fmt: skip


MAX_STOCKS = 1_000
"""Maximum number of generated stocks. A sector gets at most half of it."""


class ItemSettings(NamedTuple):
    """Settings of generated items; equal settings give equal items."""

    seed: int
    items: int
    without: tuple[str, ...]
    """No item contains one of these words. Days in this list are later than all items."""
    lengthens: bool = True
    """Whether existing texts also become longer."""
    kinds: tuple[str, ...] = ()
    """Kinds with this number of items; empty for all kinds."""

    def count(self, kind: str) -> int:
        """Return the number of items of a kind."""
        items = min(self.items, MAX_STOCKS) if kind == "stocks" else self.items
        return items if not self.kinds or kind in self.kinds else min(items, FEW)
