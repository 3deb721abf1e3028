"""Rules BULK, WHOLE and DATES, which check the generated items of an entry.

WHOLE finds lists and files with generated items. The rule reports user messages that ask for the
last line, the size or the whole content of such a list or file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from checkers.known_values import list_literals
from envs.calls import Call
from extensions.authoring.rules.finding import Finding, Severity, brief
from extensions.authoring.rules.replayed_entry import Entry
from trajectories.schema import Category

BULK, WHOLE, DATES = "BULK", "WHOLE", "DATES"

MIN_CHARS = 800
"""A result with fewer characters almost never contains generated items."""
_LONG_CATEGORIES = (Category.LONG_CONTEXT, Category.COMPOSITE)
_MIN_GROWTH = 200
"""A result counts as extended if generated items add at least this number of characters."""
_MAX_YEARS = 10
"""Maximum distance in years from the latest year in the text. Earlier years are ignored, because
they are usually years of birth."""
_MAX_DISTANCE = 3
"""Maximum years between a day in the config and the days of the scenario."""

_FILES = ("cat", "tail", "wc", "sort", "diff")
_WHOLE_OF: Sequence[tuple[tuple[str, ...], re.Pattern[str]]] = tuple(
    (functions, re.compile(pattern, re.IGNORECASE))
    for functions, pattern in (
        (
            _FILES,
            r"\b(?:the|its|in its|file's) (?:very )?last (?:\w+ )?(?:lines?|entry|entries)\b"
            r"|\bhow many (?:lines|words|people|names|entries|characters)\b"
            r"|\b(?:every|each) (?:line|number|name|entry)\b"
            r"|\b(?:exactly what|says? the same|the same as|just like it|same wording)\b",
        ),
        (
            ("ls", "find"),
            r"\b(?:what|whatever|anything) else is there\b|\bnothing (?:more|else|but)\b"
            r"|\bjust those\b|\bwhether (?:it|the folder) is empty\b",
        ),
        (
            ("get_available_stocks", "get_watchlist"),
            r"\b(?:which|what)\b[^.?!]*\bstocks\b[^.?!]*\blist|\bwhat's on it\b"
            r"|\bwhat is on it\b",
        ),
        (("list_all_following",), r"\b(?:whom|who) do (?:we|I) follow\b"),
    )
)


def check_bulk(entry: Entry) -> Iterator[Finding]:
    """Yield a finding if the ground truth of a long-context entry reads no generated items."""
    if entry.trajectory.category not in _LONG_CATEGORIES:
        return
    longest = max((len(step.result.text) for step in entry.steps), default=0)
    if longest < MIN_CHARS:
        message = (
            f"the ground truth reads no generated items, because its longest result has only "
            f"{longest} characters"
        )
        yield entry.finding(BULK, Severity.WARNING, None, "long_context", message)


def check_whole(entry: Entry) -> Iterator[Finding]:
    """Report user messages about a whole list or file that contains generated items."""
    if entry.trajectory.long_context is None or entry.dataset.tolerant:
        return
    bare = Entry(entry.dataset, replace(entry.trajectory, long_context=None))
    session = bare.template.fork()
    said = ""
    for index, (turn, steps) in enumerate(zip(entry.trajectory.turns, entry.turns, strict=True)):
        said = f"{said}\n{turn.words}"
        for step in steps:
            short = len(session.call(step.call).text)
            if len(step.result.text) - short < _MIN_GROWTH:
                continue
            for functions, pattern in _WHOLE_OF:
                if step.function in functions and (match := pattern.search(said)):
                    message = (
                        "generated items are added to this result, and the user asks about the "
                        f"whole result: {match[0]}"
                    )
                    yield entry.finding(WHOLE, Severity.WARNING, index, step.field, message)
        if turn.ground_truth:
            said = ""


def check_dates(entry: Entry) -> Iterator[Finding]:
    """Report config dates that are years before or after the dates in messages and calls."""
    trajectory = entry.trajectory
    texts = [turn.words for turn in trajectory.turns]
    calls = [call for turn in entry.calls for call in turn if isinstance(call, Call)]
    texts += [
        str(value) for call in calls for value in list_literals(call.kwargs) if _is_day(value)
    ]
    years = {int(match[0]) for text in texts for match in _YEAR.finditer(text)}
    if not years:
        return
    years = {year for year in years if max(years) - year <= _MAX_YEARS}
    for name, config in entry.dataset.config(trajectory).items():
        if odd := next(_find_odd_days(config, years), None):
            path, day = odd
            message = f"{day} is years away from the days of the scenario ({brief(sorted(years))})"
            yield entry.finding(DATES, Severity.WARNING, None, f"config.{name}{path}", message)


def _find_odd_days(value: Any, years: set[int], path: str = "") -> Iterator[tuple[str, date]]:
    if isinstance(value, Mapping):
        for key, member in value.items():
            if isinstance(member, (Mapping, list)) or _DATE_KEY.search(str(key)):
                yield from _find_odd_days(member, years, f"{path}.{key}")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _find_odd_days(member, years, f"{path}[{index}]")
    elif isinstance(value, str) and _DAY.match(value):
        try:
            day = date.fromisoformat(value[:10])
        except ValueError:
            return
        if all(abs(day.year - year) > _MAX_DISTANCE for year in years):
            yield path, day


def _is_day(value: object) -> bool:
    return isinstance(value, str) and bool(_DAY.fullmatch(value))


_DATE_KEY = re.compile(r"date$|timestamp", re.IGNORECASE)
_YEAR = re.compile(r"\b20\d\d\b")
_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")
