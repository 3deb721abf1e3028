"""Fidelity of a simulated user: each message is compared with a recorded user's message."""

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
_NO_VALUES = frozenset({"I", "I'm", "I'd", "I'll", "Agent", "My", "If", "ID", "Id"})


class FidelityCounts(NamedTuple):
    """Counts of agreement between simulated and recorded users."""

    dialogues: int = 0
    messages: int = 0
    """Number of recorded texts of the user."""
    told: int = 0
    """Number of known facts that the recorded user disclosed."""
    ours: int = 0
    """Number of known facts that the simulated user disclosed, with the true or with a wrong value.
    """
    both: int = 0
    """Number of known facts that both disclosed in the same message."""
    wished: int = 0
    """Number of values that the recorded user disclosed in wishes."""
    own_wished: int = 0
    """Number of values that the simulated user disclosed in wishes."""
    both_wished: int = 0
    """Number of values that both disclosed in wishes in the same message."""
    stops: int = 0
    """Number of dialogues whose endings are compared."""
    same_stops: int = 0
    """Number of dialogues in which both users stop within one message, or in which neither stops.
    """
    acts: int = 0
    """Number of own calls of the recorded user."""
    own_acts: int = 0
    """Number of own calls of the simulated user."""
    same_acts: int = 0
    """Number of own calls that both users make in answer to the same text."""
    decisions: int = 0
    """Number of decisions of the recorded user whether to make a call or to answer."""
    same_decisions: int = 0
    """Number of decisions of the recorded user that the simulated user repeats."""
    lost: int = 0
    """Number of texts of the agent that the simulated user did not understand."""

    def __add__(self, other: FidelityCounts) -> FidelityCounts:  # type: ignore[override]
        """Return the sums."""
        return FidelityCounts(*map(sum, zip(self, other, strict=True)))

    def to_json(self) -> dict[str, float | int | None]:
        """Return the counts as a JSON object."""
        return {
            "dialogues": self.dialogues,
            "messages": self.messages,
            "facts_precision": _share(self.both, self.ours),
            "facts_recall": _share(self.both, self.told),
            "facts_f1": _f1(self.both, self.ours, self.told),
            "wishes_f1": _f1(self.both_wished, self.own_wished, self.wished),
            "same_stops": _share(self.same_stops, self.stops),
            "same_calls": _share(self.same_decisions, self.decisions),
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
        # The recorded user spoke after its calls: so does the simulated one.
        answer = user.speak(text, own)
        theirs, ours = normalize(made.answer.text), normalize(answer.text)
        told = {each for each in values if _is_in(each, theirs) and not _is_in(each, said)}
        mine = {each for each in values if _is_in(each, ours) and not _is_in(each, said)}
        found += FidelityCounts(
            messages=1,
            told=len(told & facts),
            ours=len(mine & facts) + _count_wrong(scenario, ours),
            both=len(told & mine & facts),
            wished=len(told - facts),
            own_wished=len(mine - facts),
            both_wished=len((told & mine) - facts),
            lost=answer.text == NOT_UNDERSTOOD,
        )
        if scenario.steps:
            found += _compare_calls(user, text, own)
        if stopped is None and answer.stops:
            stopped = number
        if stopped is None and number == len(recorded) - 1 and _stops_later(user, made, answer):
            stopped = number + 1
        said += "\n" + theirs
        user.remember(made)
    if recorded:
        found += FidelityCounts(stops=1, same_stops=_is_same_stop(recorded, stopped))
    return found


def _count_wrong(scenario: DialogueScenario, text: str) -> int:
    """Count the facts that a text of the simulated user gives with a wrong value."""
    found = 0
    for name in {fact.name for fact in scenario.facts}:
        true = "|".join([re.escape(normalize(f.value)) for f in scenario.facts if f.name == name])
        found += len(re.findall(rf"\bmy {re.escape(name.lower())} is (?!(?:{true})\.)", text))
    return found


def _stops_later(user: RuleUser, made: UserExchange, answer: UserAnswer) -> bool:
    """Tell whether the user stops one message later, if the agent repeats its last text."""
    later = user.fork()
    later.remember(made._replace(results=(Result(answer.text), *made.results[1:]), answer=answer))
    return later.speak(str(made.calls[0].kwargs["text"]), ()).stops


def _is_same_stop(recorded: Sequence[UserExchange], stopped: int | None) -> bool:
    last = len(recorded) - 1
    if not recorded[-1].answer.stops:
        return stopped is None or stopped > last
    return stopped is not None and abs(last - stopped) <= 1


def _compare_calls(user: RuleUser, text: str, own: Sequence[tuple[Call, Result]]) -> FidelityCounts:
    """Compare the user's calls in answer to a text, call by call, in any order.

    After each call, the simulated user sees the recorded result. A call that the recorded user does
    not make in answer to the text is different, and so is a missing or an additional call.
    """
    left = {str(call): (call, result) for call, result in own}
    theirs, ours, equal = set(left), set[str](), 0
    done: list[tuple[Call, Result]] = []
    while left:
        act = _act(user, text, done)
        wanted = [] if isinstance(act, UserAnswer) else [str(call) for call in act]
        ours |= {*wanted}
        equal += bool(wanted) and all(each in left for each in wanted)
        done.append(left.pop(next((each for each in wanted if each in left), next(iter(left)))))
    act = _act(user, text, done)
    if not isinstance(act, UserAnswer):
        ours |= {str(call) for call in act}
    return FidelityCounts(
        acts=len(theirs),
        own_acts=len(ours),
        same_acts=len(ours & theirs),
        decisions=len(theirs) + 1,
        same_decisions=equal + isinstance(act, UserAnswer),
    )


def _act(user: RuleUser, text: str, done: Sequence[tuple[Call, Result]]) -> UserAct:
    acting = user.act(text, done)
    try:
        next(acting)
    except StopIteration as end:
        act: UserAct = end.value
        return act
    raise NotImplementedError


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
