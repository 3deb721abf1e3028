"""Statistics of a data set: size, variety and difficulty.

``FIGURES`` lists the statistics, which are the same for all data sets. The ground truth is
replayed.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from math import exp, log
from statistics import mean
from typing import Any, NamedTuple

from checkers.known_values import KnownValues, contains_value, list_literals
from envs.calls import Call
from extensions.authoring.rules.lookups import render_parameters
from extensions.authoring.rules.replayed_entry import Entry, TruthStep, UnplayableEntry
from extensions.authoring.rules.word_matching import split_name
from trajectories.dataset import Dataset
from trajectories.schema import ExpectedCalls, Trajectory

GRAM = 5
"""User messages are compared by sequences of this number of words."""
ALIKE = 0.2
"""Texts are near duplicates if the Jaccard index of their word sequences reaches this value."""
_VOCABULARY = 7_000
"""Maximum number of words that are counted. The limit makes data sets comparable."""

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
_MAX_PAIRS = 2_000
"""Maximum number of word pairs that are counted per backend."""
_TELLING = 4
"""Minimum length of a word of a function's name. A message with such a word mentions the
function."""


class ArgumentCounts(NamedTuple):
    """Number of argument values from each source."""

    all: int = 0
    from_results: int = 0
    """Number of values that are in results, but not in user messages or the function's document."""
    from_elsewhere: int = 0
    """Number of values that occur only in results of another backend."""


class EntryCounts(NamedTuple):
    """Counts of one entry."""

    turns: Sequence[Sequence[str]]
    """Functions of each turn's ground truth, in order."""
    words: Sequence[Sequence[str]]
    """Words of the user messages, for each turn with user messages."""
    offered: int
    """Number of functions that are offered in the last turn."""
    conditions: int
    """Number of turns in which the user states a condition."""
    config: str
    """Initial config as JSON."""
    backends: Mapping[str, str] = {}
    """Backend of each function."""
    environments: int = 0
    """Number of backends."""
    arguments: ArgumentCounts = ArgumentCounts()
    hops: int = 0
    """Length of the longest chain of calls; each call uses the result of the previous call."""
    needed: int = 0
    """Number of calls that a later call of the turn needs."""
    undictated: int = 0
    """Number of needed calls that the turn's messages do not mention."""
    dated: tuple[int, int] = (0, 0)
    """Two counts: turns with literal dates, and turns with rephrased dates."""
    state: int = 0
    """Number of characters of the initial state."""
    shown: Sequence[int] = ()
    """Characters of each result."""
    language: str | None = None
    """Programming language of the arguments, if the entry contains its function documents."""
    domains: Sequence[str] = ()
    """Prefixes of function names, or names of database tables."""
    types: Sequence[str] = ()
    """Types of the parameters in the function documents."""


