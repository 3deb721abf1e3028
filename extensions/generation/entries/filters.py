"""Parser of the writer model's answers, and filters that each instruction must pass.

An answer is a JSON object that is checked strictly and never executed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from math import isfinite
from typing import Any, NamedTuple

from checkers.known_values import contains_value, list_literals
from envs.calls import Call
from extensions.authoring.graph.graph import TOOLS
from extensions.authoring.making.scenarios import MissingParameter
from extensions.authoring.rules.duplicates_and_documents import NEAR, collect_words, jaccard
from extensions.authoring.rules.finding import Severity, brief
from extensions.authoring.rules.known_values import check_provenance
from extensions.authoring.rules.lookups import COMMON, SMALL
from extensions.authoring.rules.replayed_entry import Entry, TruthStep
from extensions.authoring.rules.requested_actions import named_function
from extensions.generation.entries.tasks import WritingTask, make_dataset
from extensions.judges.judge_questions import parse_object
from trajectories.schema import Trajectory

MIN_TURN_WORDS, MIN_TOTAL_WORDS = 12, 30
MAX_TURN_WORDS, MAX_TOTAL_WORDS = 150, 400
_MAX_MEAN_WORDS = 60
"""Maximum average number of words per turn."""
_MIN_COMMON_SHARE = 0.25
"""Minimum share of everyday English words; every built-in entry has at least 0.35."""
_MAX_ANSWER_CHARS = 100_000
_MAX_TEXT_CHARS = 5_000
"""Maximum characters of a turn."""
_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?")
_CALLED = re.compile(r"\b(\w+)\(")


class InstructionFilter(StrEnum):
    """Filters in the order in which they are applied; ``yield_table.MEANINGS`` explains them."""

    FORM = "FORM"
    INVENTED = "INVENTED"
    NAMED = "NAMED"
    WORDS = "WORDS"
    VALUES = "VALUES"
    ECHO = "ECHO"
    DUPLICATE = "DUPLICATE"
    LANGUAGE = "LANGUAGE"
    LONG = "LONG"


class RefusedInstruction(Exception):
    """A refused instruction; the message tells the writer the reason."""

    def __init__(self, by: str, reason: str) -> None:
        super().__init__(reason)
        self.by = by


class WrittenTurn(NamedTuple):
    """The user message of one turn, with the functions that the turn needs."""

    words: str
    functions: tuple[str, ...]
    """Functions that the turn needs, according to the writer."""


class Instruction(NamedTuple):
    """User messages of an entry, as a writer wrote them."""

    turns: tuple[WrittenTurn, ...]
    left_out: MissingParameter | None = None
    """The writer's proposal of a value to omit."""

    @property
    def words(self) -> list[str]:
        """Texts of the user in each turn."""
        return [turn.words for turn in self.turns]


def read_instruction(text: str, turns: int) -> Instruction:
    """Read an answer; text and code fences around the JSON object are ignored.

    Raises RefusedInstruction if the answer does not have the required form.
    """
    value = parse_object(text[:_MAX_ANSWER_CHARS])
    if not isinstance(value, dict):
        raise RefusedInstruction(InstructionFilter.FORM, "the answer has no JSON object")
    stated = value.get("turns")
    if not isinstance(stated, list):
        raise RefusedInstruction(InstructionFilter.FORM, 'the answer has no list "turns"')
    if len(stated) != turns:
        raise RefusedInstruction(
            InstructionFilter.FORM, f'"turns" has {len(stated)} items, but must have {turns}'
        )
    found = tuple([_read_turn(each, index) for index, each in enumerate(stated)])
    return Instruction(found, _read_left_out(value.get("left_out"), turns))


def _read_turn(value: object, index: int) -> WrittenTurn:
    match value:
        case {"words": str(words), "functions": list(names)} if all(
            isinstance(name, str) for name in names
        ):
            _check_text(words, f"turns[{index}]")
            return WrittenTurn(words.strip(), tuple(names))
    raise RefusedInstruction(
        InstructionFilter.FORM,
        f'turns[{index}] must have a string "words" and a list of strings "functions"',
    )


