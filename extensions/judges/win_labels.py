"""Labels that people gave to pairs of episodes: which of two runs served the user better.

A line has ``id``, ``trial``, ``pair`` (a digest of both episodes) and ``winner``: ``first``,
``second`` or ``tie``. ``first`` means the first run of the command ``turnwise label``, even if the
page shows the runs in the other order. The field ``person`` is optional.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from checkers.statistics import TrialCounts, cluster_interval
from envs.errors import DataError
from extensions.judges.agreement import cohen_kappa
from extensions.judges.judged_episode import JudgedEpisode
from extensions.judges.label_rules import Preference
from extensions.judges.people_labels import make_label_hint
from runner.analysis.figure_lines import format_interval, format_percent
from runner.records.episode_record import Key
from runner.show.terminal import table
from trajectories.jsonl import read_objects

_PREFERENCES: Mapping[str, Preference] = {"second": "win", "tie": "tie", "first": "lose"}
"""Result of the second run for each winner."""
_MAX_NAME_CHARS = 60


class EpisodePair(NamedTuple):
    """Episodes of two runs on the same entry and trial."""

    first: JudgedEpisode
    second: JudgedEpisode

    @property
    def key(self) -> Key:
        """Entry and trial."""
        return self.first.key

    @property
    def digest(self) -> str:
        """Hash (16 hex digits) of the two episodes and of their order."""
        said = [[each.doings.calls, each.doings.words] for each in self]
        text = json.dumps([self.key, said], default=str)
        return sha256(text.encode()).hexdigest()[:16]

    @property
    def is_swapped(self) -> bool:
        """Whether the page shows the second run's episode first (in about half of the pairs)."""
        return int(self.digest[-1], 16) % 2 == 1


class WinLabel(NamedTuple):
    """Label of one person on a pair."""

    key: Key
    preference: Preference
    """Win, tie or lose, from the view of the second run."""
    person: str


class PreferenceAgreement(NamedTuple):
    """Agreement of two raters: how often they prefer the same episode of a pair."""

    counts: Mapping[tuple[Preference, Preference], int]
    """Number of pairs for each combination of the two raters' preferences, such as (win, tie)."""
    interval: tuple[float, float]
    """95% interval of the agreement."""
    kappa: float | None
    """Cohen's kappa; None if only one class occurs."""

    @property
    def total(self) -> int:
        """Number of labels."""
        return sum(self.counts.values())

    @property
    def agreement(self) -> float:
        """Share of the pairs that get the same label from both raters."""
        alike = sum(count for (one, other), count in self.counts.items() if one == other)
        return alike / self.total

    def to_json(self) -> dict[str, Any]:
        """Return the metrics as JSON."""
        counts = {f"{one}/{other}": count for (one, other), count in sorted(self.counts.items())}
        value = {"value": self.agreement, "interval": list(self.interval)}
        return {"labels": self.total, "counts": counts, "agreement": value, "kappa": self.kappa}


def pair_up(
    first: Iterable[JudgedEpisode], second: Iterable[JudgedEpisode]
) -> dict[Key, EpisodePair]:
    """Return the pairs of episodes that two runs have in common."""
    others = {each.key: each for each in second}
    return {each.key: EpisodePair(each, others[each.key]) for each in first if each.key in others}


def read_win_labels(path: Path, pairs: Mapping[Key, EpisodePair]) -> list[WinLabel]:
    """Read labels of pairs.

    Raises DataError if a line is invalid, concerns other episodes, or repeats a person's label.
    """
    found: dict[tuple[Key, str], WinLabel] = {}
    for where, line in read_objects(path):
        match line:
            case {"id": str(id), "winner": str(winner), "pair": str(digest)}:
                trial, person = line.get("trial", 0), line.get("person", "")
            case _:
                fields = '"id", "pair" and "winner" (first, second or tie)'
                raise DataError(where, f"must have {fields}; {make_label_hint('A B')}")
        if winner not in _PREFERENCES:
            raise DataError(where, f'$.winner: {winner!r:.40} must be "first", "second" or "tie"')
        if type(trial) is not int:
            raise DataError(where, f"$.trial: must be a whole number, but is {trial!r:.40}")
        if not isinstance(person, str) or len(person) > _MAX_NAME_CHARS:
            raise DataError(where, f"$.person: must be a string of up to {_MAX_NAME_CHARS}")
        pair = pairs.get((id, trial))
        if pair is None or pair.digest != digest:
            advice = "name the same runs in the same order as for turnwise label"
            raise DataError(where, f"{id!r:.80}, trial {trial}, belongs to another pair; {advice}")
        if (pair.key, person) in found:
            who = f" by {person}" if person else ""
            raise DataError(where, f"{id}, trial {trial}, has two labels{who}; keep one")
        found[pair.key, person] = WinLabel(pair.key, _PREFERENCES[winner], person)
    if not found:
        raise DataError(str(path), f"has no labels; {make_label_hint('A B')}")
    return list(found.values())


def verdict_preferences(pairs: Mapping[Key, EpisodePair]) -> dict[Key, Preference]:
    """Return, for each pair with two verdicts, whether the second run wins, ties or loses."""
    found: dict[Key, Preference] = {}
    for key, (first, second) in pairs.items():
        if first.passed is not None and second.passed is not None:
            order: tuple[Preference, ...] = ("lose", "tie", "win")
            found[key] = order[1 + second.passed - first.passed]
    return found


def agreement_with_people(
    rated: Mapping[Key, Preference],
    labels: Sequence[WinLabel],
    pairs: Mapping[Key, EpisodePair],
) -> PreferenceAgreement | None:
    """Return how often a rater agrees with people; None if the two share no rated pair."""
    return _measure(
        (pairs[label.key].first.cluster, rated[label.key], label.preference)
        for label in labels
        if label.key in rated
    )


def agreement_of_people(
    labels: Sequence[WinLabel], pairs: Mapping[Key, EpisodePair]
) -> PreferenceAgreement | None:
    """Return how often two people agree on a pair; None if no pair has labels of two people."""
    by_pair: dict[Key, list[WinLabel]] = {}
    for label in labels:
        by_pair.setdefault(label.key, []).append(label)
    return _measure(
        (pairs[key].first.cluster, one.preference, other.preference)
        for key, found in by_pair.items()
        for one, other in combinations(sorted(found, key=lambda each: each.person), 2)
    )


def format_preferences(name: str, other: str, found: PreferenceAgreement) -> Iterator[str]:
    """Yield the agreement of two raters as lines."""
    yield f"compared labels of {name} and {other}: {found.total}"
    order: tuple[Preference, ...] = ("win", "tie", "lose")
    heading = [name, *(f"{other}: {each}" for each in order)]
    rows = [[one, *(str(found.counts.get((one, each), 0)) for each in order)] for one in order]
    yield table([heading, *rows])
    kappa = "-" if found.kappa is None else f"{found.kappa:.2f}"
    interval = format_interval(found.interval)
    yield f"agreement {format_percent(found.agreement)} ({interval}); kappa {kappa}"


def _measure(
    rated: Iterable[tuple[str, Preference, Preference]],
) -> PreferenceAgreement | None:
    all_rated = list(rated)
    if not all_rated:
        return None
    pairs = Counter([(one, other) for _, one, other in all_rated])
    trials = [TrialCounts(cluster, 1, int(one == other)) for cluster, one, other in all_rated]
    return PreferenceAgreement(pairs, cluster_interval(trials), cohen_kappa(pairs))
