"""Scripted writer: converts calls to simple messages and adds deliberate errors.

The scripted writer needs no server. The deliberate errors test every filter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from random import Random
from typing import Any, NamedTuple, Self

from checkers.known_values import contains_value, unescape_text
from envs.calls import Call
from envs.errors import DataError, suggest_name
from envs.schema import make_spec
from extensions.authoring.graph.graph import TOOLS, Graph
from extensions.authoring.graph.sampling import PathStep, ValueOrigin
from extensions.authoring.making.scenarios import MissingParameter
from extensions.authoring.rules.replayed_entry import TruthStep
from extensions.authoring.rules.word_matching import split_name
from extensions.authoring.stated_values import write_documents
from extensions.generation.entries.filters import (
    MAX_TURN_WORDS,
    Instruction,
    InstructionFilter,
    WrittenTurn,
    find_revealed_values,
)
from extensions.generation.entries.tasks import BLANK, WritingTask, blank_result_part
from extensions.judges.scripted_judge import read_share
from runner.models.model_name import ModelName
from trajectories.schema import Trajectory

_OPENERS = (
    "Morning, I have a little errand here that should not take you long",
    "Right, before my next appointment I would like this off the table",
    "Sorry to bother you again, there is one more thing on my mind",
    "Thanks for being around today, here is what comes now",
    "My list for this afternoon has got a bit out of hand, so please help",
    "Could you take care of something while I finish my coffee",
    "We talked about it over lunch and everybody agreed that it be done",
    "Just so that nobody has to wonder about it later this week",
    "It has been sitting on my desk since yesterday and bothers me",
    "A colleague reminded me of it on the stairs a minute ago",
    "Since you are so quick with these matters, I come straight to you",
    "Do not laugh, but I keep forgetting about this one every day",
)
_CLOSERS = (
    "That would be all for this round, I think.",
    "Let me know once it is through, no hurry at all.",
    "Many thanks, that helps me more than you know.",
    "Tell me plainly how it went, good or bad.",
    "I will look at whatever comes out of it tonight.",
    "After that we can go on with the rest.",
    "My neighbour will be glad to hear about it too.",
    "No need for any frills, just the plain outcome.",
    "You would do me a real favour with that.",
    "Everything else can wait until the next week.",
)
_TOKEN = re.compile(r"\w+")
_MIN_LETTERS = 4
"""Minimum number of letters in a long word."""
_ANY = ("password",)
"""Arguments that accept any value."""
_FOREIGN = (
    "Guten Morgen, könntest du bitte folgende Angelegenheit heute noch erledigen, weil meine "
    "Kollegin darauf wartet und mich bereits mehrmals gefragt hatte"
)
_PADDING = "and, as I may have said before, it would be good to have it all the way done by then"


class WriterErrorRates(NamedTuple):
    """Rate and kind of a scripted writer's errors."""

    faulty: float
    """Share of tasks with an error in the first answer; later answers contain no error."""
    only: InstructionFilter | None = None
    """Kind of error that the writer makes; None if the writer makes errors of all kinds."""

    @classmethod
    def named(cls, name: ModelName) -> Self:
        """Return the error rates of a name such as ``scripted:0.2`` or ``scripted:1,only=ECHO``.

        Raises DataError if the name is malformed.
        """
        share, comma, more = name.argument.partition(",")
        faulty = read_share(share, name, "--model")
        key, _, fault = more.partition("=")
        if not comma:
            return cls(faulty)
        if key != "only" or fault.upper() not in [*InstructionFilter]:
            near = (
                suggest_name(fault.upper(), [*InstructionFilter])
                or f"; the filters are {', '.join(InstructionFilter)}"
            )
            raise DataError(
                "--model", f"{name!r:.80}: {more!r:.40} is invalid; write only=FILTER{near}"
            )
        return cls(faulty, InstructionFilter(fault.upper()))


