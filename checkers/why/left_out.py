"""Why a call was left out that was needed: nobody named it, or it was asked for and not made."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from checkers.telling.words import stems
from checkers.why.divergence import Act

IMPLICIT = "implicit"
UNFINISHED = "unfinished"
ASKED_FOR = "asked_for"
WHOLE_TURN = "whole_turn"

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_COMMON = frozenset(stems("get set is to of by for a the and"))
"""Words of functions' names that name nothing."""


def is_telling(value: object) -> bool:
    """Tell whether a value is hardly met by chance."""
    if isinstance(value, str):
        return len(value) > 2
    return isinstance(value, (int, float)) and value not in range(100)


def implicit(act: Act, truth: Sequence[Act], said: Sequence[str]) -> bool:
    """Tell whether a call of the ground truth is a step that only its successors ask for.

    Args:
        act: The call, one of the turn's.
        truth: All that the ground truth does in the turn, in order.
        said: What the user has said so far.
    """
    if not said or names(act, " ".join(said)):
        return False
    later = truth[truth.index(act) + 1 :]
    return any(_feeds(act, other) or _prepares(act, other) for other in later)


def names(act: Act, words: str) -> bool:
    """Tell whether words name a call: half of its function's name, or what it is to change."""
    spoken = set(stems(words))
    own = [word for word in stems(_HUMP.sub(" ", act.name)) if word not in _COMMON]
    if 2 * sum(word in spoken for word in own) >= len(own):
        return True
    given = [value for value in _values(act) if isinstance(value, str) and is_telling(value)]
    return act.moved and any(value.lower() in words.lower() for value in given)


def _feeds(act: Act, other: Act) -> bool:
    """Tell whether a call gives a value that a later one is made with."""
    return any(is_telling(value) and str(value) in act.result for value in _values(other))


def _prepares(act: Act, other: Act) -> bool:
    """Tell whether a later call of the same backend may rest on what a call changed or showed."""
    return (
        act.tool is not None and other.tool is not None and act.tool.backend == other.tool.backend
    )


def _values(act: Act) -> Iterator[object]:
    for value in act.arguments.values():
        yield from value if isinstance(value, list | tuple) else [value]
