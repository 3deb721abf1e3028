from __future__ import annotations

import re
from dataclasses import replace

import pytest

from checkers.required_info import Items, Number, Text, YesNo
from envs.errors import DataError
from envs.registry import check_config
from extensions.authoring.making.long_context import (
    LONGER_CHARS,
    MIN_CHARS,
    count_read,
    lengthen,
    place_in_world,
)
from extensions.authoring.making.maker_helpers import calls, start
from trajectories.dataset import load_embedded
from trajectories.long_context_generator import widen_config
from trajectories.schema import (
    AlternativeRead,
    Category,
    LongContextSettings,
    Message,
    Trajectory,
    Turn,
)

USERS = {
    "user_map": {"Ann": "USR001", "Ben": "USR002"},
    "user_count": 2,
    "inbox": [{"USR002": "hello"}],
    "message_count": 1,
    "current_user": "USR001",
}


def folder(**files):
    contents = {
        f"{name}.txt": {"type": "file", "content": content} for name, content in files.items()
    }
    contents = {"papers": {"type": "directory", "contents": contents}}
    contents["empty"] = {"type": "directory", "contents": {}}
    return {"root": {"home": {"type": "directory", "contents": contents}}}


def scenario(config, *turns):
    return Trajectory(
        "base_x",
        Category.BASE,
        tuple(config),
        config,
        tuple([Turn((Message("user", said),), truth) for said, truth in turns]),
        provenance={"author": "Turnwise"},
    )


def outcome(trajectory):
    """Return the ground truth's results, of which each must be a success."""
    session = start(trajectory)
    results = session.play([call for turn in trajectory.turns for call in calls(turn)])
    assert [result.text for result in results if not result.ok] == []
    return [result.value for result in results]


def longer_world(base, seed, items):
    """Return a base in a world whose bulk does without no word."""
    return place_in_world(base, LongContextSettings("generated", seed, items))


def world(longer):
    """Return the config that a long trajectory is loaded with."""
    return widen_config(longer.environments, longer.config, longer.long_context)


ENTER = ("Go to papers.", ("cd(folder='papers')",))


def test_the_bulk_is_as_asked_for():
    longer = lengthen(LISTED, seed=5, chars=3_000)
    assert (longer.id, longer.category) == ("long_context_x", Category.LONG_CONTEXT)
    assert (longer.long_context.seed, longer.long_context.kinds) == (5, ("users",))
    assert 3_000 <= count_read(LISTED, longer.long_context) < 4_000
    assert longer.config == LISTED.config
    assert longer.provenance == {"author": "Turnwise", "base": "base_x"}


def test_the_same_seed_and_size_give_the_same_world():
    assert lengthen(LISTED, 5, 3_000) == lengthen(LISTED, 5, 3_000)
    first, second = (world(lengthen(LISTED, seed, 3_000)) for seed in (5, 6))
    assert first != second


def test_a_scenario_that_reads_no_bulk_is_not_long():
    assert lengthen(scenario({"GorillaFileSystem": folder(a="one")}, ENTER)) is None
    assert lengthen(scenario({"MathAPI": {}}, ("1 + 1?", ("add(a=1, b=1)",)))) is None


@pytest.mark.parametrize(
    ("said", "stays"),
    [
        ("Read a.txt in papers.", False),
        ("Read the first line of a.txt in papers.", True),
        ("Read a.txt in papers. The newest on top, as ever.", True),
    ],
)
def test_a_file_begins_as_before_if_the_user_speaks_of_its_first_line(said, stays):
    base = scenario({"GorillaFileSystem": folder(a="one fish")}, (said, READ.turns[0].ground_truth))
    firsts = set()
    for seed in range(5):
        _, read = outcome(lengthen(base, seed, 3_000))
        firsts.add(read["file_content"].startswith("one fish\n"))
    assert firsts == {stays}


