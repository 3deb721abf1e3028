"""ASKED: the ground truth does what the words ask for, all of it and nothing else.

Words are matched roughly, so that what is found is for a person to look at: a quoted text, an id or
a handle that no call and no result has; an order whose verb and object are those of a function that
is not called; a read of which neither function, arguments nor results have anything to do with the
words; a function's name where a user would say what is wanted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from checkers.answers import Date, Items, Number, Text, YesNo
from checkers.told import literals, readable, stands_in
from envs.calls import Call
from envs.schema import spec
from envs.tool import Tool
from extensions.authoring.rules.entry import Entry, TruthStep
from extensions.authoring.rules.lookups import is_small
from extensions.authoring.rules.problem import Problem, Severity, brief
from extensions.authoring.rules.wording import cues, plain, stem, stems, words_in, words_of
from trajectories.told import words

ASKED = "ASKED"

_QUOTED = re.compile(r"(?<![\w'])'([^'\n]{4,200})'(?![\w'])|\"([^\"\n]{4,200})\"|“([^”\n]{4,200})”")
_TOKEN = re.compile(
    r"(?<!\w)[@#]\w{2,}|\b\d{6,}\b|\b[\w-]+\.(?:txt|csv|md|pdf|log|json|py|docx?)\b"
)
_CLAUSE = re.compile(r"[.;:!?,\n]|\b(?:and|then|but|so|also)\b")
_BLANK = re.compile(r"xxx|[{<\[]", re.IGNORECASE)
"""What a user leaves to be filled in."""
_DENIED = re.compile(r"\b(?:no|not|never|without|don't|dont|didn't|isn't|already)\b", re.IGNORECASE)
_CHECKING = re.compile(r"\b(?:check|verify|confirm|make sure|double-check|read)\b", re.IGNORECASE)
FEWEST_ALIKE = 3
"""So many words has a thing in common with the words that it is likely meant."""


def check_asked(entry: Entry) -> Iterator[Problem]:
    """Yield words that no call heeds, calls that no words ask for, and names of functions."""
    yield from _named_functions(entry)
    used = _used(entry)
    for index, steps in enumerate(entry.turns):
        said = _words_for(entry, index)
        if steps and said:
            yield from _unheeded(entry, index, used)
            yield from _left_out(entry, index, said)
            yield from _unasked(entry, index, said)
            yield from _mistaken(entry, index, said)


def _words_for(entry: Entry, index: int) -> str:
    """Return what the user says for a turn's calls: in it, and in turns that waited for it."""
    turns = entry.trajectory.turns
    first = index
    while first and not turns[first - 1].ground_truth:
        first -= 1
    return "\n".join(words(turns[first : index + 1]))


def named_function(names: Iterable[str], text: str) -> str | None:
    """Return the first function that a text names, of those whose names are no plain words."""
    special = [name for name in names if "_" in name or not name.islower()]
    found = re.search(rf"\b(?:{'|'.join(map(re.escape, special))})\b", text) if special else None
    return found and found[0]


def _named_functions(entry: Entry) -> Iterator[Problem]:
    for index, turn in enumerate(entry.trajectory.turns):
        for number, message in enumerate(turn.messages):
            name = named_function(entry.template.tools, message.content)
            if name and message.role == "user":
                text = f"names the function {name}; a user would say what is wanted"
                field = f"messages[{number}].content"
                yield entry.problem(ASKED, Severity.WARNING, index, field, text)


def _used(entry: Entry) -> str:
    """Return all that calls and results of the ground truth hold, as plain text."""
    texts = [readable(step.result.text) for step in entry.steps]
    texts += [str(value) for step in entry.steps for value in literals(entry.arguments(step.call))]
    texts += [text for turn in entry.trajectory.turns for text in turn.ground_truth]
    return plain("\n".join(texts))


def _unheeded(entry: Entry, index: int, used: str) -> Iterator[Problem]:
    """Yield texts, ids and handles in a turn's words that nothing takes up."""
    for message in entry.trajectory.turns[index].messages:
        quoted = ["".join(found) for found in _QUOTED.findall(message.content)]
        for text in dict.fromkeys([*quoted, *_TOKEN.findall(message.content)]):
            if plain(text).strip() and plain(text) not in used and not _BLANK.search(text):
                why = f"the words say {brief(text, 60)!r}, which no call and no result takes up"
                yield entry.problem(ASKED, Severity.WARNING, index, "ground_truth", why)


