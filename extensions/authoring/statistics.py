"""What a data set is like, counted: how much there is, of how many kinds, and where it is hard.

Every figure says how it is counted (``FIGURES``), so that two sets compare. The ground truth is
played; entries of which the calls are compared have their answers for calls, and no results.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import exp, log
from statistics import mean
from typing import Any, NamedTuple

from checkers.told import Told, literals, stands_in
from envs.calls import Call
from envs.schema import spec
from envs.tool import Tool
from extensions.authoring.rules.entry import Entry, TruthStep, Unplayable
from trajectories.dataset import Dataset
from trajectories.schema import ExpectedCalls, Trajectory

GRAM = 5
"""Words that are compared at once where user turns are held against each other."""
ALIKE = 0.2
"""Share of such runs of words in common from which on two turns are near-duplicates."""
_VOCABULARY = 7_000
"""Words of which the vocabulary is counted, so that sizes compare."""

_WORD = re.compile(r"[a-z0-9]+(?:['\u2019][a-z]+)?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_CONDITION = re.compile(
    r"\b(?:if|unless|in case|otherwise|provided that|should (?:it|any|the|my|i))\b", re.IGNORECASE
)
_POLITE = re.compile(
    r"\bif (?:you (?:could|can|would|don't mind|need|will)|possible|that helps|it(?:'s| is) ok)\b"
    r"|\bas if\b",
    re.IGNORECASE,
)
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_TELLING = 4
"""Shortest part of a function's name that may be what the user asks for."""


class Arguments(NamedTuple):
    """Where the values in the arguments of ground-truth calls come from."""

    all: int = 0
    from_results: int = 0
    """Those that neither the user nor a document tells, and a result has shown."""
    from_elsewhere: int = 0
    """Those of them that no result of the function's own backend has shown."""


class EntryFacts(NamedTuple):
    """What is counted of one entry."""

    turns: Sequence[Sequence[str]]
    """Per turn the functions of its ground truth, in order."""
    backends: Mapping[str, str]
    """By function of the ground truth the backend that it is of."""
    environments: int
    """How many backends it has."""
    offered: int
    """How many functions the model has in the last turn."""
    words: Sequence[Sequence[str]]
    """Per turn in which the user says something, the words."""
    arguments: Arguments
    hops: int
    """Longest chain of calls of which each takes from a result of the one before."""
    needed: int
    """Calls that are made because a later one of the turn fails without."""
    undictated: int
    """Those of them that the user's words do not ask for."""
    dated: tuple[int, int]
    """How many turns take a date: told as it is written, and in other words."""
    conditions: int
    """How many turns say that something holds in a case only."""
    config: str
    """The initial config as JSON."""
    state: int
    """Characters of the state in which a session begins."""
    shown: Sequence[int]
    """Characters of each result."""
    language: str | None = None
    """What arguments are written in, where the entry describes its functions itself."""
    domains: Sequence[str] = ()
    """Per function that it describes what stands before the first point of its name; of a
    database, its tables."""
    types: Sequence[str] = ()
    """The type words of the parameters of these functions."""