def test_what_a_request_means_is_not_in_the_bulk():
    people = {"Greta Falkner": "USR001", "Ludo Merz": "USR002"}
    users = {**USERS, "user_map": people}
    base = scenario(
        {"MessageAPI": users},
        ("Who is there? And what did I write of lanterns?", ("list_users()",)),
        ("Tell Greta 'hi', and Ludo Merz 'ho'.", ("search_messages(keyword='lantern')",)),
    )
    longer = lengthen(base, 5, 1_000)
    assert {"greta", "lanterns"} <= {*longer.long_context.without}
    listed, found = outcome(longer)
    assert found == {"results": []}
    names = listed["user_list"]
    assert [name for name in names if name.startswith("Greta ")] == ["Greta Falkner"]
    assert len([name for name in names if name.startswith("Ludo ")]) > 1
    assert len([name for name in names if name.endswith(" Falkner")]) > 1


def test_a_day_without_a_year_is_in_no_year_of_the_bulk():
    config = {
        "access_token": "t",
        "credit_card_list": {"1": {"card_number": "1", "balance": 5.0}},
        "booking_record": {},
    }
    booked = ("What have I booked for 3 February?", ("get_booking_history(access_token='t')",))
    longer = lengthen(scenario({"TravelAPI": config}, booked), 5, 80_000)
    assert "02-03" in longer.long_context.without
    [shown] = outcome(longer)
    trips = [trip["travel_date"] for trip in shown["booking_history"].values()]
    assert len(trips) > 300
    assert [day for day in trips if day.endswith("-02-03")] == []


def test_a_filter_keeps_bulk_out():
    history = [{"type": "deposit", "amount": 5.0, "timestamp": "2024-06-03 10:00:00"}]
    broker = {"authenticated": True, "transaction_history": history}
    since = "get_transaction_history(start_date='2024-05-01')"
    base = scenario(
        {"TradingBot": broker}, ("All?", ("get_transaction_history()",)), ("In May?", (since,))
    )
    every, some = outcome(lengthen(base, 5, 9_000))
    assert len(every["transaction_history"]) > 100
    assert some["transaction_history"] == history


def test_a_fare_and_an_average_are_single_numbers():
    fare = (
        "get_flight_cost(travel_from='SFO', travel_to='LAX', travel_date='2025-05-01', "
        "travel_class='economy')"
    )
    config = {"TravelAPI": {}, "TradingBot": {"authenticated": True}}
    asked = ("Cost, cards, and Apple?", (fare, "get_stock_info(symbol='AAPL')", "get_watchlist()"))
    base = scenario(config, asked)
    assert outcome(lengthen(base, 5, 3_000))[:2] == outcome(base)[:2]


def test_a_count_that_is_sent_is_counted_anew():
    base = scenario(
        {"GorillaFileSystem": folder(a="one\ntwo"), "MessageAPI": USERS},
        ENTER,
        (
            "Send Ben the number of characters in a.txt.",
            (
                "wc(file_name='a.txt', mode='c')",
                "send_message(receiver_id='USR002', message='7')",
            ),
        ),
    )
    longer = longer_world(base, 5, 30)
    count = outcome(longer)[1]["count"]
    assert count > 300
    assert longer.turns[1].ground_truth[1] == (
        f"send_message(receiver_id='USR002', message='{count}')"
    )


def test_a_size_within_a_sentence_is_taken_anew():
    base = scenario(
        {"GorillaFileSystem": folder(a="one", note="")},
        ENTER,
        ("How big?", ("du()",)),
        ("Put 'Size: ' and that in note.txt", ("echo(content='Size: 3', file_name='note.txt')",)),
    )
    base_size = outcome(base)[1]["disk_usage"]
    number = re.findall(r"\d+", base_size)[0]
    truth = (f"echo(content='Size: {number}', file_name='note.txt')",)
    base = scenario(
        base.config,
        *[(turn.messages[0].content, turn.ground_truth) for turn in base.turns[:2]],
        ("Put 'Size: ' and that in note.txt", truth),
    )
    longer = longer_world(base, 5, 30)
    size = re.findall(r"\d+", outcome(longer)[1]["disk_usage"])[0]
    assert size != number
    assert longer.turns[2].ground_truth == (f"echo(content='Size: {size}', file_name='note.txt')",)


