"""Sessions by name: bounded, isolated, dropped when nobody uses them."""

from __future__ import annotations

import pytest

from envs.calls import Call
from envs.session import Session
from extensions.serving.session_pool import (
    MAX_SNAPSHOTS,
    SessionOrSnapshotLimit,
    SessionOrSnapshotNotFound,
    SessionPool,
)

CREATE = Call("create_ticket", (), {"title": "Dark screen"})


@pytest.fixture
def pool(desk: Session, clock) -> SessionPool:
    return SessionPool(desk, 2, 10.0, clock)


def test_sessions_do_not_see_each_other(pool: SessionPool, desk: Session) -> None:
    first, second = pool.open("a"), pool.open("b")
    assert first.session.call(CREATE).ok
    assert first.session.snapshot() != second.session.snapshot()
    assert second.session.snapshot() == desk.snapshot()


def test_find_returns_the_same_session(pool: SessionPool) -> None:
    opened = pool.open("a")
    assert pool.find("a") is opened
    assert pool.find_or_open("a") is opened


def test_an_unknown_session_is_refused(pool: SessionPool) -> None:
    with pytest.raises(SessionOrSnapshotNotFound, match="Session 'a' does not exist"):
        pool.find("a")
    with pytest.raises(SessionOrSnapshotNotFound):
        pool.close("a")


def test_there_are_no_more_than_the_limit(pool: SessionPool) -> None:
    pool.open("a")
    pool.open("b")
    with pytest.raises(SessionOrSnapshotLimit, match="All 2 sessions are in use"):
        pool.find_or_open("c")
    assert list(pool.served) == ["a", "b"]


def test_one_that_ended_makes_room_and_is_kept_until_then(pool: SessionPool) -> None:
    pool.open("a")
    pool.open("b")
    pool.end("b")
    assert list(pool.served) == ["a", "b"]
    pool.open("c")
    assert list(pool.served) == ["a", "c"]


def test_the_end_of_an_unknown_session_is_nothing(pool: SessionPool) -> None:
    pool.end("a")
    assert not pool.served


def test_an_idle_session_is_dropped(pool: SessionPool, clock) -> None:
    pool.open("a")
    pool.open("b")
    clock.now = 8.0
    pool.find("b")
    clock.now = 11.0
    assert list(pool.served) == ["b"]
    pool.open("c")


def test_reset_goes_back_to_the_initial_state(pool: SessionPool, desk: Session) -> None:
    pool.open("a").session.call(CREATE)
    pool.reset("a")
    assert pool.find("a").session.snapshot() == desk.snapshot()


def test_restore_goes_to_any_snapshot(pool: SessionPool) -> None:
    session = pool.open("a").session
    states = []
    for _ in range(3):
        assert pool.snapshot("a") == len(states)
        states.append(session.snapshot())
        session.call(CREATE)
    for number in (2, 0, 1):
        pool.restore("a", number)
        assert session.snapshot() == states[number]


@pytest.mark.parametrize("number", [-1, 1])
def test_an_unknown_snapshot_is_refused(pool: SessionPool, number: int) -> None:
    pool.open("a")
    pool.snapshot("a")
    with pytest.raises(
        SessionOrSnapshotNotFound, match=f"a has no snapshot number {number}; it has 1 snapshots"
    ):
        pool.restore("a", number)


def test_snapshots_are_bounded(pool: SessionPool) -> None:
    pool.open("a")
    for _ in range(MAX_SNAPSHOTS):
        pool.snapshot("a")
    with pytest.raises(SessionOrSnapshotLimit, match="already has"):
        pool.snapshot("a")
