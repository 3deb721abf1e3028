"""Record of an erratum: the judgement of an entry, its reason and its corrections.

An erratum applies to the version of the entry with the same fingerprint. Its strings can refer to
parts of the published entry. ``#2.0`` is the first ground-truth call of the third turn, and ``#2.0
~ 2023 ~ 2026`` is the same call with a replaced string. In the expected calls of a single turn,
``#question`` means the published values of that parameter, and null removes a parameter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from trajectories.schema import StrictRecord

Turns = Mapping[int, tuple[str, ...]]
"""Corrected ground truth by index of the turn, starting at 0."""

Answers = tuple[Mapping[str, Mapping[str, Sequence[Any] | str | None]], ...]
"""Corrected values by function and parameter, for each answer."""


NAMED_CALL = re.compile(r"#(?P<turn>\d+)\.(?P<call>\d+)(?P<changes>(?: ~ [^~]+ ~ [^~]*)*)")
"""Reference to a published call, optionally with replacements of some strings."""


class Assessment(StrEnum):
    """Result of reviewing an entry."""

    SOUND = "sound"
    MENDED = "mended"
    """Wrong as published, now corrected."""
    AMBIGUOUS = "ambiguous"
    """Ambiguous: several interpretations are right."""
    WITHDRAWN = "withdrawn"
    """Impossible to judge, and excluded from scores."""


@dataclass(frozen=True)
class Erratum(StrictRecord):
    """Judgement and corrections of an entry.

    Attributes:
        id: Id of the entry.
        reason: Explanation for people.
        evidence: Executed calls or other checks, and their results.
        published: The judged entry's ``fingerprint``.
        ground_truth: Corrected ground truth.
        alternatives: Additional right ground truths of single turns; alternatives for different
            turns can be combined.
        wording: Maps turn indices to corrected messages of the user.
        config: Corrected fields of the initial config, for each backend.
        answers: Corrected parameters of a single-turn entry's expected calls, for each accepted
            interpretation of the request.
    """

    id: str
    judgement: Assessment
    reason: str
    evidence: str
    published: str
    ground_truth: Turns = field(default_factory=dict)
    alternatives: tuple[Turns, ...] = ()
    wording: Mapping[int, str] = field(default_factory=dict)
    config: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    answers: tuple[Answers, ...] = ()

    @property
    def asks_otherwise(self) -> bool:
        """Whether the erratum corrects the request, so that old answers are invalid."""
        return bool(self.wording or self.config)

    @property
    def paths(self) -> tuple[Turns, ...]:
        """Corrected ground truth, followed by its alternatives."""
        return (self.ground_truth, *self.alternatives)