def _read_left_out(value: object, turns: int) -> MissingParameter | None:
    match value:
        case None:
            return None
        case {"turn": int(turn), "without": str(without), "answer": str(answer)} if (
            not isinstance(turn, bool) and 0 <= turn < turns
        ):
            for text in (without, answer):
                _check_text(text, "left_out")
            return MissingParameter(turn, without.strip(), answer.strip())
    raise RefusedInstruction(
        InstructionFilter.FORM,
        f'"left_out" must be null or have "turn" (0 to {turns - 1}), "without" and "answer"',
    )


def _check_text(text: str, where: str) -> None:
    if len(text) > _MAX_TEXT_CHARS:
        raise RefusedInstruction(
            InstructionFilter.FORM, f"{where}: has more than {_MAX_TEXT_CHARS} characters"
        )
    if not text.strip():
        raise RefusedInstruction(InstructionFilter.FORM, f"{where}: is empty")
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise RefusedInstruction(InstructionFilter.FORM, f"{where}: has a lone surrogate")


class FilterChain:
    """All filters of instructions.

    The filter ``DUPLICATE`` refuses a question if ``own`` or an earlier generated entry contains a
    similar question.
    """

    def __init__(self, own: Iterable[Trajectory]) -> None:
        self._own = QuestionIndex()
        self._output = QuestionIndex()
        for trajectory in own:
            self._own.take(trajectory.id, [turn.words for turn in trajectory.turns])

    def passed(self, task: WritingTask, answer: str) -> Instruction:
        """Return the instruction of an answer that passes all filters.

        The filters ``VALUES`` and ``ECHO`` are applied only if the prompt contains the calls.

        Raises RefusedInstruction if a filter refuses the answer.
        """
        written = read_instruction(answer, len(task.bare.turns))
        said = task.said(written.words)
        shown = task.origin == "paths"
        checks: Sequence[tuple[InstructionFilter, Callable[[], str | None]]] = (
            (InstructionFilter.INVENTED, lambda: _find_invented(task, written)),
            (InstructionFilter.NAMED, lambda: _find_function_name(written)),
            (InstructionFilter.WORDS, lambda: _check_min_words(written)),
            (InstructionFilter.VALUES, lambda: _find_unknown_value(said) if shown else None),
            (InstructionFilter.ECHO, lambda: _find_echo(said, task.told_values) if shown else None),
            (InstructionFilter.DUPLICATE, lambda: self._own.like(written.words)),
            (InstructionFilter.LANGUAGE, lambda: _check_language(written)),
            (InstructionFilter.LONG, lambda: _check_max_words(written)),
        )
        for filter, check in checks:
            if reason := check():
                raise RefusedInstruction(filter, reason)
        return written

    def check_found(self, said: Trajectory) -> None:
        """Apply the filters ``VALUES`` and ``ECHO`` after a search has found the entry's calls.

        Raises RefusedInstruction if a filter refuses the entry.
        """
        if reason := _find_unknown_value(said):
            raise RefusedInstruction(InstructionFilter.VALUES, reason)
        if reason := _find_echo(said, frozenset()):
            raise RefusedInstruction(InstructionFilter.ECHO, reason)

    def take(self, id: str, words: Sequence[str]) -> None:
        """Add the questions of a new entry.

        Raises RefusedInstruction if an earlier question is too similar.
        """
        if reason := self._output.like(words):
            raise RefusedInstruction(InstructionFilter.DUPLICATE, reason)
        self._output.take(id, words)


class QuestionIndex:
    """Index of the questions of all turns, for finding similar questions."""

    def __init__(self) -> None:
        self._turns: list[tuple[str, frozenset[str]]] = []

    def like(self, words: Sequence[str]) -> str | None:
        """Return a message that names the first similar question, or None."""
        for index, text in enumerate(words):
            mine = collect_words(text)
            for id, other in self._turns:
                if jaccard(mine, other) >= NEAR:
                    return f"turn {index} asks the same question as {id}"
        return None

    def take(self, id: str, words: Sequence[str]) -> None:
        """Add questions."""
        self._turns += [(id, found) for text in words if (found := collect_words(text))]


