from __future__ import annotations

import io
from contextlib import ExitStack

import pytest

from runner.live.activity import RunActivity
from runner.live.progress_display import ProgressDisplay
from runner.models.model_types import RequestError, TransientError
from runner.records.episode_record import RunSpending

SPENT = RunSpending(7, 1200, None)


class Screen(io.StringIO):
    """A stream that may be a terminal."""

    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        """Say whether it is one."""
        return self.terminal


class Watch:
    """A meter, its stream, and a clock that stands still until it is set."""

    def __init__(self, total, terminal=False, width=1000):
        self.now = 100.0
        self.screen = Screen(terminal)
        self.activity = RunActivity(lambda: self.now)
        self.meter = ProgressDisplay(total, self.screen, lambda: self.now, lambda: width)

    def after(self, seconds, spent=SPENT):
        """Let time go by and look."""
        self.now += seconds
        self.meter.look(self.activity, spent)

    def finish(self, outcome="passed", spent=SPENT):
        """Finish an episode."""
        self.meter.count(outcome, spent)

    @property
    def lines(self):
        """The lines so far."""
        return self.screen.getvalue().splitlines()


def failing(activity, error):
    """Make a request that fails."""
    with pytest.raises(type(error)), activity.request():
        raise error


def test_elsewhere_than_on_a_terminal_a_line_comes_every_ten_seconds_at_most():
    watch = Watch(1000)
    for _ in range(600):
        watch.after(0.1)
        watch.finish()
    assert len(watch.lines) == 5 or len(watch.lines) == 6
    assert watch.lines[0].startswith(
        "100 of 1000 done: 100 passed, 0 failed, 0 errors; 0 in flight, 1m 3"
    )


def test_a_run_speaks_before_its_first_episode_is_done():
    watch = Watch(4)
    with watch.activity.job(), watch.activity.request():
        watch.after(9.9)
        assert watch.lines == []
        watch.after(0.2)
    assert watch.lines == ["0 of 4 done: 0 passed, 0 failed, 0 errors; 1 in flight; 1200 tokens"]


def test_the_last_line_comes_at_once_and_once():
    watch = Watch(2)
    watch.finish()
    watch.finish("error", RunSpending(9, 1500, 0.256))
    watch.after(60)
    assert watch.lines == ["2 of 2 done: 1 passed, 0 failed, 1 error; 1500 tokens, $0.26"]


def test_what_goes_wrong_is_told_by_kind_with_the_last_words():
    watch = Watch(4)
    failing(watch.activity, RequestError("m refuses this (400)"))
    failing(watch.activity, TransientError("m: busy (429)", kind="rate_limit"))
    failing(watch.activity, TransientError("m: slow\x1b[2J (429)", kind="rate_limit"))
    with watch.activity.wait(95.0, asked_for=True), watch.activity.wait(7.0, asked_for=False):
        watch.after(10)
    assert watch.lines == [
        "0 of 4 done: 0 passed, 0 failed, 0 errors; 0 in flight; "
        "2 waiting to retry after rate limit, the server asks for 1m 25s more; 1200 tokens; "
        "2 retries (rate limit 2, refused 1), last: m: slow\\x1b[2J (429)"
    ]
    watch.after(10)
    assert "waiting" not in watch.lines[1]


def test_the_speed_is_that_of_answers():
    watch = Watch(4)
    for _ in range(35):
        with watch.activity.request():
            pass
    failing(watch.activity, TransientError("m: busy (429)", kind="rate_limit"))
    watch.after(10)
    assert "; 0 in flight, 3.5 requests/s; " in watch.lines[0]


def test_our_own_waits_are_told_from_the_server_s():
    watch = Watch(4)
    with watch.activity.wait(40.0, asked_for=False):
        watch.after(10)
    assert "1 waiting to retry, the longest for 0m 30s more;" in watch.lines[0]


def test_on_a_terminal_one_line_moves_within_its_width():
    watch = Watch(9, terminal=True, width=40)
    failing(watch.activity, TransientError("x" * 500))
    watch.after(1)
    watch.finish()
    watch.after(1)
    watch.meter.say("stopping")
    watch.after(1)
    watch.meter.close()
    first, second, rest = watch.screen.getvalue().split("\r\x1b[K")
    assert first.startswith("0 of 9 done: ")
    assert second.startswith("1 of 9 done: ")
    said, third, end = rest.split("\n")
    assert (said, end) == ("turnwise: stopping", "")
    assert {len(first), len(second), len(third)} == {39}


