from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from turnwise import Call, InvalidArgument, NotFound, Refused, Session
from turnwise.runner.cli import main
from turnwise.testing import contract, refuse, state, succeed

TRAJECTORIES = Path(__file__).with_name("trajectories.jsonl")
LUNCH = {"id": 1, "title": "Lunch", "start": "2026-03-02T12:00", "minutes": 60, "attendees": []}


@pytest.mark.parametrize("check", contract("CalendarAPI"), ids=str)
def test_contract(check):
    check()


def session(*events, **options):
    config = {"events": list(events), "next_id": 5, "now": "2026-03-02T08:00"}
    return Session.load(["CalendarAPI"], {"CalendarAPI": config}, **options)


def test_create():
    walk = {**LUNCH, "id": 5, "title": "Walk", "start": "2026-03-02T13:00", "minutes": 30}
    made = succeed(
        session(LUNCH), "create_event", "Walk", "2026-03-02T13:00", 30,
        events=[LUNCH, walk], next_id=6,
    )  # fmt: skip
    assert made == {"events": [walk]}


def test_create_several():
    live = session()
    repeat = {"every": "day", "times": 3}
    live.call(Call("create_event", ("Swim", "2026-03-30T07:00"), {"repeat": repeat}))
    starts = [event["start"] for event in state(live)["events"]]
    assert starts == ["2026-03-30T07:00", "2026-03-31T07:00", "2026-04-01T07:00"]


def test_create_refuses_a_series_as_a_whole():
    later = {**LUNCH, "id": 2, "start": "2026-03-04T12:00"}
    arguments = ("Walk", "2026-03-03T12:30", 5, [], {"every": "day", "times": 2})
    refuse(session(later), Refused, "event 2", "create_event", *arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("A", "2026-03-02T13:00", 4), "minutes = 4"),
        (("A", "2026-03-02T13:00", 30, ["ada"]), "attendees[0] = 'ada'"),
        (("A", "2026-03-02T13:00", 30, [], {"every": "year", "times": 2}), "repeat"),
        (("A", "2026-03-02T13:00", 30, [], {"every": "day", "times": 1}), "repeat.times = 1"),
    ],
)
def test_create_checks_its_arguments(arguments, message):
    refuse(session(checks_arguments=True), InvalidArgument, message, "create_event", *arguments)


@pytest.mark.parametrize("start", ["noon", "2026-02-30T12:00", "2026-3-2T9:00"])
def test_create_refuses_what_is_no_time(start):
    refuse(session(), InvalidArgument, "is no time", "create_event", "A", start)


def test_list_is_in_order():
    early = {**LUNCH, "id": 2, "start": "2026-03-02T08:00"}
    assert succeed(session(LUNCH, early), "list_events") == {"events": [early, LUNCH]}


def test_free_time_is_between_events():
    live = session({**LUNCH, "start": "2026-03-02T09:00", "minutes": 45})
    assert succeed(live, "find_free_time", "2026-03-02", 30) == {"start": "2026-03-02T09:45"}


def test_move_may_overlap_with_itself():
    succeed(
        session(LUNCH),
        "move_event",
        1,
        "2026-03-02T12:30",
        events=[{**LUNCH, "start": "2026-03-02T12:30"}],
    )


def test_move_refuses_an_unknown_id():
    refuse(session(), NotFound, "no event with the id 1", "move_event", 1, "2026-03-02T12:30")


def test_invite_counts_nobody_twice():
    live = session({**LUNCH, "attendees": ["a@x"]})
    event = succeed(
        live, "invite", 1, ["b@x", "a@x"], events=[{**LUNCH, "attendees": ["a@x", "b@x"]}]
    )
    assert event["attendees"] == ["a@x", "b@x"]


def test_cancel():
    succeed(session(LUNCH), "cancel_event", 1, events=[])


def test_time_passes_and_does_not_come_back():
    live = session()
    succeed(live, "wait_until", "2026-03-02T10:00", now="2026-03-02T10:00")
    refuse(live, Refused, "in the past", "wait_until", "2026-03-02T09:59")


def test_a_config_that_is_irregular():
    backend = session().backends["CalendarAPI"]
    config = {"events": [LUNCH, {**LUNCH, "start": "noon"}], "next_id": 2, "now": "2026"}
    paths = [problem.path for problem in backend.check_config(config)]
    assert paths == [f"$.CalendarAPI.{end}" for end in ("events[1].id", "events[1].start", "now")]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 600), st.integers(5, 120)), max_size=12))
def test_no_two_events_overlap(wanted):
    live = session()
    for after, minutes in wanted:
        hour, minute = divmod(8 * 60 + after, 60)
        live.call(Call("create_event", ("A", f"2026-03-02T{hour:02}:{minute:02}", minutes)))
    spans = sorted(
        (_minute(e["start"]), _minute(e["start"]) + e["minutes"]) for e in state(live)["events"]
    )
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


def _minute(time):
    return int(time[11:13]) * 60 + int(time[14:])


@pytest.mark.parametrize(
    "command", [["eval", "--model", "oracle", "--dataset"], ["dataset", "validate"]]
)
def test_trajectories(command):
    assert main([*command, str(TRAJECTORIES)]) == 0
