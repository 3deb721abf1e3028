"""Detection of "yes" or "no" in an answer: an odd number of negations means "no".

Every clause that mentions the fact gives a vote, unless it is a supposition, an offer or a
question. If votes disagree, a "yes" or "no" at the start of the answer decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from checkers.answer_text.words import FinalAnswer, find_stem, list_stems, split_words
from checkers.required_info import YesNo

_SENTENCE = re.compile(r"[^.!?;\n]+(?:[.!?;](?![\s\n]|$)[^.!?;\n]+)*[.!?;]*")
_PARTS = re.compile(
    r"[,()|—]|\s-+\s|\b(?:but|however|although|though|while|whereas|because|so that)\b"
    r"|\b(?:and|so)\b(?=(?: \w+){1,5}? (?:is|are|was|were|has|have|does|do|did|isn|aren|wasn|can))",
    re.IGNORECASE,
)
_NEGATIONS, _HARMLESS, _SUPPOSED = (
    frozenset(split_words.split())
    for split_words in (
        "not no never none nobody nothing neither nor without cannot cant dont doesnt isnt arent "
        "wasnt hasnt havent didnt couldnt unable fail failed fails failing false lacks lack "
        "lacking zero refused rejected denied nowhere",
        "problem problems issue issues worries doubt matter only just",
        "if whether unless once until would could might may please want need needs",
    )
)
_UNKNOWN = re.compile(
    r"\b(?:not sure|(?:don't|do not) know|(?:can't|cannot|couldn't|could not|unable to) "
    r"(?:tell|verify|check|confirm|determine|say)|unclear|let me know|checked (?:your|the)|"
    r"\w+'d (?:have|need) to)\b",
    re.IGNORECASE,
)
_YES = re.compile(
    r"[\W_]*(?:(?:yes|yep|yeah|yup)\b|"
    r"(?:correct|indeed|affirmative|true|(?:it|they|you|he|she|that|there) "
    r"(?:is|does|has|did|was|are|do|have|were))(?=[,.!:;—-]|\s*$))",
    re.IGNORECASE,
)
_NO = re.compile(
    r"[\W_]*(?:no|nope|nah|negative|false|incorrect|not yet|not quite|not really|not at all|"
    r"unfortunately not|i'm afraid not|(?:it|they|you|he|she|that|there) "
    r"(?:is|does|has|did|was|are|do|have|were)(?:n't| not))(?=[,.!:;—-]|\s*$)",
    re.IGNORECASE,
)
_ECHO = re.compile(
    r"\W*(?:and |but |so |yes |no )?(?:it|they|that|he|she|you|we|there|this|[\w ]{1,40}) "
    r"(?:is|are|was|were|does|do|did|has|have|will|can)(?P<no>n't| not)?"
    r"(?: too| as well| either| yet| now| still| indeed)?\W*",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"(?: (?!and\b|but\b|or\b)\w+){0,3} "
    r"(?:(?:is|are|was|were|has|have|had|do|does|did|could|can|will)"
    r"(?:n't| not)|failed|unsuccessful|refused|rejected|denied|never)\b",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"\b(?:(?:we|you|they)(?:'re| are) the only|"
    r"(?:couldn't|could not|can't|cannot|didn't|did not|don't|do not|unable to|wasn't able to)"
    r" (?:find|see|locate|spot)|nothing|none|nobody|no one|not found|no (?:\w+ )?"
    r"(?:results?|match|matches|such|record|records|entry|entries|mentions?|hits?|trace|sign)"
    r"|came (?:back|up) empty|(?:doesn't|does not|don't|do not) (?:exist|appear))\b",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"[\s:=|?\"')]*(?:(?:is|are|status|currently|set to|shows|shown as|says)[\s:=|]+){0,2}"
    r"(?P<value>true|yes|on|active|false|no|none|off|inactive)\b",
    re.IGNORECASE,
)
_TRUE = ("true", "yes", "on", "active")
_OPPOSITES = {
    "open": "closed|shut",
    "closed": "open|opened|reopened",
    "on": "off",
    "off": "on",
    "active": "expired",
    "valid": "expired",
    "running": "stopped|off",
    "stopped": "running",
    "engaged": "released",
    "released": "engaged",
    "enough": "insufficient|short",
    "enabled": "disabled",
    "present": "absent|missing",
    "missing": "present",
    "same": "different|differ",
    "identical": "different|differ",
    "different": "same|identical",
    "possible": "impossible",
    "successful": "failed",
    "logged in": "logged out|signed out",
    "signed in": "logged out|signed out",
    "logged out": "logged in|signed in",
    "higher": "lower",
    "lower": "higher",
    "full": "empty",
    "empty": "full",
    "cancelled": "still open|still active|still pending",
}
_BEFORE = 200
_MAX_VOTES = 100
_PREFIXES = ("un", "in", "im", "dis", "non")


def is_confirmed(fact: YesNo, answer: FinalAnswer) -> bool:
    """Tell whether an answer gives the right yes or no for a fact."""
    text = answer.text
    sentences = [_Clause(match[0], match.start()) for match in _SENTENCE.finditer(text)]
    reader = _VoteCounter(fact, text)
    votes = [vote for sentence in sentences for vote in reader.votes(sentence)]
    if not votes:
        votes = [vote for sentence in sentences for vote in reader.echoes(sentence)]
    head = _read_head(sentences)
    if head is not None and len(set(votes)) != 1:
        return head is fact.yes
    if votes:
        return votes[-1] is fact.yes
    return not fact.yes and any(_NOTHING.search(sentence.text) for sentence in sentences)


class _Clause(NamedTuple):
    text: str
    start: int


class _VoteCounter:
    def __init__(self, fact: YesNo, text: str) -> None:
        self._text = text
        about = [list_stems(phrase) for phrase in fact.about]
        against = [list_stems(phrase) for phrase in fact.opposite]
        for phrase in fact.about:
            usual = _OPPOSITES.get(phrase.casefold(), "")
            against += [list_stems(other) for other in usual.split("|") if other]
            first, *rest = list_stems(phrase)
            against += [[f"{prefix}{first}", *rest] for prefix in _PREFIXES]
        self._phrases = [(stems, True) for stems in about]
        self._phrases += [(stems, False) for stems in against if stems not in about]
        self._subject = set(list_stems(fact.subject))
        self._names_subject = self._subject <= set(list_stems(text))

    def votes(self, sentence: _Clause) -> list[bool]:
        if not self._concerns(sentence):
            return []
        found = [(part, self._in_clause(part)) for part in _split_clauses(sentence)]
        if self._subject and self._names_subject:
            own = [votes for part, votes in found if self._subject <= set(list_stems(part.text))]
            if any(own):
                return [vote for votes in own for vote in votes]
            if echoes := self.echoes(sentence):
                return echoes
        return [vote for _, votes in found for vote in votes]

    def echoes(self, sentence: _Clause) -> list[bool]:
        """Tell for each short reply whether it means "yes"."""
        if not self._concerns(sentence) or sentence.text.rstrip().endswith("?"):
            return []
        parts = [part.text for part in _split_clauses(sentence)]
        if self._subject and self._names_subject:
            parts = [part for part in parts if self._subject <= set(list_stems(part))]
        echoes = [echo for part in parts if (echo := _ECHO.fullmatch(part))]
        return [echo["no"] is None for echo in echoes]

    def _concerns(self, sentence: _Clause) -> bool:
        return not self._names_subject or self._subject <= set(list_stems(sentence.text))

    def _in_clause(self, part: _Clause) -> list[bool]:
        every = split_words(part.text)
        stems = [find_stem(word.text) for word in every]
        votes = []
        for wanted, yes in self._phrases:
            for place in range(len(stems) - len(wanted) + 1):
                if stems[place : place + len(wanted)] == wanted:
                    end = part.start + every[place + len(wanted) - 1].end
                    vote = self._vote(part, every[place].start, end)
                    if vote is not None:
                        votes.append(vote is yes)
                if len(votes) == _MAX_VOTES:
                    return votes
        return votes

    def _vote(self, part: _Clause, start: int, end: int) -> bool | None:
        """Return whether a clause affirms the fact; return None for a supposition or a question."""
        if value := _VALUE.match(self._text, end):
            return value["value"].lower() in _TRUE
        whole = part.text[max(0, start - _BEFORE) : start]
        before = [word.text for word in split_words(whole.rpartition(":")[2])]
        if _SUPPOSED & {*before} or _UNKNOWN.search(whole) or part.text.rstrip().endswith("?"):
            return None
        negations = sum(_negates(before, place) for place in range(len(before)))
        return (negations + bool(_AFTER.match(self._text, end))) % 2 == 0


def _split_clauses(sentence: _Clause) -> list[_Clause]:
    parts, start = [], 0
    question = "?" if sentence.text.rstrip().endswith("?") else ""
    for match in _PARTS.finditer(sentence.text):
        parts.append(
            _Clause(sentence.text[start : match.start()] + question, sentence.start + start)
        )
        start = match.end()
    return [*parts, _Clause(sentence.text[start:], sentence.start + start)]


def _negates(before: Sequence[str], place: int) -> bool:
    word, follows = before[place], before[place + 1 : place + 2]
    if word == "t":
        return place > 0 and before[place - 1].endswith("n")
    if word == "nor" and "neither" in before[:place]:
        return False
    return word in _NEGATIONS and not (follows and follows[0] in _HARMLESS)


def _read_head(sentences: Sequence[_Clause]) -> bool | None:
    for sentence in sentences:
        if _NO.match(sentence.text):
            return False
        if _YES.match(sentence.text):
            return True
    return None
