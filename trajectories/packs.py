"""Our own long-context material, made from a seed: bulky, and nothing a trajectory hinges on."""

from __future__ import annotations

from random import Random

from envs.long_context import Pack

_WORDS = [
    word
    for line in (
        "amber basin cedar delta ember fjord grove harbor inlet juniper kestrel lagoon meadow",
        "north orchard prairie quarry ridge summit thicket upland valley willow yonder zephyr",
    )
    for word in line.split()
]
_AIRPORTS = ("SFO", "LAX", "JFK", "ORD", "BOS", "HND")


def generate(seed: int, items: int) -> Pack:
    """Make a pack with so many items of each kind; the same seed gives the same one."""
    source = Random(seed)
    symbols = _symbols(source, items)
    cards = {_digits(source, 12): _card(source) for _ in range(items)}
    return Pack(
        file_suffix=" " + prose(source, items),
        untouched_files=(),
        extra_files=tuple([f"{_name(source)}_{index}.log" for index in range(items)]),
        car_status=prose(source, items),
        parking_brake=prose(source, items),
        weather={f"-{day}_day": f"{source.randint(-5, 35)} C" for day in range(1, 16)},
        cities=tuple([_name(source).title() for _ in range(items)]),
        watch_list=tuple(symbols),
        transactions=tuple([_transaction(source) for _ in range(items)]),
        moving_average_5=tuple([round(source.uniform(5, 900), 2) for _ in range(items)]),
        moving_average_20=tuple([round(source.uniform(5, 900), 2) for _ in range(items)]),
        sector_stocks={"Technology": tuple(symbols), "Automobile": tuple(reversed(symbols))},
        order_metadata={
            f"note_{index}": f"{{symbol}}: {prose(source, items // 8 + 1)}" for index in range(8)
        },
        credit_cards=cards,
        bookings={_digits(source, 7): _booking(source, list(cards)) for _ in range(items)},
    )


def full_name(source: Random) -> str:
    """Return the name of somebody who does not exist."""
    return _name(source).replace("_", " ").title()


def _name(source: Random) -> str:
    return f"{source.choice(_WORDS)}_{source.choice(_WORDS)}"


def prose(source: Random, sentences: int) -> str:
    """Return so many sentences without a meaning."""
    lines = [" ".join(source.choices(_WORDS, k=8)).capitalize() + "." for _ in range(sentences)]
    return " ".join(lines)


def _digits(source: Random, count: int) -> str:
    return str(source.randint(10 ** (count - 1), 10**count - 1))


def _symbols(source: Random, count: int) -> list[str]:
    # Five letters and a leading X: longer than any listed stock, so that none is shadowed.
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return [
        "X" + "".join(letters[number // 26**place % 26] for place in range(4))
        for number in source.sample(range(26**4), count)
    ]


def _transaction(source: Random) -> dict[str, object]:
    day, hour = source.randint(1, 28), source.randint(0, 23)
    return {
        "type": source.choice(("deposit", "withdrawal")),
        "amount": source.randint(1, 5000),
        "timestamp": f"2023-{source.randint(1, 12):02}-{day:02} {hour:02}:00:00",
    }


def _card(source: Random) -> dict[str, object]:
    return {
        "card_type": source.choice(("credit", "debit")),
        "card_number": _digits(source, 16),
        "expiration_date": f"{source.randint(1, 12):02}/{source.randint(2027, 2032)}",
        "cardholder_name": full_name(source),
        "card_verification_number": source.randint(100, 999),
        "balance": float(source.randint(100, 50_000)),
    }


def _booking(source: Random, cards: list[str]) -> dict[str, object]:
    origin, destination = source.sample(_AIRPORTS, 2)
    return {
        "card_id": source.choice(cards),
        "travel_date": f"2024-{source.randint(1, 12):02}-{source.randint(1, 28):02}",
        "travel_from": origin,
        "travel_to": destination,
        "travel_class": source.choice(("economy", "business", "first")),
        "travel_cost": float(source.randint(100, 3000)),
        "transaction_id": _digits(source, 8),
    }
