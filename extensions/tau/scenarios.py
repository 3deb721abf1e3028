"""Conversion of tau2's scenarios to data for the rule-based user."""

from __future__ import annotations

import re
from collections.abc import Iterator

from extensions.tau.first_person import describes_user, to_first_person
from extensions.tau.phone_steps import GOALS, STEPS
from extensions.tau.tasks import ServiceTask
from extensions.users.scenario import (
    DialogueScenario,
    Moment,
    UserFact,
    UserKnobs,
    UserStep,
    UserWish,
)

_PROPER_NAME = re.compile(
    r"(?:[Yy]ou are|[Yy]our? name is|[Nn]ame is)\s+([A-Z][\w'-]+(?:\s+[A-Z][\w'-]+)*)"
)
_ITEM = r"[^\S\n]{0,40}\n\s{0,40}[-•] *"
"""Marker before a list item, with the space around it."""
_FACTS = {
    "email": re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.]*\w"),
    "user id": re.compile(r"\b[a-z]+_[a-z]+_\d{4}\b"),
    "phone": re.compile(r"\b\d{3}-\d{3}-\d{4}\b"),
    "zip": re.compile(r"\b\d{5}\b"),
    "order": re.compile(r"#?W\d{7}\b"),
    "reservation": re.compile(r"\b(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{6}\b(?<!HAT\d{3})"),
    "birth": re.compile(r"\b(?:19|20)\d\d-\d\d-\d\d\b(?=.{0,20}birth)|(?<=birth is )\S+"),
}
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=[\w])[^.!?\n]+)*[.!?]?")
_UNSAID = re.compile(
    r"\b(?:you are (?:an?\b|very|extremely|now|polite|impatient|confident|organized"
    r"|\w+,)|you (?:like to|tend to|speak)|"
    r"be (?:insistent|persistent|polite)|persona|personality|information than|ask the agent to"
    r"|reactive|try to get|make sure|never make up|"
    r"ground your|tool call|do not (?:reveal|provide|mention|disclose)"
    r"|don't (?:reveal|provide|mention|disclose))",
    re.I,
)
_CONDITIONAL = re.compile(
    r"((?:but |and |also,? )?(?:if|in case|when|once|unless|only if"
    r"|if and only if)\b[^,]*), ?(?:then )?(.*)",
    re.I,
)
_SPEECH = re.compile(
    r"^(?:first,? )?(?:try to |please )?(?:mention|say|tell (?:the agent|them|him"
    r"|her)|respond|reply|answer|state|explain|insist|ask)(?: that)? ",
    re.I,
)
_ENDING = re.compile(
    r"(?:just |then )?(?:accept|end|insist|move on|thank|do not|don't|halfway|be |stop|hang"
    r"|no action|you (?:move on|end|hang))",
    re.I,
)
_INSISTS = re.compile(
    r"insist|persist|adamant|coercion|negotiat|continues? to refuse|continues? refusing", re.I
)
_NO_TRANSFER = re.compile(
    r"(?:n't|not|circumstances do you) want to be transferred|(?:n't|not) ask to be transferred"
    r"|(?:n't|not) want (?:a |any |the )?transfer",
    re.I,
)
_FORGOTTEN = r"(?:not remember|n't remember|n't have|not have|n't know|not know|forgot)"
_MISTAKE = re.compile(r"zip code, say that it is (\d{5}) first")
_REFUSED = re.compile(r"(?:not|n't|no|cannot|unable|refus\w*|den(?:y|ies)|reject\w*)\b", re.I)


def make_scenario(task: ServiceTask) -> DialogueScenario:
    """Return the scenario of a task."""
    given = task.scenario
    texts = [given.reason, given.known or "", given.instructions, given.unknown or ""]
    everything = "\n".join(texts)
    mistake = _MISTAKE.search(everything)
    mistakes = {"zip": mistake[1]} if mistake else {}
    facts = [fact for fact in _list_facts(everything) if fact.value not in mistakes.values()]
    unknown = tuple(
        kind
        for kind in ("email", "order", "reservation", "user id")
        if re.search(rf"{_FORGOTTEN}[^.]*{kind}", everything)
    )
    wishes = [
        *_list_wishes(given.reason, first=True),
        *_list_wishes(given.instructions, first=not given.reason.strip()),
    ]
    if task.id.startswith("["):
        wishes = [UserWish(to_first_person(each), "opening") for each in split(given.reason)[:2]]
    steps = list_steps(given.reason) if task.id.startswith("[") else ()
    return DialogueScenario(
        wishes=tuple(wishes),
        facts=tuple(facts),
        unknown=unknown,
        steps=steps,
        persona=given.persona or "",
        instructions=given.instructions,
        rejects=("transfer",) if _NO_TRANSFER.search(everything) else (),
        knobs=UserKnobs(patience=3 if _INSISTS.search(everything) else 1, mistakes=mistakes),
    )


def list_steps(reason: str) -> tuple[UserStep, ...]:
    """Return the user's steps on the phone. The test step has a pattern for good results."""
    test, success = next((goal for words, goal in GOALS.items() if words in reason), ("", ""))
    return tuple(
        [step._replace(success=success) if step.function == test else step for step in STEPS]
    )


def _list_facts(text: str) -> Iterator[UserFact]:
    name = _PROPER_NAME.search(text)
    if name:
        yield UserFact("name", name[1])
    else:
        user = _FACTS["user id"].search(text)
        if user:
            first, last, _ = user[0].split("_")
            yield UserFact("name", f"{first.title()} {last.title()}")
    for kind, pattern in _FACTS.items():
        for value in dict.fromkeys(pattern.findall(text)):
            yield UserFact(kind, value)


def split(text: str) -> list[str]:
    """Return the sentences of a text."""
    joined = re.sub(rf":{_ITEM}", ": ", text)
    joined = re.sub(_ITEM, "; ", joined)
    return [each.strip() for each in _SENTENCE.findall(joined) if re.search(r"\w", each)]


def _list_wishes(text: str, *, first: bool) -> Iterator[UserWish]:
    opened = not first
    condition = ""
    for sentence in split(text):
        sentence, condition = f"{condition}{sentence}", ""
        conditional = _CONDITIONAL.match(sentence)
        if conditional and not conditional[2]:
            condition = f"{sentence} "
            continue
        if describes_user(conditional[2] if conditional else sentence):
            continue
        if _UNSAID.search(sentence) and not re.search(r"\bwant\b", sentence):
            continue
        if conditional:
            rest = _SPEECH.sub("", conditional[2])
            if not _ENDING.match(rest):
                when: Moment = "refused" if _REFUSED.search(conditional[1]) else "asked"
                yield UserWish(to_first_person(rest), when, conditional[1])
            continue
        said = to_first_person(_SPEECH.sub("", sentence))
        if not opened:
            opened = True
            yield UserWish(_without_numbers(said), "opening")
        elif not _ENDING.match(sentence):
            yield UserWish(said, "later" if first else "asked")


def _without_numbers(text: str) -> str:
    """Remove ids in parentheses, so that the agent has to ask the user for the ids."""
    number = rf"(?:{_FACTS['order'].pattern}|{_FACTS['reservation'].pattern})"
    return re.sub(rf"(?<!\s)\s*\([^()]*{number}[^()]*\)", "", text)
