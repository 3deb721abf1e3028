"""Generators of items of each backend for long contexts: files, messages, tickets and others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from envs.backends.trading_bot import TradingBot
from envs.backends.travel_facts import AIRPORTS, CLASS_FACTORS, FARES
from trajectories.vocabulary import FastRandom, ItemSettings, Vocabulary

_ITEMS_PER_LINE = 5
_ITEMS_PER_FILE = 4
_LOG, _DESK = 8, "Log of the desk:"
FIRST_LINE = "firstline"
"""If ``ItemSettings.without`` contains this word, no lines are added before existing text."""
WATCH_LIST = "watchlist"
"""If ``ItemSettings.without`` contains this word, the watch list stays unchanged."""
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
_KNOWN = {*TradingBot.stocks, "AMZN", "GORI", "TSLA"}
"""All symbols that the broker knows, traded or not."""
_CARDS = 4
_CLASSES = tuple(CLASS_FACTORS.items())
FOLLOWED = "followed"
"""If ``ItemSettings.without`` contains this word, no followed accounts are added."""
_COMMENTS = 8
_MAX_COMMENTS = 2
_ENDINGS = ("daily", "archive", "club", "news", "official")


def fill_files(
    config: dict[str, Any], whole: Mapping[str, Any], vocabulary: Vocabulary, bulk: ItemSettings
) -> None:
    """Add files to directories that have files; lengthen files that no user message mentions."""
    config["root"] = {
        name: {**node, "contents": _fill_folder(name, node["contents"], vocabulary, bulk)}
        for name, node in whole["root"].items()
    }


def _fill_folder(
    folder: str, contents: Mapping[str, Any], vocabulary: Vocabulary, bulk: ItemSettings
) -> dict[str, Any]:
    filled: dict[str, Any] = {}
    endings = []
    for name, node in contents.items():
        if node["type"] == "directory":
            filled[name] = {
                **node,
                "contents": _fill_folder(name, node["contents"], vocabulary, bulk),
            }
            continue
        endings.append(name.rpartition(".")[2] if "." in name.strip(".") else "txt")
        longer = node["content"]
        if bulk.lengthens and name not in bulk.without and longer:
            count = bulk.count("lines") // _ITEMS_PER_LINE
            longer = _surround(longer, "Older entries, kept for reference:", count, vocabulary)
        filled[name] = {**node, "content": longer}
    if folder not in bulk.without:
        for ending in endings and [
            vocabulary.choice(endings) for _ in range(bulk.count("files") // _ITEMS_PER_FILE)
        ]:
            name = vocabulary.file().replace(": ", "_").replace(", ", "_").replace(" ", "_")
            added = f"{name.lower()}_{vocabulary.day()}.{ending}"
            filled.setdefault(added, {"type": "file", "content": vocabulary.page()})
    items = [*filled.items()]
    return dict(vocabulary.mix(items[: len(contents)], items[len(contents) :]))


def _surround(text: str, heading: str, count: int, vocabulary: Vocabulary) -> str:
    """Add generated lines after a text, and also before it if ``FIRST_LINE`` is permitted."""
    lines = vocabulary.lines(count)
    at = vocabulary.below(count) if text and count and vocabulary.permits(FIRST_LINE) else 0
    before = [heading, *lines[:at], "", "Current text:"] if at else []
    return "\n".join([*before, text, "", heading, *lines[at:]]).lstrip("\n") if lines else text


def fill_messages(
    config: dict[str, Any], whole: Mapping[str, Any], vocabulary: Vocabulary, bulk: ItemSettings
) -> None:
    """Add users with much higher ids, and messages to these users."""
    people = whole["user_map"]
    count = bulk.count("users") // 4
    names = [*vocabulary.namesakes(people), *(vocabulary.person() for _ in range(4 * count))]
    free = [name for name in dict.fromkeys(names) if name not in people][:count]
    added = {name: f"USR{whole['user_count'] + 500 + i}" for i, name in enumerate(free)}
    receivers = list(added.values())
    sent = [
        {vocabulary.choice(receivers): vocabulary.remark("message")}
        for _ in range(bulk.count("messages") if added else 0)
    ]
    config["user_map"] = dict(vocabulary.mix(people.items(), added.items()))
    if bulk.lengthens:  # A listing groups messages by receiver, in order of the first messages.
        sent.sort(key=list)
    config["inbox"] = vocabulary.mix(sent, whole["inbox"])
    config["user_count"] = whole["user_count"]
    config["message_count"] = whole["message_count"] + len(sent)


def fill_tickets(
    config: dict[str, Any], whole: Mapping[str, Any], vocabulary: Vocabulary, bulk: ItemSettings
) -> None:
    """Add older tickets with unused ids, and add a log to the existing tickets."""
    queue = whole["ticket_queue"]
    first = min((ticket["id"] for ticket in queue), default=whole["ticket_counter"])
    people = list(dict.fromkeys(ticket["created_by"] for ticket in queue if "created_by" in ticket))
    people += [vocabulary.person().lower().replace(" ", ".") for _ in people or "one"]
    numbers = [
        n for n in range(max(1, first - bulk.count("tickets")), first) if str(n) not in bulk.without
    ]
    added = [
        {
            "id": number,
            **dict(zip(("title", "description"), vocabulary.matter(), strict=True)),
            "status": vocabulary.one("status"),
            "priority": vocabulary.number(1, 5),
            "created_by": vocabulary.choice(people),
        }
        for number in numbers
    ]
    log = bulk.count("logs") // _LOG if bulk.lengthens else 0
    longer = [
        ticket
        if f"ticket {ticket['id']}" in bulk.without
        else {**ticket, "description": _surround(ticket["description"], _DESK, log, vocabulary)}
        for ticket in queue
    ]
    config["ticket_queue"] = [*added, *longer]


@lru_cache(maxsize=4)
def list_symbols(seed: int, items: int) -> tuple[str, ...]:
    """Return new stock symbols; each differs from a known symbol in one or two letters."""
    draws = FastRandom(f"{seed} symbols")
    known = [*TradingBot.stocks]
    symbols: dict[str, None] = {}
    while len(symbols) < 2 * items:
        letters = list(draws.choice(known))
        for place in draws.sample((1, 2, 3), draws.choice((1, 2))):
            letters[place] = draws.choice(_LETTERS)
        symbols["".join(letters)] = None
    return tuple([symbol for symbol in symbols if symbol not in _KNOWN])


def fill_trading(
    config: dict[str, Any], whole: Mapping[str, Any], vocabulary: Vocabulary, bulk: ItemSettings
) -> None:
    """Add finished orders and transactions before the existing items."""
    symbols = list_symbols(bulk.seed, bulk.count("stocks"))
    stocks = {
        symbol: _make_figures(vocabulary) for symbol in symbols if symbol not in whole["stocks"]
    }
    known = [str(key) for key in whole["orders"]]
    numbers = [int(key) for key in known if key.isdigit()]
    first = min(numbers, default=whole["order_counter"])
    traded = [*whole["stocks"], *symbols[:20]]
    orders = {
        str(number): {
            "id": number,
            "order_type": vocabulary.choice(("Buy", "Sell")),
            "symbol": vocabulary.choice(traded),
            "price": vocabulary.amount(10, 900),
            "amount": vocabulary.number(1, 60),
            "status": vocabulary.choice(("Completed", "Cancelled")),
        }
        for number in range(max(1, first - bulk.count("orders")), first)
        if str(number) not in bulk.without
    }
    moments = sorted(
        f"{vocabulary.day()} {vocabulary.number(8, 17):02}:{vocabulary.number(0, 59):02}:00"
        for _ in range(bulk.count("transactions"))
    )
    moved = [
        {
            "type": vocabulary.choice(("deposit", "withdrawal")),
            "amount": vocabulary.amount(10, 900),
            "timestamp": moment,
        }
        for moment in moments
    ]
    config["stocks"] = {**whole["stocks"], **stocks}
    config["orders"] = {**orders, **{str(key): order for key, order in whole["orders"].items()}}
    config["order_counter"] = whole["order_counter"]
    watched = vocabulary.sample(list(stocks), len(stocks) // 2)
    if WATCH_LIST in bulk.without:
        watched = []
    config["watch_list"] = vocabulary.mix(watched, whole["watch_list"])
    config["transaction_history"] = [*moved, *whole["transaction_history"]]


def _make_figures(vocabulary: Vocabulary) -> dict[str, float]:
    price = vocabulary.amount(10, 900)
    near = [round(price * vocabulary.random.uniform(0.97, 1.03), 2) for _ in range(2)]
    change, volume = vocabulary.amount(-2, 2), round(vocabulary.random.uniform(0.1, 5), 3)
    values = (price, change, volume, *near)
    return dict(zip(next(iter(TradingBot.stocks.values())), values, strict=True))


def fill_travel(
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
    config["credit_card_list"] = dict(vocabulary.mix(cards.items(), own.items()))
    mixed = vocabulary.mix(bookings.items(), booked.items())
    # A generated id may be the id of an existing booking.
    config["booking_record"] = {**dict(mixed), **booked}


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


def fill_tweets(
    config: dict[str, Any], whole: Mapping[str, Any], vocabulary: Vocabulary, bulk: ItemSettings
) -> None:
    """Add comments, followed accounts, and tweets with lower ids than the existing tweets."""
    tweets = whole["tweets"]
    first = min((tweet["id"] for tweet in tweets.values()), default=whole["tweet_counter"])
    people = list(dict.fromkeys(tweet["username"] for tweet in tweets.values()))
    others = _make_accounts(
        [*people, *whole["following_list"]], vocabulary, bulk.count("following")
    )
    posting = [*people, *others[: 2 * len(people) + 1]]
    added = {
        str(number): {
            "id": number,
            "username": vocabulary.choice(posting),
            "content": vocabulary.remark("tweet"),
            "tags": [f"#{vocabulary.one('town')}"],
            "mentions": [],
        }
        for number in range(max(0, first - bulk.count("tweets")), first)
        if str(number) not in bulk.without
    }
    comments = {
        key: vocabulary.mix(
            [*_make_comments(others, vocabulary, bulk)], whole["comments"].get(key, ())
        )
        for key in (tweets if bulk.lengthens else added)
    }
    config["tweets"] = {**added, **tweets}
    config["comments"] = comments if bulk.lengthens else {**whole["comments"], **comments}
    followed = () if FOLLOWED in bulk.without else others
    config["following_list"] = vocabulary.mix(followed, whole["following_list"])


def _make_comments(
    others: Sequence[str], vocabulary: Vocabulary, bulk: ItemSettings
) -> Iterator[dict[str, str]]:
    count = (
        bulk.count("comments") // _COMMENTS
        if bulk.lengthens
        else vocabulary.number(0, _MAX_COMMENTS)
    )
    for _ in range(count):
        username = vocabulary.choice(others)
        yield {"username": username, "content": vocabulary.remark("comment")}


def _make_accounts(known: Sequence[str], vocabulary: Vocabulary, count: int) -> list[str]:
    near = [f"{name}_{ending}" for name in dict.fromkeys(known) for ending in _ENDINGS]
    near = [name for name in near if vocabulary.permits(name)]
    any_ones = [vocabulary.person().lower().replace(" ", "_") for _ in range(count)]
    return [name for name in dict.fromkeys([*near, *any_ones]) if name not in known][:count]
