"""Reader of requests: the user's own calls that the agent's text asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from extensions.users.scenario import UserStep

_HYPOTHETICAL = re.compile(
    r"^\W*(?:\d\W*)?(?:since|as|because|now that)\b.*?(?=\b(?:let's|please|the next"
    r"|could you|can you"
    r"|you (?:should|need)|i recommend)|$)"
    r"|^\W*(?:\d\W*)?(?:if|once|when|after|unless|should)\b[^,]*(?:,|$)|\bi(?:'ll"
    r"| will| would| can| have| see| am)\b.*"
    r"|\b(?:(?<!me )which|that|this|because|so)\b[^.]*\b(?:can|may|will|could|might|is"
    r"|means)\b.*|to (?:fix|help|confirm|ensure)[^,]*,"
    r"|(?<!know )(?<!me )(?<!check )(?<!see )(?<!confirm )\bif (?:you|it|the|this|not|that"
    r"|needed|your)\b.*|\bwe(?:'ll| can| will)\b.*|\banother (?:phone|device)\b.*"
    r"|\bso (?:that )?(?:i|we|you)\b.*|would you like.*|\bor (?:if"
    r"|would)\b.*"
)
_COMMAND = re.compile(
    r"\bplease\b|could you|can you|\blet's (?:start|try|check|begin|first|turn"
    r"|enable|do|make|reset|change|switch|move|see|verify|go|now)"
    r"|^\W*(?:yes, )?(?:re-?boot|re-?start|turn|reset|check|disconnect|enable"
    r"|disable|run|remove|grant|toggle|change)\b"
    r"|^\W*(?:is|are|does|do|has|have|what|which)\b(?!.*\b(?:anything|any other|further|else)\b)"
    r"[^?]*\?$"
    r"|\bgo ahead|here(?:'s|s| is) how|next steps? (?:is|are) to|are you able to"
    r"|do you see|make sure|^\W*(?:next|first|second|then|also|finally|now)\b"
    r"|you(?:'ll)? (?:need to|should|can|may)|i recommend|i suggest|\btry "
)
_CONDITION = re.compile(
    r"^[\W\d]*if (?:it|so|either|they|that|not|you see|the)\b|if (?:it's|it is|needed)\b"
)
_LATER = re.compile(r"^[\W\d]*(?:after|once|when)\b|\bafter (?:this|that)\b")
_CLOSES = re.compile(r"\b(?:these|those|this|the) (?:steps|changes?|actions)\b")
"""Words after a list, with which the agent asks for the result."""
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
"""End of an offer of help, after which the user may act without answering the offer."""
_ITEM = re.compile(r"^\s*(?:(?:step )?\d+[.):]|[-•*])\s")
_HEADING = re.compile(r"\b(?:check|confirm|verify|look|tell me|let me know|see)\b")
_START = re.compile(r"\blet's (?:start|begin) (?:with|by)\b")
"""Words after which the agent says which of its steps comes first."""
_REFERS = re.compile(
    r"\b(?:turn|switch|toggl|disabl|enabl|chang|reset|reseat|disconnect|grant|re-?insert)"
    r"[^.]{0,24}\b(?:it|them|those|that)\b"
)
_SEES_OPTION = re.compile(r"\b(?:if|when) you (?:see|find|have) (?:an?|the|any) option\b")
_VALUE = re.compile(r"(?:permission|mode|app_name)\W{1,3}(\w+)")

_OUTCOME = re.compile(
    r"\b(?:let me know|check|see|tell me|confirm)\b[^.!?]{0,60}\b(?:if|whether)\b[^.!?]{0,60}"
    r"\b(?:resolv|help|fix|solv|work|improv|better|faster|restor|persist)"
)


def asks_outcome(text: str) -> bool:
    """Tell whether an agent asks if the issue is resolved."""
    return _OUTCOME.search(text.lower()) is not None


class StepRequest(NamedTuple):
    """A requested call of the user."""

    step: UserStep
    depends: bool = False
    """Whether the agent requests the call under a condition."""


def find_requests(text: str, steps: Sequence[UserStep]) -> list[StepRequest]:
    """Return the user's calls that a text requests, in the order of the text.

    If the agent offers help, the user makes only read calls. If the agent offers to explain a read
    call, the user makes no call. Requests in whole sentences are used. Requests in bullet lists are
    used only if no sentence contains a request.
    """
    low = text.lower().replace("*", "")
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
    commands, items = found["command"], found["item"]
    if offers:
        reads = [each for each in commands if not (each.step.writes or each.step.is_test)]
        return reads or [each for each in items if not (each.step.writes or each.step.is_test)]
    if all(each.step.is_test for each in commands):
        commands = [*items, *commands]
    commands = [*commands, *found["later"]]
    if named:
        others = [each for each in [*items, *commands] if each.step.writes or each.step.is_test]
        commands = [*named, *others]
    return _without_needless(commands)


def _read_lines(text: str, steps: Sequence[UserStep]) -> dict[str, list[StepRequest]]:
    """Return the requests of a text, grouped as ``command``, ``item`` or ``later``."""
    requests: dict[str, list[StepRequest]] = {"command": [], "item": [], "later": []}
    earlier: list[str] = []
    checks = False
    for line in text.split("\n"):
        is_item = _ITEM.match(line) is not None
        if not is_item and line.strip():
            checks = line.rstrip().endswith(":") and _HEADING.search(line) is not None
        for place, sentence in enumerate(_split(line, is_item)):
            is_checked = is_item and checks and place == 0
            asks = is_item and (is_checked or sentence.endswith("?"))
            sentence = _SEES_OPTION.sub("option", sentence)
            said = _ITEM.sub("check ", sentence) if is_checked else sentence
            said = said if asks else _HYPOTHETICAL.sub("", said)
            if is_item or _COMMAND.search(said):
                depends = _CONDITION.search(sentence) is not None and not asks
                closes = bool(requests["item"] and _CLOSES.search(sentence))
                is_late = closes or _LATER.search(sentence) is not None
                found = requests["item" if is_item else "later" if is_late else "command"]
                _add(found, said, steps, depends, is_late)
                if depends and _REFERS.search(sentence):
                    found += _find_changes(earlier, steps)
            earlier.append(sentence)
    return requests


def _find_changes(earlier: Sequence[str], steps: Sequence[UserStep]) -> list[StepRequest]:
    """Find the latest sentence with a phone topic; return the conditional changes of this topic."""
    for sentence in reversed(earlier):
        if topics := {step.topic for step in steps if re.search(step.cue, sentence)}:
            changes = [step for step in steps if step.writes and step.topic]
            return [StepRequest(step, True) for step in changes if step.topic in topics]
    return []


def _split(line: str, is_item: bool) -> list[str]:
    """Split a line into sentences; a condition after an item's title is moved before the title."""
    found = re.split(r"(?<=[a-z)\"'][.!?:;])\s+|(?<=\S\d[.!?:;])\s+", line)
    if is_item and len(found) > 1 and found[0].endswith(":") and _CONDITION.search(found[1]):
        return [f"{found[1]} {found[0]}", *found[2:]]
    return found


def _list_named(text: str, steps: Sequence[UserStep]) -> list[StepRequest]:
    """Return the calls whose functions the agent names."""
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
    """Drop repeated calls, and reading calls whose topic a writing call changes; put tests last."""
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
