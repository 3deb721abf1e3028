"""What a writer answers, a JSON object that is read strictly and never run, and the filters.

Each filter has a name; instructions pass through them in their order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from math import isfinite
from typing import Any, NamedTuple

from checkers.told import literals, stands_in
from envs.calls import Call
from extensions.authoring.graph.graph import TOOLS
from extensions.authoring.making.scenarios import MissingParameter
from extensions.authoring.rules.answers import check_provenance
from extensions.authoring.rules.asking import named_function
from extensions.authoring.rules.entry import Entry, TruthStep
from extensions.authoring.rules.lookups import COMMON, SMALL
from extensions.authoring.rules.problem import Severity, brief
from extensions.authoring.rules.texts import NEAR, jaccard, word_set
from extensions.generation.entries.tasks import WritingTask, dataset_of
from trajectories.schema import Trajectory

FEWEST_IN_TURN, FEWEST_IN_ALL = 12, 30
"""Words."""
MOST_IN_TURN, MOST_IN_ALL = 150, 400
_MOST_ON_AVERAGE = 60
"""Words of a turn, where there are many."""
_LEAST_COMMON = 0.25
"""Share of everyday words in English; of our own entries none has less than 0.35."""
_LONGEST_ANSWER = 100_000
"""Characters of an answer that are looked at."""
_LONGEST_TEXT = 5_000
"""Characters of what is said in a turn."""
_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?")
_CALLED = re.compile(r"\b(\w+)\(")


class Filter(StrEnum):
    """Why an instruction is refused, in the order in which that is looked for.

    ``yields.MEANINGS`` says what each one means.
    """

    FORM = "FORM"
    INVENTED = "INVENTED"
    NAMED = "NAMED"
    WORDS = "WORDS"
    VALUES = "VALUES"
    ECHO = "ECHO"
    DUPLICATE = "DUPLICATE"
    LANGUAGE = "LANGUAGE"
    LONG = "LONG"


class SiftedOut(Exception):
    """An instruction that a filter or check refuses; the message tells the writer why."""

    def __init__(self, by: str, reason: str) -> None:
        super().__init__(reason)
        self.by = by


class WrittenTurn(NamedTuple):
    """One turn as it was written."""

    words: str
    functions: tuple[str, ...]
    """Those that the writer says do it."""


class Instruction(NamedTuple):
    """An instruction as it was written."""

    turns: tuple[WrittenTurn, ...]
    left_out: MissingParameter | None = None
    """How one turn would leave a value out, where the writer says so."""

    @property
    def words(self) -> list[str]:
        """What the user says, turn by turn."""
        return [turn.words for turn in self.turns]


def read_written(text: str, turns: int) -> Instruction:
    """Return what an answer holds.

    Words and fences around the object do not count.

    Raises:
        SiftedOut: It is not of the form.
    """
    value = _object(text[:_LONGEST_ANSWER])
    stated = value.get("turns")
    if not isinstance(stated, list):
        raise SiftedOut(Filter.FORM, 'there is no list "turns"')
    if len(stated) != turns:
        raise SiftedOut(Filter.FORM, f'"turns" has {len(stated)} members, and must have {turns}')
    found = tuple([_turn(each, index) for index, each in enumerate(stated)])
    return Instruction(found, _left_out(value.get("left_out"), turns))


def _object(text: str) -> dict[str, Any]:
    decoder, start = json.JSONDecoder(), text.find("{")
    try:
        value = decoder.raw_decode(text, start)[0] if start >= 0 else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise SiftedOut(Filter.FORM, "there is no JSON object in the answer")
    return value


def _turn(value: object, index: int) -> WrittenTurn:
    match value:
        case {"words": str(words), "functions": list(names)} if all(
            isinstance(name, str) for name in names
        ):
            _check(words, f"turns[{index}]")
            return WrittenTurn(words.strip(), tuple(names))
    raise SiftedOut(
        Filter.FORM, f'turns[{index}] must have a text "words" and a list of texts "functions"'
    )


def _left_out(value: object, turns: int) -> MissingParameter | None:
    match value:
        case None:
            return None
        case {"turn": int(turn), "without": str(without), "answer": str(answer)} if (
            not isinstance(turn, bool) and 0 <= turn < turns
        ):
            for text in (without, answer):
                _check(text, "left_out")
            return MissingParameter(turn, without.strip(), answer.strip())
    raise SiftedOut(
        Filter.FORM,
        f'"left_out" must be null or have a "turn" below {turns}, "without" and "answer"',
    )


def _check(text: str, where: str) -> None:
    if len(text) > _LONGEST_TEXT:
        raise SiftedOut(Filter.FORM, f"{where}: has more than {_LONGEST_TEXT} characters")
    if not text.strip():
        raise SiftedOut(Filter.FORM, f"{where}: says nothing")
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise SiftedOut(Filter.FORM, f"{where}: has half a character")


class Sieve:
    """The filters, and what was asked before; the questions of ``own`` entries count as asked."""

    def __init__(self, own: Iterable[Trajectory]) -> None:
        self._own = AskedBefore()
        self._output = AskedBefore()
        for trajectory in own:
            self._own.take(trajectory.id, [turn.words for turn in trajectory.turns])

    def passed(self, task: WritingTask, answer: str) -> Instruction:
        """Return what an answer holds, where all filters let it pass.

        Those that need the calls do so only where the writer was shown them.

        Raises:
            SiftedOut: One does not.
        """
        written = read_written(answer, len(task.bare.turns))
        said = task.said(written.words)
        shown = task.origin == "paths"
        checks: Sequence[tuple[Filter, Callable[[], str | None]]] = (
            (Filter.INVENTED, lambda: _invented(task, written)),
            (Filter.NAMED, lambda: _named(written)),
            (Filter.WORDS, lambda: _too_few(written)),
            (Filter.VALUES, lambda: _untold(said) if shown else None),
            (Filter.ECHO, lambda: _echoed(said, task.told_values) if shown else None),
            (Filter.DUPLICATE, lambda: self._own.like(written.words)),
            (Filter.LANGUAGE, lambda: _foreign(written)),
            (Filter.LONG, lambda: _too_many(written)),
        )
        for filter, check in checks:
            if reason := check():
                raise SiftedOut(filter, reason)
        return written

    def check_found(self, said: Trajectory) -> None:
        """Do what could not be done before there were calls.

        Raises:
            SiftedOut: The words do not tell what the calls need, or tell what they find.
        """
        if reason := _untold(said):
            raise SiftedOut(Filter.VALUES, reason)
        if reason := _echoed(said, frozenset()):
            raise SiftedOut(Filter.ECHO, reason)

    def take(self, id: str, words: Sequence[str]) -> None:
        """Have an instruction of the output count as asked.

        Raises:
            SiftedOut: It was asked before.
        """
        if reason := self._output.like(words):
            raise SiftedOut(Filter.DUPLICATE, reason)
        self._output.take(id, words)


class AskedBefore:
    """What was asked, turn by turn."""

    def __init__(self) -> None:
        self._turns: list[tuple[str, frozenset[str]]] = []

    def like(self, words: Sequence[str]) -> str | None:
        """Return which text asks what was asked, and where; None where none does."""
        for index, text in enumerate(words):
            mine = word_set(text)
            for id, other in self._turns:
                if jaccard(mine, other) >= NEAR:
                    return f"turn {index} asks what {id} asks"
        return None

    def take(self, id: str, words: Sequence[str]) -> None:
        """Have texts count as asked."""
        self._turns += [(id, found) for text in words if (found := word_set(text))]


def _invented(task: WritingTask, written: Instruction) -> str | None:
    for index, turn in enumerate(written.turns):
        strange = [name for name in turn.functions if name not in task.functions]
        if strange:
            shown = ", ".join(task.functions)
            return f"turn {index} goes by {brief(strange[0], 60)}, which is none of {shown}"
    return None


def _named(written: Instruction) -> str | None:
    for index, words in enumerate(written.words):
        called = [name for name in _CALLED.findall(words) if name in TOOLS]
        name = named_function(TOOLS, words) or next(iter(called), None)
        if name:
            return f"turn {index} names the function {name}; a user says what is wanted"
    return None


def _too_few(written: Instruction) -> str | None:
    counts = [len(words.split()) for words in written.words]
    for index, count in enumerate(counts):
        if count < FEWEST_IN_TURN:
            return f"turn {index} has {count} words; it needs at least {FEWEST_IN_TURN}"
    if sum(counts) < FEWEST_IN_ALL:
        return f"there are {sum(counts)} words in all; at least {FEWEST_IN_ALL} are needed"
    return None


def _too_many(written: Instruction) -> str | None:
    counts = [len(words.split()) for words in written.words]
    for index, count in enumerate(counts):
        if count > MOST_IN_TURN:
            return f"turn {index} has {count} words; it may have {MOST_IN_TURN} at most"
    most = max(MOST_IN_ALL, _MOST_ON_AVERAGE * len(counts))
    if sum(counts) > most:
        return f"there are {sum(counts)} words in all; {most} are the most"
    return None


def _foreign(written: Instruction) -> str | None:
    for index, text in enumerate(written.words):
        words = _WORD.findall(text.casefold())
        share = sum(word in COMMON for word in words) / max(1, len(words))
        if share < _LEAST_COMMON:
            return f"turn {index} is hardly English: {share:.0%} of its words are everyday ones"
    return None


def _untold(said: Trajectory) -> str | None:
    """Return which value of a call nobody and nothing tells."""
    for problem in check_provenance(Entry(dataset_of(said), said)):
        if problem.severity is not Severity.INFO:
            return f"turn {problem.turn}, {problem.field}: {problem.message}"
    return None


def _echoed(said: Trajectory, told: frozenset[Any]) -> str | None:
    """Return which value of a result the words tell before it is seen."""
    entry = Entry(dataset_of(said), said)
    words = [turn.words.casefold() for turn in said.turns]
    for value, step in telling_results(entry, told):
        form = value.casefold() if isinstance(value, str) else value
        for index in range(step.turn + 1):
            if stands_in(form, words[index]) and _alone(form, words[index]):
                name = step.call.name if isinstance(step.call, Call) else "a call"
                return f"turn {index} tells {brief(value, 60)}, which only {name} shows"
    return None


def telling_results(entry: Entry, told: frozenset[Any]) -> Iterator[tuple[Any, TruthStep]]:
    """Yield values that results show first, and that stand there hardly by chance."""
    known = {_size(value) for value in told}
    for step in entry.steps:
        known.update(map(_size, literals(entry.arguments(step.call))))
        shown = [*_shown(step.result.held)] if step.result.ok else []
        for value in shown:
            if _size(value) not in known and _tells(value):
                yield value, step
        known.update(map(_size, shown))


def _size(value: Any) -> Any:
    """Return a value by which words tell it; the sign of a number they may leave out."""
    return value if isinstance(value, str) else abs(value)


def _shown(value: Any) -> Iterator[Any]:
    """Yield the values in a result, and the names of members, which may be ids."""
    yield from literals(value)
    members = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, Mapping):
        yield from map(str, value)
    if isinstance(members, Iterable) and not isinstance(members, str):
        for member in members:
            if isinstance(member, (Mapping, list)):
                yield from _shown(member)


def _tells(value: Any) -> bool:
    if isinstance(value, str):
        return len(value.split()) > 2 or (len(value) > 2 and any(map(str.isdigit, value)))
    return isfinite(value) and (value != int(value) or abs(value) >= SMALL)


def _alone(value: Any, text: str) -> bool:
    if not isinstance(value, str):
        return True
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None
