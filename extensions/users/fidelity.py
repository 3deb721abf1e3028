"""Fidelity of a simulated user: each message is compared with that of a recorded user."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from envs.calls import Call
from envs.results import Result
from extensions.users.rules import NOT_UNDERSTOOD, RuleUser, normalize
from extensions.users.scenario import DialogueScenario
from runner.models.dialogue_user import UserAct, UserAnswer, UserExchange

_VALUE = re.compile(r"[\w#@.+'-]*\d[\w@.'-]*\w|\d|(?<=[\w,;:] )[A-Z][\w'-]+")
_MAX_OWN_STEPS = 12
_NO_VALUES = frozenset({"I", "I'm", "I'd", "I'll", "Agent", "My", "If", "ID", "Id"})


class FidelityCounts(NamedTuple):
    """Counts of agreement between simulated and recorded users."""

    dialogues: int = 0
    messages: int = 0
    """Recorded texts of the user."""
    told: int = 0
    """Known facts that the recorded user disclosed."""
    ours: int = 0
    """Known facts that the simulated user disclosed."""
    both: int = 0
    """Known facts that both disclosed in the same message."""
    wished: int = 0
    """Values in wishes that the recorded user disclosed."""
    own_wished: int = 0
    """Values in wishes that the simulated user disclosed."""
    both_wished: int = 0
    """Values in wishes that both disclosed in the same message."""
    stops: int = 0
    """Dialogues that the recorded user stopped."""
    same_stops: int = 0
    """Stops within one message of the recorded stop."""
    acts: int = 0
    """Own calls of the recorded user."""
    own_acts: int = 0
    """Own calls of the simulated user."""
    same_acts: int = 0
    """Own calls that both users make in answer to the same text."""
    lost: int = 0
    """Texts of the agent that the simulated user did not understand."""

    def __add__(self, other: FidelityCounts) -> FidelityCounts:  # type: ignore[override]
        """Return the sums."""
        return FidelityCounts(*map(sum, zip(self, other, strict=True)))

    def to_json(self) -> dict[str, float | int | None]:
        """Return the figures as a JSON object."""
        return {
            "dialogues": self.dialogues,
            "messages": self.messages,
            "facts_precision": _share(self.both, self.ours),
            "facts_recall": _share(self.both, self.told),
            "facts_f1": _f1(self.both, self.ours, self.told),
            "wishes_f1": _f1(self.both_wished, self.own_wished, self.wished),
            "same_stops": _share(self.same_stops, self.stops),
            "calls_f1": _f1(self.same_acts, self.own_acts, self.acts),
            "not_understood": _share(self.lost, self.messages),
        }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _f1(both: int, ours: int, theirs: int) -> float | None:
    return _share(2 * both, ours + theirs)


def compare(
    user: RuleUser, scenario: DialogueScenario, recorded: Sequence[UserExchange]
) -> FidelityCounts:
    """Compare the answers of a simulated user with those of a recorded user."""
    values = list_values(scenario)
    facts = {normalize(fact.value) for fact in scenario.facts}
    found = FidelityCounts(dialogues=1)
    said, stopped = "", None
    for number, made in enumerate(recorded):
        text = str(made.calls[0].kwargs["text"])
        own = list(zip(made.calls[1:], made.results[1:], strict=True))
        answer, acts = _follow(user, text, own)
        theirs, ours = normalize(made.answer.text), normalize(answer.text)
        told = {each for each in values if _is_in(each, theirs) and not _is_in(each, said)}
        mine = {each for each in values if _is_in(each, ours) and not _is_in(each, said)}
        found += FidelityCounts(
            messages=1,
            told=len(told & facts),
            ours=len(mine & facts),
            both=len(told & mine & facts),
            wished=len(told - facts),
            own_wished=len(mine - facts),
            both_wished=len((told & mine) - facts),
            lost=answer.text == NOT_UNDERSTOOD,
        )
        if answer.stops and stopped is None:
            stopped = number
        said += "\n" + theirs
        found += acts
        user.remember(made)
    if recorded and recorded[-1].answer.stops:
        last = len(recorded) - 1
        same = stopped is not None and last - stopped <= 1
        found += FidelityCounts(stops=1, same_stops=same)
    return found


def _follow(
    user: RuleUser, text: str, own: Sequence[tuple[Call, Result]]
) -> tuple[UserAnswer, FidelityCounts]:
    """Return the user's answer after the recorded calls, and the comparison of the user's calls.

    Calls are compared in any order. A call that the recorded user did not make has no result.
    """
    known = {_key(call): result for call, result in own}
    done: list[tuple[Call, Result]] = []
    for _ in range(_MAX_OWN_STEPS):
        act = _act(user, text, done)
        if isinstance(act, UserAnswer):
            break
        done += [(call, known.get(_key(call), Result(""))) for call in act]
    ours, theirs = {_key(call) for call, _ in done}, set(known)
    found = FidelityCounts(acts=len(theirs), own_acts=len(ours), same_acts=len(ours & theirs))
    # The recorded user spoke after its calls: so does the simulated one.
    return user.speak(text, own), found


def _act(user: RuleUser, text: str, done: Sequence[tuple[Call, Result]]) -> UserAct:
    acting = user.act(text, done)
    try:
        next(acting)
    except StopIteration as end:
        act: UserAct = end.value
        return act
    raise NotImplementedError


def _key(call: Call) -> str:
    return str(call)


def list_values(scenario: DialogueScenario) -> list[str]:
    """Return the values of a scenario that a user can disclose: names, numbers, identifiers."""
    texts = [wish.text for wish in scenario.wishes]
    found: dict[str, None] = {normalize(fact.value): None for fact in scenario.facts}
    for each in _find(texts):
        if not any(each in value for value in found):
            found[each] = None
    return list(found)


def _find(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        for value in _VALUE.findall(text):
            if value not in _NO_VALUES:
                yield normalize(value.strip(".'"))


def _is_in(value: str, text: str) -> bool:
    return (
        re.search(rf"(?<![\w.]){re.escape(value)}(?:st|nd|rd|th|s)?(?!\w|\.\d)", text) is not None
    )
