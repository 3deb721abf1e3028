"""Faults: drawn by seed and call, retried with success, recorded, and absent at rate 0."""

from __future__ import annotations

import pytest
import turnwise

from checkers.profile import STRICT
from checkers.turn import judge
from envs.calls import parse_call
from envs.errors import DataError
from envs.session import Session
from extensions.faults.faults import KINDS, TEXTS, FaultSettings, find_kind
from runner.episodes.episode import Episode
from trajectories.prepare import prepare
from trajectories.replay_queries import read_truth_calls

DESK = {
    "TicketAPI": {
        "current_user": "ann",
        "ticket_counter": 2,
        "ticket_queue": [
            {
                "id": 1,
                "title": "Printer",
                "description": "",
                "status": "Open",
                "priority": 2,
                "created_by": "ann",
            }
        ],
    }
}


def desk(faults: FaultSettings) -> Session:
    return faults.wrap(Session.load(["TicketAPI"], DESK), "an_entry")


def text(session: Session, call: str) -> str:
    return session.call(parse_call(call)).text


@pytest.mark.parametrize("kind", ["timeout", "refusal"])
def test_a_call_that_fails_changes_nothing_and_succeeds_when_it_is_made_again(kind):
    session = desk(FaultSettings(1.0, (kind,)))
    before = session.snapshot()
    assert find_kind(text(session, "close_ticket(ticket_id=1)")) == kind
    assert session.snapshot() == before
    assert "error" not in text(session, "close_ticket(ticket_id=1)")
    assert session.snapshot() != before


def test_a_read_may_be_incomplete_or_old_and_says_so():
    partial, stale = (desk(FaultSettings(1.0, (kind,))) for kind in ("partial", "stale"))
    assert TEXTS["partial"] in text(partial, "get_ticket(ticket_id=1)")
    assert TEXTS["partial"] not in text(partial, "get_ticket(ticket_id=1)")
    assert find_kind(text(stale, "close_ticket(ticket_id=1)")) == "timeout"
    text(stale, "close_ticket(ticket_id=1)")
    old = text(stale, "get_ticket(ticket_id=1)")
    assert '"status": "Open"' in old
    assert TEXTS["stale"] in old
    assert '"status": "Closed"' in text(stale, "get_ticket(ticket_id=1)")


def test_faults_do_not_depend_on_the_order_of_calls():
    faults = FaultSettings(0.5, ("refusal",), seed=4)
    calls = [f"get_ticket(ticket_id={number})" for number in range(40)]
    there = desk(faults)
    forth = {call: find_kind(text(there, call)) for call in calls}
    there = desk(faults)
    assert {call: find_kind(text(there, call)) for call in reversed(calls)} == forth
    assert 8 < sum(kind is not None for kind in forth.values()) < 32
    other = FaultSettings(0.5, ("refusal",), seed=5)
    assert {call: other.draw("an_entry", call) for call in calls} != forth


def test_forks_continue_alike_and_apart():
    session = desk(FaultSettings(1.0, ("refusal",)))
    fork = session.fork()
    assert find_kind(text(fork, "close_ticket(ticket_id=1)")) == "refusal"
    assert find_kind(text(session, "close_ticket(ticket_id=1)")) == "refusal"
    assert find_kind(text(session.fork(), "close_ticket(ticket_id=1)")) is None


def test_without_a_rate_the_session_is_the_same():
    session = Session.load(["TicketAPI"], DESK)
    assert FaultSettings(0.0).wrap(session, "an_entry") is session


def test_options_are_read_and_written():
    assert FaultSettings.read("rate=0.25,kinds=stale|timeout,seed=7") == FaultSettings(
        0.25, ("timeout", "stale"), 7
    )
    assert FaultSettings.read(str(FaultSettings(0.1))) == FaultSettings(0.1, KINDS)


@pytest.mark.parametrize(
    "text", ["", "rate=2", "rate=x", "kinds=stale", "rate=0.1,kinds=loss", "0.1"]
)
def test_other_options_are_refused(text):
    with pytest.raises(DataError, match="--faults"):
        FaultSettings.read(text)


def play(prepared, faults: FaultSettings, *, retries: bool):
    """Return the verdict on an agent that makes the right calls, and the number of faults."""
    session = faults.wrap(prepared.template.fork(), prepared.trajectory.id)
    episode = Episode(prepared.trajectory, session, STRICT, None)
    injected = 0
    for turn in prepared.trajectory.turns:
        for call in read_truth_calls(turn):
            [result] = episode.act([call])
            while find_kind(result.text):
                injected += 1
                if not retries:
                    break
                [result] = episode.act([call])
        episode.end_turn()
    return judge(prepared.truth, episode.outcomes, STRICT, prepared.scene).valid, injected


@pytest.mark.parametrize("kinds", [("timeout",), ("refusal", "partial", "stale")])
def test_an_agent_that_tries_again_scores_as_without_faults(kinds):
    data = turnwise.load_dataset(categories="base")
    faulty = 0
    for trajectory in [*data.trajectories.values()][:40]:
        prepared = prepare(data, trajectory, STRICT)
        passed, injected = play(prepared, FaultSettings(0.1, kinds), retries=True)
        assert passed
        trusting, again = play(prepared, FaultSettings(0.1, kinds), retries=False)
        # What is old depends on the state, so that only the first fault is sure to be the same.
        assert bool(again) == bool(injected)
        faulty += bool(injected)
        assert trusting or injected
        assert play(prepared, FaultSettings(0.0), retries=False) == (True, 0)
    assert faulty > 10


def test_an_agent_that_does_not_try_again_lacks_what_a_fault_kept_from_happening():
    data = turnwise.load_dataset(categories="base")
    failed = faulty = 0
    for trajectory in [*data.trajectories.values()][:60]:
        prepared = prepare(data, trajectory, STRICT)
        passed, injected = play(prepared, FaultSettings(0.1, ("timeout",)), retries=False)
        faulty += bool(injected)
        failed += not passed
        assert passed or injected
    assert failed >= 0.8 * faulty > 5