def test_how_long_it_takes_counts_those_under_way_as_half_done():
    watch = Watch(100)
    for _ in range(10):
        watch.finish()
    with watch.activity.job(), watch.activity.job():
        watch.after(11)
    # 11 of 100 in as many seconds.
    assert ", 1m 29s left" in watch.lines[0]


def test_a_stream_that_is_gone_is_no_trouble():
    watch = Watch(1, terminal=True)
    watch.screen.close()
    watch.finish()
    watch.meter.say("stopping")
    watch.meter.close()


@pytest.mark.parametrize(
    ("seconds", "why"),
    [
        (4.9, ""),
        (5, ", the longest for 0m 05s more"),
        (59.4, ", the longest for 0m 59s more"),
        (59.6, ", the longest for 1m 00s more"),
        (600, ", the longest for 10m 00s more"),
        (3599, ", the longest for 59m 59s more"),
        (3600, ", the longest for 1h 00m more"),
        (7384, ", the longest for 2h 03m more"),
    ],
)
def test_a_wait_is_shown_with_the_rest_of_its_time_if_it_is_long(seconds, why):
    watch = Watch(4)
    with watch.activity.wait(1.0, asked_for=True), watch.activity.wait(seconds, asked_for=False):
        watch.meter.look(watch.activity, SPENT)
        watch.after(10)
    assert watch.lines[0].count("; 2 waiting to retry") == 1
    watch = Watch(4)
    with watch.activity.wait(10 + seconds, asked_for=False), watch.activity.wait(1, asked_for=True):
        watch.after(10)
    assert f"; 2 waiting to retry{why}; 1200 tokens; " in f"{watch.lines[0]}; "


def test_the_first_line_of_a_run_that_just_began_has_no_speed():
    watch = Watch(1, terminal=True)
    with watch.activity.request():
        pass
    watch.finish("failed", RunSpending(1, 5, 0.0))
    assert watch.lines == ["1 of 1 done: 0 passed, 1 failed, 0 errors; 5 tokens, $0.00"]
    again = Watch(3)
    with again.activity.request():
        pass
    again.after(9.75)
    assert again.lines == []
    again.after(0.25)
    assert "; 0 in flight, 0.1 requests/s; 1200 tokens" in again.lines[0]


@pytest.mark.parametrize(("terminal", "seconds"), [(True, 0.25), (False, 10.0)])
def test_a_line_is_shown_as_often_as_its_stream_takes_it(terminal, seconds):
    watch = Watch(9, terminal=terminal)
    shown = []
    for _ in range(8):
        watch.after(seconds / 2)
        shown.append(watch.screen.getvalue().count(" of 9 done"))
    assert shown == [0, 1, 1, 2, 2, 3, 3, 4]


def test_the_rest_of_a_run_is_estimated_from_finished_and_half_of_the_open_episodes():
    watch = Watch(10)
    watch.finish()
    with ExitStack() as jobs:
        for _ in range(20):
            jobs.enter_context(watch.activity.job())
        watch.after(55)
    # At most the open episodes are under way: 1 + 9 / 2 of 10 in 55 seconds.
    assert "0 in flight, 0m 45s left; " in watch.lines[0]


def test_a_single_retry_is_named_in_the_singular_and_its_words_are_bounded():
    watch = Watch(4)
    failing(watch.activity, TransientError("x" * 200))
    with watch.activity.wait(1.0, asked_for=False):
        pass
    watch.after(10)
    assert watch.lines[0].endswith(f"; 1 retry (server 1), last: {'x' * 117}...")


def test_other_lines_end_an_updated_line():
    watch = Watch(9, terminal=True)
    watch.meter.say("before\x1b")
    watch.after(1)
    watch.meter.say("amid")
    watch.meter.close()
    watch.after(1)
    watch.meter.close()
    watch.meter.close()
    before, first, rest = watch.screen.getvalue().split("\n", 2)
    assert before == "turnwise: before\\x1b"
    assert first.endswith("\r\x1b[Kturnwise: amid")
    assert rest.startswith("0 of 9 done")
    assert rest.count("\n") == 1
