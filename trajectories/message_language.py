"""Language of user messages. The parsers of required information and questions need English."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trajectories.schema import Trajectory

_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH = frozenset(
    _WORD.findall("the to my of and is it that what please i you for with can this be are how")
)
_MIN_SHARE = 0.05
"""Minimum share of common English words."""
_MIN_WORDS = 20
"""Minimum words for the test of common words; in shorter texts, only letters are tested."""
_MIN_LATIN = 0.8
"""Minimum share of ASCII letters."""


def is_english(trajectory: Trajectory) -> bool:
    """Tell whether the user messages are in English.

    If the provenance has no field ``language``, the function looks at letters and common words.
    """
    if declared := trajectory.provenance.get("language"):
        return declared.casefold().startswith("en")
    said = [m.content for turn in trajectory.turns for m in turn.messages if m.role == "user"]
    words = _WORD.findall(" ".join(said).casefold())
    letters = "".join(words)
    if len(letters.encode("ascii", "ignore")) < _MIN_LATIN * len(letters):
        return False
    common = sum(word in _ENGLISH for word in words)
    return len(words) < _MIN_WORDS or common >= _MIN_SHARE * len(words)


def describe_limits(trajectories: Sequence[Trajectory]) -> Iterator[str]:
    """Yield a message about entries that are not in English."""
    found = [each.id for each in trajectories if not is_english(each)]
    if found:
        yield (
            f"{len(found)} of {len(trajectories)} entries are not in English (first: {found[0]}); "
            "required information and the metric `asked` are not measured for these entries"
        )
