from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs.backends.ticket import TicketAPI
from envs.calls import Call
from envs.errors import AccessDenied, AlreadyExists, InvalidArgument, NotFound, Refused
from envs.session import Session
from extensions.contract.contract import refuse, state, succeed

OPEN = {
    "id": 1,
    "title": "Printer",
    "description": "It smokes.",
    "status": "Open",
    "priority": 2,
    "created_by": "ann",
}
CLOSED = {**OPEN, "id": 2, "status": "Closed"}
RESOLVED = {**OPEN, "id": 3, "status": "Resolved", "created_by": "bob", "resolution": "Off and on."}
QUEUE = [OPEN, CLOSED, RESOLVED]


def session(*queue, **config):
    config = {"ticket_queue": list(queue), "ticket_counter": 4, "current_user": "ann", **config}
    return Session.load(["TicketAPI"], {"TicketAPI": config}, tolerant=True)


def test_defaults():
    live = Session.load(["TicketAPI"], {})
    assert state(live) == {"ticket_queue": [], "ticket_counter": 1, "current_user": None}


def test_create():
    live = session(OPEN)
    ticket = {
        "id": 4,
        "title": "Mouse",
        "description": "It squeaks.",
        "status": "Open",
        "priority": 5,
        "created_by": "ann",
    }
    made = succeed(
        live,
        "create_ticket",
        "Mouse",
        "It squeaks.",
        5,
        ticket_queue=[OPEN, ticket],
        ticket_counter=5,
    )
    assert list(made.items()) == list(ticket.items())
    short = live.call(Call("create_ticket", ("Mouse",))).value
    assert (short["id"], short["description"], short["priority"]) == (5, "", 1)


@pytest.mark.parametrize("priority", [0, 6, -1])
def test_create_with_an_impossible_priority(priority):
    message = f"Priority {priority} is out of range: give 1 to 5."
    refuse(session(), InvalidArgument, message, "create_ticket", "Mouse", "", priority)


@pytest.mark.parametrize("priority", [1, 5, 2.5, True])
def test_create_with_a_priority_in_range(priority):
    made = session().call(Call("create_ticket", ("Mouse", "", priority))).value
    assert made["priority"] is priority


@pytest.mark.parametrize("user", [None, ""])
@pytest.mark.parametrize("call", [("create_ticket", "Mouse"), ("get_user_tickets",)])
def test_what_needs_a_login(user, call):
    refuse(session(OPEN, current_user=user), AccessDenied, "ticket_login", *call)


def test_an_id_may_come_twice_and_the_first_ticket_wins():
    live = session(OPEN, ticket_counter=1)
    live.call(Call("create_ticket", ("Mouse",)))
    assert succeed(live, "get_ticket", 1) == OPEN


def test_ids_may_start_at_zero():
    live = session(ticket_counter=0)
    assert live.call(Call("create_ticket", ("Mouse",))).value["id"] == 0
    assert succeed(live, "get_ticket", 0)["title"] == "Mouse"


@pytest.mark.parametrize("user", ["ann", "bob", None])
def test_get(user):
    live = session(*QUEUE, current_user=user)
    assert succeed(live, "get_ticket", 3) == RESOLVED


def test_ids_are_compared_as_they_are():
    live = session(OPEN, {"id": "ticket_001"})
    assert succeed(live, "get_ticket", 1.0) == OPEN
    assert succeed(live, "get_ticket", "ticket_001") == {"id": "ticket_001"}
    refuse(live, NotFound, "no ticket with the id '1'", "get_ticket", "1")


@pytest.mark.parametrize(
    ("name", "rest"),
    [("get_ticket", ()), ("close_ticket", ()), ("resolve_ticket", ("x",)), ("edit_ticket", ({},))],
)
def test_an_unknown_ticket(name, rest):
    refuse(session(*QUEUE), NotFound, "There is no ticket with the id 9.", name, 9, *rest)


@pytest.mark.parametrize(
    ("name", "rest"),
    [("get_ticket", ()), ("close_ticket", ()), ("resolve_ticket", ("x",)), ("edit_ticket", ({},))],
)
def test_a_ticket_without_an_id_hides_what_comes_after_it(name, rest):
    live = session(OPEN, {"ticket_001": {}}, RESOLVED)
    refuse(live, Refused, "The ticket at position 2 of the queue has no id.", name, 3, *rest)
    assert succeed(live, "get_ticket", 1) == OPEN


