"""Generator of other people's cards, which have similar numbers, and of earlier trips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from envs.backends.travel_facts import AIRPORTS, CLASS_FACTORS, FARES
from trajectories.generated_items.item_settings import ItemSettings
from trajectories.vocabulary import Vocabulary

_CARDS = 4
_CLASSES = tuple(CLASS_FACTORS.items())


def fill(
    config: dict[str, Any], whole: Mapping[str, Any], vocabulary: Vocabulary, bulk: ItemSettings
) -> None:
    """Add cards with medium balances, and trips on routes that no user message mentions."""
    own, booked = whole["credit_card_list"], whole["booking_record"]
    holders = [card["cardholder_name"] for card in own.values() if "cardholder_name" in card]
    people = vocabulary.namesakes(holders)
    wanted = bulk.count("cards") // _CARDS
    people += [vocabulary.person() for _ in range(wanted)]
    balances = [card["balance"] for card in own.values()] or [1000.0]
    cards: dict[str, Any] = {}
    for name in dict.fromkeys(people):
        card_id = _make_similar(list(own), vocabulary, 12)
        if card_id not in own and len(cards) < wanted:
            numbers = [card.get("card_number", "") for card in own.values()]
            cards[card_id] = {
                "card_type": vocabulary.one("card_type"),
                "card_number": _make_similar(numbers, vocabulary, 16),
                "expiration_date": f"{vocabulary.number(1, 12):02}/{_draw_year(own, vocabulary)}",
                "cardholder_name": name,
                "card_verification_number": vocabulary.number(100, 999),
                "balance": _draw_balance(balances, vocabulary),
            }
    there = {
        booking.get(end) for booking in booked.values() for end in ("travel_from", "travel_to")
    }
    routes = [
        route
        for route in FARES
        if there.isdisjoint(route)
        and {*route} <= {*AIRPORTS}
        and vocabulary.permits(" ".join(route))
    ]
    bookings = {
        _make_similar(list(booked), vocabulary, 7): _make_trip(routes, list(cards), vocabulary)
        for _ in range(bulk.count("bookings") if cards and routes else 0)
    }
    config["credit_card_list"] = {**cards, **own}
    config["booking_record"] = {**bookings, **booked}


def _make_trip(
    routes: Sequence[tuple[str, str]], cards: Sequence[str], vocabulary: Vocabulary
) -> dict[str, Any]:
    origin, destination = vocabulary.choice(routes)
    travel_class, factor = vocabulary.choice(_CLASSES)
    return {
        "card_id": vocabulary.choice(cards),
        "travel_date": str(vocabulary.day()),
        "travel_from": origin,
        "travel_to": destination,
        "travel_class": travel_class,
        "travel_cost": float(FARES[origin, destination] * factor),
        "transaction_id": str(vocabulary.number(10**7, 10**8 - 1)),
    }


def _make_similar(numbers: Sequence[str], vocabulary: Vocabulary, digits: int) -> str:
    begins = [number[: digits // 3] for number in numbers if number.isdigit()]
    begin = vocabulary.choice(begins) if begins else str(vocabulary.number(1, 9))
    rest = digits - len(begin)
    return f"{begin}{vocabulary.random.randrange(10**rest):0{rest}}"


def _draw_balance(balances: Sequence[float], vocabulary: Vocabulary) -> float:
    low, high = min(balances), max(balances)
    if low == high:
        low = high / 4
    return round(low + (high - low) * vocabulary.random.uniform(0.1, 0.9), 2)


def _draw_year(own: Mapping[str, Any], vocabulary: Vocabulary) -> int:
    years = {card.get("expiration_date", "")[-4:] for card in own.values()}
    free = [year for year in range(2025, 2034) if str(year) not in years]
    return vocabulary.choice(free)