@dataclass(frozen=True)
class ScriptedWriter:
    """Writer whose random texts depend only on its seed."""

    graph: Graph
    shares: WriterErrorRates
    seed: int
    own: Sequence[Trajectory]
    """To make the error ``DUPLICATE``, the writer copies questions of these entries."""

    def fault(self, task: WritingTask) -> InstructionFilter | None:
        """Return the kind of error in the first answer to a task, or None."""
        source = Random(f"{self.seed}/{task.key}/fault")
        if source.random() >= self.shares.faulty:
            return None
        wanted = self.shares.only or source.choice([*InstructionFilter])
        return wanted if self._write(task, wanted) is not None else None

    def answer(self, task: WritingTask, attempt: int) -> str:
        """Return an answer to a task. Only the first answer to each task can contain an error."""
        fault = None if attempt else self.fault(task)
        if fault is InstructionFilter.FORM:
            return "Here is what the user says: please see to all of it, and thank you."
        written = self._write(task, fault)
        assert written is not None
        turns = [turn._asdict() for turn in written.turns]
        left_out = written.left_out and asdict(written.left_out)
        return json.dumps({"turns": turns, "left_out": left_out}, ensure_ascii=False)

    def _write(self, task: WritingTask, fault: InstructionFilter | None) -> Instruction | None:
        plain = self._write_plain(task)
        turns = list(plain.turns)
        first = turns[0]
        match fault:
            case InstructionFilter.INVENTED:
                turns[0] = first._replace(functions=(*first.functions, "do_it_all"))
            case InstructionFilter.NAMED:
                plain_call = f"{task.functions[0]}()"
                strange = (n for n in task.functions if "_" in n or not n.islower())
                turns[0] = _extend(first, f"You have {next(strange, plain_call)} for that.")
            case InstructionFilter.WORDS:
                turns[0] = first._replace(words=" ".join(first.words.split()[:8]))
            case InstructionFilter.VALUES:
                return self._leave_value_out(task, plain)
            case InstructionFilter.ECHO:
                found = next(find_revealed_values(task.played, task.told_values), None)
                if found is None or task.origin != "paths":
                    return None
                value, step = found
                turns[step.turn] = _extend(turns[step.turn], f"I think it will show {value} there.")
            case InstructionFilter.DUPLICATE:
                # The most varied question of the own entries, with the facts of the calls.
                texts = [turn.words for entry in self.own for turn in entry.turns]
                copied = max(texts, key=lambda text: (len(set(text.split())), text))
                turns[0] = first._replace(words=f"{copied} {'; '.join(self._list_facts(task, 0))}")
            case InstructionFilter.LANGUAGE:
                facts = "; ".join(self._list_facts(task, 0))
                turns[0] = first._replace(words=f"{_FOREIGN}: {facts}. {_FOREIGN}.")
            case InstructionFilter.LONG:
                times = MAX_TURN_WORDS // len(_PADDING.split()) + 1
                turns[0] = _extend(first, " ".join([_PADDING] * times) + ".")
        return plain._replace(turns=tuple(turns))

    def _write_plain(self, task: WritingTask) -> Instruction:
        source = Random(f"{self.seed}/{task.key}")
        count = len(task.bare.turns)
        openers, closers = _draw(_OPENERS, count, source), _draw(_CLOSERS, count, source)
        turns = [
            WrittenTurn(
                f"{opener}: {self._phrase_turn(task, index)}. {closer}",
                tuple(dict.fromkeys(_get_call(step).name for step in task.played.turns[index])),
            )
            for index, (opener, closer) in enumerate(zip(openers, closers, strict=True))
        ]
        return Instruction(tuple(turns), self._propose_left_out(task, turns))

    def _phrase_turn(self, task: WritingTask, turn: int, without: object = None) -> str:
        wishes = []
        for step, made in zip(task.walk.turns[turn], task.played.turns[turn], strict=True):
            wish = _phrase_function(_get_call(made).name)
            told = "; ".join(self._phrase_arguments(task, step, made, without))
            wishes.append(f"{wish} ({told})" if told else wish)
        return ", then ".join(wishes)

    def _phrase_arguments(
        self, task: WritingTask, step: PathStep, made: TruthStep, without: object = None
    ) -> Iterator[str]:
        arguments = task.played.arguments(made.call)
        for binding in step.bindings:
            value = arguments[binding.argument]
            name = " ".join(split_name(binding.argument))
            if value == without:
                continue
            if binding.origin is ValueOrigin.RESULT:
                around = blank_result_part(self.graph, binding)
                if around == BLANK:
                    yield f"the {name} is the one found before"
                    continue
                value = around
            if isinstance(value, bool):
                yield f"the {name}: {'yes' if value else 'no'}"
            elif value is not None:
                yield f"the {name} is {_phrase_value(value)}"

    def _list_facts(self, task: WritingTask, turn: int) -> list[str]:
        steps = zip(task.walk.turns[turn], task.played.turns[turn], strict=True)
        told = chain.from_iterable(self._phrase_arguments(task, *each) for each in steps)
        found = [fact.partition(" is ")[2] for fact in told if " is the one" not in fact]
        return [fact for fact in found if fact]

    def _list_secrets(self, task: WritingTask) -> Iterator[tuple[int, str, Any]]:
        known = write_documents(task.bare.environments) + json.dumps(task.bare.config)
        known += unescape_text("\n".join(step.result.text for step in task.played.steps))
        for turn, name, value in task.told:
            if len(str(value)) > 2 and not contains_value(value, known):
                yield turn, name, value

    def _leave_value_out(self, task: WritingTask, plain: Instruction) -> Instruction | None:
        if task.origin != "paths":
            return None
        for _, _, value in self._list_secrets(task):
            if not isinstance(value, str):
                continue  # a number may follow from others
            turns = [
                turn._replace(words=turn.words.replace(value, "as ever")) for turn in plain.turns
            ]
            rest = " ".join(turn.words for turn in turns)
            if _is_strange(value, f"{rest} {json.dumps(task.bare.config)}"):
                return plain._replace(turns=tuple(turns))
        return None

    def _propose_left_out(
        self, task: WritingTask, turns: Sequence[WrittenTurn]
    ) -> MissingParameter | None:
        for turn, name, value in self._list_secrets(task):
            earlier = " ".join(each.words for each in turns[:turn])
            if name not in _ANY and not contains_value(value, earlier):
                opener = _OPENERS[turn % len(_OPENERS)]
                asked = self._phrase_turn(task, turn, value)
                words = f"{opener}: {asked}. You will need one thing more from me for it."
                fact = f"the {' '.join(split_name(name))} is {_phrase_value(value)}"
                return MissingParameter(turn, words, f"Of course, {fact}.")
        return None


def _draw(texts: Sequence[str], count: int, source: Random) -> list[str]:
    """Choose texts at random. A text is repeated only after all texts were chosen."""
    found: list[str] = []
    while len(found) < count:
        found += source.sample(texts, min(len(texts), count - len(found)))
    return found


def _is_strange(value: str, rest: str) -> bool:
    """Tell whether many words of a value are missing in ``rest``."""
    known = set(_TOKEN.findall(rest.casefold()))
    words = _TOKEN.findall(value.casefold())
    strange = [word for word in words if word not in known]
    long = any(len(word) >= _MIN_LETTERS and not word.isdecimal() for word in strange)
    return long and 2 * len(strange) >= len(words)


def _extend(turn: WrittenTurn, more: str) -> WrittenTurn:
    return turn._replace(words=f"{turn.words} {more}")


def _get_call(step: TruthStep) -> Call:
    assert isinstance(step.call, Call)
    return step.call


def _phrase_function(name: str) -> str:
    text = make_spec(TOOLS[name]).description.partition(".")[0].partition(";")[0]
    return f"{text[:1].lower()}{text[1:]}".strip()


def _phrase_value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{' '.join(split_name(n))} {_phrase_value(v)}" for n, v in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_phrase_value, value))
    return str(value)