def _find_invented(task: WritingTask, written: Instruction) -> str | None:
    for index, turn in enumerate(written.turns):
        strange = [name for name in turn.functions if name not in task.functions]
        if strange:
            shown = ", ".join(task.functions)
            return f"turn {index} uses {brief(strange[0], 60)}, which is not in {shown}"
    return None


def _find_function_name(written: Instruction) -> str | None:
    for index, words in enumerate(written.words):
        called = [name for name in _CALLED.findall(words) if name in TOOLS]
        name = named_function(TOOLS, words) or next(iter(called), None)
        if name:
            return f"turn {index} names the function {name}; describe the task instead"
    return None


def _check_min_words(written: Instruction) -> str | None:
    counts = [len(words.split()) for words in written.words]
    for index, count in enumerate(counts):
        if count < MIN_TURN_WORDS:
            return f"turn {index} has {count} words; write at least {MIN_TURN_WORDS} words"
    if sum(counts) < MIN_TOTAL_WORDS:
        return f"all turns have {sum(counts)} words; at least {MIN_TOTAL_WORDS} are needed"
    return None


def _check_max_words(written: Instruction) -> str | None:
    counts = [len(words.split()) for words in written.words]
    for index, count in enumerate(counts):
        if count > MAX_TURN_WORDS:
            return f"turn {index} has {count} words; at most {MAX_TURN_WORDS} are allowed"
    most = max(MAX_TOTAL_WORDS, _MAX_MEAN_WORDS * len(counts))
    if sum(counts) > most:
        return f"all turns have {sum(counts)} words; at most {most} are allowed"
    return None


def _check_language(written: Instruction) -> str | None:
    for index, text in enumerate(written.words):
        words = _WORD.findall(text.casefold())
        share = sum(word in COMMON for word in words) / max(1, len(words))
        if share < _MIN_COMMON_SHARE:
            return (
                f"turn {index} is probably not English: only {share:.0%} of its words are "
                "everyday English words"
            )
    return None


def _find_unknown_value(said: Trajectory) -> str | None:
    for finding in check_provenance(Entry(make_dataset(said), said)):
        if finding.severity is not Severity.INFO:
            return f"turn {finding.turn}, {finding.field}: {finding.message}"
    return None


def _find_echo(said: Trajectory, told: frozenset[Any]) -> str | None:
    """Return an error text if a user message reveals a later result."""
    entry = Entry(make_dataset(said), said)
    words = [turn.words.casefold() for turn in said.turns]
    for value, step in find_revealed_values(entry, told):
        form = value.casefold() if isinstance(value, str) else value
        for index in range(step.turn + 1):
            if contains_value(form, words[index]) and _is_whole_word(form, words[index]):
                name = step.call.name if isinstance(step.call, Call) else "a call"
                text = brief(value, 60)
                return f"turn {index} states {text}, which only the result of {name} contains"
    return None


def find_revealed_values(entry: Entry, told: frozenset[Any]) -> Iterator[tuple[Any, TruthStep]]:
    """Yield distinctive values that first occur in a call's result, with the step of the call."""
    known = {_drop_sign(value) for value in told}
    for step in entry.steps:
        known.update(map(_drop_sign, list_literals(entry.arguments(step.call))))
        shown = [*_list_values(step.result.held)] if step.result.ok else []
        for value in shown:
            if _drop_sign(value) not in known and _is_specific(value):
                yield value, step
        known.update(map(_drop_sign, shown))


def _drop_sign(value: Any) -> Any:
    return value if isinstance(value, str) else abs(value)


def _list_values(value: Any) -> Iterator[Any]:
    yield from list_literals(value)
    members = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, Mapping):
        yield from map(str, value)
    if isinstance(members, Iterable) and not isinstance(members, str):
        for member in members:
            if isinstance(member, (Mapping, list)):
                yield from _list_values(member)


def _is_specific(value: Any) -> bool:
    if isinstance(value, str):
        return len(value.split()) > 2 or (len(value) > 2 and any(map(str.isdigit, value)))
    return isfinite(value) and (value != int(value) or abs(value) >= SMALL)


def _is_whole_word(value: Any, text: str) -> bool:
    pattern = rf"(?<!\w){re.escape(str(value))}(?!\w)"
    return not isinstance(value, str) or re.search(pattern, text) is not None
