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

_LOGIN_WORDS = ("login", "log_in", "authenticate", "sign_in")
_LOGIN_SAID = re.compile(
    r"\b(?:log|logged|logging|sign|signed|signing)[ -](?:\w{1,20} )?in\b|\blogin\b|\bauthenticat",
    re.IGNORECASE,
)
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_COMMON = frozenset(stems("get set is to of by for a the and"))
"""Words of functions' names that name nothing."""


def is_telling(value: object) -> bool:
    """Tell whether a value is hardly met by chance."""
    if isinstance(value, str):
        return len(value) > 2
    return isinstance(value, (int, float)) and value not in range(100)


def is_login(act: Act) -> bool:
    """Tell whether a call logs somebody in."""
    name = act.name.lower()
    return any(word in name for word in _LOGIN_WORDS) and "status" not in name


def implicit(act: Act, truth: Sequence[Act], said: Sequence[str]) -> bool:
    """Tell whether a call of the ground truth is a step that only its successors ask for.

    Args:
        act: The call, one of the turn's.
        truth: All that the ground truth does in the turn, in order.
        said: What the user has said so far.
    """
    later = truth[truth.index(act) + 1 :]
    if not said or names(act, " ".join(said), later):
        return False
    return any(_feeds(act, other) or _prepares(act, other) for other in later)


def names(act: Act, words: str, later: Sequence[Act] = ()) -> bool:
    """Tell whether words name a call: half of its function's name, or what it is to change.

    Args:
        act: The call.
        words: What was said.
        later: Calls after it: a word in another function's name is said of that one.
    """
    spoken = set(stems(words))
    others = [_own_words(other) for other in later if other.name != act.name]
    own = _own_words(act).difference(*others)
    if is_login(act):
        # Whoever speaks of a tweet on Twitter has not asked to authenticate there.
        named = bool(_LOGIN_SAID.search(words))
    else:
        # Half of it may be what another call is about: a read must be asked for in more words.
        named = 2 * len(spoken & own) >= len(own) + (not act.moved)
    given = [value for value in _values(act) if isinstance(value, str) and is_telling(value)]
    return named or (bool(act.changes) and any(value.lower() in words.lower() for value in given))


def _own_words(act: Act) -> frozenset[str]:
    """Return the words of a function's name that name something."""
    return frozenset(stems(_HUMP.sub(" ", act.name))) - _COMMON


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
