"""Generated long-context material: many items that resemble the relevant items.

``widen_config`` adds items to a config. ``generate_pack`` generates items outside the config. The
car and the broker add these items to the results of their functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from envs.long_context import LongContextPack
from envs.registry import backend_class, with_worlds
from trajectories import generated_items
from trajectories.schema import LongContextSettings
from trajectories.vocabulary import ItemSettings, LargeVocabulary, PhraseTemplates, Vocabulary

SHOWN_BY = frozenset(("TradingBot", "VehicleControlAPI"))
"""Backends that add generated items to results."""
_MAX_YEARS = 10
"""Older days, such as birthdays, are ignored."""
_CAR_RECORDS = 3

_Fill = Callable[[dict[str, Any], Mapping[str, Any], Vocabulary, ItemSettings], None]
_FILL: Mapping[str, _Fill] = {
    "GorillaFileSystem": generated_items.fill_files,
    "MessageAPI": generated_items.fill_messages,
    "TicketAPI": generated_items.fill_tickets,
    "TradingBot": generated_items.fill_trading,
    "TravelAPI": generated_items.fill_travel,
    "TwitterAPI": generated_items.fill_tweets,
}


def widen_config(
    environments: Sequence[str], config: Mapping[str, Mapping[str, Any]], bulk: LongContextSettings
) -> dict[str, dict[str, Any]]:
    """Return an initial config with added items; equal seeds and sizes give equal items.

    Existing items keep their ids and stay the newest.
    """
    settings = ItemSettings(bulk.seed, bulk.items, bulk.without, kinds=bulk.kinds)
    return fill_config(environments, config, settings)


def fill_config(
    environments: Sequence[str],
    config: Mapping[str, Mapping[str, Any]],
    bulk: ItemSettings,
    phrases: PhraseTemplates | None = None,
) -> dict[str, dict[str, Any]]:
    """Return an initial config with generated items; their texts use the given phrases.

    By default, the texts are generated as in ``long_context`` entries.
    """
    wide = {name: dict(config.get(name, {})) for name in with_worlds(tuple(environments))}
    for name in wide:
        fill = _FILL.get(name) or getattr(backend_class(name), "_add_bulk", None)
        if fill and bulk.items:
            whole = {**backend_class(name).FIELDS, **wide[name]}
            latest = _find_earliest_day(whole, bulk.without)
            seed = f"{bulk.seed} {name}"
            if phrases is None:
                models = [*_list_models(name, whole)]
                vocabulary: Vocabulary = LargeVocabulary(seed, bulk.without, latest, models)
            else:
                vocabulary = Vocabulary(seed, bulk.without, latest, phrases)
            fill(wide[name], whole, vocabulary, bulk)
    return {name: members for name, members in wide.items() if members or name in config}


def generate_pack(bulk: LongContextSettings) -> LongContextPack:
    """Return the items that the car and the broker add to the results of their functions."""
    vocabulary = Vocabulary(f"{bulk.seed} car", bulk.without, date(2024, 5, 1))
    settings = ItemSettings(bulk.seed, bulk.items, bulk.without, kinds=bulk.kinds)
    count = settings.count("car") // _CAR_RECORDS
    towns = settings.count("towns") // _CAR_RECORDS
    symbols = list(generated_items.list_symbols(bulk.seed, settings.count("stocks")))
    half = len(symbols) // 2
    return LongContextPack(
        car_status="Earlier readings.\n"
        + "\n".join(_make_reading(vocabulary) for _ in range(count)),
        parking_brake="Earlier uses.\n"
        + "\n".join(_make_brake_use(vocabulary) for _ in range(count)),
        weather={
            "elsewhere": {
                vocabulary.one("town"): _make_temperature(vocabulary) for _ in range(towns)
            }
        },
        cities=[
            f"{vocabulary.one('town')}, {vocabulary.amount(1, 900)} km on the way"
            for _ in range(towns)
        ],
        sector_stocks={
            sector: stocks
            for sector, stocks in (("Technology", symbols[:half]), ("Automobile", symbols[half:]))
            if sector.casefold() not in bulk.without
        },
    )


def _list_models(name: str, whole: Mapping[str, Any]) -> Iterator[str]:
    if name == "TicketAPI":
        for ticket in whole["ticket_queue"]:
            yield f"{ticket['title']}\n{ticket['description']}"
    elif name == "TwitterAPI":
        yield from (tweet["content"] for tweet in whole["tweets"].values())
    elif name == "MessageAPI":
        yield from (text for message in whole["inbox"] for text in message.values())


def _find_earliest_day(value: Any, without: Sequence[str]) -> date:
    days = [*_list_days(value), *(day for word in without for day in _list_days(word))]
    newest = max(days, default=date(2024, 3, 1))
    return min([day for day in days if newest.year - day.year <= _MAX_YEARS], default=newest)


def _list_days(value: Any) -> list[date]:
    if isinstance(value, Mapping):
        return [day for member in value.values() for day in _list_days(member)]
    if isinstance(value, (list, tuple)):
        return [day for member in value for day in _list_days(member)]
    try:
        # A transaction number such as 52000321 is not a day.
        dashed = isinstance(value, str) and value[4:5] == "-"
        return [date.fromisoformat(value[:10])] if dashed else []
    except ValueError:
        return []


def _make_reading(words: Vocabulary) -> str:
    tires = " / ".join(str(words.number(28, 36)) for _ in range(4))
    doors = words.choice(("all doors locked", "driver door unlocked", "rear doors unlocked"))
    engine = words.choice(("running", "stopped"))
    return (
        f"{words.day()}, {words.one('town')}: fuel {words.amount(1, 49)} gallons, battery "
        f"{words.amount(11.5, 12.9)} volts, tires {tires} psi, {doors}, engine {engine}, climate "
        f"{words.amount(16, 28)} degrees Celsius, humidity {words.number(30, 80)} percent"
    )


def _make_brake_use(words: Vocabulary) -> str:
    mode = words.choice(("engaged at 500.0", "released to 0.0"))
    return (
        f"{words.day()}, {words.one('town')}: parking brake {mode} newtons by {words.person()}, "
        f"slope {words.amount(0, 12)} degrees"
    )


def _make_temperature(words: Vocabulary) -> str:
    return f"{words.amount(-10, 40)} degrees Celsius"