@dataclass(frozen=True)
class Statistics:
    """Statistics of all executable entries of a data set."""

    name: str
    entries: Sequence[EntryCounts]
    unplayable: int = 0

    @cached_property
    def turns(self) -> list[Sequence[str]]:
        """Names of the functions that are called in each turn."""
        return [turn for entry in self.entries for turn in entry.turns]

    @cached_property
    def functions(self) -> Counter[str]:
        """Number of calls of each function."""
        return Counter(chain.from_iterable(self.turns))

    @cached_property
    def said(self) -> list[Sequence[str]]:
        """User messages of each turn that has messages."""
        return [words for entry in self.entries for words in entry.words]

    @property
    def calls_per_turn(self) -> list[int]:
        """Number of calls in each turn."""
        return [len(turn) for turn in self.turns]

    @property
    def calls_per_entry(self) -> list[int]:
        """Number of calls in each entry."""
        return [sum(map(len, entry.turns)) for entry in self.entries]

    @property
    def turns_per_entry(self) -> list[int]:
        """Number of turns in each entry."""
        return [len(entry.turns) for entry in self.entries]

    @property
    def hops(self) -> list[int]:
        """Number of hops of each entry: the length of its longest chain of calls."""
        return [entry.hops for entry in self.entries]

    @property
    def words_per_turn(self) -> list[int]:
        """Number of words in the user messages of each turn."""
        return [len(words) for words in self.said]

    @cached_property
    def openings(self) -> Counter[str]:
        """Maps two words to the number of user messages that begin with these words."""
        return Counter(" ".join(words[:2]).lower() for words in self.said if len(words) > 1)

    @cached_property
    def distinct_pairs(self) -> dict[str, float]:
        """Share of distinct word pairs in the user's messages, for each backend."""
        pairs: dict[str, list[tuple[str, str]]] = {}
        for entry in self.entries:
            spoken = [[word.lower() for word in words] for words in entry.words]
            own = [pair for words in spoken for pair in pairwise(words)]
            for backend in sorted({*entry.backends.values()}):
                pairs.setdefault(backend, []).extend(own)
        first = {backend: found[:_MAX_PAIRS] for backend, found in pairs.items()}
        return {name: len({*found}) / len(found) for name, found in first.items() if found}

    @cached_property
    def languages(self) -> Counter[str]:
        """Number of entries in each language."""
        return Counter(entry.language for entry in self.entries if entry.language)

    @cached_property
    def domains(self) -> Counter[str]:
        """Number of described functions in each domain."""
        return Counter(chain.from_iterable(entry.domains for entry in self.entries))

    @cached_property
    def types(self) -> Counter[str]:
        """Number of described parameters of each type."""
        return Counter(chain.from_iterable(entry.types for entry in self.entries))

    @property
    def offered_where_described(self) -> list[int]:
        """Number of offered functions of each entry with function documents."""
        return [entry.offered for entry in self.entries if entry.language]

    @property
    def effective_functions(self) -> float:
        """Diversity of the called functions: the exponential of the entropy."""
        total = self.functions.total()
        shares = [count / total for count in self.functions.values()]
        return exp(-sum(share * log(share) for share in shares)) if total else 0.0

    @property
    def top_ten(self) -> float:
        """Share of the calls that go to the ten most frequent functions."""
        most = sum(count for _, count in self.functions.most_common(10))
        return most / max(1, self.functions.total())

    @property
    def arguments(self) -> ArgumentCounts:
        """Number of argument values from each source."""
        return ArgumentCounts(
            *map(sum, zip(*(entry.arguments for entry in self.entries), strict=True))
        )

    @cached_property
    def duplicates(self) -> tuple[int, float]:
        """Number of turns whose user message is a near duplicate, and the largest Jaccard index."""
        return count_near_duplicates(self.said)

    @property
    def vocabulary(self) -> int:
        """Number of distinct words among the first 7,000 words."""
        return len(set(list(chain.from_iterable(self.said))[:_VOCABULARY]))

    def grams(self, size: int) -> tuple[int, int]:
        """Count the distinct sequences of ``size`` calls and all sequences of this size."""
        found = []
        for entry in self.entries:
            calls = [name for turn in entry.turns for name in turn]
            found += [tuple(calls[at : at + size]) for at in range(len(calls) - size + 1)]
        return len(set(found)), len(found)


def statistics(dataset: Dataset) -> Statistics:
    """Compute the statistics of a data set."""
    found = []
    unplayable = 0
    for trajectory in dataset.trajectories.values():
        try:
            found.append(count_entry(dataset, trajectory))
        except UnplayableEntry:
            unplayable += 1
    return Statistics(dataset.name, found, unplayable)


def count_entry(dataset: Dataset, trajectory: Trajectory) -> EntryCounts:
    """Return the counts of an entry.

    Raises UnplayableEntry if the ground truth cannot be replayed.
    """
    said = _said(trajectory)
    words = [found for text in said if (found := _WORD.findall(text.lower()))]
    conditions = sum(_CONDITION.search(_POLITE.sub(" ", text)) is not None for text in said)
    config = json.dumps(trajectory.config, sort_keys=True)
    expects = trajectory.expects
    if isinstance(expects, ExpectedCalls):
        return EntryCounts(
            [[name for answer in expects.answers for name in answer]],
            words,
            len(expects.functions),
            conditions,
            config,
            language=expects.language,
            domains=[*_domains(trajectory)],
            types=[*_types(expects.functions)],
        )
    entry = Entry(dataset, trajectory)
    tools = entry.template.tools
    steps = entry.turns
    arguments, hops = _trace_arguments(entry, said)
    needed = [made for turn in steps for made in _preconditions(turn)]
    return EntryCounts(
        [[step.call.name for step in turn if isinstance(step.call, Call)] for turn in steps],
        words,
        len(entry.offered(len(trajectory.turns) - 1)),
        conditions,
        config,
        backends={name: tool.backend for name, tool in tools.items()},
        environments=len(trajectory.environments),
        arguments=arguments,
        hops=hops,
        needed=len(needed),
        undictated=sum(not _is_dictated(call, said[turn]) for turn, call in needed),
        dated=_count_dates(steps, said),
        state=len(str(entry.template.snapshot().compared())),
        shown=[len(step.result.text) for step in entry.steps],
    )