def test_what_is_computed_from_a_changed_result_follows():
    base = scenario(
        {"GorillaFileSystem": folder(a="one\ntwo", b="three"), "MathAPI": {}},
        ENTER,
        (
            "Mean number of characters of a.txt and b.txt, rounded to no decimals?",
            (
                "wc(file_name='a.txt', mode='c')",
                "wc(file_name='b.txt', mode='c')",
                "mean(numbers=[7, 5])",
                "round_number(number=6.0, decimal_places=0)",
            ),
        ),
    )
    longer = longer_world(base, 5, 30)
    _, first, second, mean, _ = outcome(longer)
    third, fourth = longer.turns[1].ground_truth[2:]
    assert third == f"mean(numbers=[{first['count']}, {second['count']}])"
    assert fourth == f"round_number(number={mean['result']!r}, decimal_places=0)"


def test_what_else_is_accepted_is_taken_anew_with_its_call():
    config = {"GorillaFileSystem": folder(a="one")}
    sized = ("How large is a?", ("wc(file_name='a.txt', mode='c')",))
    told = ("Find the number in there.", ("grep(file_name='a.txt', pattern='3')",))
    base = scenario(config, ENTER, sized, told)
    accepts = (AlternativeRead(told[1][0], ("cat(file_name='a.txt')", "find(name='3')")),)
    base = replace(base, turns=(*base.turns[:2], replace(base.turns[2], accepts=accepts)))
    longer = longer_world(base, seed=5, items=30)
    size = outcome(longer)[1]["count"]
    (accepted,) = longer.turns[2].accepts
    assert size > 3
    assert (
        accepted.call
        == longer.turns[2].ground_truth[0]
        == f"grep(file_name='a.txt', pattern='{size}')"
    )
    assert accepted.instead == ("cat(file_name='a.txt')", f"find(name='{size}')")


def telling(base, *facts):
    """Return a base of one turn that tells some facts."""
    return replace(base, turns=(replace(base.turns[0], tells=facts),))


STATS = scenario({"MessageAPI": USERS}, ("How many messages?", ("get_message_stats()",)))
LISTED = scenario({"MessageAPI": USERS}, ("Who is there?", ("list_users()",)))
READ = scenario(
    {"GorillaFileSystem": folder(a="one fish")},
    ("Read a.txt in papers.", ("cd(folder='papers')", "cat(file_name='a.txt')")),
)


def test_a_number_that_the_user_is_told_is_taken_anew():
    [turn] = longer_world(telling(STATS, Number(1, "contacts")), seed=1, items=40).turns
    [stats] = outcome(longer_world(STATS, seed=1, items=40))
    contacts = stats["stats"]["total_contacts"]
    assert contacts > 5
    assert turn.tells == (Number(contacts, "contacts"),)


def test_a_number_is_that_of_its_turn_and_of_the_member_that_its_unit_names():
    tweets = {
        str(id): {"id": id, "username": "ann", "content": "hi", "tags": [], "mentions": []}
        for id in (40, 41)
    }
    account = {"username": "ann", "authenticated": True, "tweets": tweets, "tweet_counter": 42}
    config = {"TwitterAPI": {**account, "following_list": ["ben", "cleo"]}}
    asked = ("And my numbers?", ("get_user_stats(username='ann')",))
    base = scenario(config, ("Whom do I follow?", ("list_all_following()",)), asked)
    facts = (Number(2, "tweets"), Number(2, "following"), Number(0, "retweets"))
    base = replace(base, turns=(base.turns[0], replace(base.turns[1], tells=facts)))
    longer = longer_world(base, seed=1, items=40)
    stats = outcome(longer)[1]
    assert stats["tweet_count"] != stats["following_count"] > 2
    assert longer.turns[1].tells == (
        Number(stats["tweet_count"], "tweets"),
        Number(stats["following_count"], "following"),
        Number(0, "retweets"),
    )


