from __future__ import annotations

from checkers.profile import STRICT
from envs.calls import parse_call
from runner.episodes.kinds import ComparedState
from trajectories.dataset import Dataset
from trajectories.prepare import prepare
from trajectories.schema import Category, Message, Trajectory, Turn

DESK = Trajectory(
    "desk",
    Category.BASE,
    ("TicketAPI",),
    {"TicketAPI": {"current_user": "ada"}},
    (
        Turn((Message("user", "Open a ticket named Lamp."),), ("create_ticket(title='Lamp')",)),
        Turn((Message("user", "Who am I?"),), ("ticket_get_login_status()",)),
    ),
)


def beyond(*turns):
    """Return what calls, turn by turn, did for good that the ground truth does not."""
    dataset = Dataset("test", "0", "", {DESK.id: DESK})
    prepared = prepare(dataset, DESK, STRICT)
    script = [[[parse_call(text)] for text in turn] for turn in turns]
    return ComparedState().judge_script(prepared, script, STRICT).verdict.irreversible


def test_the_ground_truth_does_nothing_beyond_itself():
    assert beyond(["create_ticket(title='Lamp')"], ["ticket_get_login_status()"]) == ()


def test_the_same_deed_otherwise_written_is_the_same():
    assert beyond(["create_ticket('Lamp', '', 1)"], []) == ()


def test_twice_is_once_too_often():
    made = "create_ticket(title='Lamp')"
    assert beyond([made], [made]) == (made,)


def test_in_another_turn_it_is_none_too_many():
    assert beyond([], ["create_ticket(title='Lamp')"]) == ()


def test_another_deed_counts():
    assert beyond(["create_ticket(title='Lump')"], []) == ("create_ticket(title='Lump')",)


def test_what_was_refused_or_can_be_taken_back_does_not_count():
    calls = ["create_ticket(title='Lamp', priority=9)", "create_ticket(title='Lamp')"]
    assert beyond(calls, ["edit_ticket(ticket_id=1, updates={'priority': 3})", "logout()"]) == ()
