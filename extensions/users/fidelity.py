"""Fidelity of a simulated user, whose messages are compared with the recorded user's messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from envs.calls import Call
from envs.results import Result
from extensions.users.rules import NOT_UNDERSTOOD, RuleUser, label_fact, normalize
from extensions.users.scenario import DialogueScenario
from runner.models.dialogue_user import UserAct, UserAnswer, UserExchange

_VALUE = re.compile(r"[\w#@.+'-]{0,100}\d[\w@.'-]{0,100}\w|\d|(?<=[\w,;:] )[A-Z][\w'-]+")
_SIMILAR_SHARE = 0.7
_NO_VALUES = frozenset({"I", "I'm", "I'd", "I'll", "Agent", "My", "If", "ID", "Id"})


class FidelityCounts(NamedTuple):
    """Counts that compare simulated users with recorded users."""

    dialogues: int = 0
    messages: int = 0
    """Number of recorded texts of the user."""
    told: int = 0
    """Number of known facts that the recorded user disclosed."""
    ours: int = 0
    """Number of known facts that the simulated user disclosed, with the true or with a wrong value.
    """
    both: int = 0
    """Number of known facts that both users disclosed in the same message."""
    wished: int = 0
    """Number of values that the recorded user stated as part of a wish."""
    own_wished: int = 0
    """Number of values that the simulated user stated as part of a wish."""
    both_wished: int = 0
    """Number of values that both users stated as part of a wish."""
    stops: int = 0
    """Number of dialogues whose endings are compared."""
    same_stops: int = 0
    """Number of dialogues that both users end at about the same message."""
    acts: int = 0
    """Number of calls that the recorded user made."""
    own_acts: int = 0
    """Number of calls that the simulated user made."""
    same_acts: int = 0
    """Number of calls that both users made after the same text of the agent."""
    near_acts: int = 0
    """Number of recorded calls that the simulated user repeated."""
    near_own_acts: int = 0
    """Number of calls of the simulated user that were also recorded."""
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
            "calls_precision": _share(self.same_acts, self.own_acts),
            "calls_recall": _share(self.same_acts, self.acts),
            "calls_f1": _f1(self.same_acts, self.own_acts, self.acts),
            "near_calls_precision": _share(self.near_own_acts, self.own_acts),
            "near_calls_recall": _share(self.near_acts, self.acts),
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
    calls: list[OwnCalls] = []
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
            calls.append(_compare_calls(user, text, own))
        if stopped is None and answer.stops:
            stopped = number
        if stopped is None and number == len(recorded) - 1 and _stops_later(user, made, answer):
            stopped = number + 1
        said += "\n" + theirs
        user.remember(made)
    found += count_calls(calls) + _count_near_calls(calls)
    if recorded:
        found += FidelityCounts(stops=1, same_stops=_is_same_stop(recorded, stopped))
    return found


def _count_wrong(scenario: DialogueScenario, text: str) -> int:
    """Count the facts that a text of the simulated user states with a wrong value."""
    found = 0
    for name in {fact.name for fact in scenario.facts}:
        true = {normalize(fact.value) for fact in scenario.facts if fact.name == name}
        label = re.escape(label_fact(name).lower())
        for told in re.findall(rf"\b{label}s? (?:is|are) (.{{0,500}}?)\.(?= |$)", text):
            found += sum(value.strip('"') not in true for value in told.split(" and "))
    return found


def _stops_later(user: RuleUser, made: UserExchange, answer: UserAnswer) -> bool:
    """Tell whether the user stops when the agent sends the same text again."""
    later = user.fork()
    later.remember(made._replace(results=(Result(answer.text), *made.results[1:]), answer=answer))
    return later.speak(str(made.calls[0].kwargs["text"]), ()).stops


def _is_same_stop(recorded: Sequence[UserExchange], stopped: int | None) -> bool:
    last = len(recorded) - 1
    if not recorded[-1].answer.stops:
        return stopped is None or stopped > last
    return stopped is not None and abs(last - stopped) <= 1


class OwnCalls(NamedTuple):
    """Calls of two users after the same agent text, or after similar texts."""

    text: str
    """Text of the agent."""
    theirs: frozenset[str]
    """Calls of the recorded user."""
    ours: frozenset[str]
    """Calls of the simulated user, or of another recorded user."""


def count_calls(answers: Iterable[OwnCalls]) -> FidelityCounts:
    """Return the counts of calls."""
    return sum(
        [
            FidelityCounts(
                acts=len(each.theirs),
                own_acts=len(each.ours),
                same_acts=len(each.theirs & each.ours),
            )
            for each in answers
        ],
        FidelityCounts(),
    )


def _count_near_calls(answers: Sequence[OwnCalls]) -> FidelityCounts:
    found = FidelityCounts()
    for place, answer in enumerate(answers):
        near = answers[max(place - 1, 0) : place + 2]
        theirs = frozenset[str]().union(*[each.theirs for each in near])
        ours = frozenset[str]().union(*[each.ours for each in near])
        found += FidelityCounts(
            near_acts=len(answer.theirs & ours), near_own_acts=len(answer.ours & theirs)
        )
    return found


def list_own_calls(user: RuleUser, recorded: Sequence[UserExchange]) -> list[OwnCalls]:
    """Return the calls of the recorded and the simulated user, for each text of the agent."""
    found = []
    for made in recorded:
        text = str(made.calls[0].kwargs["text"])
        own = list(zip(made.calls[1:], made.results[1:], strict=True))
        found.append(_compare_calls(user, text, own))
        user.remember(made)
    return found[1:]


def pair_similar(dialogues: Sequence[Sequence[OwnCalls]]) -> list[tuple[OwnCalls, OwnCalls]]:
    """Pair the answers to similar agent texts in different dialogues.

    Two texts are similar if they share at least 70% of their words.
    """
    texts = [
        (place, each, frozenset(re.findall(r"[a-z0-9-]+", each.text.lower())))
        for place, dialogue in enumerate(dialogues)
        for each in dialogue
    ]
    pairs = []
    for place, each, words in texts:
        best, other = _SIMILAR_SHARE, None
        for elsewhere, candidate, others in texts:
            sizes = sorted((len(words), len(others)))
            # The shared words of two texts are at most the words of the shorter text.
            if elsewhere != place and words and sizes[0] >= best * sizes[1]:
                share = len(words & others) / len(words | others)
                if share > best or (share == best and other is None):
                    best, other = share, candidate
        if other is not None:
            pairs.append((each, other._replace(theirs=each.theirs, ours=other.theirs)))
    return pairs


def _compare_calls(user: RuleUser, text: str, own: Sequence[tuple[Call, Result]]) -> OwnCalls:
    """Return the calls of the recorded user and of the simulated user after an agent's text.

    A call without a recorded result gets an empty result. If the simulated user makes no new call,
    it gets the next recorded call and its result.
    """
    left = {str(call): (call, result) for call, result in own}
    theirs, ours = frozenset(left), set[str]()
    done: list[tuple[Call, Result]] = []
    while True:
        act = _act(user, text, done)
        wanted = {} if isinstance(act, UserAnswer) else {str(call): call for call in act}
        new = {key: call for key, call in wanted.items() if key not in ours}
        ours |= new.keys()
        done += [left.pop(key, (call, Result(""))) for key, call in new.items()]
        if not new:
            if not left:
                return OwnCalls(text, theirs, frozenset(ours))
            done.append(left.pop(next(iter(left))))


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
