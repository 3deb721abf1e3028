from __future__ import annotations

from dataclasses import replace

import pytest

from envs.errors import DataError
from envs.registry import check_config
from extensions.authoring.making.scenario_worlds import sizes, surround
from trajectories.schema import Category, Message, Trajectory, Turn

TICKET = {
    "id": 90,
    "title": "Lamp",
    "description": "It flickers.",
    "status": "Open",
    "priority": 1,
    "created_by": "me",
}
TWEET = {"id": 60, "username": "me", "content": "c", "tags": [], "mentions": []}
CONFIG = {
    "GorillaFileSystem": {
        "root": {
            "home": {
                "type": "directory",
                "contents": {"a.txt": {"type": "file", "content": "one"}},
            }
        }
    },
    "MessageAPI": {"current_user": "USR001"},
    "TicketAPI": {"ticket_queue": [TICKET], "ticket_counter": 91},
    "TradingBot": {"authenticated": True},
    "TravelAPI": {"access_token": "t"},
    "TwitterAPI": {"username": "me", "tweets": {"60": TWEET}, "tweet_counter": 61},
}
BASE = Trajectory(
    "base_x",
    Category.BASE,
    tuple(CONFIG),
    CONFIG,
    (Turn((Message("user", "Mend the lanterns of Greta."),), ("get_ticket(ticket_id=90)",)),),
)


def test_items_stand_around_what_is_written_by_hand_which_stays():
    config = surround(BASE, 5, 40, ()).config
    assert config["TicketAPI"]["ticket_queue"][-1] == TICKET
    assert config["TwitterAPI"]["tweets"]["60"] == TWEET
    assert "60" not in config["TwitterAPI"]["comments"]
    contents = config["GorillaFileSystem"]["root"]["home"]["contents"]
    assert contents["a.txt"]["content"] == "one"
    counts = {name: sizes(members) for name, members in config.items()}
    assert counts["TicketAPI"]["ticket_queue"] == 41
    assert counts["TwitterAPI"]["tweets"] == 41
    assert len(contents) > 8
    for name, member in (
        ("MessageAPI", "inbox"),
        ("TradingBot", "orders"),
        ("TravelAPI", "booking_record"),
    ):
        assert counts[name][member] >= 40, name


def test_a_world_has_no_defect_and_comes_from_its_seed():
    first, again, other = (surround(BASE, seed, 40, ()).config for seed in (5, 5, 6))
    assert check_config(BASE.environments, first) == []
    assert first == again != other


def test_words_of_requests_are_in_no_item():
    text = str(surround(BASE, 5, 200, ("the pulleys",)).config).casefold()
    assert [word for word in ("lantern", "greta", "pulley") if word in text] == []
    assert "kettles" in text


def test_a_defect_is_told_in_one_line():
    broken = replace(BASE, config={"TicketAPI": {"ticket_queue": [{"id": "x"}]}})
    with pytest.raises(DataError, match="base_x: config: "):
        surround(broken, 5, 40, ())
