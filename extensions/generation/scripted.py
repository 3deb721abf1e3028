"""A writer that needs no server: plain words made of the calls, and faults where they are wanted.

It shows what every filter catches, and that nothing slips through.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from random import Random
from typing import Any, NamedTuple, Self

from checkers.told import readable, stands_in
from envs.calls import Call
from envs.schema import spec
from extensions.authoring.graph.graph import TOOLS, Graph
from extensions.authoring.graph.sampling import Origin, PathStep
from extensions.authoring.making.scenarios import MissingParameter
from extensions.authoring.rules.entry import TruthStep
from extensions.authoring.rules.wording import words_of
from extensions.generation.entries.filters import (
    MOST_IN_TURN,
    Filter,
    Instruction,
    WrittenTurn,
    telling_results,
)
from extensions.generation.entries.tasks import BLANK, WritingTask, around_value
from runner.models.model_name import parsed
from trajectories.errors import DataError, did_you_mean
from trajectories.schema import Trajectory
from trajectories.told import documents

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
_LONG = 4
"""Letters of a word that is no code."""
_ANY = ("password",)
"""Arguments for which any value will do."""
_FOREIGN = (
    "Guten Morgen, könntest du bitte folgende Angelegenheit heute noch erledigen, weil meine "
    "Kollegin darauf wartet und mich bereits mehrmals gefragt hatte"
)
_PADDING = "and, as I may have said before, it would be good to have it all the way done by then"


class Shares(NamedTuple):
    """How often a scripted writer makes faults, and which."""

    faulty: float
    """Share of its first answers that have a fault; what it is asked again for has none."""
    only: Filter | None = None
    """The one fault that it makes; None for all in turn."""

    @classmethod
    def named(cls, name: str) -> Self:
        """Return those of a name such as ``scripted:0.2`` or ``scripted:1,only=ECHO``.

        Raises:
            DataError: It is no such name.
        """
        share, comma, more = parsed(name).argument.partition(",")
        try:
            faulty = float(share)
        except ValueError:
            faulty = -1.0
        if not 0 <= faulty <= 1:
            raise DataError("--model", f"{name!r:.80}: {share!r:.40} is no share from 0 to 1")
        key, _, fault = more.partition("=")
        if not comma:
            return cls(faulty)
        if key != "only" or fault.upper() not in [*Filter]:
            near = did_you_mean(fault.upper(), [*Filter]) or f"; there are {', '.join(Filter)}"
            raise DataError("--model", f"{name!r:.80}: {more!r:.40} is not only=FILTER{near}")
        return cls(faulty, Filter(fault.upper()))


@dataclass(frozen=True)
class ScriptedWriter:
    """Writes by the calls of a task, by chance but by its seed always the same.

    It copies questions from its own entries where it makes that fault.
    """

    graph: Graph
    shares: Shares
    seed: int
    own: Sequence[Trajectory]

    def fault(self, task: WritingTask) -> Filter | None:
        """Return the fault that its first answer has, by which the filter goes that finds it."""
        source = Random(f"{self.seed}/{task.key}/fault")
        if source.random() >= self.shares.faulty:
            return None
        wanted = self.shares.only or source.choice([*Filter])
        return wanted if self._written(task, wanted) is not None else None

    def answer(self, task: WritingTask, attempt: int) -> str:
        """Return its answer; only the first one has a fault."""
        fault = None if attempt else self.fault(task)
        if fault is Filter.FORM:
            return "Here is what the user says: please see to all of it, and thank you."
        written = self._written(task, fault)
        assert written is not None
        note = written.left_out
        return json.dumps(
            {
                "turns": [
                    {"words": turn.words, "functions": [*turn.functions]} for turn in written.turns
                ],
                "left_out": note
                and {"turn": note.turn, "without": note.without, "answer": note.answer},
            },
            ensure_ascii=False,
        )

    def _written(self, task: WritingTask, fault: Filter | None) -> Instruction | None:
        """Return what it writes; None where the task has no room for the fault."""
        plain = self._plain(task)
        turns = list(plain.turns)
        first = turns[0]
        match fault:
            case Filter.INVENTED:
                turns[0] = first._replace(functions=(*first.functions, "do_it_all"))
            case Filter.NAMED:
                plain_call = f"{task.functions[0]}()"
                strange = (n for n in task.functions if "_" in n or not n.islower())
                turns[0] = _with(first, f"You have {next(strange, plain_call)} for that.")
            case Filter.WORDS:
                turns[0] = first._replace(words=" ".join(first.words.split()[:8]))
            case Filter.VALUES:
                return self._untold(task, plain)
            case Filter.ECHO:
                found = next(telling_results(task.played, task.told_values), None)
                if found is None or task.origin != "paths":
                    return None
                value, step = found
                turns[step.turn] = _with(turns[step.turn], f"I think it will show {value} there.")
            case Filter.DUPLICATE:
                turns[0] = first._replace(words=self._copied(task, first.words))
            case Filter.LANGUAGE:
                facts = self._facts(task, 0)
                turns[0] = first._replace(words=f"{_FOREIGN}: {'; '.join(facts)}. {_FOREIGN}.")
            case Filter.LONG:
                times = MOST_IN_TURN // len(_PADDING.split()) + 1
                turns[0] = _with(first, " ".join([_PADDING] * times) + ".")
        return plain._replace(turns=tuple(turns))

    def _plain(self, task: WritingTask) -> Instruction:
        source = Random(f"{self.seed}/{task.key}")
        count = len(task.bare.turns)
        openers, closers = _some(_OPENERS, count, source), _some(_CLOSERS, count, source)
        turns = [
            WrittenTurn(
                f"{opener}: {self._wishes(task, index)}. {closer}",
                tuple(dict.fromkeys(_call(step).name for step in task.played.turns[index])),
            )
            for index, (opener, closer) in enumerate(zip(openers, closers, strict=True))
        ]
        return Instruction(tuple(turns), self._left_out(task, turns))

    def _wishes(self, task: WritingTask, turn: int, without: object = None) -> str:
        wishes = []
        for step, made in zip(task.walk.turns[turn], task.played.turns[turn], strict=True):
            wish = _wish(_call(made).name)
            told = "; ".join(self._told_of(task, step, made, without))
            wishes.append(f"{wish} ({told})" if told else wish)
        return ", then ".join(wishes)

    def _told_of(
        self, task: WritingTask, step: PathStep, made: TruthStep, without: object = None
    ) -> Iterator[str]:
        """Yield what is told of a call's arguments."""
        arguments = task.played.arguments(made.call)
        for binding in step.bindings:
            value = arguments[binding.argument]
            name = " ".join(words_of(binding.argument))
            if value == without:
                continue
            if binding.origin is Origin.RESULT:
                around = around_value(self.graph, binding)
                if around == BLANK:
                    yield f"the {name} is the one found before"
                    continue
                value = around
            if isinstance(value, bool):
                yield f"the {name}: {'yes' if value else 'no'}"
            elif value is not None:
                yield f"the {name} is {_spoken(value)}"

    def _facts(self, task: WritingTask, turn: int) -> list[str]:
        """Return what is told in a turn, in bare values."""
        steps = zip(task.walk.turns[turn], task.played.turns[turn], strict=True)
        told = chain.from_iterable(self._told_of(task, *each) for each in steps)
        found = [fact.partition(" is ")[2] for fact in told if " is the one" not in fact]
        return [fact for fact in found if fact]

    def _alone(self, task: WritingTask) -> Iterator[tuple[int, str, Any]]:
        """Yield the values that nobody but the user knows, with turn and argument."""
        known = documents(task.bare.environments) + json.dumps(task.bare.config)
        known += readable("\n".join(step.result.text for step in task.played.steps))
        for turn, name, value in task.told:
            if len(str(value)) > 2 and not stands_in(value, known):
                yield turn, name, value

    def _untold(self, task: WritingTask, plain: Instruction) -> Instruction | None:
        """Return words that leave a value out which only the user knows."""
        if task.origin != "paths":
            return None
        for _, _, value in self._alone(task):
            if not isinstance(value, str):
                continue  # a number may follow from others
            turns = [
                turn._replace(words=turn.words.replace(_spoken(value), "as ever"))
                for turn in plain.turns
            ]
            rest = " ".join(turn.words for turn in turns)
            if _is_strange(value, f"{rest} {json.dumps(task.bare.config)}"):
                return plain._replace(turns=tuple(turns))
        return None

    def _left_out(self, task: WritingTask, turns: Sequence[WrittenTurn]) -> MissingParameter | None:
        for turn, name, value in self._alone(task):
            if name in _ANY:
                continue
            earlier = " ".join(each.words for each in turns[:turn])
            if not stands_in(value, earlier):
                opener = _OPENERS[turn % len(_OPENERS)]
                asked = self._wishes(task, turn, value)
                words = f"{opener}: {asked}. You will need one thing more from me for it."
                label = " ".join(words_of(name))
                return MissingParameter(turn, words, f"Of course, the {label} is {_spoken(value)}.")
        return None

    def _copied(self, task: WritingTask, words: str) -> str:
        """Return a question of our own data, with what the calls need."""
        texts = [turn.words for entry in self.own for turn in entry.turns]
        facts = "; ".join(self._facts(task, 0))
        longest = max(texts, key=lambda text: (len(set(text.split())), text))
        return f"{longest} {facts}"


def _some(texts: Sequence[str], count: int, source: Random) -> list[str]:
    """Return so many texts by chance, each again only when all have come."""
    found: list[str] = []
    while len(found) < count:
        found += source.sample(texts, min(len(texts), count - len(found)))
    return found


def _is_strange(value: str, rest: str) -> bool:
    """Tell whether most words of a text stand nowhere else, so that it cannot be put together."""
    known = set(_TOKEN.findall(rest.casefold()))
    words = _TOKEN.findall(value.casefold())
    strange = [word for word in words if word not in known]
    long = any(len(word) >= _LONG and not word.isdecimal() for word in strange)
    return long and 2 * len(strange) >= len(words)


def _with(turn: WrittenTurn, more: str) -> WrittenTurn:
    return turn._replace(words=f"{turn.words} {more}")


def _call(step: TruthStep) -> Call:
    assert isinstance(step.call, Call)
    return step.call


def _wish(name: str) -> str:
    """Return what a function does, as one would ask for it."""
    told = spec(TOOLS[name]).description.partition(".")[0].partition(";")[0]
    return f"{told[:1].lower()}{told[1:]}".strip()


def _spoken(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{' '.join(words_of(n))} {_spoken(v)}" for n, v in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_spoken, value))
    return str(value)