@pytest.mark.parametrize("ticket", [OPEN, RESOLVED])
def test_close(ticket):
    live = session(*QUEUE, current_user=None)
    queue = [{**each, "status": "Closed"} if each is ticket else each for each in QUEUE]
    done = succeed(live, "close_ticket", ticket["id"], ticket_queue=queue)
    assert done == {"status": f"Ticket {ticket['id']} has been closed successfully."}


@pytest.mark.parametrize(("ticket", "resolution"), [(OPEN, "New toner."), (CLOSED, "")])
def test_resolve(ticket, resolution):
    live = session(*QUEUE, current_user=None)
    changes = {"status": "Resolved", "resolution": resolution}
    queue = [{**each, **changes} if each is ticket else each for each in QUEUE]
    done = succeed(live, "resolve_ticket", ticket["id"], resolution, ticket_queue=queue)
    assert done == {"status": f"Ticket {ticket['id']} has been resolved successfully."}


def test_closing_and_resolving_twice():
    live = session(*QUEUE)
    refuse(live, AlreadyExists, "Ticket 2 is closed already.", "close_ticket", 2)
    refuse(live, AlreadyExists, "Ticket 3 is resolved already.", "resolve_ticket", 3, "x")


@pytest.mark.parametrize("call", [("close_ticket", 1), ("resolve_ticket", 1, "x")])
def test_a_ticket_without_a_status_cannot_change_it(call):
    refuse(session({"id": 1}), Refused, "position 1 of the queue has no status.", *call)


@pytest.mark.parametrize(
    ("updates", "changes"),
    [
        ({"title": "Scanner", "priority": 99}, {"title": "Scanner", "priority": 99}),
        ({"status": "Urgent", "description": None}, {"status": "Urgent"}),
        ({"title": "", "priority": 0}, {"title": "", "priority": 0}),
    ],
)
def test_edit(updates, changes):
    live = session(*QUEUE, current_user=None)
    done = succeed(
        live, "edit_ticket", 2, updates, ticket_queue=[OPEN, {**CLOSED, **changes}, RESOLVED]
    )
    assert done == {"status": "Ticket 2 has been updated successfully."}


@pytest.mark.parametrize("updates", [{}, {"title": None}])
def test_an_edit_of_nothing(updates):
    done = succeed(session(*QUEUE), "edit_ticket", 2, updates)
    assert done == {"status": "Ticket 2 has been updated successfully."}


def test_an_edit_adds_what_a_ticket_lacks():
    live = session({"id": 1})
    succeed(live, "edit_ticket", 1, {"status": "Open"}, ticket_queue=[{"id": 1, "status": "Open"}])


def test_an_edit_of_other_members_changes_nothing():
    updates = {"title": "x", "owner": "me", "id": 5}
    message = "id, owner cannot be edited; only title, description, status, priority can."
    refuse(session(OPEN), InvalidArgument, message, "edit_ticket", 1, updates)
    refuse(session(OPEN), InvalidArgument, "updates = 'x'", "edit_ticket", 1, "x")


def test_login_and_logout():
    live = session(current_user=None)
    assert succeed(live, "ticket_get_login_status") == {"login_status": False}
    assert succeed(live, "logout") == {"success": False}
    assert succeed(live, "ticket_login", "ann", "any", current_user="ann") == {"success": True}
    assert succeed(live, "ticket_get_login_status") == {"login_status": True}
    for user, password in (("", "x"), ("bob", ""), (None, "x")):
        assert succeed(live, "ticket_login", user, password) == {"success": False}
    assert succeed(live, "ticket_login", "bob", "any", current_user="bob") == {"success": True}
    assert succeed(live, "logout", current_user=None) == {"success": True}


@pytest.mark.parametrize(
    ("user", "status", "tickets"),
    [
        ("ann", None, [OPEN, CLOSED]),
        ("ann", "", [OPEN, CLOSED]),
        ("ann", "cLOSED", [CLOSED]),
        ("ann", "None", []),
        ("bob", None, [RESOLVED]),
        ("Ann", None, []),
    ],
)
def test_tickets_of_a_user(user, status, tickets):
    live = session(*QUEUE, current_user=user)
    assert succeed(live, "get_user_tickets", status) == tickets
    assert live.call(Call("get_user_tickets", (status,))).text == str(tickets)


