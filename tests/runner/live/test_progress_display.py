from __future__ import annotations

import io

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
