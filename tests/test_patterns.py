"""No regular expression takes more than linear time for any text, or its texts are short."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.patterns import held_in, overlaps, patterns, possessive_groups, pumps

SHORT = ("checkers.replies.as_bfcl.single_turn.",)
"""They read as BFCL reads, and values of at most ``checkers.replies.code.MAX_CODE`` characters."""
READ_BEFORE = ("envs.calls._PLAIN_ARGUMENT",)
"""It meets what another one has matched as a whole, and so begins nowhere in vain."""
DELIMITED = ("trajectories.errata.erratum.NAMED_CALL",)
"""What its repetitions share is the one space before a sign that none of them takes."""
ENDS = ("", "\0", "!", "a", "\n")
SIZES = (4_000, 8_000, 16_000)
BEGINNINGS = (16, 20, 24, 28, 32, 64, 256, 1_000)
"""What takes exponential time shows here, before it takes hours."""
LONG = 0.05
"""Seconds that no text of at most 1,000 characters takes."""
NOTHING = 0.004
"""Seconds below which a text of 4,000 characters is fast, whatever the clock says."""
GROWTH = 9.0
"""Four times the text takes about four times as long; sixteen times, if time is its square."""


def taken(pattern: re.Pattern[str], method: str, text: str) -> float:
    """Return the seconds that a method takes for a text."""
    begin = time.process_time()
    if method in ("sub", "subn"):
        getattr(pattern, method)("", text)
    elif method == "finditer":
        for _ in pattern.finditer(text):
            pass
    else:
        getattr(pattern, method)(text)
    return time.process_time() - begin


def slow(pattern: re.Pattern[str], methods: Iterator[str] | Any) -> str | None:
    """Return a text that takes more than linear time, described; None where none is found."""
    for before, again in pumps(pattern)[:60]:
        for end in ENDS:
            for method in sorted(methods):

                def timed(size: int) -> float:
                    return taken(pattern, method, before + again * (size // len(again)) + end)  # noqa: B023

                said = f"{method}({before!r} + N * {again!r} + {end!r})"
                if any(timed(size) > LONG for size in BEGINNINGS):
                    return f"{said} takes long"
                if timed(SIZES[0]) < NOTHING:
                    continue
                times = [min(timed(size) for _ in range(3)) for size in SIZES]
                if times[-1] > GROWTH * times[0]:
                    return f"{said} takes {times} s for {SIZES} characters"
    return None


def test_all_patterns_are_found() -> None:
    places = {found.place for found in patterns()}
    assert len(places) > 150
    assert {
        "envs.calls._FENCE",
        "checkers.known_values._PIECE",
        "runner.models.reply_reader._KEY",
    } <= places


def test_patterns_with_values_inside_and_of_classes_are_found() -> None:
    texts = {found.pattern.pattern for found in patterns()}
    assert {r"\bword month\b", r"(?<![\w.])word(?!\w|\.\d)"} <= texts
    [own] = held_in(type("Own", (), {"__module__": "envs.own", "SIGN": re.compile("a")}))
    assert own.pattern == "a"


@pytest.mark.parametrize("text", [r"(a+)+$", r"(?:a*b?)*c", r"\s+\s*x", r"(\w+\s?)*!", r"[ab]+a+c"])
def test_a_slow_pattern_is_seen_by_its_form(text: str) -> None:
    assert overlaps(re.compile(text))


@pytest.mark.parametrize("text", [r"a+b+", r"(?:a++)+$", r"[\w$]+(?:\.[\w$]+)*", r"\d+\s+\d+"])
def test_a_fast_pattern_is_too(text: str) -> None:
    assert not overlaps(re.compile(text))


def test_no_pattern_has_repetitions_that_share_a_text() -> None:
    mine = [p for p in patterns() if not p.place.startswith(SHORT + DELIMITED)]
    assert {p.place: wrong for p in mine if (wrong := overlaps(p.pattern))} == {}


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Such a pattern reads ``[f(x)]`` as a call before CPython 3.11.5."""
    assert {p.place for p in patterns() if possessive_groups(p.pattern)} == set()


@pytest.mark.parametrize(
    ("text", "count"),
    [(r"(?:ab?c)*+", 1), (r"x(a|(b)?+)++", 2), (r"(?>(?:ab?c)*)", 0), (r"[ab]*+\w++a{2}+.?+", 0)],
)
def test_possessive_groups_are_counted(text: str, count: int) -> None:
    assert possessive_groups(re.compile(text)) == count


@pytest.mark.slow
def test_a_slow_pattern_is_seen_by_its_time() -> None:
    assert slow(re.compile(r"(a+)+$"), ["match"])
    assert slow(re.compile(r"\w+\("), ["search"])
    assert slow(re.compile(r"\w++\("), ["match"]) is None


@pytest.mark.slow
@pytest.mark.parametrize("package", ["envs", "checkers", "trajectories", "runner"])
def test_no_pattern_takes_more_than_linear_time(package: str) -> None:
    mine = [p for p in patterns() if p.place.startswith((f"{package}.", f"{package}/"))]
    held = [p for p in mine if not p.place.startswith(SHORT + READ_BEFORE)]
    found = {p.place: text for p in held if (text := slow(p.pattern, p.methods))}
    assert found == {}