def test_tickets_that_lack_something_cannot_be_listed():
    live = session(OPEN, {"id": 2})
    refuse(live, Refused, "position 2 of the queue has no created_by.", "get_user_tickets")
    live = session({"id": 1, "created_by": "ann"}, {"id": 2, "created_by": "ann", "status": 5})
    refuse(live, Refused, "The ticket 1 has no status", "get_user_tickets", "Open")
    assert len(succeed(live, "get_user_tickets")) == 2
    refuse(session(OPEN), InvalidArgument, "status = 5", "get_user_tickets", 5)


def test_without_tickets_any_status_will_do():
    assert succeed(session(RESOLVED), "get_user_tickets", 5) == []


def test_a_day_at_the_desk():
    live = Session.load(["TicketAPI"], {})
    refuse(live, AccessDenied, "ticket_login", "create_ticket", "Mouse")
    live.call(Call("ticket_login", ("ann", "pw")))
    ticket_id = live.call(Call("create_ticket", ("Mouse", "It squeaks.", 3))).value["id"]
    live.call(Call("edit_ticket", (ticket_id, {"priority": 4})))
    live.call(Call("resolve_ticket", (ticket_id, "Fed it.")))
    live.call(Call("close_ticket", (ticket_id,)))
    assert succeed(live, "get_user_tickets", "closed") == [
        {
            "id": 1,
            "title": "Mouse",
            "description": "It squeaks.",
            "status": "Closed",
            "priority": 4,
            "created_by": "ann",
            "resolution": "Fed it.",
        }
    ]


ids = st.integers(0, 6)
texts = st.sampled_from(["", "a", "Closed"])
members = st.sampled_from(["title", "status", "priority", "owner"])
steps = st.lists(
    st.tuples(st.just("create_ticket"), texts, texts, st.integers(0, 6))
    | st.tuples(st.sampled_from(["get_ticket", "close_ticket"]), ids)
    | st.tuples(st.just("resolve_ticket"), ids, texts)
    | st.tuples(st.just("edit_ticket"), ids, st.dictionaries(members, texts, max_size=2))
    | st.tuples(st.just("ticket_login"), texts, texts)
    | st.tuples(st.just("logout")),
    max_size=25,
)


@given(steps)
def test_tickets_are_never_lost_nor_renumbered(steps):
    live = session(*QUEUE)
    for name, *args in steps:
        before = state(live)
        result = live.call(Call(name, tuple(args)))
        after = state(live)
        made = name == "create_ticket" and result.ok
        assert len(after["ticket_queue"]) == len(before["ticket_queue"]) + made
        assert after["ticket_counter"] == before["ticket_counter"] + made
        assert [ticket["id"] for ticket in after["ticket_queue"]] == list(
            range(1, after["ticket_counter"])
        )
        assert result.changed is (before != after)


@pytest.mark.parametrize(
    ("config", "problems"),
    [
        ({}, []),
        ({"ticket_queue": QUEUE, "ticket_counter": 4, "current_user": None}, []),
        ({"ticket_count": 4}, ["ticket_count: unknown key; did you mean ticket_counter?"]),
        ({"current_user": 5}, ["current_user: input should be a valid string, got 5"]),
        (
            {"ticket_queue": [{"id": 0, "title": "x", "description": "", "status": "Open"}]},
            ["ticket_queue[0].priority: is missing"],
        ),
        (
            {"ticket_queue": [{**OPEN, "owner": "me"}]},
            ["ticket_queue[0].owner: unknown key; remove it"],
        ),
        (
            {"ticket_queue": [{**OPEN, "id": "1"}], "ticket_counter": 2},
            ["ticket_queue[0].id: input should be a valid integer, got '1'"],
        ),
        (
            {"ticket_queue": [OPEN, OPEN], "ticket_counter": 2},
            ["ticket_queue[1].id: 1 is the id of an earlier ticket"],
        ),
        ({"ticket_queue": [OPEN]}, ["ticket_queue[0].id: 1 must be below ticket_counter, 1"]),
    ],
)
def test_config_check(config, problems):
    found = [str(problem) for problem in TicketAPI.check_config(config)]
    assert found == [f"$.TicketAPI.{problem}" for problem in problems]
