"""Likely and unlikely arguments for every parameter of the 128 functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from envs.calls import Call
from envs.session import Session

ODD: Sequence[Any] = (
    None, True, False, 0, 1, -1, 3, 5.0, 2.5, -0.0, 1e308, 10**25, "", "x", "None", "5", "1.5", ".",
    "..", "a/b", "it's", 'say "so"', "Zoë ✓ 😀", "tab\tnew\nline", "back\\slash", "see (this) now",
    "é" * 3000, [], ["x"], [1, 2.5], [None], {}, {"a": 1}, (), ("AAPL", "x"), (1, 2), "2024-02-30",
)  # fmt: skip

CHAINS: Mapping[str, Sequence[Sequence[str]]] = {
    "GorillaFileSystem": (
        ("mkdir", "cd", "touch", "echo", "cat", "cp", "diff", "cd", "rm", "rmdir"),
        ("touch", "echo", "wc", "sort", "grep", "tail", "mv", "find"),
        ("mkdir", "rmdir", "cd", "ls", "cd", "pwd", "mkdir", "cp", "du"),
        ("cd", "mkdir", "cd", "touch", "echo", "cd", "mv", "cd", "pwd", "cd", "echo"),
        ("mkdir", "cp", "cd", "echo", "cd", "ls", "echo"),
        ("mkdir", "cd", "mkdir", "cd", "mv", "cd", "cd", "pwd", "cd", "pwd"),
    ),
    "VehicleControlAPI": (
        ("lockDoors", "pressBrakePedal", "startEngine", "setCruiseControl", "displayCarStatus"),
        ("fillFuelTank", "lockDoors", "pressBrakePedal", "startEngine", "startEngine"),
        ("lockDoors", "displayCarStatus", "pressBrakePedal", "displayCarStatus"),
    ),
    "MathAPI": (("mean", "standard_deviation", "logarithm", "square_root"),),
    "TwitterAPI": (
        ("authenticate_twitter", "post_tweet", "mention", "retweet", "comment", "get_tweet"),
        ("authenticate_twitter", "post_tweet", "post_tweet", "mention", "get_tweet_comments"),
        ("authenticate_twitter", "follow_user", "unfollow_user", "list_all_following"),
        ("get_tweet", "comment", "authenticate_twitter", "comment", "get_tweet_comments"),
    ),
    "TicketAPI": (
        ("ticket_login", "create_ticket", "edit_ticket", "resolve_ticket", "close_ticket"),
        ("ticket_login", "create_ticket", "create_ticket", "get_user_tickets", "logout"),
    ),
    "TradingBot": (
        ("trading_login", "fund_account", "place_order", "get_order_details", "cancel_order"),
        ("trading_login", "add_to_watchlist", "get_watchlist", "remove_stock_from_watchlist"),
        ("trading_login", "withdraw_funds", "fund_account", "get_transaction_history"),
        ("get_watchlist", "get_order_history", "trading_logout", "get_transaction_history"),
    ),
    "TravelAPI": (
        ("authenticate_travel", "register_credit_card", "set_budget_limit", "book_flight"),
        ("book_flight", "retrieve_invoice", "cancel_booking", "get_booking_history"),
        ("set_budget_limit", "book_flight", "purchase_insurance", "cancel_booking"),
        ("book_flight", "contact_customer_support", "purchase_insurance", "cancel_booking"),
        ("authenticate_travel", "verify_traveler_information", "get_credit_card_balance"),
    ),
    "MessageAPI": (
        ("message_login", "send_message", "view_messages_sent", "delete_message"),
        ("add_contact", "message_login", "send_message", "search_messages", "get_message_stats"),
        ("add_contact", "add_contact", "list_users", "get_user_id"),
    ),
}
"""Functions that lead somewhere in this order, by backend."""

LEADS: Mapping[str, Sequence[str]] = {
    "GorillaFileSystem": ("cd", "cd", "touch", "echo"),
    "VehicleControlAPI": ("lockDoors", "pressBrakePedal", "startEngine", "setCruiseControl"),
    "MathAPI": ("logarithm",),
    "TwitterAPI": ("authenticate_twitter", "post_tweet"),
    "TicketAPI": ("ticket_login", "create_ticket"),
    "TradingBot": ("trading_login", "trading_login", "place_order"),
    "TravelAPI": ("set_budget_limit", "book_flight", "book_flight"),
    "MessageAPI": ("message_login", "send_message"),
}
"""Functions without which many others refuse."""

SITUATIONS: Mapping[str, Mapping[str, Sequence[Any]]] = {
    "VehicleControlAPI": {
        "engineState": ("running", "stopped"),
        "fuelLevel": (0, 20.0, 30, 45.0),
        "frontLeftTirePressure": (27.0, 28.0, 48.0, 50.0),
    },
    "TwitterAPI": {"authenticated": (True, False), "tweet_counter": (0, 1, 5)},
    "TicketAPI": {"current_user": ("ann", None), "ticket_counter": (0, 1, 2)},
    "TradingBot": {
        "authenticated": (True, False),
        "market_status": ("Open", "Closed"),
        "account_info": ({"balance": 1500.0}, {"balance": 100}, {"balance": 5000.0}),
    },
    "TravelAPI": {
        "access_token": (None, "abc"),
        "token_expires_in": (None, 0, 1, 3600),
        "budget_limit": (None, 0, 200.0, 400.0, 1e6),
        "credit_card_list": (
            {str(hundreds): {"balance": 100.0 * hundreds} for hundreds in range(1, 9)},
            {"1": {}, "2": {"balance": 10**6}},
        ),
    },
    "MessageAPI": {"current_user": ("USR001", None), "user_count": (0, 3, 4)},
}
"""Members of initial configs that decide what is possible, with values on either side."""

_NEW_NAMES = ("n1", "n2", "n3.txt", ".hidden", "new dir", "ünï.txt", "n4", "n5.txt")
_ODD_NAMES = ("", ".", "..", "a/b", "w?", "x:y", "None", "n*")
_TEXTS = (
    "one line", "b\na\nc", "b\r\nB\n\n a\n", "", "Zoë ✓ 😀", "error: x\nok\nerror: y", "z" * 1500,
    "it's", "tab\there", "Error Line\n" * 14, "\x0bvertical\x85next\u2028line",
)  # fmt: skip
_CITIES = (
    "Rivermist", "Stonebrook", "Maplecrest", "Silverpine", "Shadowridge", "London", "Paris",
    "Oakendale", "Sunset Valley", "Willowbend", "Crescent Hollow", "Autumnville", "Pinehaven",
    "Greenfield", "Boston", "San Francisco", "Los Angeles", "New York", "Chicago", "Beijing",
    "Hong Kong", "Rome", "Tokyo", "rivermist", "Springfield",
)  # fmt: skip
_ROUTES = (
    ("SFO", "LAX"), ("LAX", "SFO"), ("JFK", "LAX"), ("RMS", "SBK"), ("ORD", "SFO"), ("BOS", "RMS"),
    ("OKD", "LAX"), ("SVP", "SHD"), ("CRH", "PHV"), ("JFK", "PVG"), ("LAX", "HND"), ("JFK", "HND"),
)  # fmt: skip
_ZIP_CODES = (
    "83214", "74532", "56108", "62947", "71354", "83462", "47329", "52013", "69238", "51479",
    "94016", "94704", "08540", "00000",
)  # fmt: skip
_AIRPORTS = (
    "RMS", "SBK", "MPC", "SVP", "SHD", "CDG", "LHR", "SSV", "OKD", "WLB", "CRH", "ATV", "PHV",
    "SFO", "LAX", "JFK", "ORD", "BOS", "PEK", "HKG", "CIA", "GFD", "HND", "PVG", "XXX",
)  # fmt: skip
_COMPANIES = (
    "Apple", "Google", "Tesla", "Microsoft", "Nvidia", "Zeta Corp", "Alpha Tech",
    "Omega Industries", "Quasar Ltd.", "Neptune Systems", "Synex Solutions", "Amazon",
    "Gorilla", "Nobody",
)  # fmt: skip
_CURRENCIES = ("USD", "RMB", "EUR", "JPY", "GBP", "CAD", "AUD", "INR", "RUB", "BRL", "MXN", "CHF")
_DATES = ("2024-11-16", "2024-1-5", "2025-12-31", "2024-02-30", "2024-13-01", "16/11/2024", "soon")
_TIMES = ("2024-01-01", "2024-9-1", "2024-09-02", "2020-01-01", "2030-1-1", "", None, "None", "May")
_BIRTHS = ("1985-06-15", "1990-1-1", "2024-01-01", "2008-06-01", "1970-02-30", "unknown")
_DISTANCES = (
    ("08540", "94016"), ("94704", "08540"), ("47329", "52013"), ("52013", "47329"),
    ("47329", "47329"),
)  # fmt: skip
_SI = ("km", "m", "cm", "mm", "um", "nm", "mile")
_IMPERIAL = (
    ("cm", "in"), ("in", "cm"), ("m", "ft"), ("ft", "m"), ("m", "yd"), ("yd", "m"), ("kg", "lb"),
    ("lb", "kg"), ("km", "miles"), ("miles", "km"), ("celsius", "fahrenheit"),
    ("fahrenheit", "celsius"),
)  # fmt: skip
_NUMBERS = (0, 1, 2, 3, 7, 10, 20, 36.0, 100, 0.1, 2.5, -1, -2.5, 980.0, 1e-9, 123456789, 2.675)
_AMOUNTS = (1, 10.0, 100, 250.5, 999.99, 5000, 0, -5, 1e7)


class World:
    """What exists in a session at this moment.

    Args:
        session: The session; only read.
        random: Where choices come from.
    """

    def __init__(self, session: Session, random: Random) -> None:
        self.session = session
        self.random = random
        self._together: dict[str, tuple[Any, Any]] = {}

    def state(self, environment: str, field: str) -> Any:
        """Return a field of a backend's state."""
        return getattr(self.session.backends[environment], field)

    def one_of(self, values: Any, default: Any = "x") -> Any:
        """Return one of some values, the default where there are none."""
        values = list(values)
        return self.random.choice(values) if values else default

    def some_of(self, values: Any, most: int = 4) -> list[Any]:
        """Return a list of some values, a value perhaps twice, perhaps none at all."""
        values = list(values)
        return self.random.choices(values, k=self.random.randint(0, most)) if values else []

    def half(self, of: str, pairs: Sequence[tuple[Any, Any]], which: int) -> Any:
        """Return one half of a pair; the other half is what a later argument will get."""
        if of not in self._together:
            self._together[of] = self.random.choice(pairs)
        return self._together[of][which]

    def chance(self, probability: float) -> bool:
        """Return true with a probability."""
        return self.random.random() < probability

    def here(self, kind: str | None = None) -> list[str]:
        """Return the names in the current directory, perhaps only those of one kind of node."""
        contents = self._current()["contents"]
        return [name for name, node in contents.items() if kind in (None, node["type"])]

    def nodes(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield path and node of every file and directory in the tree."""
        pending = [("", self._root())]
        while pending:
            path, node = pending.pop()
            for name, member in node.get("contents", {}).items():
                yield f"{path}/{name}", member
                pending.append((f"{path}/{name}", member))

    def _root(self) -> Mapping[str, Any]:
        snapshot = self.session.snapshot().to_json()
        (root,) = snapshot["GorillaFileSystem"]["root"].values()
        node: Mapping[str, Any] = root
        return node

    def _current(self) -> Mapping[str, Any]:
        snapshot = self.session.snapshot().to_json()
        ((name, node),) = snapshot["GorillaFileSystem"]["root"].items()
        path = self.session.fork().call(Call("pwd")).value["current_working_directory"]
        for step in path.removeprefix(f"/{name}").strip("/").split("/"):
            node = node["contents"].get(step, node) if step else node
        current: Mapping[str, Any] = node
        return current


Source = Callable[[World], Any]


def fitting(world: World, function: str, parameter: str) -> Any:
    """Return a likely argument for a parameter."""
    source = _SOURCES.get(f"{function}.{parameter}") or _SOURCES.get(parameter)
    assert source is not None, f"no likely values for {function}.{parameter}"
    try:
        return source(world)
    except (AttributeError, KeyError, TypeError, ValueError):
        # Odd arguments have made the state odd by now.
        return world.random.choice(ODD)


def _among(*values: Any) -> Source:
    return lambda world: world.random.choice(values)


def _half(of: str, pairs: Sequence[tuple[Any, Any]], which: int, others: Sequence[Any]) -> Source:
    def source(world: World) -> Any:
        chosen = world.chance(0.8)
        return world.half(of, pairs, which) if chosen else world.random.choice(others)

    return source


def _some(*values: Any) -> Source:
    return lambda world: world.some_of(values)


def _file(world: World) -> Any:
    if world.chance(0.85):
        return world.one_of(world.here("file") or world.here())
    return world.one_of((*world.here(), *_NEW_NAMES, *_ODD_NAMES))


def _directory(world: World) -> Any:
    if world.chance(0.6):
        return world.one_of(world.here("directory"), "..") + ("/" if world.chance(0.1) else "")
    return world.one_of(("..", "..", ".", "/", "", *world.here(), "nowhere", "a/b"))


def _new_name(world: World) -> Any:
    return world.one_of(_NEW_NAMES if world.chance(0.8) else (*world.here(), *_ODD_NAMES))


def _entry(world: World) -> Any:
    return world.one_of(world.here() if world.chance(0.9) else (*_NEW_NAMES, *_ODD_NAMES))


def _destination(world: World) -> Any:
    if world.chance(0.4):
        return world.one_of(world.here("directory"), "n1")
    return world.one_of(world.here() if world.chance(0.3) else (*_NEW_NAMES, *_ODD_NAMES))


def _path(world: World) -> Any:
    paths = [path for path, _ in world.nodes()]
    if world.chance(0.4) and paths:
        return world.one_of(paths)
    return world.one_of((".", "/", "./", "..", *world.here("directory"), *world.here()))


def _part_of_name(world: World) -> Any:
    name = world.one_of([path.rsplit("/", 1)[1] for path, _ in world.nodes()], "abc")
    start = world.random.randint(0, len(name))
    return world.one_of((name, name[start : start + 3], name.upper(), None, "", "zzz"))


def _pattern(world: World) -> Any:
    content = world.one_of([n["content"] for _, n in world.nodes() if n.get("content")], "abc")
    words = content.split() if isinstance(content, str) else []
    return world.one_of((*words[:8], "e", "", "zzz", "E", "."))


def _doors(world: World) -> Any:
    doors = ["driver", "passenger", "rear_left", "rear_right"]
    if world.chance(0.6):
        return doors
    return world.some_of((*doors, *doors, *doors, "trunk"))


def _state(environment: str, field: str, *others: Any, share: float = 0.85) -> Source:
    """Return a source of members of a list or keys of an object in the state."""

    def source(world: World) -> Any:
        if others and not world.chance(share):
            return world.random.choice(others)
        return world.one_of(world.state(environment, field), world.random.choice(others or ("x",)))

    return source


def _value(environment: str, field: str, *others: Any, share: float = 0.85) -> Source:
    """Return a source of one field of the state itself."""

    def source(world: World) -> Any:
        chosen = not others or world.chance(share)
        return world.state(environment, field) if chosen else world.random.choice(others)

    return source


def _user_id(world: World) -> Any:
    return world.one_of((*world.state("MessageAPI", "user_map").values(), "USR002", "USR999"))


def _receiver(world: World) -> Any:
    return world.one_of([key for message in world.state("MessageAPI", "inbox") for key in message])


def _ticket_id(world: World) -> Any:
    ids = [ticket.get("id", 0) for ticket in world.state("TicketAPI", "ticket_queue")]
    return world.one_of(ids if world.chance(0.9) else (0, 1, 99, "ticket_001"), 1)


def _updates(world: World) -> dict[str, Any]:
    members = {
        "title": world.one_of(("New", None, "")),
        "description": world.one_of(("text", "Zoë")),
        "status": world.one_of(("Open", "Closed", "Urgent", "Resolved")),
        "priority": world.one_of((1, 5, 99, None)),
        "owner": "x",
    }
    names = world.some_of(("title", "description", "status", "priority") * 3 + ("owner",))
    return {name: members[name] for name in names}


def _tweet_user(world: World) -> Any:
    tweets = world.state("TwitterAPI", "tweets").values()
    names = [tweet.get("username") for tweet in tweets]
    return world.one_of((*names, world.state("TwitterAPI", "username"), "alice"))


def _tweet_word(world: World) -> Any:
    words = ["", "zzz"]
    for tweet in world.state("TwitterAPI", "tweets").values():
        words += [*str(tweet.get("content")).split()[:3], *map(str, tweet.get("tags") or [])]
    word = world.one_of(words)
    return world.one_of((word, word.upper(), word[:2]))


def _symbols(world: World) -> Any:
    return world.some_of((*world.state("TradingBot", "stocks"), "XYZ"), 6)


def _card_number(world: World) -> Any:
    return world.one_of(("4111111111111111", *world.state("TravelAPI", "credit_card_list")))


def _numbers(world: World) -> Any:
    return world.some_of((*_NUMBERS, *_NUMBERS, world.random.uniform(-100, 100)), 8)


def _number(world: World) -> Any:
    if world.chance(0.3):
        return world.random.choice((world.random.uniform(0, 1000), world.random.randint(1, 10**6)))
    return world.random.choice(_NUMBERS)


_SYMBOL = _state("TradingBot", "stocks", "XYZ", "AAPL", "aapl")
_CARD = _state("TravelAPI", "credit_card_list", "1234", share=0.92)
_BOOKING = _state("TravelAPI", "booking_record", "1234", "insurance", share=0.92)
_TOKEN = _value("TravelAPI", "access_token", "wrong", None, share=0.93)
_PRICE = _among(0, 50, 100.5, 150, 227.16, 300, 700.0, 3000, -1)
_TWEET = _state("TwitterAPI", "tweets", 0, 1, 99, "1", 1.0)
_TEXT = _among(*_TEXTS)
_WORD = _among("text", "hello there", "Zoë ✓", "", "it's me")
_SPEED = _among(0, 5, 60, 60.0, 65, 120, 63, 121, -5, "50")

_SOURCES: Mapping[str, Source] = {
    "a": _among(True, False),
    "human_readable": _among(True, False),
    "folder": _directory,
    "dir_name": _directory,
    "mkdir.dir_name": _new_name,
    "touch.file_name": _new_name,
    "echo.file_name": lambda world: _file(world) if world.chance(0.9) else None,
    "echo.content": _TEXT,
    "file_name": _file,
    "file_name1": _file,
    "file_name2": _file,
    "path": _path,
    "find.name": _part_of_name,
    "pattern": _pattern,
    "source": _entry,
    "destination": _destination,
    "rm.file_name": _entry,
    "lines": _among(0, 1, 2, 3, 10, 100, -1, -2),
    "wc.mode": _among("l", "w", "c", "c", "x"),
    "ignitionMode": _among("START", "START", "START", "START", "STOP", "start"),
    "fuelAmount": _among(0, 1, 5.5, 10, 20.0, 30, 50, -1),
    "unlock": _among(False, False, False, True),
    "door": _doors,
    "temperature": _among(18, 20.0, 22.5, 68, 72, 72.0, -40),
    "unit": _among("celsius", "fahrenheit", "kelvin"),
    "fanSpeed": _among(0, 50, 75, 100, 101, -1, 33.3),
    "adjustClimateControl.mode": _among("auto", "cool", "heat", "defrost", "eco"),
    "setHeadlights.mode": _among("on", "off", "auto", "dim"),
    "activateParkingBrake.mode": _among("engage", "release", "hold"),
    "option": _among(
        *(
            "fuel",
            "battery",
            "doors",
            "climate",
            "headlights",
            "parkingBrake",
            "brakePedal",
            "engine",
        ),
        *("brakePedal", "tires"),
    ),
    "pedalPosition": _among(1.0, 1.0, 1.0, 1, 0, 0.0, 0.5, 1.5, -0.1, True),
    "speed": _SPEED,
    "activate": _among(True, True, False),
    "distanceToNextVehicle": _among(0, 10, 100.0, 50, "30"),
    "messages": _some("a", "b", "Zoë"),
    "distance": _among(0, 10, 100.0, 500, 1000.5, 10000),
    "liter": _number,
    "gallon": _number,
    "cityA": _half("distance", _DISTANCES, 0, _ZIP_CODES),
    "cityB": _half("distance", _DISTANCES, 1, _ZIP_CODES),
    "city": _among(*_CITIES),
    "set_navigation.destination": _WORD,
    "logarithm.value": lambda world: abs(_number(world)) if world.chance(0.9) else 0,
    "base": lambda world: world.random.choice((2, 10, 10.0, 3, 2.718281828459045, 0.5, 1, 20, 6.0)),
    "precision": _among(1, 2, 3, 4, 5, 10, 15, 16, 20, 30, 50, 1000, 1001),
    "numbers": _numbers,
    "value": _number,
    "si_unit_conversion.unit_in": _among(*_SI),
    "si_unit_conversion.unit_out": _among(*_SI),
    "imperial_si_conversion.unit_in": _half("units", _IMPERIAL, 0, ("m", "stone")),
    "imperial_si_conversion.unit_out": _half("units", _IMPERIAL, 1, ("m", "stone")),
    "b": _number,
    **{f"{name}.a": _number for name in ("add", "subtract", "multiply", "divide")},
    "power.base": _number,
    "exponent": _among(0, 1, 2, 3, -1, 0.5, 10, 64, 0.0, -2.5),
    "number": _number,
    "decimal_places": _among(0, 1, 2, 3, -1, -2, None),
    "part": _number,
    "whole": _number,
    "username": _value("TwitterAPI", "username", "alice", share=0.9),
    "password": _value("TwitterAPI", "password", "secret", share=0.9),
    "get_user_tweets.username": _tweet_user,
    "get_user_stats.username": _tweet_user,
    "post_tweet.content": _WORD,
    "tags": _some("#a", "#B", "#Zoë"),
    "mentions": _some("@bob", "@alice"),
    "tweet_id": _TWEET,
    "comment_content": _WORD,
    "mentioned_usernames": _some("@bob", "@carol", "@dave"),
    "username_to_follow": _among("alice", "bob", "carol", "dave", ""),
    "username_to_unfollow": _state("TwitterAPI", "following_list", "nobody"),
    "keyword": _tweet_word,
    "stock": _SYMBOL,
    "stocks": _symbols,
    "symbol": _SYMBOL,
    "remove_stock_from_watchlist.symbol": _state("TradingBot", "watch_list", "XYZ", "NVDA"),
    "order_id": _state("TradingBot", "orders", 1, "12345", 12446, share=0.9),
    "order_type": _among("Buy", "Sell", "buy", "Hold"),
    "price": _PRICE,
    "min_price": _PRICE,
    "max_price": _PRICE,
    "threshold": _among(0, 0.1, 0.5, 1, 2.5, -1),
    "place_order.amount": _among(1, 2, 5, 10, 100, 2.5, 0, -1, 100000),
    "amount": _among(*_AMOUNTS),
    "sector": _among("Technology", "Automobile", "technology", "Energy"),
    "get_symbol_by_name.name": _among(*_COMPANIES),
    "start_date": _among(*_TIMES),
    "end_date": _among(*_TIMES),
    "trading_login.username": _WORD,
    "trading_login.password": _WORD,
    **dict.fromkeys(("client_id", "client_secret", "refresh_token"), _WORD),
    "grant_type": _among("read_write", "read", "x"),
    "user_first_name": _among("Ann", "Zoë"),
    "user_last_name": _among("Lee", "Ng"),
    "access_token": _TOKEN,
    "card_id": _CARD,
    "booking_id": _BOOKING,
    "insurance_id": _among(None, "123456789"),
    "insurance_type": _among("comprehensive", "basic"),
    "insurance_cost": _among(0, 50, 100.5, 2000, 1e6, -3),
    "travel_date": lambda world: world.one_of(_DATES[: 3 if world.chance(0.85) else None]),
    "travel_from": _half("route", _ROUTES, 0, _AIRPORTS),
    "travel_to": _half("route", _ROUTES, 1, _AIRPORTS),
    "travel_class": _among("economy", "business", "first", "First"),
    "card_number": _card_number,
    "expiration_date": _among("12/2028", ""),
    "cardholder_name": _WORD,
    "card_verification_number": _among(123, "123"),
    "budget_limit": _among(0, 0.0, 1, 100, 5000.0, 10**6, "250.5", -1, "much"),
    "base_currency": lambda world: "USD" if world.chance(0.45) else world.one_of(_CURRENCIES),
    "target_currency": lambda world: "USD" if world.chance(0.45) else world.one_of(_CURRENCIES),
    "location": _among(*_CITIES),
    "lastModifiedAfter": _among(None, "2024-01-01"),
    "includeRemoved": _among(None, "true"),
    "contact_customer_support.message": _WORD,
    "first_name": _value("TravelAPI", "user_first_name", "Ann"),
    "last_name": _value("TravelAPI", "user_last_name", "Lee"),
    "date_of_birth": _among(*_BIRTHS),
    "passport_number": _among("US12345678", "US", "GB12345678", "us123", ""),
    "user": _state("MessageAPI", "user_map", "Nobody", "alice"),
    "user_id": _user_id,
    "receiver_id": _user_id,
    "delete_message.receiver_id": lambda world: (_receiver if world.chance(0.8) else _user_id)(
        world
    ),
    "send_message.message": _WORD,
    "search_messages.keyword": _among("a", "THE", "", "zzz", "meeting", "hello"),
    "user_name": _among("Zed", "Yan", "Alice", "Xi", "Zoë", "Walt", "Vic", "Uma", ""),
    "ticket_id": _ticket_id,
    "title": _WORD,
    "description": _WORD,
    "priority": _among(1, 2, 3, 4, 5, 0, 6, 2.5, True),
    "updates": _updates,
    "resolution": _WORD,
    "get_user_tickets.status": _among(None, "", "Open", "open", "Closed", "None"),
    "ticket_login.username": _among("ann", "bob", "bob", "", "tech_guru"),
    "ticket_login.password": _among("pw", "pw", "pw", ""),
}
