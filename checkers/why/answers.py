"""What a model does by the words that end its turn: ask, decline, or write calls nobody can read.

Told by plain patterns of English, without a model. Where they do not apply, they say no.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from checkers.telling.words import stems
from envs.calls import parse_calls
from envs.errors import MalformedCall

_LONGEST = 20_000
"""Characters that are looked at, from the end."""

_SENTENCE = re.compile(r"[^.?!\n]+[.?!]*")
_COURTESY = re.compile(
    r"""\b(
        (any|some)thing\ else | any\ (other|further|more|additional) | if\ you\ (need|have|want)
      | further\ (assistance|help|questions?) | feel\ free | how\ else | more\ help
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_REQUEST = re.compile(
    r"""\b(
        (please|kindly)\ (\w+\ ){0,2}
        (provide|specify|confirm|share|tell|clarify|give|supply|enter|choose|indicate|let)
      | (let\ me\ know|tell\ me)\ (which|what|who|where|when|how|the|your|whether|if)
      | (i|we)(\ ?'ll|\ will)?\ (still\ )?(need|require)\ (\w+\ ){0,4}
        (from\ you|to\ know|your|more|additional|following)
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"""\b(
        can't | cannot | can\ not | unable\ to | not\ able\ to | couldn't | could\ not | won't
      | impossible | not\ possible | isn't\ possible | unfortunately | failed\ to | sorry
      | (no|any|a)\ (function|tool|way|means)\ (to|for|that|available)
      | (don't|do\ not)\ have\ (access|the\ ability|permission)
      | (not|isn't|aren't)\ (available|supported)
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_LACK = re.compile(
    r"""\b(
        (i|we)(\ would|'d|'ll|\ will)?\ (still\ )?(need|require|lack) | missing | required | needed
      | (don't|do\ not|didn't|did\ not|doesn't|haven't)\ (\w+\ ){0,2}
        (have|know|say|mention|specify|given|told|include|provided)
      | (isn't|is\ not|wasn't|was\ not|not)\ (given|known|specified|clear|provided|mentioned)
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_SAYING_NOTHING = frozenset(
    stems(
        "a an the of to in for and or with that this these which whose who what when where how be "
        "is are was has have do does not no if it its as by on at from into will can may you your "
        "i we give gives get one given return returns must should e g"
    )
)
"""Words of names and documents that name nothing."""
_TAG = re.compile(r"<\|?(tool_call|function_call|function=|invoke|tool_use)")
_ESCAPED = re.compile(r"\\([_\[\]*])")
_MEMBER = re.compile(r'"(name|function|arguments|parameters)"\s*:')


def asks(answer: str) -> bool:
    """Tell whether an answer asks the user for something; an offer of more help does not count."""
    return any(
        sentence.endswith("?") or _REQUEST.search(sentence)
        for sentence in _SENTENCE.findall(_plain(answer))
        if not _COURTESY.search(sentence)
    )


def asks_for(answer: str, names: Collection[str]) -> bool:
    """Tell whether an answer asks for a thing, or says that it lacks it, by one of its names."""
    wanted = {word for name in names for word in stems(name)} - _SAYING_NOTHING
    return any(
        not wanted.isdisjoint(stems(sentence))
        for sentence in _SENTENCE.findall(_plain(answer))
        if (asks(sentence) or _LACK.search(sentence) or _REFUSAL.search(sentence))
        and not _COURTESY.search(sentence)
    )


def declines(answer: str) -> bool:
    """Tell whether an answer is empty, or says that what was asked for is not done."""
    return not answer.strip() or bool(_REFUSAL.search(_plain(answer)))


def unread_calls(answer: str, functions: Collection[str]) -> str | None:
    """Return in which form an answer holds calls, of functions offered, that were not made.

    Returns:
        ``in_text`` for calls that are written well, ``escaped`` for those that would be without
        backslashes in their names, ``bad_syntax`` for broken ones, ``other_format`` for calls as
        JSON or between tags; None where there are none.
    """
    text = answer[-_LONGEST:]
    plain = _ESCAPED.sub(r"\1", text)
    if plain != text and unread_calls(plain, functions) == "in_text":
        return "escaped"
    try:
        calls = parse_calls(text)
    except MalformedCall:
        return "bad_syntax" if any(f"{name}(" in text for name in functions) else None
    if any(call.name in functions for call in calls):
        return "in_text"
    named = any(f'"{name}"' in text for name in functions)
    return "other_format" if _TAG.search(text) or (named and _MEMBER.search(text)) else None


def _plain(answer: str) -> str:
    return answer[-_LONGEST:].replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
