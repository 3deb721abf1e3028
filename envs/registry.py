"""The backends there are. Adding one here enrols it in every command and every contract test."""

from __future__ import annotations

from collections.abc import Mapping

from envs.backend import Backend
from envs.errors import ConfigError, ConfigProblem
from envs.file_system import GorillaFileSystem
from envs.math_api import MathAPI
from envs.message import MessageAPI
from envs.ticket import TicketAPI
from envs.trading_bot import TradingBot
from envs.travel_booking import TravelAPI
from envs.twitter import TwitterAPI
from envs.vehicle_control import VehicleControlAPI

BACKENDS: Mapping[str, type[Backend]] = {
    backend.__name__: backend
    for backend in (
        GorillaFileSystem,
        MathAPI,
        MessageAPI,
        TwitterAPI,
        TicketAPI,
        TradingBot,
        TravelAPI,
        VehicleControlAPI,
    )
}
"""Backend name, as initial configs have it, to its class."""


def backend_class(name: str) -> type[Backend]:
    """Return the backend of a name.

    Raises:
        ConfigError: There is no such backend.
    """
    if name not in BACKENDS:
        problem = ConfigProblem(
            f"$.{name}", f"there is no such backend; there are {', '.join(BACKENDS)}"
        )
        raise ConfigError([problem])
    return BACKENDS[name]
