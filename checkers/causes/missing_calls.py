"""Classification of missing calls: calls that the user asked for, and implicit calls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from checkers.answer_text.words import list_stems
from checkers.causes.divergence import CallEffect

IMPLICIT = "implicit"
UNFINISHED = "unfinished"
ASKED_FOR = "asked_for"
WHOLE_TURN = "whole_turn"

_LOGIN_WORDS = ("login", "log_in", "authenticate", "sign_in")
_LOGIN_SAID = re.compile(
    r"\b(?:log|logged|logging|sign|signed|signing)[ -](?:\w{1,20} )?in\b|\blogin\b|\bauthenticat",
    re.IGNORECASE,
)
_PROHIBITION = re.compile(
    r"\b(?:don'?t|do not|never|must not|mustn'?t|not to)(?! forget)\b([^.!?;,\n]{1,60})",
    re.IGNORECASE,
)
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_COMMON = frozenset(list_stems("get set is to of by for a the and"))


def is_telling(value: object) -> bool:
    """Tell whether a value is specific enough to link two calls."""
    if isinstance(value, str):
        return len(value) > 2
    return isinstance(value, (int, float)) and value not in range(100)


def is_login(act: CallEffect) -> bool:
    """Tell whether a call is a login."""
    name = act.name.lower()
    return any(word in name for word in _LOGIN_WORDS) and "status" not in name


def is_implicit(act: CallEffect, truth: Sequence[CallEffect], said: Sequence[str]) -> bool:
    """Tell whether a call is implicit: later calls need it, but no user message mentions it."""
    later = truth[truth.index(act) + 1 :]
    if not said or names(act, " ".join(said), later):
        return False
    return any(_is_source_of(act, other) or _is_same_backend(act, other) for other in later)


def names(act: CallEffect, words: str, later: Sequence[CallEffect] = ()) -> bool:
    """Tell whether a text mentions a call.

    Arguments count only if the call changes state.
    """
    spoken = set(list_stems(words))
    others = [split_name(other.name) for other in later if other.name != act.name]
    own = split_name(act.name).difference(*others)
    if is_login(act):
        # A message that mentions Twitter does not ask for a login to Twitter.
        named = bool(_LOGIN_SAID.search(words))
    else:
        # Half of the name may belong to another call, so a read call needs more words.
        named = 2 * len(spoken & own) >= len(own) + (not act.moved)
    given = [value for value in _list_values(act) if isinstance(value, str) and is_telling(value)]
    return named or (bool(act.changes) and any(value.lower() in words.lower() for value in given))


def forbids(text: str, name: str) -> bool:
    """Tell whether a prohibition contains at least half of the words in a function's name."""
    own = split_name(name)
    return any(
        0 < len(own) <= 2 * len(own.intersection(list_stems(found[1])))
        for found in _PROHIBITION.finditer(text)
    )


def split_name(name: str) -> frozenset[str]:
    """Return the meaningful words of a function's name."""
    return frozenset(list_stems(_HUMP.sub(" ", name))) - _COMMON


def _is_source_of(act: CallEffect, other: CallEffect) -> bool:
    return any(is_telling(value) and str(value) in act.result for value in _list_values(other))


def _is_same_backend(act: CallEffect, other: CallEffect) -> bool:
    return (
        act.tool is not None and other.tool is not None and act.tool.backend == other.tool.backend
    )


def _list_values(act: CallEffect) -> Iterator[object]:
    for value in act.arguments.values():
        yield from value if isinstance(value, list | tuple) else [value]
