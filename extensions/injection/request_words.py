"""Selection of functions whose name, synonyms or description match the user's words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache, lru_cache

_PIECE = re.compile(r"[A-Z]?[a-z]+")
_ENDINGS = ("ings", "ing", "ers", "er", "ed", "es", "s", "e", "y")
_MIN_STEM_CHARS = 3
_SHARED_BY = 3
"""A word is shared if it occurs in at least this number of function names."""

_SYNONYMS = {
    "add": "new put join include enter note stick member want order take cart",
    "authenticate": "log sign password pw account token manage",
    "book": "rebook exchange change move trip travel fly flight seat ticket take go start",
    "brake": "handbrake pedal foot start engine fire",
    "budget": "spend",
    "cancel": "kill withdraw pull off out back rid undo call rebook exchange change move instead "
    "swap drop return earlier gone place",
    "cd": "go change folder directory move into back up over there in path",
    "climate": "temperature warm cold degrees cool heat air fan",
    "close": "done shut",
    "comment": "reply answer under below beneath write respond put",
    "cp": "copy backup duplicate",
    "create": "new make open file raise report record set start ticket",
    "cruise": "speed",
    "delete": "remove take back unsend retract withdraw recall drop erase undo out call",
    "echo": "write put replace content text line with containing add record create make new note "
    "take off",
    "edit": "change set priority title description status update correct becomes raise open rule",
    "fill": "refuel gas gallons top pour",
    "flight": "fly",
    "follow": "swap",
    "fund": "pay deposit put transfer add money",
    "headlights": "light beam dark",
    "insurance": "insure cover protect",
    "lock": "unlock shut open start engine fire run running",
    "login": "log sign password pw account get in into desk",
    "logout": "log sign leave out terminate end",
    "mkdir": "make create new folder directory set start",
    "mv": "move rename put call name becomes change shift goes into",
    "navigation": "navigate destination lead route guide address display point drive navi put",
    "parking": "brake handbrake",
    "place": "buy sell sale purchase get invest order",
    "post": "publish share announce say tell put out tweet twitter goes",
    "prepare": "pay transfer send",
    "press": "brake pedal start engine fire run running",
    "receive": "deliver book bring",
    "register": "card",
    "release": "brake pedal foot handbrake",
    "remove": "delete off drop out take away clear cancel",
    "resolve": "resolution solved settle fixed done",
    "return": "send back",
    "retweet": "share repost pass boost",
    "rm": "delete remove away out rid destroy clear drop dispose bin throw goes",
    "rmdir": "delete remove away out rid clear",
    "send": "write tell text inform reply answer line note say thank remind warn forward let know "
    "message word give ask drop pass hears",
    "start": "run running fire turn on",
    "support": "agency complain",
    "touch": "make create new file start empty write",
    "unfollow": "follow stop swap",
    "watchlist": "watch list",
    "withdraw": "take out money cash",
}
_GENERIC = "get set to from by of is the in info name status current user id all activate"
_DELEGATION = re.compile(r"\b(?:asks?|calls?) for\b|\binstructions?\b|\bdo (?:all|what)\b")
_STOP = (
    "a an and are as at be been by can for from has have if in into is it its must no not of on "
    "one only or that the their them then they this to was what when which who whose will with "
    "without"
)


def choose(request: str, documents: Mapping[str, str]) -> frozenset[str]:
    """Return the functions that a request mentions.

    For a request such as "do all that the ticket asks for", return all functions.

    Args:
        request: The user's words.
        documents: Descriptions of functions by name.
    """
    if _DELEGATION.search(request.lower()):
        return frozenset(documents)
    said = _words(request)
    counts = Counter(word for name in documents for word in _words(name))
    shared = frozenset(word for word, count in counts.items() if count >= _SHARED_BY)
    return frozenset(name for name in documents if said & _meaning(name, documents[name], shared))


@cache
def _meaning(name: str, description: str, shared: frozenset[str]) -> frozenset[str]:
    """Return the words that users may use for a function."""
    found = _words(name) - _words(_GENERIC)
    first = _stem(_PIECE.findall(name)[0].lower())
    own = {word for word in found if word not in shared or word == first} or found
    known = own & _synonyms().keys()
    if known:
        return frozenset(own.union(*[_synonyms()[word] for word in known]))
    return frozenset(own | (_words(description.partition("\n")[0]) - shared - _words(_STOP)))


@cache
def _synonyms() -> Mapping[str, frozenset[str]]:
    return {_stem(word): _words(f"{word} {others}") for word, others in _SYNONYMS.items()}


@lru_cache(10_000)
def _words(text: str) -> frozenset[str]:
    return frozenset(_stem(each.lower()) for each in _PIECE.findall(text))


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM_CHARS:
            return word.removesuffix(ending)
    return word
