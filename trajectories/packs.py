"""Our own long-context material, made from a seed: much of the same kind as what matters.

What a config can hold is filled in by ``widened``; what only a car shows is a pack, as it is for
the sectors of the broker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

from envs.long_context import Pack
from envs.registry import backend_class
from trajectories.filling import agency, broker, files, help_desk, messenger, network
from trajectories.filling.broker import listed
from trajectories.filling.bulk import Bulk
from trajectories.schema import LongContext
from trajectories.vocabulary import NOTES, Phrases, Vocabulary

SHOWN_BY = frozenset(("TradingBot", "VehicleControlAPI"))
"""The backends that show more than what their config can hold."""
_CAR_RECORDS = 3
"""Items for each line of the car's service record."""

_Fill = Callable[[dict[str, Any], Mapping[str, Any], Vocabulary, Bulk], None]
_FILL: Mapping[str, _Fill] = {
    "GorillaFileSystem": files.fill,
    "MessageAPI": messenger.fill,
    "TicketAPI": help_desk.fill,
    "TradingBot": broker.fill,
    "TravelAPI": agency.fill,
    "TwitterAPI": network.fill,
}


def widened(
    environments: Sequence[str], config: Mapping[str, Mapping[str, Any]], bulk: LongContext
) -> dict[str, dict[str, Any]]:
    """Return an initial config with bulk; the same seed and size give the same one.

    What is there keeps its ids, its counters and its place as the latest.
    """
    return filled(environments, config, Bulk(bulk.seed, bulk.items, bulk.without), NOTES)


def filled(
    environments: Sequence[str],
    config: Mapping[str, Mapping[str, Any]],
    bulk: Bulk,
    phrases: Phrases,
) -> dict[str, dict[str, Any]]:
    """Return an initial config with items, worded by some phrases."""
    wide = {name: dict(config.get(name, {})) for name in environments}
    for name, fill in _FILL.items():
        if name in wide and bulk.items:
            whole = {**backend_class(name).FIELDS, **wide[name]}
            latest = _latest(whole, bulk.without)
            vocabulary = Vocabulary(f"{bulk.seed} {name}", bulk.without, latest, phrases)
            fill(wide[name], whole, vocabulary, bulk)
    return {name: members for name, members in wide.items() if members or name in config}


def generate(bulk: LongContext) -> Pack:
    """Return what a car and a broker show besides their state."""
    vocabulary = Vocabulary(f"{bulk.seed} car", bulk.without, date(2024, 5, 1))
    count = bulk.items // _CAR_RECORDS
    symbols = list(listed(bulk.seed, bulk.items))
    half = len(symbols) // 2
    return Pack(
        car_status="Earlier readings.\n" + "\n".join(_readings(vocabulary) for _ in range(count)),
        parking_brake="Earlier uses.\n" + "\n".join(_braking(vocabulary) for _ in range(count)),
        weather={"elsewhere": {vocabulary.one("town"): _degrees(vocabulary) for _ in range(count)}},
        cities=[
            f"{vocabulary.one('town')}, {vocabulary.amount(1, 900)} km on the way"
            for _ in range(count)
        ],
        sector_stocks={"Technology": symbols[:half], "Automobile": symbols[half:]},
    )


def _latest(value: Any, without: Sequence[str]) -> date:
    """Return the earliest day in a state, or among the words to do without."""
    days = [*_days(value), *(day for word in without for day in _days(word))]
    return min(days, default=date(2024, 3, 1))


def _days(value: Any) -> list[date]:
    if isinstance(value, Mapping):
        return [day for member in value.values() for day in _days(member)]
    if isinstance(value, (list, tuple)):
        return [day for member in value for day in _days(member)]
    try:
        return [date.fromisoformat(value[:10])] if isinstance(value, str) else []
    except ValueError:
        return []


def _readings(words: Vocabulary) -> str:
    tires = " / ".join(str(words.number(28, 36)) for _ in range(4))
    doors = words.choice(("all doors locked", "driver door unlocked", "rear doors unlocked"))
    engine = words.choice(("running", "stopped"))
    return (
        f"{words.day()}, {words.one('town')}: fuel {words.amount(1, 49)} gallons, battery "
        f"{words.amount(11.5, 12.9)} volts, tires {tires} psi, {doors}, engine {engine}, climate "
        f"{words.amount(16, 28)} degrees Celsius, humidity {words.number(30, 80)} percent"
    )


def _braking(words: Vocabulary) -> str:
    mode = words.choice(("engaged at 500.0", "released to 0.0"))
    return (
        f"{words.day()}, {words.one('town')}: parking brake {mode} newtons by {words.person()}, "
        f"slope {words.amount(0, 12)} degrees"
    )


def _degrees(words: Vocabulary) -> str:
    return f"{words.amount(-10, 40)} degrees Celsius"
