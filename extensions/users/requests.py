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
    r"|\b(?:which|that|this|because|so)\b[^.]*\b(?:can|may|will|could|might|is"
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
    r"|\bgo ahead|here(?:'s|s| is) how|next steps? (?:is|are) to|are you able to"
    r"|do you see|make sure|^\W*(?:next|first|then|now)\b|you(?:'ll)? (?:need to"
    r"|should|can|may)|i recommend|i suggest|\btry "
)
_CONDITION = re.compile(
    r"^[\W\d]*if (?:it|so|either|they|that|not|you see|the)\b|if (?:it's|it is|needed)\b"
)
_LATER = re.compile(r"^[\W\d]*(?:after|once|when)\b")
_OFFER = re.compile(
    r"(?:would you (?:like|prefer)|do you (?:want|need|know how)|shall i|are you comfortable)"
    r"[^.?!]*\?"
    r"|let me know if you(?:'re| are) ready"
)
_EXPLAINS = re.compile(r"how to [^?]*\b(?:check|see|find)|are ready")
_ITEM = re.compile(r"^\s*(?:\d+[.)]|[-•*])\s")
_VALUE = re.compile(r"(?:permission|mode|app_name)\W{1,3}(\w+)")


class StepRequest(NamedTuple):
    """A requested call of the user."""

    step: UserStep
    depends: bool = False
    """Whether the agent requests the call under a condition."""


def find_requests(text: str, steps: Sequence[UserStep]) -> list[StepRequest]:
    """Return the user's calls that a text requests, in the order of the text.

    If the agent offers help, the user makes only read calls. If the agent offers to explain a read,
    the user makes no call. Requests in whole sentences are used. Requests in a list are used only
    if no sentence has a request.
    """
    low = text.lower().replace("*", "")
    for odd, plain in (("\u2019", "'"), ("\u201c", '"'), ("\u201d", '"')):
        low = low.replace(odd, plain)
    named = _list_named(low, steps)
    offers = None if named else _OFFER.search(low)
    if offers and _EXPLAINS.search(offers[0]):
        return []
    commands: list[StepRequest] = []
    items: list[StepRequest] = []
    later: list[StepRequest] = []
    for line in low.split("\n"):
        is_item = _ITEM.match(line) is not None
        for sentence in re.split(r"(?<=[a-z)\"'][.!?:;])\s+", line):
            asks = is_item and sentence.endswith("?")
            said = sentence if asks else _HYPOTHETICAL.sub("", sentence)
            if is_item or _COMMAND.search(said):
                depends = _CONDITION.search(sentence) is not None and not asks
                is_late = _LATER.search(sentence) is not None
                found = items if is_item else later if is_late else commands
                _add(found, said, steps, depends, is_late)
    if offers:
        return [each for each in commands if not (each.step.writes or each.step.is_test)]
    if all(each.step.is_test for each in commands):
        commands = items + commands
    commands += [each for each in later if each not in commands]
    if named:
        commands = [*named, *[each for each in commands if each.step.is_test]]
    return _without_needless(commands)


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
        if any(each.step == step for each in found) or (depends and step.is_test):
            continue
        if not is_late or step.writes or step.is_test or step.success:
            found.append(StepRequest(step, depends))


def _without_needless(found: Sequence[StepRequest]) -> list[StepRequest]:
    """Leave out read calls if their topic has an unconditional write call; put tests last."""
    written = {
        each.step.topic
        for each in found
        if each.step.writes and each.step.topic and not each.depends
    }
    kept = [each for each in found if each.step.writes or each.step.topic not in written]
    return sorted(kept, key=lambda each: (each.step.is_test, each.depends))
