"""Reader of requests: finds the calls that the agent's text asks the user to make."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from extensions.users.questions import MAX_CHARS
from extensions.users.scenario import UserStep

_HYPOTHETICAL = re.compile(
    r"^\W*(?:\d\W*)?(?:since|as|because|now that)\b.*?(?=\b(?:let's|please|the next"
    r"|could you|can you"
    r"|you (?:should|need)|we (?:should|need)|i(?:'d)? (?:recommend|suggest))|$)"
    r"|^\W*if (?:you|there)\b[^,]*\b(?:trouble|help|issues?|problems?|questions?|difficult\w*)\b.*"
    r"|^\W*(?:\d\W*)?(?:if|once|when|after|unless|should)\b[^,]*(?:,|$)|\bi(?:'ll"
    r"| will| would| can| have| see| am)\b.*"
    r"|\b(?:(?<!me )which|(?<!\bsure )(?<!verify )(?<!check )(?<!confirm )that|this"
    r"|because|so)\b[^.]{0,200}\b(?:can|may|will|could|might|is"
    r"|means)\b.*|to (?:fix|help|confirm|ensure)[^,]*,"
    r"|(?<!know )(?<!me )(?<!check )(?<!see )(?<!confirm )\bif (?:you|it|the|this|not|that"
    r"|needed|your)\b.*|\bwe(?:'ll| can| will)\b.*?(?=\bbut (?:let's|please|first)\b|$)"
    r"|^\W*\w+ing\b[^,]*\b(?:can|may|will|could|might|won't)\b[^,]*|\bare you trying to\b.*"
    r"|^\W*you(?:'ve| have)? (?:already|just|mentioned)\b[^,]*,|\banother (?:phone|device)\b.*"
    r"|\bso (?:that )?(?:i|we|you)\b.*|would you like.*|\bor (?:if"
    r"|would)\b.*|(?<=\w )(?:after|before) (?:\w+ing|you)\b.*"
    r"|(?:please )?let me know (?:if you(?:'d like| need| want|'re (?:unsure|not sure)"
    r"| (?:have|run into|encounter) (?:any )?(?:trouble|questions?|issues?|problems?|difficult)).*"
    r"|(?:once|when|after)\b.*?(?=\band (?:if|whether|what)\b|$))"
)
_COMMAND = re.compile(
    r"\b(?:please|kindly)\b|could you|can you|would you (?!like|prefer|rather|want)|\blet's\b"
    r"|let me (?:have|ask) you"
    r"|(?:^\W*|[,:;] )(?:yes, )?(?:and |then )?(?:re-?boot|re-?start|turn|reset|check|run|use"
    r"|disconnect|enable|disable|accept|approve|pay|complete|perform|test|remove|grant|toggle"
    r"|change|go to|open|navigate|switch|set|select|look|tap|swipe)\b"
    r"|^\W*to [^,]*:$|^\W*how (?:is|are|strong)\b"
    r"|^\W*(?:is|are|does|do|has|have|what|which)\b(?!.*\b(?:anything|any other|further|else)\b)"
    r"[^?]*\?$"
    r"|\bgo ahead|here(?:'s|s| is) how|(?:next|last|final) steps? (?:is|are) to|are you able to"
    r"|do you see|make sure|^\W*(?:next|first|second|then|also|finally|now)\b"
    r"|you(?:'ll| will)? (?:also |then )?(?:need to|have to|want to|should|can|may)"
    r"|i(?:'d| would)? (?:recommend|suggest)"
    r"|\btry |\bi(?:'d| would) like you to|\bi(?:'ll)? need you to"
    r"|let me know\b"
)
_CONDITION = re.compile(
    r"^[\W\d]*if (?:it|so|yes|either|they|that|not|you see|you do|the)\b"
    r"|(?:if|as) (?:it's|it is|needed|necessary)\b"
)
_LATER = re.compile(
    r"^[\W\d]*(?:after|once|when(?! you (?:have|get) a))\b|\bafter (?:this|that|\w+ing)\b"
)
_CLOSES = re.compile(r"\b(?:these|those|this|the) (?:steps|changes?|actions)\b")
"""Words that refer back to a list of steps, such as "the changes"."""
_OFFER = re.compile(
    r"(?:would you (?:like|prefer)|do you (?:want|need|know how)|shall i|are you comfortable)"
    r"[^.?!]*\?"
    r"|let me know if you(?:'re| are) ready"
)
_EXPLAINS = re.compile(r"how to [^?]*\b(?:check|see|find)|are ready")
_OR_ACT = re.compile(
    r"\bor (?:can|could) you (?:try|do|check)|\bor (?:would you (?:prefer|rather|like) to"
    r"|do you (?:see|need (?:more|further|help))|are you comfortable)"
)
"""Words that turn an offer into a request, such as "or can you try"."""
_ITEM = re.compile(r"^\s*(?:(?:step )?\d+[.):]|[-•*])\s")
_STEPS = re.compile(r"\b(?:steps|following|how to|how you can)\b[^.\n]{0,80}: *\n")
"""Line that announces a list of steps, such as "Please try the following:"."""
_HEADING = re.compile(r"\b(?:check|confirm|verify|look|tell me|let me know|see)\b")
_CHANGES = re.compile(
    r"\b(grant|allow|enable|disable|turn (?:on|off)|switch (?:on|off))"
    r"(?: the following| these| both)?(?: \w+){0,2}: *$"
)
"""Words before a list of requested settings, such as "turn on the following:"."""
_SIGHTS = re.compile(r"\b(?:see|notice|shows?) (?:any|one|either) of\b")
"""Line above a list of things that the phone may show. The items of this list are no requests."""
_START = re.compile(r"\blet's (?:start|begin) (?:with|by)\b")
"""Introduction of the first step, such as "let's start by"."""
_REFERS = re.compile(
    r"\b(?:turn|switch|toggl|disabl|enabl|chang|reset|reseat|disconnect|grant|re-?insert)"
    r"[^.]{0,24}\b(?:it|them|those|that)\b"
)
_PRONOUN = re.compile(
    r"\b(check|verify|confirm|test|review|accept|approve|complete|enable|disable|toggle"
    r"|reset(?:ting)?|(?:check|see|confirm|verify|tell me) (?:if|whether)"
    r"|disconnect(?: from)?|turn|switch|change|set|update|grant|allow)"
    r" (?:it|them|that|those|this|the request)\b"
    r"(?= (?:back|on|off|for|and|to|in|again|if)\b|(?<=it) is\b|[.,;:!?')]|$)"
    r"(?: back)?(?: (on|off)\b)?"
)
"""Command with a pronoun, such as "turn it off"; the words before the command name the setting."""
_SEES_OPTION = re.compile(r"\b(?:if|when) you (?:see|find|have) (?:an?|the|any) option\b")
_VALUE = re.compile(r"(?:permission|mode|app_name)\W{1,3}(\w+)")

_OUTCOME = re.compile(
    r"\b(?:let me know|check|see|tell me|confirm)\b[^.!?]{0,60}\b(?:if|whether)\b[^.!?]{0,60}"
    r"\b(?:resolv|help|fix|solv|work|improv|better|faster|restor|persist)"
    r"|\b(?:test|try) (?:it |that )?again\b"
)


def asks_outcome(text: str) -> bool:
    """Tell whether an agent asks if the issue is resolved."""
    return _OUTCOME.search(text.lower()) is not None


class StepRequest(NamedTuple):
    """A requested call of the user."""

    step: UserStep
    depends: bool = False
    """Whether the agent requests the call only under a condition."""


def find_requests(text: str, steps: Sequence[UserStep]) -> list[StepRequest]:
    """Return the calls that an agent's text asks the user to make, in the order of the text.

    If the agent offers help, only read calls are returned. If the agent only offers to explain how
    to check something, no call is returned.
    """
    low = text[-MAX_CHARS:].lower().replace("*", "")
    for odd, plain in (("\u2019", "'"), ("\u201c", '"'), ("\u201d", '"')):
        low = low.replace(odd, plain)
    start = _START.search(low)
    low = f"please check {low[start.end() :]}" if start else low
    named = _list_named(low, steps)
    offers = None if named else _OFFER.search(low)
    if offers and _OR_ACT.search(offers[0]):
        offers = None
    if offers and _EXPLAINS.search(offers[0]):
        return []
    found = _read_lines(low, steps)
    items = found["item"]
    commands = [*_specify(found["heading"], items), *found["command"]]
    if offers:
        reads = [each for each in commands if not (each.step.writes or each.step.is_test)]
        return reads or [each for each in items if not (each.step.writes or each.step.is_test)]
    if all(each.step.is_test for each in commands):
        commands = [*items, *commands]
    else:
        reads_items = not found["heading"] and _STEPS.search(low)
        commands += [each for each in items if reads_items or each.step.writes or each.step.is_test]
    commands += _follow(found["later"], commands)
    if named:
        others = [each for each in [*items, *commands] if each.step.writes or each.step.is_test]
        commands = [*named, *others]
    return _without_needless(commands)


def _specify(heading: Sequence[StepRequest], items: Sequence[StepRequest]) -> Iterator[StepRequest]:
    for each in heading:
        same = [item for item in items if item.step.topic and item.step.topic == each.step.topic]
        yield from same or [each]


def _follow(later: Sequence[StepRequest], commands: Sequence[StepRequest]) -> list[StepRequest]:
    """If all earlier changes are conditional, make the later requests conditional, too."""
    changes = [each for each in commands if each.step.writes]
    if not changes or not all(each.depends for each in changes):
        return list(later)
    return [each if each.step.is_test else each._replace(depends=True) for each in later]


def _read_lines(text: str, steps: Sequence[UserStep]) -> dict[str, list[StepRequest]]:
    """Group the requests of a text by kind."""
    found: dict[str, list[StepRequest]] = {"heading": [], "command": [], "item": [], "later": []}
    earlier: list[str] = []
    heading = ""
    for line in text.split("\n"):
        is_item = _ITEM.match(line) is not None
        if not is_item and line.strip():
            heading = line if line.rstrip().endswith(":") else ""
        if is_item and _SIGHTS.search(heading):
            continue
        for place, sentence in enumerate(_split(line, is_item)):
            checks = is_item and place == 0 and _HEADING.search(heading) is not None
            if is_item and place == 0 and (change := _CHANGES.search(heading)):
                sentence = f"- {change[1]} {_ITEM.sub('', sentence)}"
            _read_sentence(found, sentence, earlier, steps, is_item=is_item, checks=checks)
            earlier.append(sentence)
    return found


def _read_sentence(
    requests: dict[str, list[StepRequest]],
    sentence: str,
    earlier: Sequence[str],
    steps: Sequence[UserStep],
    *,
    is_item: bool,
    checks: bool,
) -> None:
    """Find the requests in a sentence, and add them to ``requests``."""
    sentence = _SEES_OPTION.sub("option", sentence)
    checks = checks and not _CONDITION.search(sentence)
    asks = is_item and (checks or sentence.endswith("?"))
    depends = _CONDITION.search(sentence) is not None and not asks
    said = _ITEM.sub("check ", sentence) if checks else sentence
    said = said if asks else _HYPOTHETICAL.sub("", said)
    if sentence.endswith("?") and not said.endswith("?"):
        said += "?"
    if not is_item and not _COMMAND.search(said):
        return
    closes = bool(requests["item"] and _CLOSES.search(sentence))
    is_late = closes or _LATER.search(sentence) is not None
    kind = "heading" if sentence.endswith(":") else "command"
    found = requests["item" if is_item else "later" if is_late else kind]
    _add(found, said, steps, depends, is_late)
    if command := _PRONOUN.search(said):
        before = said[: command.start()]
        names = any(re.search(step.cue, before) for step in steps)
        named = before if names or not earlier else earlier[-1]
        _add(found, f"{command[1]} {command[2] or ''} {_name(named)}", steps, depends, is_late)
    if depends and _REFERS.search(sentence):
        found += _find_changes(earlier, steps)


def _name(sentence: str) -> str:
    sentence = _ITEM.sub("", sentence)
    return re.sub(r"^.*?\b(?:whether|if|sent you|like|your phone (?:has|is))\b", "", sentence)


def _find_changes(earlier: Sequence[str], steps: Sequence[UserStep]) -> list[StepRequest]:
    """Return conditional requests to change the setting that was mentioned last."""
    for sentence in reversed(earlier):
        if topics := {step.topic for step in steps if re.search(step.cue, sentence)}:
            changes = [step for step in steps if step.writes and step.topic]
            return [StepRequest(step, True) for step in changes if step.topic in topics]
    return []


def _split(line: str, is_item: bool) -> list[str]:
    """Split a line into sentences.

    If a sentence ends in a colon after words such as "check the following", the text after the
    colon stays in the sentence.
    """
    found = re.split(r"(?<=[a-z)\"'][.!?:;])\s+|(?<=\S\d[.!?:;])\s+", line)
    if is_item and len(found) > 1 and found[0].endswith(":") and _CONDITION.search(found[1]):
        return [f"{found[1]} {found[0]}", *found[2:]]
    if not is_item and len(found) > 1 and re.search(r"\b(?:check|following|each)\b.*:$", found[0]):
        return [f"{found[0]} {found[1]}", *found[2:]]
    return found


def _list_named(text: str, steps: Sequence[UserStep]) -> list[StepRequest]:
    """Return the calls of the functions that the agent mentions."""
    values = {*_VALUE.findall(text)}
    found = []
    for step in steps:
        if not re.search(rf"\b{step.function}\b", text):
            continue
        arguments = {str(value) for value in step.arguments.values()}
        if not values or arguments <= values:
            found.append(StepRequest(step))
    return found


def _add(
    found: list[StepRequest], said: str, steps: Sequence[UserStep], depends: bool, is_late: bool
) -> None:
    places = [(match.start(), step) for step in steps if (match := re.search(step.cue, said))]
    for _, step in sorted(places, key=lambda each: each[0]):
        if any(each.step == step for each in found):
            continue
        if not is_late or step.writes or step.is_test or step.success:
            found.append(StepRequest(step, depends))


def _without_needless(found: Sequence[StepRequest]) -> list[StepRequest]:
    """Drop unnecessary calls, and put tests last."""
    written = {
        each.step.topic
        for each in found
        if each.step.writes and each.step.topic and not each.depends
    }
    kept = [
        each
        for place, each in enumerate(found)
        if (each.step.writes or each.step.topic not in written) and each not in found[:place]
    ]
    return sorted(kept, key=lambda each: (each.step.is_test, each.depends))
