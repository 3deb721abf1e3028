from __future__ import annotations

from dataclasses import replace

import pytest

from envs.backends.trading_bot import TradingBot
from envs.registry import BACKENDS, check_config
from envs.session import Session
from trajectories.long_context_generator import generate_pack, widen_config
from trajectories.schema import LongContextSettings
from trajectories.vocabulary import split_words

BULK = LongContextSettings("generated", 5, 60)
CARD = {
    "card_number": "4929118200337745",
    "cardholder_name": "Vera Sokolova",
    "balance": 100.0,
    "expiration_date": "11/2028",
}
CONFIG = {
    "GorillaFileSystem": {
        "root": {
            "home": {
                "type": "directory",
                "contents": {
                    "a.txt": {"type": "file", "content": "one"},
                    "none": {"type": "directory", "contents": {}},
                },
            }
        }
    },
    "MessageAPI": {"user_map": {"Ann Lee": "USR001", "Van 7": "USR002"}, "inbox": []},
    "TicketAPI": {"ticket_counter": 50},
    "TradingBot": {
        "transaction_history": [
            {"type": "deposit", "amount": 5.0, "timestamp": "2024-06-03 10:00:00"}
        ]
    },
    "TravelAPI": {
        "credit_card_list": {"492000000001": CARD, "492000000002": {**CARD, "balance": 900.0}},
        "booking_record": {
            "3300141": {"travel_from": "SFO", "travel_to": "BOS", "travel_date": "2025-03-01"}
        },
    },
    "TwitterAPI": {"tweet_counter": 30, "username": "me", "following_list": ["tide_archive"]},
}


def wide(bulk=BULK, config=CONFIG):
    return widen_config(tuple(BACKENDS), config, bulk)


def test_the_same_seed_and_size_give_the_same_world():
    assert wide() == wide()
    assert generate_pack(BULK) == generate_pack(BULK)
    assert len({repr(wide(replace(BULK, seed=seed))) for seed in (5, 6)}) == 2
    assert len({repr(generate_pack(replace(BULK, seed=seed))) for seed in (5, 6)}) == 2


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("config", [CONFIG, {}])
def test_a_wide_config_has_no_defect(seed, config):
    filled = wide(replace(BULK, seed=seed), config)
    assert check_config(tuple(BACKENDS), filled) == []
    Session.load(tuple(BACKENDS), filled, generate_pack(BULK))


def test_no_items_are_no_bulk():
    assert wide(replace(BULK, items=0)) == CONFIG


def test_texts_differ_although_each_has_a_word_to_avoid():
    words = {"again", "for", "in", "of", "on", "the", "their", "to", "was"}
    tickets = wide(replace(BULK, without=tuple(words)))["TicketAPI"]["ticket_queue"]
    said = [{*split_words(f"{each['title']} {each['description']}")} for each in tickets]
    assert {len(words & text) for text in said} == {2}
    assert len({each["title"] for each in tickets}) > 10


def test_what_is_there_stays_as_it_is():
    filled = wide()
    for backend, key in (
        ("TravelAPI", "credit_card_list"),
        ("TravelAPI", "booking_record"),
        ("MessageAPI", "user_map"),
    ):
        own, now = CONFIG[backend][key], filled[backend][key]
        assert own.items() <= now.items()
        assert len(now) > len(own) + 10
    assert filled["TwitterAPI"]["following_list"].count("tide_archive") == 1
    assert filled["TradingBot"]["transaction_history"][-1]["timestamp"] == "2024-06-03 10:00:00"
    assert list(filled["TradingBot"]["orders"])[-2:] == ["12345", "12446"]


@pytest.mark.parametrize(
    "listed",
    [
        lambda config: [*config["GorillaFileSystem"]["root"]["home"]["contents"]].index("a.txt"),
        lambda config: [*config["MessageAPI"]["user_map"]].index("Ann Lee"),
        lambda config: [*config["TravelAPI"]["credit_card_list"]].index("492000000001"),
        lambda config: [*config["TravelAPI"]["booking_record"]].index("3300141"),
        lambda config: config["TwitterAPI"]["following_list"].index("tide_archive"),
        lambda config: config["TradingBot"]["watch_list"].index("NVDA"),
        lambda config: (
            config["GorillaFileSystem"]["root"]["home"]["contents"]["a.txt"]["content"]
            .split("\n")
            .index("one")
        ),
    ],
)
def test_bulk_comes_before_and_after_what_is_there(listed):
    config = {**CONFIG, "TradingBot": {"watch_list": ["NVDA"]}}
    places = [listed(wide(replace(BULK, seed=seed), config)) for seed in range(40)]
    assert min(places) < 4
    assert len({*places}) > 5
    assert max(places) > 7


