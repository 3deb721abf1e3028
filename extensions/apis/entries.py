"""Entries from recorded answers. Filters and tests check each instruction of a writer."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from checkers.known_values import contains_value, list_literals
from envs.calls import Call
from envs.session import Session
from extensions.apis.collection import ApiAnswer, ApiCollection
from runner.models.block_api import object_within
from runner.rollouts.evaluation import judge
from trajectories.dataset import read_trajectory

PER_REQUEST = 10
"""Number of instructions per request to the writer."""
_FUNCTIONS_PER_REQUEST = 6
_MIN_WORDS = 8
_MAX_TURNS, _MAX_CALLS = 4, 4
_MAX_COMMON = 0.7
"""Maximum share of words that two turns may have in common."""
PERSONAS = ("a student", "a shop owner", "a journalist", "a nurse", "a developer", "a pensioner")
_PROMPT = """\
Write {count} requests of users to an assistant that can call these functions. The recorded calls
are the only ones that work; use their arguments exactly.

{functions}

Each request has one or two turns with the user's words and the calls that the words ask for. Never
name a function. Say every argument in the words, in at least {words} words for each turn. Vary the
form: an order, a question, or a statement. Speak as {persona}. Make seven requests with specific
details, and three long ones that need several functions.
Answer with one JSON object and nothing else:
{{"instructions": [{{"turns": [TURN, ...]}}]}}
A TURN is {{"words": "...", "calls": [{{"function": "...", "arguments": {{}}}}]}}
"""


class InstructionTurn(NamedTuple):
    """One turn of an instruction: the user's words, and the requested calls."""

    words: str
    calls: list[tuple[str, dict[str, Any]]]


class WriterInput(NamedTuple):
    """Input for one request to the writer: a persona and recorded calls."""

    number: int
    persona: str
    answers: Sequence[ApiAnswer]


@dataclass
class ApiEntryMaker:
    """Maker of entries from a collection. Refused instructions are counted by reason."""

    collection: ApiCollection
    """Usable functions and answers."""
    config: Mapping[str, Any]
    """Initial config of each environment."""
    seed: int
    """Seed of the draws."""
    yields: Counter[str] = field(default_factory=Counter)
    """Instructions by outcome."""
    _seen: list[frozenset[str]] = field(default_factory=list)

    def draw(self, number: int) -> WriterInput:
        """Draw a persona and some functions; return them with the functions' recorded answers."""
        random = Random(f"{self.seed}/{number}")
        names = [function.name for function in self.collection.functions]
        chosen = {*random.sample(names, min(_FUNCTIONS_PER_REQUEST, len(names)))}
        answers = [answer for answer in self.collection.answers if answer.function in chosen]
        return WriterInput(number, random.choice(PERSONAS), answers)

    def prompt(self, shown: WriterInput) -> str:
        """Return the prompt for the writer."""
        lines, functions = [], self.collection.by_name
        for answer in shown.answers:
            function = functions[answer.function]
            call = {"function": answer.function, "arguments": answer.arguments}
            result = json.dumps(answer.body, ensure_ascii=False)[:300]
            lines.append(f"{json.dumps(call)}: {function.description} Result: {result}")
        return _PROMPT.format(
            count=PER_REQUEST,
            functions="\n".join(lines),
            words=_MIN_WORDS,
            persona=shown.persona,
        )

    def entries(self, shown: WriterInput, reply: str, writer: str) -> Iterator[dict[str, Any]]:
        """Yield those entries of a writer's reply that pass all checks."""
        found = object_within(reply)
        instructions = found.get("instructions") if found else None
        if not isinstance(instructions, list) or not instructions:
            self.yields["FORM"] += 1
            return
        for place, instruction in enumerate(instructions[:PER_REQUEST]):
            turns = _read_turns(instruction)
            refused = "FORM" if turns is None else self._refuse(turns, shown)
            if turns is None or refused:
                self.yields[refused or "FORM"] += 1
                continue
            entry = self._make_entry(f"{shown.number}_{place}", turns, writer, shown.persona)
            proven = is_proven(entry, [turn.calls for turn in turns])
            self.yields["kept" if proven else "PROOF"] += 1
            if proven:
                yield entry

    def _refuse(self, turns: Sequence[InstructionTurn], shown: WriterInput) -> str:
        functions = self.collection.by_name
        recorded = {(a.function, functions[a.function].normal(a.arguments)) for a in shown.answers}
        known = {name for name, _ in recorded}
        said, calls = "", []
        for turn in turns:
            said += f"{turn.words}\n"
            for name, arguments in turn.calls:
                if name not in known:
                    return "INVENTED"
                calls.append((name, functions[name].normal(arguments)))
                if calls[-1] not in recorded:
                    return "UNRECORDED"
                if any(not contains_value(value, said) for value in list_literals(arguments)):
                    return "VALUES"
        if any(re.search(rf"\b{re.escape(name)}\b", said) for name in known if "_" in name):
            return "NAMED"
        if any(len(turn.words.split()) < _MIN_WORDS for turn in turns):
            return "WORDS"
        spoken = [frozenset(turn.words.lower().split()) for turn in turns]
        if any(_is_alike(one, other) for one in spoken for other in self._seen):
            return "DUPLICATE"
        self._seen += spoken
        return ""

    def _make_entry(
        self, id: str, turns: Sequence[InstructionTurn], writer: str, persona: str
    ) -> dict[str, Any]:
        return {
            "id": f"{self.collection.name.lower()}_{id}",
            "category": "base",
            "environments": [*self.config],
            "config": dict(self.config),
            "turns": [
                {
                    "messages": [{"role": "user", "content": turn.words}],
                    "ground_truth": [str(Call(name, (), given)) for name, given in turn.calls],
                }
                for turn in turns
            ],
            "provenance": {"source": "api", "generator": writer, "persona": persona},
        }