def _left_out(entry: Entry, index: int, said: str) -> Iterator[Problem]:
    """Yield functions that are ordered by name, as it were, and are not called."""
    called = {stem(w) for s in entry.turns[index] for w in cues(_name(s))}
    clauses = [clause for clause in _CLAUSE.split(said) if not _DENIED.search(clause)]
    offered = entry.offered(index)
    for name, tool in entry.template.tools.items():
        order = cues(name)
        if not tool.writes or name not in offered or len(order) < 2:
            continue
        if called & {stem(word) for word in order}:
            continue
        if any(_orders(clause, order) for clause in clauses):
            why = f"the words ask for what {name} does, and no call does it"
            yield entry.problem(ASKED, Severity.WARNING, index, "ground_truth", why)


def _orders(clause: str, order: list[str]) -> bool:
    """Tell whether a clause has a function's verb as it stands, and its object."""
    verb, *objects = order
    heard = words_in(clause)
    return verb in heard and {stem(word) for word in objects} <= set(map(stem, heard))


def _unasked(entry: Entry, index: int, said: str) -> Iterator[Problem]:
    """Yield reads that have nothing to do with the words, nor with anything done later."""
    heard = stems(said)
    low = plain(said)
    for step in entry.turns[index]:
        call = step.call
        if not isinstance(call, Call) or not step.result.ok or step.result.changed:
            continue
        tool = entry.template.tools[call.name]
        if tool.writes or heard & _about(tool) or _CHECKING.search(said):
            continue
        given = [str(value) for value in literals(entry.arguments(call))]
        if any(plain(value) in low for value in given) or _is_used_later(entry, step):
            continue
        if _is_told(entry, step):
            continue
        why = f"nobody asked for {call.name}, and nothing comes of it"
        # Where it is stated what the user asked to hear, what else is read is known for sure.
        states = any(turn.tells for turn in entry.trajectory.turns)
        severity = Severity.WARNING if states else Severity.INFO
        yield entry.problem(ASKED, severity, index, step.field, why)


def _is_told(entry: Entry, step: TruthStep) -> bool:
    """Tell whether the user is told something that a result shows."""
    text = step.result.text
    text = f"{readable(text)} {plain(text)}"
    for fact in entry.trajectory.turns[step.turn].tells:
        match fact:
            case Number(number=value) | Text(text=value) | Date(date=value):
                values = [value]
            case Items(items=items):
                values = list(items)
            case YesNo():
                return True
        if any(stands_in(value, text) for value in values):
            return True
    return False


def _mistaken(entry: Entry, index: int, said: str) -> Iterator[Problem]:
    """Yield ids of things that the words have nothing to do with, where they fit another one."""
    shown = [step.result.held for step in entry.steps if step.turn <= index and step.result.ok]
    there = [entry.trajectory.config, *shown]
    things = [thing for thing in _things(there) if len(thing) > 1]
    heard = stems(said)
    for step in entry.turns[index]:
        for name, value in entry.arguments(step.call).items():
            key = words_of(name)[-1:]
            if (
                key != ["id"]
                or not isinstance(value, (int, str))
                or plain(str(value)) in plain(said)
            ):
                continue
            meant = [thing for thing in things if value in (thing.get("id"), thing.get(name))]
            if not meant or any(heard & stems(_texts(thing)) for thing in meant):
                continue
            others = [t for t in things if t.keys() == meant[0].keys() and t not in meant]
            best = max(others, key=lambda t: len(heard & stems(_texts(t))), default=None)
            if best is not None and len(heard & stems(_texts(best))) >= FEWEST_ALIKE:
                why = f"the words fit {brief(str(best), 60)} and not {value!r}"
                yield entry.problem(ASKED, Severity.WARNING, index, f"{step.field}.{name}", why)


def _things(values: object) -> Iterator[Mapping[str, object]]:
    """Yield the objects in a value that have an id."""
    if isinstance(values, Mapping):
        if any(words_of(str(key))[-1:] == ["id"] for key in values):
            yield values
        for member in values.values():
            yield from _things(member)
    elif isinstance(values, (list, tuple)):
        for member in values:
            yield from _things(member)


def _texts(thing: Mapping[str, object]) -> str:
    return " ".join([value for value in literals(thing) if isinstance(value, str)])


def _is_used_later(entry: Entry, step: TruthStep) -> bool:
    shown = {v for v in literals(step.result.held) if not is_small(v)}
    for later in entry.steps:
        if (later.turn, later.position) > (step.turn, step.position):
            taken = list(literals(entry.arguments(later.call)))
            if any(value in shown for value in taken):
                return True
            texts = [value for value in taken if isinstance(value, str)]
            if any(str(value) in text for value in shown for text in texts if len(str(value)) > 3):
                return True
    return False


def _name(step: TruthStep) -> str:
    return step.call.name if isinstance(step.call, Call) else ""


@lru_cache(maxsize=512)
def _about(tool: Tool) -> frozenset[str]:
    """Return the stems of what a function's name and document are about."""
    told = spec(tool)
    text = f"{' '.join(words_of(tool.name))} {told.description} {told.returns}"
    return frozenset(stems(text))