@dataclass(frozen=True)
class Statistics:
    """The figures of a data set.

    Attributes:
        name: What the data set is called.
        entries: What was counted of each entry.
        unplayable: How many entries could not be played, and are left out.
    """

    name: str
    entries: Sequence[EntryFacts]
    unplayable: int = 0

    @cached_property
    def turns(self) -> list[Sequence[str]]:
        """The functions of every turn."""
        return [turn for entry in self.entries for turn in entry.turns]

    @cached_property
    def functions(self) -> Counter[str]:
        """How often each function is called."""
        return Counter(chain.from_iterable(self.turns))

    @cached_property
    def said(self) -> list[Sequence[str]]:
        """The words of every turn in which the user says something."""
        return [words for entry in self.entries for words in entry.words]

    @property
    def calls_per_turn(self) -> list[int]:
        """How many calls each turn has."""
        return [len(turn) for turn in self.turns]

    @property
    def turns_per_entry(self) -> list[int]:
        """How many turns each entry has."""
        return [len(entry.turns) for entry in self.entries]

    @property
    def hops(self) -> list[int]:
        """The longest chain of each entry."""
        return [entry.hops for entry in self.entries]

    @property
    def words_per_turn(self) -> list[int]:
        """How many words the user says in a turn."""
        return [len(words) for words in self.said]

    @cached_property
    def languages(self) -> Counter[str]:
        """How many entries of described functions have each language."""
        return Counter(entry.language for entry in self.entries if entry.language)

    @cached_property
    def domains(self) -> Counter[str]:
        """How often each domain is that of a described function."""
        return Counter(chain.from_iterable(entry.domains for entry in self.entries))

    @cached_property
    def types(self) -> Counter[str]:
        """How often each type is that of a parameter of a described function."""
        return Counter(chain.from_iterable(entry.types for entry in self.entries))

    @property
    def offered_where_described(self) -> list[int]:
        """How many functions each entry of described functions offers."""
        return [entry.offered for entry in self.entries if entry.language]

    @property
    def effective_functions(self) -> float:
        """Number of equally frequent functions that would be as mixed: exp of the entropy."""
        total = self.functions.total()
        shares = [count / total for count in self.functions.values()]
        return exp(-sum(share * log(share) for share in shares)) if total else 0.0

    @property
    def top_ten(self) -> float:
        """Share of the calls that go to the ten most frequent functions."""
        most = sum(count for _, count in self.functions.most_common(10))
        return most / max(1, self.functions.total())

    @property
    def arguments(self) -> Arguments:
        """Where all values come from."""
        return Arguments(*map(sum, zip(*(entry.arguments for entry in self.entries), strict=True)))

    @cached_property
    def duplicates(self) -> tuple[int, float]:
        """Turns of the user with one much like it elsewhere, and the largest likeness."""
        return near_duplicates(self.said)

    @property
    def vocabulary(self) -> int:
        """Different words among the first 7,000."""
        return len(set(list(chain.from_iterable(self.said))[:_VOCABULARY]))

    def grams(self, size: int) -> tuple[int, int]:
        """Return how many different successions of functions within entries there are, of all."""
        found = []
        for entry in self.entries:
            calls = [name for turn in entry.turns for name in turn]
            found += [tuple(calls[at : at + size]) for at in range(len(calls) - size + 1)]
        return len(set(found)), len(found)


def statistics(dataset: Dataset) -> Statistics:
    """Count what a data set is like."""
    found = []
    unplayable = 0
    for trajectory in dataset.trajectories.values():
        try:
            found.append(facts_of(dataset, trajectory))
        except Unplayable:
            unplayable += 1
    return Statistics(dataset.name, found, unplayable)


def facts_of(dataset: Dataset, trajectory: Trajectory) -> EntryFacts:
    """Count what an entry is like.

    Raises:
        Unplayable: Its config cannot be loaded, or its ground truth not be played.
    """
    said = [
        " ".join(m.content for m in turn.messages if m.role == "user") for turn in trajectory.turns
    ]
    words = [found for text in said if (found := _WORD.findall(text.lower()))]
    conditions = sum(_CONDITION.search(_POLITE.sub(" ", text)) is not None for text in said)
    config = json.dumps(trajectory.config, sort_keys=True)
    expects = trajectory.expects
    if isinstance(expects, ExpectedCalls):
        names = [name for answer in expects.answers for name in answer]
        offered = len(expects.functions)
        facts = EntryFacts(
            [names],
            {},
            environments=0,
            offered=offered,
            words=words,
            arguments=Arguments(),
            hops=0,
            needed=0,
            undictated=0,
            dated=(0, 0),
            conditions=conditions,
            config=config,
            state=0,
            shown=(),
        )
        return facts._replace(
            language=expects.language,
            domains=[*_domains(trajectory)],
            types=[*_types(expects.functions)],
        )
    entry = Entry(dataset, trajectory)
    tools = entry.template.tools
    steps = entry.turns
    needed = [made for turn in steps for made in _preconditions(turn)]
    state = entry.template.snapshot().compared()
    return EntryFacts(
        [[step.call.name for step in turn if isinstance(step.call, Call)] for turn in steps],
        {name: tool.backend for name, tool in tools.items()},
        len(trajectory.environments),
        len(trajectory.offered(list(tools), len(trajectory.turns) - 1)),
        words,
        *_provenance(entry, said),
        len(needed),
        sum(not _is_dictated(call, said[turn]) for turn, call in needed),
        _dates(steps, said),
        conditions,
        config,
        len(str(state)),
        [len(step.result.text) for step in entry.steps],
    )