def count_hops(dataset: Dataset, trajectory: Trajectory) -> int | None:
    """Return the number of hops of an entry; None if the entry has no executed calls.

    Raises UnplayableEntry if the ground truth of the entry cannot be replayed.
    """
    if isinstance(trajectory.expects, ExpectedCalls):
        return None
    return _trace_arguments(Entry(dataset, trajectory), _said(trajectory))[1]


def _said(trajectory: Trajectory) -> list[str]:
    return [
        " ".join(m.content for m in turn.messages if m.role == "user") for turn in trajectory.turns
    ]


def _domains(trajectory: Trajectory) -> Iterator[str]:
    tables = [table for config in trajectory.config.values() for table in config.get("tables", ())]
    functions = trajectory.functions or ()
    yield from tables or [name.partition(".")[0] for name in functions if "." in name]


def _types(documents: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for document in documents:
        for schema in document.get("parameters", {}).get("properties", {}).values():
            yield str(schema.get("type", "none"))


class _SourceResult(NamedTuple):
    text: str
    backend: str
    depth: int


def _trace_arguments(entry: Entry, said: Sequence[str]) -> tuple[ArgumentCounts, int]:
    """Return the number of arguments from each source, and the hops of the ground truth."""
    told, known = KnownValues(), list[_SourceResult]()
    total = from_results = elsewhere = deepest = 0
    for words, steps in zip(said, entry.turns, strict=True):
        told.hear(words)
        for step in steps:
            depth = 0
            tool = entry.template.tools.get(step.function)
            documents = render_parameters(tool) if tool else {}
            for name, value in entry.arguments(step.call).items():
                for literal in list_literals(value):
                    total += 1
                    if told.doubt(literal, documents.get(name, "")) is None:
                        continue
                    sources = [result for result in known if contains_value(literal, result.text)]
                    if sources:
                        from_results += 1
                        depth = max(depth, 1 + min(source.depth for source in sources))
                        own = tool.backend if tool else ""
                        elsewhere += all(source.backend != own for source in sources)
            deepest = max(deepest, depth)
            if tool and step.result.error is None:
                known.append(_SourceResult(step.result.text, tool.backend, depth))
    return ArgumentCounts(total, from_results, elsewhere), deepest


def _preconditions(turn: Sequence[TruthStep]) -> list[tuple[int, Call]]:
    found: list[tuple[int, Call]] = []
    for position, step in enumerate(turn[:-1]):
        later = [other for other in turn[position + 1 :] if isinstance(other.call, Call)]
        results = step.before.fork().play([other.call for other in later])
        pairs = zip(later, results, strict=True)
        if any(other.result.error is None and result.error is not None for other, result in pairs):
            found += [(step.turn, step.call)] if isinstance(step.call, Call) else []
    return found


def _is_dictated(call: Any, words: str) -> bool:
    """Tell whether ``words`` mention the call."""
    parts = [part for part in split_name(call.name) if len(part) >= _TELLING]
    values = list_literals([*call.args, *call.kwargs.values()])
    named = [*parts, *(value for value in values if isinstance(value, str))]
    return any(part.casefold() in words.casefold() for part in named)


def _count_dates(turns: Sequence[Sequence[TruthStep]], said: Sequence[str]) -> tuple[int, int]:
    told, used = KnownValues(), set[str]()
    written = otherwise = 0
    for steps, words in zip(turns, said, strict=True):
        told.hear(words)
        given = [step.call for step in steps if isinstance(step.call, Call)]
        values = [
            value for call in given for value in list_literals([*call.args, *call.kwargs.values()])
        ]
        dates = {value for value in values if isinstance(value, str) and _DATE.fullmatch(value)}
        new = {date for date in dates - used if told.doubt(date) is None}
        used |= new
        if new:
            literal = all(date in told.heard for date in new)
            written, otherwise = written + literal, otherwise + (not literal)
    return written, otherwise


def count_near_duplicates(texts: Sequence[Sequence[str]]) -> tuple[int, float]:
    """Count the texts with a near duplicate; also return the largest Jaccard index of two texts."""
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


class DatasetFigure(NamedTuple):
    """Definition of one statistic of a data set."""

    name: str
    meaning: str
    """Definition of the figure."""
    text: Callable[[Statistics], str]


def _format_spread(values: Sequence[float]) -> str:
    return f"{mean(values):.2f} ({min(values):g} to {max(values):g})" if values else "-"


def _format_share(part: float, whole: float) -> str:
    return f"{part:g} of {whole:g} ({100 * part / whole:.0f}%)" if whole else "-"


def _uses_several_backends(entry: EntryCounts, functions: Iterable[str]) -> bool:
    return len({entry.backends[name] for name in functions if name in entry.backends}) > 1


def _share_across_backends(found: Statistics) -> str:
    across = [_uses_several_backends(e, chain.from_iterable(e.turns)) for e in found.entries]
    return _format_share(sum(across), len(across))


def _share_turns_across_backends(found: Statistics) -> str:
    across = [_uses_several_backends(e, turn) for e in found.entries for turn in e.turns]
    return _format_share(sum(across), len(across))


def _share_undictated(found: Statistics) -> str:
    needed = sum(entry.needed for entry in found.entries)
    return _format_share(sum(entry.undictated for entry in found.entries), needed)


def _share_dates_in_words(found: Statistics) -> str:
    written, otherwise = (sum(entry.dated[at] for entry in found.entries) for at in (0, 1))
    return _format_share(otherwise, written + otherwise)


FIGURES = (
    DatasetFigure("entries", "number of entries", lambda s: f"{len(s.entries)}"),
    DatasetFigure(
        "turns per entry", "mean, minimum and maximum", lambda s: _format_spread(s.turns_per_entry)
    ),
    DatasetFigure("turns", "total number", lambda s: f"{len(s.turns)}"),
    DatasetFigure(
        "calls", "total number of ground-truth calls", lambda s: f"{s.functions.total()}"
    ),
    DatasetFigure(
        "calls per turn", "mean, minimum and maximum", lambda s: _format_spread(s.calls_per_turn)
    ),
    DatasetFigure(
        "functions used", "distinct functions in the ground truth", lambda s: f"{len(s.functions)}"
    ),
    DatasetFigure(
        "effective functions",
        "diversity of the called functions: the exponential of the entropy",
        lambda s: f"{s.effective_functions:.0f}",
    ),
    DatasetFigure(
        "top ten functions",
        "share of calls to the ten most frequent functions",
        lambda s: f"{100 * s.top_ten:.0f}%",
    ),
    DatasetFigure(
        "functions offered",
        "functions that the last turn offers: mean, minimum and maximum",
        lambda s: _format_spread([entry.offered for entry in s.entries]),
    ),
    DatasetFigure(
        "pairs of calls",
        "share of distinct pairs among all pairs of consecutive calls",
        lambda s: _format_share(*s.grams(2)),
    ),
    DatasetFigure(
        "triples of calls",
        "share of distinct triples among all triples of consecutive calls",
        lambda s: _format_share(*s.grams(3)),
    ),
    DatasetFigure(
        "backends per entry",
        "mean, minimum and maximum",
        lambda s: _format_spread([entry.environments for entry in s.entries]),
    ),
    DatasetFigure(
        "entries across backends", "entries that call more than one backend", _share_across_backends
    ),
    DatasetFigure(
        "turns across backends",
        "turns that call more than one backend",
        _share_turns_across_backends,
    ),
    DatasetFigure(
        "values only from results",
        "argument values that occur in results, but neither in user messages nor in documents",
        lambda s: _format_share(s.arguments.from_results, s.arguments.all),
    ),
    DatasetFigure(
        "values only from another backend",
        "argument values that come only from a result of another backend",
        lambda s: _format_share(s.arguments.from_elsewhere, s.arguments.all),
    ),
    DatasetFigure(
        "hops per entry",
        "calls in the longest chain of dependent calls: mean, minimum and maximum",
        lambda s: _format_spread(s.hops),
    ),
    DatasetFigure(
        "entries with long chains of calls",
        "entries with a chain of at least three calls",
        lambda s: _format_share(sum(hops >= 2 for hops in s.hops), len(s.entries)),
    ),
    DatasetFigure(
        "undictated preconditions",
        "needed calls that the user does not mention",
        _share_undictated,
    ),
    DatasetFigure(
        "dates in words",
        "turns in which the user writes a date in another format than 2024-06-01",
        _share_dates_in_words,
    ),
    DatasetFigure(
        "conditions",
        "turns with a condition, such as 'if', 'unless' or 'in case'; polite phrases do not count",
        lambda s: _format_share(sum(entry.conditions for entry in s.entries), len(s.turns)),
    ),
    DatasetFigure(
        "config",
        "characters of the config's JSON, without generated items: mean, minimum and maximum",
        lambda s: _format_spread([len(entry.config) for entry in s.entries]),
    ),
    DatasetFigure(
        "state",
        "characters of the initial state, including generated items: mean, minimum and maximum",
        lambda s: _format_spread([entry.state for entry in s.entries]),
    ),
    DatasetFigure(
        "distinct configs",
        "share of distinct configs among all configs",
        lambda s: _format_share(len({entry.config for entry in s.entries}), len(s.entries)),
    ),
    DatasetFigure(
        "results",
        "characters of a result, including generated items: mean, minimum and maximum",
        lambda s: _format_spread([size for entry in s.entries for size in entry.shown]),
    ),
    DatasetFigure(
        "words per turn",
        "words of a user message: mean, minimum and maximum",
        lambda s: _format_spread(s.words_per_turn),
    ),
    DatasetFigure(
        "vocabulary", "distinct words in the first 7,000 words", lambda s: f"{s.vocabulary}"
    ),
    DatasetFigure(
        "near duplicates",
        "user messages similar to another message (Jaccard index of five-word sequences >= 0.2)",
        lambda s: f"{s.duplicates[0]} (largest {s.duplicates[1]:.2f})",
    ),
)
"""Statistics of every data set, in the order of display."""

_MAX_SHOWN = 5


def _format_ranked(found: Counter[str]) -> str:
    shown = ranked(found, _MAX_SHOWN).items()
    return ", ".join(f"{word} {share:.0%}" for word, share in shown) or "-"


_SINGLE_TURN = (
    DatasetFigure(
        "languages",
        "share of each programming language",
        lambda s: _format_ranked(s.languages),
    ),
    DatasetFigure(
        "domains",
        "distinct prefixes (up to the first dot) of described functions",
        lambda s: f"{len(s.domains)}",
    ),
    DatasetFigure(
        "types",
        "the five most frequent types of documented parameters, with their shares",
        lambda s: _format_ranked(s.types),
    ),
)


def select_figures(sets: Sequence[Statistics]) -> Sequence[DatasetFigure]:
    """Return the statistics to show; single-turn statistics need single-turn entries."""
    return (*FIGURES, *_SINGLE_TURN) if any(found.languages for found in sets) else FIGURES


def ranked(found: Counter[str], most: int) -> dict[str, float]:
    """Return the most frequent keys with their shares."""
    total = max(1, found.total())
    return {word: count / total for word, count in found.most_common(most)}


def shares(values: Iterable[int], width: int = 1) -> dict[str, float]:
    """Return a histogram: the share of values in each bin; ``width`` is the width of a bin."""
    counts = Counter(value // width for value in values)
    found = {}
    for at in range(max(counts, default=-1) + 1):
        label = str(at) if width == 1 else f"{at * width}\u2013{(at + 1) * width - 1}"
        found[label] = counts[at] / counts.total()
    return found
