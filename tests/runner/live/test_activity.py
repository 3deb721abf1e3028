"""Counts of the current work."""

from __future__ import annotations

from contextlib import suppress

import pytest

from runner.live.activity import RetryWait, RunActivity
from runner.models.model_types import ModelError, TransientError
from tests.runner.live.clock import FakeClock


def test_jobs_and_requests_count_while_they_run():
    activity = RunActivity(FakeClock().time)
    counts = []

    def note():
        counts.append((activity.jobs, activity.in_flight, activity.answered))

    note()
    with activity.job():
        with activity.job(), activity.request():
            with activity.request():
                note()
            note()
        note()
    note()
    with suppress(KeyError), activity.job(), activity.request():
        note()
        raise KeyError
    note()
    assert counts == [
        *((0, 0, 0), (2, 2, 0), (2, 1, 1), (1, 0, 2), (0, 0, 2)),
        *((1, 1, 2), (0, 0, 2)),
    ]
    assert (activity.trouble, activity.words) == ({}, {})


def test_errors_count_by_kind_and_the_last_kind_comes_last():
    activity = RunActivity(FakeClock().time)
    errors = [
        TransientError("429: slow", kind="rate_limit"),
        ModelError("no kind"),
        TransientError("429: slower", kind="rate_limit"),
    ]
    for error in errors:
        with pytest.raises(ModelError), activity.request():
            raise error
    assert activity.trouble == {"rate limit": 2, "bug": 1}
    assert [*activity.words.items()] == [("bug", "no kind"), ("rate limit", "429: slower")]
    assert (activity.in_flight, activity.answered) == (0, 0)


def test_waits_end_at_their_time_and_count_as_retries():
    clock = FakeClock()
    activity = RunActivity(clock.time)
    now = clock.time()
    with activity.wait(2.5, asked_for=True):
        with activity.wait(1.0, asked_for=False):
            assert activity.waits == [RetryWait(now + 2.5, True), RetryWait(now + 1.0, False)]
        assert activity.waits == [RetryWait(now + 2.5, True)]
    assert (activity.waits, activity.retries) == ([], 2)
