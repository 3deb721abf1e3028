"""Settings of generated long-context material."""

from __future__ import annotations

from typing import NamedTuple

_MAX_OTHER_ITEMS = 40
"""Maximum items of a kind that is not in ``ItemSettings.kinds``."""
KINDS = (
    "lines", "files", "tickets", "logs", "users", "messages", "tweets", "comments", "following",
    "orders", "transactions", "stocks", "cards", "bookings", "car", "towns",
)  # fmt: skip


MAX_STOCKS = 1_000
"""Maximum number of generated stocks. Each sector has at most half of the maximum."""


class ItemSettings(NamedTuple):
    """Settings of generated items; equal settings give equal items."""

    seed: int
    items: int
    without: tuple[str, ...]
    """Words and days of the entry. Generated items use other words and earlier days."""
    lengthens: bool = True
    """Whether generated text also extends handwritten items, such as the text of a file."""
    kinds: tuple[str, ...] = ()
    """Kinds that get all ``items``; other kinds get fewer. An empty tuple means all kinds."""

    def count(self, kind: str) -> int:
        """Return the number of items of a kind."""
        items = min(self.items, MAX_STOCKS) if kind == "stocks" else self.items
        return items if not self.kinds or kind in self.kinds else min(items, _MAX_OTHER_ITEMS)
