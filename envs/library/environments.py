"""The environments of this package."""

from __future__ import annotations

from envs.backend import Backend
from envs.library.calendar import CalendarTools
from envs.library.finance import FinanceTools
from envs.library.geography import GeographyTools
from envs.library.market import MarketQuotes
from envs.library.numbers import NumberTools
from envs.library.rest import RestClient
from envs.library.texts import TextTools

LIBRARY: tuple[type[Backend], ...] = (
    NumberTools,
    CalendarTools,
    TextTools,
    GeographyTools,
    FinanceTools,
    MarketQuotes,
    RestClient,
)
"""In the order in which they are listed."""