def is_proven(entry: dict[str, Any], calls: Sequence[Sequence[tuple[str, Any]]]) -> bool:
    """Tell whether all calls succeed and are necessary."""
    trajectory = read_trajectory(entry, entry["id"])
    session = Session.load(trajectory.environments, trajectory.config)
    made = [Call(name, (), given) for turn in calls for name, given in turn]
    if not all(result.ok for result in session.play(made)):
        return False
    right: list[list[Any]] = [
        [[{name: json.dumps(given)} for name, given in turn], "Done."] for turn in calls
    ]
    turns = [right, [["Done."]] * len(calls)]
    for place, turn in enumerate(calls):
        for left_out in range(len(turn)):
            kept = [call for number, call in enumerate(right[place][0]) if number != left_out]
            steps = [[kept, "Done."] if kept else ["Done."]]
            turns.append([*right[:place], *steps, *right[place + 1 :]])
    verdicts = [judge(trajectory, turns=each).valid for each in turns]
    return verdicts[0] and not any(verdicts[1:])


def _is_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) > _MAX_COMMON * min(len(one), len(other))


def _read_turns(instruction: object) -> list[InstructionTurn] | None:
    turns = instruction.get("turns") if isinstance(instruction, Mapping) else None
    found = []
    if not isinstance(turns, list) or not 0 < len(turns) <= _MAX_TURNS:
        return None
    for turn in turns:
        match turn:
            case {"words": str(words), "calls": [*calls]} if 0 < len(calls) <= _MAX_CALLS:
                made = []
                for call in calls:
                    match call:
                        case {"function": str(name), "arguments": dict(arguments)}:
                            made.append((name, arguments))
                        case _:
                            return None
                found.append(InstructionTurn(words, made))
            case _:
                return None
    return found


_OPENERS = (
    "Please take care of one thing before lunch",
    "Could you help my sister with her plan",
    "We still need an answer about this matter",
    "Kindly look into something new right now",
    "Is there a quick way to get that done",
    "My boss wants to know more and asked for it",
    "Hello again, another small wish from our office",
    "Next on today's list comes an item that matters",
)
_CLOSERS = (
    "Tell me what you find, even if nothing changes.",
    "Thanks, I shall wait here until you are ready.",
    "Would that be possible without any delay?",
    "Everyone at home hopes for good news.",
    "Afterwards we decide together how to go on.",
    "It should not cost much effort, I believe.",
    "Write back as soon as this has worked.",
    "No rush, yet sooner would suit us better.",
)


def write_scripted(collection: ApiCollection, shown: WriterInput, seed: int) -> str:
    """Return the reply of the built-in writer, which fills templates and needs no server."""
    random, functions = Random(f"{seed}/{shown.number}/words"), collection.by_name
    instructions = []
    for number in range(PER_REQUEST):
        count = min(len(shown.answers), 1 + number % 3)
        turns = []
        for answer in random.sample([*shown.answers], count):
            what = functions[answer.function].description.partition(". ")[0].rstrip(".")
            given = [f"{name} {_written(value)}" for name, value in answer.arguments.items()]
            how = f", with {', '.join(given)}" if given else ""
            call = {"function": answer.function, "arguments": answer.arguments}
            opener, closer = random.choice(_OPENERS), random.choice(_CLOSERS)
            turns.append({"words": f"{opener}: {what}{how}. {closer}", "calls": [call]})
        instructions.append({"turns": turns})
    return json.dumps({"instructions": instructions})


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
