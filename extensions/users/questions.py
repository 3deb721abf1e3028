"""Search an agent's text for questions, proposals, refusals, transfers and farewells."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

MAX_CHARS = 20_000
"""The user reads at most this number of characters of an agent's text."""
KINDS = {
    "user id": r"user[ -]?(?:id|name)|customer id|account (?:id|number)|member(?:ship)? (?:id"
    r"|number)",
    "email": r"e-?mail",
    "name": r"(?:full|first|last|your) (?:and last )?name",
    "zip": r"zip|postal code",
    "phone": r"phone number|contact number|mobile number",
    "order": r"order (?:id|number|#)|which order|order\(s\)|order numbers?",
    "reservation": r"reservation (?:id|number|code)|confirmation (?:number|code)|booking (?:id"
    r"|reference|number)"
    r"|which (?:reservation|trip|flight)",
    "birth": r"date of birth|birth ?date|\bdob\b",
    "address": r"address(?! associated)",
    "payment": r"payment method|which (?:card|payment)|how would you like to pay|credit card"
    r"|gift card",
    "reason": r"reason",
    "date": r"\bdates?\b|what day|when ",
    "city": r"\bcit(?:y|ies)\b|origin|destination|from where|where ",
}
"""For each kind of fact, a pattern for the agent's questions."""
_OTHER_NAMES = re.compile(
    r"passenger|birth|friend|travell?er|companion|\b(?:chang|updat|new|different|correct)"
)
"""A question with one of these words does not ask for the user's own name."""
_IDENTITY = re.compile(
    r"verify(?! (?:if|whether|that)\b)"
    r"|identif|authenticat|locate your|look up your|pull up your|find your"
)
_ASKS = re.compile(
    r"\?|please (?:provide|share|tell|give|confirm|let me know|specify|enter|reply)"
    r"|could you|can you"
    r"|may i|let me know|i(?:'ll| will)? (?:also )?need|i'd need|provide (?:me with )?|share "
)
_PROPOSES = re.compile(
    r"would you (?:still |also |now |please )?(?:like|prefer|want) |shall i|should i"
    r"|do you (?:want|confirm|agree|wish)|is (?:this|that|all this"
    r"|everything) (?:correct|right|okay|ok)|please (?:confirm|reply)"
    r"|confirm (?:that|if|whether|with)"
    r"|\(?yes ?/ ?no\)?|(?:go ahead|proceed)[^.!]*\?|reply .?yes|if (?:yes|so"
    r"|you agree|you confirm)|sound good|let me know (?:if|when) you(?:'re| are) ready"
)
_REFUSES = re.compile(
    r"(?:un|not )able to|can(?:no|')?t\b|cannot|not possible|isn.t possible"
    r"|not (?:eligible|allowed|permitted)"
    r"|does(?:n.t| not) (?:allow|permit|qualify)|won.t be able|couldn.t|could not"
    r"|policy|ineligible"
    r"|unfortunately|not available|no available|no exception"
)
_TRANSFERS = re.compile(
    r"you are being transferred|(?:have|has|been|being|am|are) (?:now )?transferr|transferring you"
    r"|transferred you|(?:will|i'll|going to|need to) (?:now )?transfer you"
)
_LATER = re.compile(r"\b(?:once|if|when|after|unless|would|should|before)\b")
_OFFERS_TRANSFER = re.compile(
    r"(?:would you like|shall i|should i|want me|if you.d like|i can|prefer"
    r"|do you want|recommend|need to be)[^?!]*(?:transfer|human agent)"
)
_DONE = re.compile(
    r"has been|have been|successfully|all set"
    r"|i(?:'ve| have) (?:now )?(?!check|review|look|receiv|search|locat|verif|explain|mention)"
    r"(?:\w+ed|sent|made|put)\b|is now|are now|\bcompleted?\b|confirmed|processed"
)
_MORE = re.compile(
    r"(?:anything|something|any other|any more|further|else)[^.?!]*(?:help|assist"
    r"|need|questions?|like|do|can)"
    r"|(?:help|assist)[^.?!]* (?:else|further)|feel free|let me know if you(?!(?:'re| are) ready)"
    r"|(?:need|have|want) (?:anything|any other|any more|further)\b"
    r"|if you (?:need|want|have|would like)\b[^.?!]*let me know"
)
_REFERS = re.compile(
    r"(?:those|these|that|this|the) (?:details|information|info|data)"
    r"|provide (?:those|these|them|that|it)\b"
)
_OTHER_HELP = re.compile(r"(?:anything|something|any other|any more) ")
_HELPS = re.compile(r"would you like (?:me to (?:help|assist)|(?:any )?(?:help|assistance))\b")
_BYE = re.compile(
    r"have a (?:great|good|nice|wonderful|lovely|safe|fantastic)|take care"
    r"|you.re (?:very |most )?welcome|goodbye|enjoy your"
)
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\w)[^.!?\n]+)*[.!?]?")
_WORD = re.compile(r"[a-z0-9#_@]+(?:['.-][a-z0-9_]+)*")
_COMMON_WORDS = """
    a about all also am an and any are as at be been before but by can could did do does
    for from get go had has have he her here his how i if in into is it its just let
    like me my no not of on one or other our out please she so some than that the their
    them then there these they this those to up us was we what when where which who will
    with would yes you your want need help know tell agent service says asks sure thanks
    thank i'm i'd i'll make
"""
_COMMON = frozenset(_COMMON_WORDS.split())