def test_a_number_that_bulk_stands_behind_is_still_told():
    base = scenario(
        {"GorillaFileSystem": folder(a="3.5")},
        ("Read a.txt in papers.", ("cd(folder='papers')", "cat(file_name='a.txt')")),
    )
    [turn] = longer_world(telling(base, Number(3.5)), seed=1, items=40).turns
    assert turn.tells == (Number(3.5),)


def test_the_length_of_a_list_is_taken_anew():
    longer = longer_world(telling(LISTED, Number(2, "users")), seed=1, items=40)
    [there] = outcome(longer)
    assert longer.turns[0].tells == (Number(len(there["user_list"]), "users"),)


@pytest.mark.parametrize(
    ("base", "fact"),
    [
        (LISTED, Items(("Ann", "Ben"))),
        (READ, Text("one fish")),
        (READ, YesNo(True, ("fish",))),
    ],
)
def test_what_is_still_shown_is_still_told(base, fact):
    [turn] = longer_world(telling(base, fact), seed=1, items=40).turns
    assert turn.tells == (fact,)


def test_a_listing_that_is_long_now_need_not_be_told_one_by_one():
    whole, part = Items(("ben", "cleo")), Items(("cleo",))
    followed = {"username": "ann", "authenticated": True, "following_list": ["ben", "cleo"]}
    listed = scenario({"TwitterAPI": followed}, ("Whom do I follow?", ("list_all_following()",)))
    base = telling(listed, whole)
    [few] = longer_world(base, seed=1, items=20).turns
    [many] = longer_world(base, seed=1, items=200).turns
    assert (few.tells, many.tells) == ((whole,), ())
    [picked] = longer_world(telling(listed, part), seed=1, items=200).turns
    assert picked.tells == (part,)


def test_a_size_may_be_told_rounded():
    sized = ("How large?", ("cd(folder='papers')", "du(human_readable=True)"))
    base = scenario({"GorillaFileSystem": folder(a="one fish")}, sized)
    longer = longer_world(telling(base, Text(outcome(base)[1]["disk_usage"])), seed=1, items=80)
    [fact] = longer.turns[0].tells
    assert fact.text.endswith(" KB")
    assert fact.alternatives == (f"{float(fact.text[:-3]):.1f} KB",)


def test_other_wordings_of_a_text_go_with_it():
    sized = ("How large?", ("cd(folder='papers')", "du(human_readable=True)"))
    base = scenario({"GorillaFileSystem": folder(a="one fish")}, sized)
    fact = Text(outcome(base)[1]["disk_usage"], ("8 bytes",))
    longer = longer_world(telling(base, fact), seed=1, items=40)
    [there] = longer.turns[0].tells
    assert there.text == outcome(longer)[1]["disk_usage"] != fact.text
    assert "8 bytes" not in there.alternatives


def test_a_number_that_may_be_one_of_several_now_is_refused():
    with pytest.raises(DataError, match="turn 0: tells: 1 messages may be 10 or 41 now"):
        longer_world(telling(STATS, Number(1, "messages")), seed=1, items=40)


def test_what_the_user_dictates_stays():
    base = scenario(
        {"GorillaFileSystem": folder(a="one\ntwo"), "MessageAPI": USERS},
        ENTER,
        (
            "Count the characters of a.txt, and send Ben '7'.",
            (
                "wc(file_name='a.txt', mode='c')",
                "send_message(receiver_id='USR002', message='7')",
            ),
        ),
    )
    assert longer_world(base, 5, 30).turns == base.turns


def test_an_argument_that_would_be_bulk_is_refused():
    base = scenario(
        {"GorillaFileSystem": folder(a="one\ntwo"), "MessageAPI": USERS},
        ENTER,
        (
            "Send Ben all of a.txt.",
            (
                "cat(file_name='a.txt')",
                "send_message(receiver_id='USR002', message='one\\ntwo')",
            ),
        ),
    )
    with pytest.raises(DataError, match=r"turn 1: send_message.*'one.*two' would grow by"):
        longer_world(base, 5, 30)


