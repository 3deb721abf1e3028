from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs.backends.message import MessageAPI
from envs.calls import Call
from envs.errors import AccessDenied, AlreadyExists, ConfigError, InvalidArgument, NotFound, Refused
from envs.session import Session
from extensions.contract.contract import refuse, state, succeed

# The first ids that the default seed gives.
FIRST_IDS = [67410, 41772, 24547, 24421, 60424, 33485, 15831, 69233, 63997, 54564, 91372, 90263]
USERS = {"Alice": "USR001", "Bob": "USR002", "Catherine": "USR003", "Daniel": "USR004"}
INBOX = [
    {"USR002": "My name is Alice. I want to connect."},
    {"USR003": "Could you upload the file?"},
    {"USR004": "Could you upload the file?"},
]
DEFAULTS = {
    "generated_ids": frozenset(),
    "user_count": 4,
    "user_map": USERS,
    "inbox": INBOX,
    "message_count": 3,
    "current_user": None,
}


def session(logged_in=True, **config):
    config = {"current_user": "USR001", **config} if logged_in else config
    return Session.load(["MessageAPI"], {"MessageAPI": config}, tolerant=True)


def test_defaults():
    assert state(session(logged_in=False)) == DEFAULTS


def test_users():
    live = session(logged_in=False)
    assert succeed(live, "list_users") == {"user_list": ["Alice", "Bob", "Catherine", "Daniel"]}
    assert succeed(live, "get_user_id", "Bob") == {"user_id": "USR002"}
    refuse(live, NotFound, "no user 'bob'. There are: Alice, Bob", "get_user_id", "bob")
    refuse(session(user_map={}), NotFound, "There are: none.", "get_user_id", "Bob")


def test_login():
    live = session(logged_in=False)
    assert succeed(live, "message_get_login_status") == {"login_status": False}
    assert succeed(live, "message_login", "USR002", current_user="USR002") == {
        "login_status": True,
        "message": "User 'USR002' logged in successfully.",
    }
    assert succeed(live, "message_get_login_status") == {"login_status": True}
    failed = succeed(live, "message_login", "USR009")
    assert failed == {
        "login_status": False,
        "message": "There is no user with the id 'USR009'. "
        "There are: USR001, USR002, USR003, USR004.",
    }
    assert succeed(live, "message_get_login_status") == {"login_status": True}


@pytest.mark.parametrize("user", [None, ""])
def test_an_empty_user_is_nobody(user):
    live = session(current_user=user)
    assert succeed(live, "message_get_login_status") == {"login_status": False}


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("send_message", ("USR002", "Hi")),
        ("delete_message", ("USR002",)),
        ("view_messages_sent", ()),
        ("search_messages", ("Hi",)),
        ("get_message_stats", ()),
    ],
)
def test_what_needs_a_login(name, args):
    refuse(session(logged_in=False), AccessDenied, "message_login", name, *args)


def test_send():
    live = session()
    sent = succeed(
        live,
        "send_message",
        "USR002",
        "Hi",
        generated_ids={67410},
        inbox=[*INBOX, {"USR002": "Hi"}],
        message_count=4,
    )
    assert sent == {
        "sent_status": True,
        "message_id": {"new_id": 67410},
        "message": "Message sent to 'USR002' successfully.",
    }
    refuse(
        live, NotFound, "no user with the id 'Bob'. There are: USR001", "send_message", "Bob", "Hi"
    )
    assert live.call(Call("send_message", ("USR001", ""))).value["message_id"] == {"new_id": 41772}


def test_message_ids_follow_the_seed():
    def ids(**config):
        live = session(**config)
        send = Call("send_message", ("USR002", "Hi"))
        return [live.call(send).value["message_id"]["new_id"] for _ in FIRST_IDS]

    assert ids() == ids(random_seed=200191) == FIRST_IDS
    assert ids(random_seed=1) != FIRST_IDS
    # An id that is in use is drawn again.
    assert ids(generated_ids=[67410, 24547])[:2] == [41772, 24421]


@pytest.mark.parametrize(
    ("inbox", "left"),
    [
        (["a"], []),
        (["a", "b"], ["a"]),
        # Of equal messages it is the first that goes.
        (["a", "b", "a"], ["b", "a"]),
    ],
)
def test_delete(inbox, left):
    live = session(inbox=[{"USR002": text} for text in inbox])
    deleted = succeed(live, "delete_message", "USR002", inbox=[{"USR002": text} for text in left])
    assert deleted == {
        "deleted_status": True,
        "receiver_id": "USR002",
        "message": "Receiver USR002's latest message deleted successfully.",
    }


