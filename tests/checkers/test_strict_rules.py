"""Prohibited calls, dictated orders, and the working directory."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import pytest

from checkers.evidence import CallEvidence
from checkers.multi_turn_verdict import judge
from checkers.profile import BFCL, STRICT
from checkers.reasons import Reason
from checkers.strict_rules import _check_items, _check_undone, _includes
from checkers.verdict import ExecutedTurn, Verdict
from envs.calls import parse_call
from envs.results import Result
from envs.state import Snapshot
from trajectories.dataset import Dataset, load_embedded
from trajectories.prepared_trajectory import prepare
from trajectories.replay_queries import ReplayQueries
from trajectories.schema import Category


@cache
def dataset() -> Dataset:
    """Return our own entries with and without bulk."""
    return load_embedded([Category.BASE, Category.LONG_CONTEXT])


def play(id: str, turn: int, calls: list[str], profile=STRICT) -> Verdict:
    """Judge the ground truth with other calls in a turn."""
    prepared = prepare(dataset(), dataset().trajectories[id], profile)
    session = prepared.template.fork()
    played = []
    for index, each in enumerate(dataset().trajectories[id].turns):
        made = tuple(parse_call(text) for text in (calls if index == turn else each.ground_truth))
        results = tuple(session.play(made))
        played.append(ExecutedTurn(results, session.snapshot(), bool(made), made))
    return judge(prepared.truth, played, profile, prepared.scene)


def truth(id: str, turn: int) -> list[str]:
    return list(dataset().trajectories[id].turns[turn].ground_truth)


@pytest.mark.parametrize(
    ("id", "turn", "breach", "undo"),
    [
        (
            "base_vehicle_files_driving_instructor",
            2,
            "lockDoors(unlock=True, door=['passenger', 'rear_left'])",
            "lockDoors(unlock=False, door=['passenger', 'rear_left'])",
        ),
        (
            "base_ticket_holiday_handover",
            3,
            "close_ticket(ticket_id=538)",
            "edit_ticket(ticket_id=538, updates={'status': 'Open'})",
        ),
        (
            "base_ticket_math_desk_week",
            4,
            "close_ticket(ticket_id=621)",
            "edit_ticket(ticket_id=621, updates={'status': 'Open'})",
        ),
    ],
)
def test_a_prohibited_call_fails_even_if_it_is_undone(id, turn, breach, undo):
    verdict = play(id, turn, [*truth(id, turn), breach, undo])
    assert verdict.failure is not None
    assert (verdict.failure.reason, verdict.failed_turn) == (Reason.PROHIBITED_CALL, turn)
    evidence = verdict.failure.evidence
    assert isinstance(evidence, CallEvidence)
    assert evidence.actual == breach
    assert play(id, turn, [*truth(id, turn), breach, undo], BFCL).failure is None


def test_a_refused_or_another_call_is_no_breach():
    id = "base_ticket_holiday_handover"
    refused = "close_ticket(ticket_id=99999)"
    assert play(id, 3, [*truth(id, 3), refused]).failure is None
    id = "base_vehicle_files_driving_instructor"
    assert (
        play(id, 2, [*truth(id, 2), "lockDoors(unlock=False, door=['rear_left'])"]).failure is None
    )


@pytest.mark.parametrize(
    ("id", "turn", "was", "now"),
    [
        ("base_files_twitter_haiku_zine", 1, "'#haiku', '#zine'", "'#zine', '#haiku'"),
        ("base_trading_twitter_chip_bet", 2, "'#chips', '#investing'", "'#investing', '#chips'"),
        (
            "base_twitter_gallery_opening_day",
            1,
            "'@mara_clay', '@city_culture'",
            "'@city_culture', '@mara_clay'",
        ),
    ],
)
def test_items_in_another_order_than_dictated_fail(id, turn, was, now):
    calls = [text.replace(was, now) for text in truth(id, turn)]
    assert calls != truth(id, turn)
    verdict = play(id, turn, calls)
    assert verdict.failure is not None
    assert verdict.failure.reason is Reason.WRONG_ORDER
    assert verdict.failure.evidence.parameter in ("tags", "mentioned_usernames")
    assert play(id, turn, calls, BFCL).failure != verdict.failure


def test_items_in_several_calls_have_the_dictated_order():
    id = "base_twitter_gallery_opening_day"
    first, second = (
        f"mention(tweet_id=211, mentioned_usernames=['{name}'])"
        for name in ("@mara_clay", "@city_culture")
    )
    _, *rest = truth(id, 1)
    assert play(id, 1, [first, second, *rest]).failure is None
    verdict = play(id, 1, [second, *rest, first])
    assert verdict.failure is not None
    assert verdict.failure.reason is Reason.WRONG_ORDER


@pytest.mark.parametrize(("order", "fails"), [((0, 1), True), ((1, 0), False)])
def test_only_a_later_call_undoes_a_visible_call(order, fails):
    scene = SimpleNamespace(visible={"post"}, deed=str, ends_alike=lambda *_: True)
    calls = [parse_call(text) for text in ("post(id=1)", "remove(id=1)")]
    results = (Result(None, changed=True),) * 2
    made = ExecutedTurn(results, Snapshot({}), True, [calls[place] for place in order])
    failure = _check_undone(made._replace(calls=(), results=()), [made], scene)
    assert (failure is not None) is fails


@pytest.mark.parametrize("swapped", [True, False])
def test_the_first_call_in_another_order_than_dictated_is_named(swapped):
    def filled(call):
        return call.kwargs

    scene = SimpleNamespace(filled=filled)
    right = parse_call("pay(to=['Ann', 'Bo'], on=['Monday', 'Friday'])")
    wrong = [
        parse_call("pay(to=['Bo', 'Ann'], on=['Monday', 'Friday'])"),
        parse_call("pay(to=['Ann', 'Bo'], on=['Friday', 'Monday'])"),
    ]
    failure = _check_items([right], wrong[::-1] if swapped else wrong, scene)
    assert failure is not None
    assert failure.calls is not None
    assert failure.calls.parameter == ("on" if swapped else "to")


def test_calls_in_another_order_than_dictated_fail():
    id = "base_trading_stale_orders"
    first, second, *rest = truth(id, 3)
    verdict = play(id, 3, [second, first, *rest])
    assert verdict.failure is not None
    assert verdict.failure.reason is Reason.WRONG_ORDER
    assert first in verdict.failure.evidence.message or second in verdict.failure.evidence.message
    assert play(id, 3, [*rest, first, second]).failure is None


def test_orders_and_prohibitions_are_in_every_variant():
    for base in (e for e in dataset().trajectories.values() if e.category is Category.BASE):
        longer = dataset().trajectories.get(base.id.replace("base_", "long_context_", 1))
        if longer is not None:
            assert [len(t.never) for t in base.turns] == [len(t.never) for t in longer.turns]
            for turn in longer.turns:
                assert {call for group in turn.ordered for call in group} <= {*turn.ground_truth}


def test_a_turn_that_ends_in_another_directory_than_dictated_fails():
    id = "base_files_message_estate_letters"
    assert dataset().trajectories[id].turns[1].stays
    assert truth(id, 1)[-1] == "cd(folder='..')"
    verdict = play(id, 1, truth(id, 1)[:-1])
    assert verdict.failure is not None
    assert verdict.failure.reason is Reason.STATE_MISMATCH
    (difference,) = verdict.failure.evidence.differences
    assert (difference.path, difference.expected, difference.actual) == (
        "GorillaFileSystem.working_directory",
        (),
        ("valuations",),
    )
    detour = [*truth(id, 1), "cd(folder='valuations')", "cd(folder='/')"]
    assert play(id, 1, detour).failure is None
    assert play(id, 1, [*truth(id, 1), "cd(folder='valuations')"], STRICT).failed_turn == 1
    assert play(id, 1, [*truth(id, 1), "cd(folder='valuations')"], BFCL).failed_turn == 2


@pytest.mark.parametrize(
    ("id", "turn", "detour"),
    [
        (
            "base_files_travel_museum_courier",
            1,
            [
                "book_flight(access_token='203398', card_id='620031884407', "
                "travel_date='2026-05-15', travel_from='LAX', travel_to='BOS', "
                "travel_class='business')",
                "cancel_booking(access_token='203398', booking_id='9805998')",
            ],
        ),
        (
            "base_files_twitter_bakery_specials",
            3,
            [
                "follow_user(username_to_follow='anybody')",
                "unfollow_user(username_to_unfollow='anybody')",
            ],
        ),
        (
            "base_trading_travel_message_two_flights",
            4,
            [
                "cancel_booking(access_token='615042', booking_id='5873421')",
                "book_flight(access_token='615042', card_id='401288550047', "
                "travel_date='2026-11-14', travel_from='RMS', travel_to='BOS', "
                "travel_class='business')",
            ],
        ),
    ],
)
def test_a_visible_detour_fails_and_a_private_one_passes(id, turn, detour):
    right = truth(id, turn)
    assert play(id, turn, [*detour, *right]).failure.reason is Reason.PROHIBITED_CALL
    assert play(id, turn, [*detour, *right], BFCL).valid
    private = ["mkdir(dir_name='spare')", "rmdir(dir_name='spare')"]
    assert play(id, turn, [*private, *right, "touch(file_name='x')", "rm(file_name='x')"]).valid


def test_a_visible_detour_fails_if_it_only_reorders_an_unordered_list():
    id = "base_files_twitter_bakery_specials"
    detour = [
        "unfollow_user(username_to_unfollow='hotel_lind')",
        "follow_user(username_to_follow='hotel_lind')",
    ]
    verdict = play(id, 3, [*detour, *truth(id, 3)])
    assert verdict.failure is not None
    assert verdict.failure.reason is Reason.PROHIBITED_CALL


def test_a_turn_with_very_many_calls_is_judged_without_endless_replays(monkeypatch):
    id, replayed = "base_files_twitter_bakery_specials", []

    def count(self, turns, left_out):
        replayed.append(sum(len(turn.calls) for turn in turns))
        return False  # the worst case: no call undoes another

    monkeypatch.setattr(ReplayQueries, "ends_alike", count)
    detour = [
        f"{verb}_user(username_to_{verb}='hotel_lind')" for verb in ("unfollow", "follow")
    ] * 90
    play(id, 3, [*truth(id, 3), *detour])
    assert sum(replayed) <= 200_000


def test_a_rule_on_an_object_has_only_some_of_its_fields():
    rule = {"ticket_id": 3, "updates": {"status": "Closed"}}
    given = {"ticket_id": 3, "updates": {"status": "Closed", "priority": 2}}
    assert _includes(given, rule)
    assert not _includes({**given, "updates": {"priority": 2}}, rule)
