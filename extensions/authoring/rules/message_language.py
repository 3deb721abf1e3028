"""A rule for the language of user messages: rules and figures on words read only English."""

from __future__ import annotations

import re
from collections.abc import Iterator

from extensions.authoring.rules.finding import Finding, Severity
from extensions.authoring.rules.replayed_entry import Entry
from trajectories.schema import Trajectory

LANGUAGE = "LANGUAGE"
_ENGLISH = frozenset(
    {"the", "to", "my", "of", "and", "is", "it", "that", "what", "please", "i", "you", "for"}
    | {"with", "can", "this", "be", "are", "how"}
)
_WORD = re.compile(r"[^\W\d_]+")
_MIN_SHARE = 0.05
"""Minimum share of common English words."""
_MIN_WORDS = 20
"""Number of words below which only the script decides."""
_MIN_LATIN = 0.8
"""Minimum share of ASCII letters."""
_WHY = (
    "the user messages are not in English; ASKED does not apply, and the figure asked, required "
    "information in words and causes that follow from answers read only English"
)


def is_english(trajectory: Trajectory) -> bool:
    """Tell whether the user messages are in English, by their script and common words."""
    said = [m.content for turn in trajectory.turns for m in turn.messages if m.role == "user"]
    words = _WORD.findall(" ".join(said).casefold())
    letters = "".join(words)
    if not letters:
        return True
    if sum(map(str.isascii, letters)) < _MIN_LATIN * len(letters):
        return False
    common = sum(word in _ENGLISH for word in words)
    return len(words) < _MIN_WORDS or common >= _MIN_SHARE * len(words)


def check_language(entry: Entry) -> Iterator[Finding]:
    """Yield a finding if the user messages are not in English."""
    if not is_english(entry.trajectory):
        yield entry.finding(LANGUAGE, Severity.INFO, None, "turns", _WHY)