class ParsedAgentText(NamedTuple):
    """Questions and statements in an agent's text."""

    asked: frozenset[str]
    """Kinds of facts that the text asks for."""
    asks: bool
    identity: bool
    """Whether the text asks who the user is."""
    proposes: bool
    refuses: bool
    transfers: bool
    offers_transfer: bool
    done: bool
    more: bool
    """Whether the text offers further help."""
    bye: bool
    questions: tuple[str, ...]
    """Sentences that ask."""
    words: frozenset[str]


@lru_cache(4096)
def hear(text: str) -> ParsedAgentText:
    """Parse a text of the agent; only the end of a very long text is read."""
    low = text[-MAX_CHARS:].lower().replace("\u2019", "'").replace("*", "")
    sentences = [each.strip() for each in _SENTENCE.findall(low)]
    questions = _with_items([each for each in low.split("\n") if each.strip()])
    asking = " \n ".join(questions)
    asked = frozenset(kind for kind in KINDS if any(_asks_for(kind, each) for each in questions))
    return ParsedAgentText(
        asked=asked,
        asks=bool(questions),
        identity=bool(_IDENTITY.search(asking)),
        proposes=bool(_PROPOSES.search(_HELPS.sub("", low))),
        refuses=bool(_REFUSES.search(low)),
        transfers=any(_TRANSFERS.search(each) and not _LATER.search(each) for each in sentences),
        offers_transfer=bool(_OFFERS_TRANSFER.search(low)),
        done=any(
            _DONE.search(each) and not _REFUSES.search(each) and not _LATER.search(each)
            for each in sentences
        ),
        more=any(_MORE.search(each) for each in sentences),
        bye=bool(_BYE.search(low)),
        questions=tuple(questions),
        words=content_words(low),
    )


def _asks_for(kind: str, question: str) -> bool:
    if kind == "name" and _OTHER_NAMES.search(question):
        return re.search(r"\byour (?:full |first )?name\b", question) is not None
    return re.search(KINDS[kind], question) is not None


def _with_items(lines: list[str]) -> list[str]:
    found: list[str] = []
    heading = ""
    for line in lines:
        line = line.strip()
        item = bool(re.match(r"[-•\d]", line))
        if item and heading:
            found.append(f"{heading} {line}")
            continue
        said = _SENTENCE.findall(line)
        asking = [
            f"{said[place - 1]} {each}" if place and _REFERS.search(each) else each
            for place, each in enumerate(said)
            if _is_question(each)
        ]
        heading = asking[-1] if asking and re.search(r":$|\bfollowing\b", line) else ""
        found += asking
    return found


def _is_question(sentence: str) -> bool:
    if not _ASKS.search(sentence):
        return False
    names = any(re.search(words, sentence) for words in KINDS.values())
    return not _MORE.search(sentence) or bool(names and not _OTHER_HELP.search(sentence))


@lru_cache(16384)
def content_words(text: str) -> frozenset[str]:
    """Return the content words of a text."""
    return frozenset(
        [
            word.rstrip("s")
            for word in _WORD.findall(text.lower())
            if word not in _COMMON and len(word) > 1
        ]
    )
