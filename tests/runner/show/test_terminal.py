from __future__ import annotations

import io
import os

import pytest

from envs.state import cut
from runner.show.terminal import OutputLine, escape_unprintable, paint, tell, wants_colour


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "wanted"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": "", "TERM": "xterm"}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ],
)
def test_colour_is_for_terminals_that_want_it(stream, environment, wanted):
    assert wants_colour(stream, environment) is wanted


def test_a_tone_is_shown_in_colour_only():
    assert paint(OutputLine("x", "bad"), colour=True) == "\033[31mx\033[0m"
    assert paint(OutputLine("x", "bad"), colour=False) == "x"
    assert paint(OutputLine("x"), colour=True) == "x"
    assert paint(OutputLine("", "bad"), colour=True) == ""


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ("\033[2J", "\\x1b[2J"),
        ("\x9b31m", "\\x9b31m"),
        ("a\rb\x08\x00", "a\\rb\\x08\\x00"),
        ("passed\nFAILED", "passed\\nFAILED"),
        ("\u202eevil\u2066", "\\u202eevil\\u2066"),
        ("\ud800", "\\ud800"),
        ("\u2028", "\\u2028"),
    ],
)
def test_what_a_terminal_would_obey_is_escaped(hostile, harmless, colour):
    assert paint(OutputLine(hostile), colour=colour) == harmless


def test_other_scripts_are_shown_as_they_are():
    assert escape_unprintable("Grüße 你好 🙂") == "Grüße 你好 🙂"


def test_a_text_is_cut_where_it_gets_longer():
    assert cut("x" * 10, 10) == "x" * 10
    assert cut("x" * 11, 10) == "x" * 7 + "..."


def test_what_nobody_reads_ends_nothing():
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as stream:
        tell("one\n", stream)
        tell("two\n", stream)
    closed = io.StringIO()
    closed.close()
    tell("three\n", closed)


def test_a_full_disk_below_what_is_told_ends_nothing():
    with open("/dev/full", "w", encoding="utf-8") as stream:
        tell("one\n", stream)


def test_what_is_told_is_seen_at_once():
    stream = io.StringIO()
    tell("one\n", stream)
    assert stream.getvalue() == "one\n"
