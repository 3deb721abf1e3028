"""Record of the long-context material of a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class LongContextPack(NamedTuple):
    """Long-context material by backend; all fields are read-only."""

    file_suffix: str = ""
    """Text appended to the content of every loaded file."""
    untouched_files: Sequence[str] = ()
    extra_files: Sequence[str] = ()
    """Names of the empty files that are added to each directory without a sub-directory."""
    car_status: str = ""
    """Fields added to the car's status and tire reports."""
    parking_brake: str = ""
    weather: Mapping[str, Any] = {}
    """Fields shown before the outside temperature."""
    cities: Sequence[str] = ()
    watch_list: Sequence[Any] | None = None
    """Items added to the watch list when the list is shown."""
    transactions: Sequence[Mapping[str, Any]] = ()
    """Transactions added to the history when the history is shown, for all days."""
    moving_average_5: tuple[float, ...] | None = None
    """Numbers shown instead of a stock's 5-day average."""
    moving_average_20: tuple[float, ...] | None = None
    """Numbers shown instead of a stock's 20-day average."""
    sector_stocks: Mapping[str, Sequence[str]] = {}
    """Symbols added to a sector when its stocks are listed."""
    order_metadata: Mapping[str, str] | None = None
    """Strings added to an order; ``{symbol}`` is replaced by the order's symbol."""
    credit_cards: Mapping[str, Mapping[str, Any]] = {}
    """Credit cards added to the account, unless the card's id is taken."""
    bookings: Mapping[str, Mapping[str, Any]] = {}
    """Bookings added to the record, unless the booking's id is taken."""
    lists_fares: bool = False
    """Whether a flight's price includes all fares, and a booking shows all bookings."""