def _domains(trajectory: Trajectory) -> Iterator[str]:
    """Yield what an entry of described functions is about: its tables, or what its functions do."""
    tables = [table for config in trajectory.config.values() for table in config.get("tables", ())]
    functions = trajectory.functions or ()
    yield from tables or [name.partition(".")[0] for name in functions if "." in name]


def _types(documents: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for document in documents:
        for schema in document.get("parameters", {}).get("properties", {}).values():
            yield str(schema.get("type", "none"))


class _Known(NamedTuple):
    """A result that a value may come from."""

    text: str
    backend: str
    depth: int


def _provenance(entry: Entry, said: Sequence[str]) -> tuple[Arguments, int]:
    """Return where the values of a ground truth come from, and its longest chain."""
    told, known = Told(), list[_Known]()
    total = from_results = elsewhere = deepest = 0
    for words, steps in zip(said, entry.turns, strict=True):
        told.hear(words)
        for step in steps:
            depth = 0
            tool = entry.template.tools.get(getattr(step.call, "name", ""))
            documents = _documents(tool) if tool else {}
            for name, value in entry.arguments(step.call).items():
                for literal in literals(value):
                    total += 1
                    if told.doubt(literal, documents.get(name, "")) is None:
                        continue
                    sources = [result for result in known if stands_in(literal, result.text)]
                    if sources:
                        from_results += 1
                        depth = max(depth, 1 + min(source.depth for source in sources))
                        own = tool.backend if tool else ""
                        elsewhere += all(source.backend != own for source in sources)
            deepest = max(deepest, depth)
            if tool and step.result.error is None:
                known.append(_Known(step.result.text, tool.backend, depth))
    return Arguments(total, from_results, elsewhere), deepest


def _documents(tool: Tool) -> Mapping[str, str]:
    """Return what the function's document says of each parameter: choices, default, advice."""
    return {p.name: json.dumps(dict(p.schema), ensure_ascii=False) for p in spec(tool).parameters}


def _preconditions(turn: Sequence[TruthStep]) -> list[tuple[int, Call]]:
    """Return the calls of a turn without which a later one of it, which succeeds, fails."""
    found: list[tuple[int, Call]] = []
    for position, step in enumerate(turn[:-1]):
        later = [other for other in turn[position + 1 :] if isinstance(other.call, Call)]
        results = step.before.fork().play([other.call for other in later])
        pairs = zip(later, results, strict=True)
        if any(other.result.error is None and result.error is not None for other, result in pairs):
            found += [(step.turn, step.call)] if isinstance(step.call, Call) else []
    return found


def _is_dictated(call: Any, words: str) -> bool:
    """Tell whether a turn's words have a part of a function's name, or a text that it is given."""
    low = words.casefold()
    parts = [part.casefold() for part in _PART.findall(call.name)]
    given = [
        text for text in literals([*call.args, *call.kwargs.values()]) if isinstance(text, str)
    ]
    named = [part for part in parts if len(part) >= _TELLING] + [text.casefold() for text in given]
    return any(part in low for part in named)


def _dates(turns: Sequence[Sequence[TruthStep]], said: Sequence[str]) -> tuple[int, int]:
    """Return in how many turns a date that the user tells is taken: as written, in other words."""
    told, used = Told(), set[str]()
    written = otherwise = 0
    for steps, words in zip(turns, said, strict=True):
        told.hear(words)
        given = [step.call for step in steps if isinstance(step.call, Call)]
        values = [
            value for call in given for value in literals([*call.args, *call.kwargs.values()])
        ]
        dates = {value for value in values if isinstance(value, str) and _DATE.fullmatch(value)}
        new = {date for date in dates - used if told.doubt(date) is None}
        used |= new
        if new:
            literal = all(date in told.heard for date in new)
            written, otherwise = written + literal, otherwise + (not literal)
    return written, otherwise


def near_duplicates(texts: Sequence[Sequence[str]]) -> tuple[int, float]:
    """Return how many texts share a fifth of their runs of five words with another one.

    Returns:
        Their number, and the largest share (Jaccard) that any two have in common.
    """
    grams = [{tuple(words[i : i + GRAM]) for i in range(len(words) - GRAM + 1)} for words in texts]
    holders: dict[tuple[str, ...], list[int]] = {}
    for index, found in enumerate(grams):
        for gram in found:
            holders.setdefault(gram, []).append(index)
    common: Counter[tuple[int, int]] = Counter()
    for indices in holders.values():
        common.update((a, b) for at, a in enumerate(indices) for b in indices[at + 1 :])
    alike: set[int] = set()
    largest = 0.0
    for (a, b), shared in common.items():
        share = shared / (len(grams[a]) + len(grams[b]) - shared)
        largest = max(largest, share)
        if share >= ALIKE:
            alike |= {a, b}
    return len(alike), largest


class Figure(NamedTuple):
    """One line of what a data set is like."""

    name: str
    meaning: str
    """How it is counted."""
    text: Callable[[Statistics], str]


def _spread(values: Sequence[float]) -> str:
    """Return a mean with the extremes."""
    if not values:
        return "-"
    return f"{mean(values):.2f} ({min(values):g} to {max(values):g})"


def _share(part: float, whole: float) -> str:
    return f"{part:g} of {whole:g} ({100 * part / whole:.0f}%)" if whole else "-"


def _count(found: Iterable[bool]) -> int:
    return sum(found)


def _backends_of(entry: EntryFacts, turn: Iterable[str]) -> set[str]:
    return {entry.backends[name] for name in turn if name in entry.backends}


def _using_more(found: Statistics) -> int:
    return _count(len(_backends_of(e, chain.from_iterable(e.turns))) > 1 for e in found.entries)


def _crossing(found: Statistics) -> int:
    return _count(len(_backends_of(e, turn)) > 1 for e in found.entries for turn in e.turns)


def _undictated(found: Statistics) -> str:
    needed = sum(entry.needed for entry in found.entries)
    return _share(sum(entry.undictated for entry in found.entries), needed)


def _dated(found: Statistics) -> str:
    written, otherwise = (sum(entry.dated[at] for entry in found.entries) for at in (0, 1))
    return _share(otherwise, written + otherwise)


FIGURES = (
    Figure("entries", "trajectories of the data set", lambda s: f"{len(s.entries)}"),
    Figure("turns an entry", "mean, least and most", lambda s: _spread(s.turns_per_entry)),
    Figure("turns", "in all", lambda s: f"{len(s.turns)}"),
    Figure("calls", "of the ground truth, in all", lambda s: f"{s.functions.total()}"),
    Figure("calls a turn", "mean, least and most", lambda s: _spread(s.calls_per_turn)),
    Figure("functions used", "different ones in the ground truth", lambda s: f"{len(s.functions)}"),
    Figure(
        "effective functions",
        "as many equally frequent ones would be as mixed: exp of the entropy of the calls",
        lambda s: f"{s.effective_functions:.0f}",
    ),
    Figure(
        "top ten functions",
        "share of the calls that go to the ten most frequent",
        lambda s: f"{100 * s.top_ten:.0f}%",
    ),
    Figure(
        "functions offered",
        "to the model in the last turn: mean, least and most",
        lambda s: _spread([entry.offered for entry in s.entries]),
    ),
    Figure(
        "pairs of calls",
        "different successions of two functions within entries, of all",
        lambda s: _share(*s.grams(2)),
    ),
    Figure(
        "triples of calls",
        "different successions of three functions within entries, of all",
        lambda s: _share(*s.grams(3)),
    ),
    Figure(
        "backends an entry",
        "that it has: mean, least and most",
        lambda s: _spread([entry.environments for entry in s.entries]),
    ),
    Figure(
        "entries across backends",
        "whose calls are of more than one",
        lambda s: _share(_using_more(s), len(s.entries)),
    ),
    Figure(
        "turns across backends",
        "whose calls are of more than one",
        lambda s: _share(_crossing(s), len(s.turns)),
    ),
    Figure(
        "values only from results",
        "in arguments: neither told by the user nor in the function's document, but shown",
        lambda s: _share(s.arguments.from_results, s.arguments.all),
    ),
    Figure(
        "values only from another backend",
        "those of them that only another backend's results have shown",
        lambda s: _share(s.arguments.from_elsewhere, s.arguments.all),
    ),
    Figure(
        "hops an entry",
        "longest chain of calls that each take from a result of the one before: mean, extremes",
        lambda s: _spread(s.hops),
    ),
    Figure(
        "entries with two hops or more",
        "whose longest chain has three calls",
        lambda s: _share(_count(hops >= 2 for hops in s.hops), len(s.entries)),
    ),
    Figure(
        "undictated preconditions",
        "calls without which a later one of the turn fails, and for which the turn's words hold "
        "neither a part of the function's name nor a text of its arguments",
        _undictated,
    ),
    Figure(
        "dates in words",
        "turns with a date that the user tells otherwise than as it is written in the call",
        _dated,
    ),
    Figure(
        "conditions",
        "turns with if, unless, in case, otherwise or the like, but for polite ones",
        lambda s: _share(sum(entry.conditions for entry in s.entries), len(s.turns)),
    ),
    Figure(
        "config",
        "characters of JSON, without long-context bulk: mean, least and most",
        lambda s: _spread([len(entry.config) for entry in s.entries]),
    ),
    Figure(
        "state",
        "characters of what a session begins with, long-context bulk and all",
        lambda s: _spread([entry.state for entry in s.entries]),
    ),
    Figure(
        "different configs",
        "of all",
        lambda s: _share(len({entry.config for entry in s.entries}), len(s.entries)),
    ),
    Figure(
        "results",
        "characters of a ground-truth result, bulk and all: mean, least and most",
        lambda s: _spread([size for entry in s.entries for size in entry.shown]),
    ),
    Figure(
        "words a turn", "of the user: mean, least and most", lambda s: _spread(s.words_per_turn)
    ),
    Figure("vocabulary", "different words among the first 7,000", lambda s: f"{s.vocabulary}"),
    Figure(
        "near-duplicates",
        "turns of the user that share a fifth of their runs of five words with another (Jaccard)",
        lambda s: f"{s.duplicates[0]} (largest {s.duplicates[1]:.2f})",
    ),
)
"""What is shown of a data set, in this order."""


def _mixture(found: Counter[str]) -> str:
    """Return the most frequent of some words with their shares."""
    return ", ".join(f"{word} {share:.0%}" for word, share in ranked(found, _MOST).items()) or "-"


_MOST = 5
_SINGLE_TURN = (
    Figure(
        "languages",
        "of the arguments, where entries describe their functions: shares of entries",
        lambda s: _mixture(s.languages),
    ),
    Figure(
        "domains",
        "different words before the point in the names of functions that entries describe",
        lambda s: f"{len(s.domains)}",
    ),
    Figure(
        "types",
        "of the parameters of these functions: the five most frequent, shares of parameters",
        lambda s: _mixture(s.types),
    ),
)


def figures_of(sets: Sequence[Statistics]) -> Sequence[Figure]:
    """Return what is shown of data sets: more where entries describe their functions."""
    return (*FIGURES, *_SINGLE_TURN) if any(found.languages for found in sets) else FIGURES


def ranked(found: Counter[str], most: int) -> dict[str, float]:
    """Return the most frequent of some words, each with its share."""
    total = max(1, found.total())
    return {word: count / total for word, count in found.most_common(most)}


def shares(values: Iterable[int], width: int = 1) -> dict[str, float]:
    """Return which share of some values falls to each number, or each span of numbers.

    Args:
        values: The numbers, from 0.
        width: How many numbers a span has.
    """
    counts = Counter(value // width for value in values)
    total = counts.total()
    spans = range(max(counts, default=-1) + 1)
    return {_span(at, width): counts[at] / total for at in spans}


def _span(at: int, width: int) -> str:
    return str(at) if width == 1 else f"{at * width}\u2013{(at + 1) * width - 1}"
