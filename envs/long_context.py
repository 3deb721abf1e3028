"""Record of the long-context material of a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class LongContextPack(NamedTuple):
    """Long-context material of the backends; all fields are read-only."""

    file_suffix: str = ""
    """Text that is appended to the content of every loaded file."""
    untouched_files: Sequence[str] = ()
    extra_files: Sequence[str] = ()
    """Names of the empty files that are added to each directory without a sub-directory."""
    car_status: str = ""
    """Extra fields in the car's status and tire reports."""
    parking_brake: str = ""
    weather: Mapping[str, Any] = {}
    """Fields that are inserted into the weather result, before the outside temperature."""
    cities: Sequence[str] = ()
    watch_list: Sequence[Any] | None = None
    """Items that are added to the watch list when the list is shown."""
    transactions: Sequence[Mapping[str, Any]] = ()
    """Extra transactions in every history."""
    moving_average_5: tuple[float, ...] | None = None
    """Replacement for a stock's 5-day average."""
    moving_average_20: tuple[float, ...] | None = None
    """Replacement for a stock's 20-day average."""
    sector_stocks: Mapping[str, Sequence[str]] = {}
    """Symbols that are added to the list of a sector's stocks; the key is the sector."""
    order_metadata: Mapping[str, str] | None = None
    """Strings that are added to an order; the order's symbol replaces ``{symbol}``."""
    credit_cards: Mapping[str, Mapping[str, Any]] = {}
    """Credit cards that are added to the account, unless their id is already in use."""
    bookings: Mapping[str, Mapping[str, Any]] = {}
    """Bookings that are added to the record, unless their id is already in use."""
    lists_fares: bool = False
    """Whether a price query returns all fares, and a booking returns all bookings."""