def test_a_value_that_is_not_shown_any_more_is_refused():
    base = scenario(
        {"GorillaFileSystem": folder(a="one\n917.5"), "MathAPI": {}},
        ENTER,
        ("The last line of a.txt, please.", ("tail(file_name='a.txt', lines=1)",)),
        ("Twice that?", ("multiply(a=917.5, b=2)",)),
    )
    with pytest.raises(DataError, match=r"917\.5 does not occur in the longer results"):
        longer_world(base, 5, 30)


def test_an_empty_directory_can_still_be_removed():
    base = scenario(
        {"GorillaFileSystem": folder(a="one")},
        ("Remove the empty folder.", ("rmdir(dir_name='empty')",)),
        (ENTER[0], (*ENTER[1], "ls()", "cat(file_name='a.txt')")),
    )
    longer = longer_world(base, 5, 30)
    _, _, listed, read = outcome(longer)
    assert len(listed["current_directory_content"]) == 8
    assert "\n\nCurrent text:\none\n\nOlder entries" in read["file_content"]
    assert len(read["file_content"]) > 300


@pytest.mark.parametrize(
    ("config", "path", "size"),
    [
        ({"MessageAPI": USERS}, ("MessageAPI", "inbox"), 41),
        ({"MessageAPI": USERS}, ("MessageAPI", "user_map"), 12),
        ({"MessageAPI": {}}, ("MessageAPI", "inbox"), 43),
        (
            {
                "TicketAPI": {
                    "ticket_queue": [
                        {
                            "id": 90,
                            "title": "t",
                            "description": "d",
                            "status": "Open",
                            "priority": 1,
                            "created_by": "me",
                        }
                    ],
                    "ticket_counter": 91,
                }
            },
            ("TicketAPI", "ticket_queue"),
            41,
        ),
        ({"TwitterAPI": {"tweet_counter": 25}}, ("TwitterAPI", "tweets"), 25),
        ({"TwitterAPI": {"tweet_counter": 25}}, ("TwitterAPI", "following_list"), 38),
    ],
)
def test_a_config_is_filled_and_stays_without_defect(config, path, size):
    wide = world(longer_world(scenario(config), 5, 40))
    assert check_config(tuple(config), wide) == []
    held = wide[path[0]][path[1]]
    assert abs(len(held) - size) <= 4


def test_what_is_there_keeps_its_ids_and_stays_the_latest():
    base = scenario(
        {
            "MessageAPI": USERS,
            "TwitterAPI": {
                "username": "me",
                "authenticated": True,
                "tweets": {
                    "60": {"id": 60, "username": "me", "content": "c", "tags": [], "mentions": []}
                },
                "tweet_counter": 61,
            },
        },
        (
            "Take back my last message to Ben, add Cleo, and tweet 'd'.",
            (
                "delete_message(receiver_id='USR002')",
                "add_contact(user_name='Cleo')",
                "post_tweet(content='d')",
            ),
        ),
    )
    longer = longer_world(base, 5, 40)
    assert list(world(longer)["TwitterAPI"]["tweets"])[-1] == "60"
    _, added, tweet = outcome(longer)
    assert (added["user_id"], tweet["id"]) == ("USR003", 61)


@pytest.mark.parametrize("every", [12, pytest.param(1, marks=pytest.mark.slow)])
def test_long_contexts_are_long(every):
    known = load_embedded([Category.LONG_CONTEXT]).trajectories
    sizes = [
        sum(len(result.text) for result in start(entry).play(read_calls(entry)))
        for entry in [*known.values()][::every]
    ]
    assert min(sizes) >= MIN_CHARS
    assert 2 * sum(size >= LONGER_CHARS for size in sizes) >= len(sizes)


def read_calls(entry):
    return [call for turn in entry.turns for call in calls(turn)]
