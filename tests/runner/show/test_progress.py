from __future__ import annotations

from io import StringIO

import pytest

from runner.show.terminal import progress


class Terminal(StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize("stream", [StringIO, Terminal])
@pytest.mark.parametrize("count", [0, 1, 7, 250])
def test_items_are_passed_on_in_order_and_shown_after_they_are_dealt_with(stream, count):
    shown = stream()
    passed = []
    for item in progress(iter(range(count)), count, "judged", shown):
        assert f"{item + 1}/{count}" not in shown.getvalue()
        passed.append(item)
    assert passed == list(range(count))


def test_nothing_is_shown_of_nothing():
    shown = StringIO()
    list(progress([], 0, "judged", shown))
    assert shown.getvalue() == ""


def test_elsewhere_there_is_a_line_per_tenth():
    shown = StringIO()
    list(progress(range(200), 200, "judged", shown))
    assert shown.getvalue().splitlines() == [f"judged {n}/200" for n in range(20, 201, 20)]


@pytest.mark.parametrize("count", [1, 3, 9])
def test_elsewhere_there_is_a_line_per_item_of_few(count):
    shown = StringIO()
    list(progress(range(count), count, "judged", shown))
    assert shown.getvalue().splitlines() == [f"judged {n}/{count}" for n in range(1, count + 1)]


def test_on_a_terminal_a_bar_moves_on_one_line():
    shown = Terminal()
    list(progress(range(4), 4, "judged", shown))
    first, *_, last = shown.getvalue().split("\r")[1:]
    assert first == f"judged [{'#' * 7}{'.' * 23}] 1/4"
    assert last == f"judged [{'#' * 30}] 4/4\n"
    assert shown.getvalue().count("\n") == 1


def test_on_a_terminal_the_bar_moves_no_more_than_a_hundred_times():
    shown = Terminal()
    list(progress(range(5000), 5000, "judged", shown))
    assert shown.getvalue().count("\r") == 100
