"""Change the sentences of a scenario into the first person."""

from __future__ import annotations

import re

_ADJECTIVE = (
    r"(?>(?:(?:an?|very|also|quite|rather|bit|so|really|extremely|not) )*)[\w-]+"
    r"(?: (?:person|guy|man|woman|customer))?"
)
_CHARACTER = re.compile(
    rf"^you(?: are|'re) {_ADJECTIVE}(?:(?:,|,? and|,? but) {_ADJECTIVE})*[.!]?$"
    r"|\b(?:adamant|persona|personality|coercion|lots of jokes"
    r"|trying to make the agent|meant to test|admit that)\b"
    r"|\byou are (?:very |extremely )?(?:persistent|insistent)\b",
    re.I,
)
"""Descriptions of the user's character, such as "you are persistent". The user never says them."""
_DIRECTIONS = re.compile(
    r"(?<!\s)\s*\([^()]*\b(?:reveal|mention|remember|forgot)\b[^()]*\)"
    r"|,? (?:but|and) (?:you )?(?:do not|don't) want to (?:reveal|share|mention|disclose) it\b"
    r"|,? (?:so|and) (?:insist|be) (?:persistently|adamant)\b[^.]*"
    r"|,? but otherwise you are\b.*"
)
_LEADS = (
    (r"^(?:for that )?you make up a story about having ", "you had "),
    (r"^(?:you(?: are|'re)? )?contact(?:ing)? customer service because ", ""),
    (r"^(?:you(?: are|'re)? )?contact(?:ing)? customer service to ", "you want to "),
    (r"^for (?![^,]*, ?you\b)", "you ask for "),
    (r"^to ", "you want to "),
    (r"^(?:if|whether) ", "you want to know whether "),
    (r"^(?:[^,]*, )?you suddenly decide that ", ""),
    (r"^you can (also )?ask for ([^.]*?)(?: or try to [^.]*)?\.?$", r"you \1want \2"),
    (
        r"^(?=(?:modify|cancel|change|exchange|return|drop|book|upgrade|add|remove|refund|use|update"
        r"|proceed|try)\b)",
        "please ",
    ),
)
_FIRST_PERSON = (
    (r"\b(want to) want to\b", r"\1"),
    (r" and that (?=you(?:'re| are)\b)", " and "),
    (r"\bthe (?:service )?agent\b(?! (?:\w+s|can|will)\b)", "[agent]"),
    (r"\byou are\b", "I am"),
    (r"\byou were\b", "I was"),
    (r"\byou're\b", "I'm"),
    (r"\byourself\b", "myself"),
    (r"\byours\b", "mine"),
    (r"\byour\b", "my"),
    (r"\byou have\b", "I have"),
    (
        r"(?<=\bto )you\b|(?<=\bfor )you\b|(?<=\bwith )you\b|(?<=\btells )you\b|(?<=\btold )you\b"
        r"|(?<=\bhelp )you\b|(?<=\bcompensate )you\b|(?<=\bcaused )you\b|(?<=\bgive )you\b"
        r"|(?<=\boffer )you\b|(?<=\bcharge )you\b|(?<=\ballow )you\b|(?<=\blet )you\b",
        "me",
    ),
    (r"\bfrom you (?=reservation|order)", "from my "),
    (r"\byou\b", "I"),
    (r"\[agent\]", "you"),
    (r"[{}]", ""),
    (r"'(\w+)': '([^']*)'", r"\1 \2"),
    (r"\s+", " "),
    (r"(?<=\w)$|[\s,;]+$", "."),
)


def describes_user(sentence: str) -> bool:
    """Tell whether a sentence describes the user's character."""
    return _CHARACTER.search(" ".join(sentence.split())) is not None


def to_first_person(text: str) -> str:
    """Return a sentence of a scenario as the user says it."""
    text = _DIRECTIONS.sub("", text).strip()
    for pattern, word in (*_LEADS, *_FIRST_PERSON):
        text = re.sub(pattern, word, text, flags=re.I)
    return text[:1].upper() + text[1:]
