from __future__ import annotations

from dataclasses import replace

from checkers.calls.call_entry import (
    CallEntry,
    ComparisonKind,
    ExpectedCall,
    FunctionDocument,
    Language,
)
from checkers.calls.single_turn_verdict import judge
from checkers.profile import BFCL, STRICT
from checkers.verdict import Hallucinations, Verdict
from envs.calls import parse_call
from runner.episodes.entry_kinds import MultiTurnKind
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import prepare
from trajectories.schema import Category, Message, Trajectory, Turn

HANDED_OVER = Trajectory(
    "handed_over",
    Category.MISSING_FUNCTION,
    ("TicketAPI",),
    {"TicketAPI": {"current_user": "ada"}},
    (
        Turn((Message("user", "Open a ticket named Lamp."),), ()),
        Turn((), ("create_ticket(title='Lamp')",), offers=("create_ticket",)),
    ),
)
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


WEATHER = FunctionDocument("weather.now", {"city": {"type": "string"}}, ["city"])


def made_up(*turns, profile=STRICT, entry=HANDED_OVER):
    """Return what calls, turn by turn, made up."""
    dataset = Dataset("test", "0", "", {entry.id: entry})
    prepared = prepare(dataset, entry, profile)
    script = [[[parse_call(text)] for text in turn] for turn in turns]
    return MultiTurnKind().judge_script(prepared, script, profile).verdict.hallucinated


def answered(kind, *texts, mode="prompt"):
    """Return what calls of a single turn made up."""
    answers = (
        ()
        if kind is ComparisonKind.IRRELEVANCE
        else (ExpectedCall("weather.now", {"city": ["Rome"]}),)
    )
    task = CallEntry(kind, Language.PYTHON, (WEATHER,), answers)
    return judge(task, f"[{', '.join(texts)}]", mode, STRICT).hallucinated


def test_what_is_right_makes_nothing_up():
    assert made_up([], ["create_ticket(title='Lamp')"]) == Hallucinations()


def test_a_function_that_is_not_yet_there_is_invented_under_each_profile():
    calls = ["create_ticket(title='Lamp')"]
    for profile in (STRICT, BFCL):
        assert made_up(calls, calls, profile=profile).functions == ("create_ticket",)


def test_parameters_that_are_not_there_by_name_and_by_position():
    call = "create_ticket('Lamp', '', 1, 2, colour='red')"
    found = made_up([], [call])
    assert found.parameters == ("create_ticket.4", "create_ticket.colour")
    assert made_up([], [call], profile=BFCL) == found


def test_a_wrong_value_is_no_invention():
    assert made_up([], ["create_ticket(title='Lamp', priority=9)"]) == Hallucinations()


def test_where_nothing_is_to_be_done_a_change_is_needless_and_a_look_is_not():
    assert made_up(["logout()"], []).needless == ("logout",)
    assert made_up(["ticket_get_login_status()"], []) == Hallucinations()


def test_calls_inside_calls_count():
    found = made_up([], ["create_ticket(title=nobody(x=get_ticket(id=1)))"], profile=BFCL)
    assert found == Hallucinations(("nobody",), ("get_ticket.id",))


def test_a_call_inside_a_successful_call_counts():
    config = {**HANDED_OVER.config, "GorillaFileSystem": {}}
    backends = ("TicketAPI", "GorillaFileSystem")
    entry = replace(HANDED_OVER, environments=backends, config=config)
    written = ["echo(content=create_ticket(title='Lamp'))"]
    assert made_up(written, [], profile=BFCL, entry=entry).functions == ("create_ticket",)


def test_single_turns():
    assert answered(ComparisonKind.SIMPLE, "weather.now(city='Rome')") == Hallucinations()
    assert answered(ComparisonKind.SIMPLE, "sky(city='Rome')").functions == ("sky",)
    found = answered(ComparisonKind.SIMPLE, "weather.now(city='Rome', hour=3)")
    assert found == Hallucinations((), ("weather.now.hour",))


def test_a_call_where_none_fits():
    found = answered(ComparisonKind.IRRELEVANCE, "weather.now(city='Rome')", "sky()")
    assert found == Hallucinations(("sky",), (), ("weather.now", "sky"))


def test_long_names_are_cut():
    (name,) = made_up([], [f"{'x' * 1000}()"]).functions
    assert name == "x" * 100


def test_a_verdict_keeps_it():
    verdict = Verdict(True, None, None, 1, 1, (), Hallucinations(("sky",), (), ("sky", "sky")))
    shown = verdict.to_json()
    assert shown["hallucinated"] == {"functions": ["sky"], "needless": ["sky", "sky"]}
    assert Verdict.from_json(shown) == verdict
    assert "hallucinated" not in verdict._replace(hallucinated=Hallucinations()).to_json()


def beyond(*turns):
    """Return what calls, turn by turn, did for good that the ground truth does not."""
    dataset = Dataset("test", "0", "", {DESK.id: DESK})
    prepared = prepare(dataset, DESK, STRICT)
    script = [[[parse_call(text)] for text in turn] for turn in turns]
    return MultiTurnKind().judge_script(prepared, script, STRICT).verdict.irreversible


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