def test_a_listing_of_messages_has_others_before_and_after_an_own_receiver():
    config = {**CONFIG["MessageAPI"], "inbox": [{"USR001": "one"}, {"USR001": "two"}]}
    places = set()
    for seed in range(20):
        inbox = wide(replace(BULK, seed=seed), {"MessageAPI": config})["MessageAPI"]["inbox"]
        receivers = list(dict.fromkeys(to for message in inbox for to in message))
        places.add(receivers.index("USR001") / (len(receivers) - 1))
        assert [message for message in inbox if "USR001" in message] == config["inbox"]
    assert min(places) < 0.2
    assert max(places) > 0.5


def test_bulk_is_of_the_same_kind_as_what_is_there():
    filled = wide()
    names = filled["MessageAPI"]["user_map"]
    assert any(name != "Ann Lee" and name.startswith("Ann ") for name in names)
    assert any(name != "Ann Lee" and name.endswith(" Lee") for name in names)
    assert any(name != "Van 7" and name.startswith("Van ") for name in names)
    assert {"tide_archive_daily", "tide_archive_club"} <= {*filled["TwitterAPI"]["following_list"]}
    assert all(id.startswith("4920") for id in filled["TravelAPI"]["credit_card_list"])


def test_bulk_is_over_before_anything_that_matters():
    filled = wide()
    moments = [m["timestamp"] for m in filled["TradingBot"]["transaction_history"]]
    assert moments == sorted(moments)
    assert moments[-2] < "2024-06-03"
    states = {order["status"] for order in filled["TradingBot"]["orders"].values()}
    assert states == {"Completed", "Cancelled", "Pending"}
    trips = [*filled["TravelAPI"]["booking_record"].values()]
    own = {"travel_from": "SFO", "travel_to": "BOS", "travel_date": "2025-03-01"}
    trips.remove(own)
    assert all(trip["travel_date"] < "2025-03-01" for trip in trips)
    assert all(
        {trip["travel_from"], trip["travel_to"]}.isdisjoint({"SFO", "BOS"}) for trip in trips
    )
    balances = [card["balance"] for card in filled["TravelAPI"]["credit_card_list"].values()]
    assert (min(balances), max(balances)) == (100.0, 900.0)


def test_an_empty_directory_stays_empty():
    [home] = wide()["GorillaFileSystem"]["root"].values()
    assert home["contents"]["none"]["contents"] == {}
    assert len(home["contents"]) > 10


def test_bulk_does_without_words_and_days():
    without = ("crates", "falkner", "lanterns", "2023-02-01", "7")
    filled = wide(replace(BULK, without=without))
    said = split_words(repr(filled["MessageAPI"])) + split_words(repr(filled["TicketAPI"]))
    assert {"crates", "falkner", "lanterns"}.isdisjoint(said)
    bulk = filled["TradingBot"]["transaction_history"][:-1]
    assert all(moved["timestamp"] < "2023-02-01" for moved in bulk)
    assert all(order.get("amount") != 7 for order in filled["TradingBot"]["orders"].values())


def test_symbols_are_like_known_ones_and_none_of_them():
    sectors = generate_pack(BULK).sector_stocks
    symbols = [*sectors["Technology"], *sectors["Automobile"]]
    assert len(symbols) > 100
    assert {*symbols}.isdisjoint(TradingBot.stocks)
    stocks = wide()["TradingBot"]["stocks"]
    assert {*symbols} <= stocks.keys()
    assert all(
        any(sum(map(str.__ne__, s, known)) < 3 for known in TradingBot.stocks) for s in symbols
    )


def test_a_pack_changes_only_what_a_car_and_sectors_show():
    pack = generate_pack(BULK)
    assert pack.car_status.count("gallons") == len(pack.cities) == 20
    assert (pack.extra_files, pack.credit_cards, pack.watch_list) == ((), {}, None)
    assert not pack.lists_fares