def test_delete_what_is_not_there():
    refuse(session(), NotFound, "no message to 'USR001'", "delete_message", "USR001")


def test_view():
    live = session(inbox=[{"USR003": "a"}, {"USR002": ["b", "c"]}, {"USR003": {"d": 1}}])
    shown = succeed(live, "view_messages_sent")
    assert shown == {"messages": {"USR003": ["a", {"d": 1}], "USR002": [["b", "c"]]}}
    assert list(shown["messages"]) == ["USR003", "USR002"]
    assert succeed(session(inbox=[]), "view_messages_sent") == {"messages": {}}


@pytest.mark.parametrize(
    ("keyword", "found"),
    [("FILE", [1, 2]), ("", [0, 1, 2]), ("alice", [0]), ("USR002", []), ("zzz", [])],
)
def test_search(keyword, found):
    results = [
        {"receiver_id": receiver, "message": text}
        for index in found
        for receiver, text in INBOX[index].items()
    ]
    assert succeed(session(), "search_messages", keyword) == {"results": results}


def test_search_among_other_things_than_texts():
    live = session(inbox=[{"USR002": "a"}, {"USR003": ["b"]}])
    refuse(live, Refused, "A message to USR003 is not a text", "search_messages", "a")
    refuse(live, InvalidArgument, "keyword = 5", "search_messages", 5)


def test_stats():
    live = session(inbox=[{"USR003": "a"}, {"USR002": "b"}, {"USR003": "a"}])
    assert succeed(live, "get_message_stats") == {
        "stats": {"received_count": 3, "total_contacts": 2}
    }


def test_add_a_contact():
    live = session(logged_in=False)
    added = succeed(live, "add_contact", "Eve", user_count=5, user_map={**USERS, "Eve": "USR005"})
    assert added == {
        "added_status": True,
        "user_id": "USR005",
        "message": "Contact 'Eve' added successfully.",
    }
    refuse(live, AlreadyExists, "'Eve' already, with the id USR005", "add_contact", "Eve")


@pytest.mark.parametrize(
    ("count", "user_id"), [(0, "USR001"), (8, "USR009"), (99, "USR100"), (999, "USR1000")]
)
def test_ids_of_contacts(count, user_id):
    live = session(user_map={}, user_count=count)
    assert live.call(Call("add_contact", ("Eve",))).value["user_id"] == user_id


def test_a_taken_id_is_passed_over_by_trying_again():
    live = session(user_count=2)
    for count in (3, 4):
        result = live.call(Call("add_contact", ("Eve",)))
        assert type(result.error) is AlreadyExists
        assert f"USR00{count} is taken" in result.error.message
        assert result.changed
        assert state(live) == {**DEFAULTS, "current_user": "USR001", "user_count": count}
    assert live.call(Call("add_contact", ("Eve",))).value["user_id"] == "USR005"


def test_only_the_first_member_of_a_message_counts():
    live = session(inbox=[{"USR002": "a", "USR003": "b"}])
    assert succeed(live, "view_messages_sent") == {"messages": {"USR002": ["a"]}}
    assert succeed(live, "search_messages", "b") == {"results": []}
    refuse(live, NotFound, "no message to 'USR003'", "delete_message", "USR003")
    assert succeed(live, "delete_message", "USR002", inbox=[])["deleted_status"]


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("delete_message", ("USR002",)),
        ("view_messages_sent", ()),
        ("search_messages", ("a",)),
        ("get_message_stats", ()),
    ],
)
def test_an_empty_message_makes_the_inbox_unreadable(name, args):
    refuse(session(inbox=[{"USR002": "a"}, {}]), Refused, "empty object", name, *args)


def test_an_empty_message_is_not_reached_from_behind():
    live = session(inbox=[{}, {"USR002": "a"}])
    assert succeed(live, "delete_message", "USR002", inbox=[{}])["deleted_status"]


def test_names_that_are_no_text_can_still_be_listed():
    live = session()
    assert live.call(Call("add_contact", (5,))).value["user_id"] == "USR005"
    refuse(live, NotFound, "Daniel, 5.", "get_user_id", "Eve")


def test_a_long_chat():
    live = session(logged_in=False)
    eve = live.call(Call("add_contact", ("Eve",))).value["user_id"]
    live.call(Call("message_login", (eve,)))
    for text in ("One", "Two"):
        assert live.call(Call("send_message", ("USR001", text))).ok
    assert succeed(live, "search_messages", "o")["results"][-2:] == [
        {"receiver_id": "USR001", "message": "One"},
        {"receiver_id": "USR001", "message": "Two"},
    ]
    succeed(live, "delete_message", "USR001", inbox=[*INBOX, {"USR001": "One"}])
    succeed(live, "delete_message", "USR001", inbox=INBOX)
    assert state(live)["message_count"] == 5
    assert state(live)["generated_ids"] == set(FIRST_IDS[:2])


people = st.sampled_from(["Alice", "Bob", "Eve", "Zoe"])
user_ids = st.sampled_from([f"USR00{number}" for number in range(1, 8)])
steps = st.lists(
    st.tuples(st.just("add_contact"), people)
    | st.tuples(st.just("message_login"), user_ids)
    | st.tuples(st.just("send_message"), user_ids, st.sampled_from("ab"))
    | st.tuples(st.just("delete_message"), user_ids),
    max_size=25,
)


@given(steps, st.integers(0, 5), st.booleans())
def test_books_are_kept(steps, user_count, logged_in):
    live = session(logged_in, user_count=user_count)
    expected = list(INBOX)
    sent = 0
    for name, *args in steps:
        before = state(live)
        ok = live.call(Call(name, tuple(args))).ok
        if name == "send_message" and ok:
            expected.append({args[0]: args[1]})
            sent += 1
        elif name == "delete_message" and ok:
            expected.remove([message for message in expected if args[0] in message][-1])
        after = state(live)
        assert after["inbox"] == expected
        assert after["user_count"] - before["user_count"] in (0, 1)
    end = state(live)
    assert end["message_count"] == 3 + sent
    assert end["generated_ids"] == set(FIRST_IDS[:sent]) or sent > len(FIRST_IDS)
    assert len(set(end["user_map"].values())) == len(end["user_map"])


@pytest.mark.parametrize(
    ("config", "problems"),
    [
        ({"inbox": [], "user_map": {}, "current_user": None}, []),
        ({"user_map": {"Eve": "USR007"}, "user_count": 7, "inbox": [{"USR007": "x"}]}, []),
        ({"generated_ids": [10001], "random_seed": 5}, []),
        ({"user_maps": {}}, ["user_maps: unknown key; did you mean user_map?"]),
        ({"user_count": "4"}, ["user_count: input should be a valid integer, got '4'"]),
        ({"user_map": {"Eve": 5}}, ["user_map.Eve: input should be a valid string, got 5"]),
        (
            {"inbox": [{"USR002": ["x"]}]},
            ["inbox[0].USR002: input should be a valid string, got ['x']"],
        ),
        ({"random_seed": None}, ["random_seed: input should be a valid integer, got None"]),
        ({"inbox": [{}]}, ["inbox[0]: must map one receiver id to a text, but has 0 members"]),
        (
            {"inbox": [{"USR002": "x", "USR009": "y"}]},
            [
                "inbox[0]: must map one receiver id to a text, but has 2 members",
                "inbox[0]: no user has the id USR009",
            ],
        ),
        ({"current_user": "Jack"}, ["current_user: no user has the id Jack"]),
        (
            {"user_count": 2},
            ["user_map['Catherine']: USR003 is reserved for the next user (user_count is 2)"],
        ),
        (
            {"user_map": {"A": "USR001", "B": "USR001"}, "inbox": []},
            ["user_map['B']: USR001 is the id of A"],
        ),
    ],
)
def test_config_check(config, problems):
    found = [str(problem) for problem in MessageAPI.check_config(config)]
    assert found == [f"$.MessageAPI.{problem}" for problem in problems]


@pytest.mark.parametrize("ids", [None, 5, [[1]]])
def test_ids_that_are_no_list_cannot_be_loaded(ids):
    with pytest.raises(ConfigError, match=r"\$\.MessageAPI\.generated_ids"):
        session(generated_ids=ids)


def test_irregular_configs_are_taken_as_they_are():
    live = session(unknown=1, user_count=None, inbox=[{"X": ["a"]}], current_user="Jack")
    assert state(live) == {
        **DEFAULTS,
        "user_count": None,
        "inbox": [{"X": ["a"]}],
        "current_user": "Jack",
    }
    assert succeed(live, "view_messages_sent") == {"messages": {"X": [["a"]]}}
