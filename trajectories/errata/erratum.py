"""Record of an erratum: the judgement of an entry, its reason and its corrections.

An erratum corrects one version of an entry, identified by a fingerprint. Strings can refer to
parts of the published entry. ``#2.0`` is the first ground-truth call of the third turn, and ``#2.0
~ 2023 ~ 2026`` is the same call with a replaced string. In single-turn entries, ``#question``
stands for the published values of the parameter ``question``. The value null removes a parameter.
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
"""Corrected parameter values of each expected call."""


NAMED_CALL = re.compile(r"#(?P<turn>\d+)\.(?P<call>\d+)(?P<changes>(?: ~ [^~]+ ~ [^~]*)*)")
"""Reference to a published call, such as ``#2.0``; a string in the call can be replaced."""


class Assessment(StrEnum):
    """What a review found out about an entry."""

    SOUND = "sound"
    MENDED = "mended"
    """The published entry is wrong; the erratum corrects it."""
    AMBIGUOUS = "ambiguous"
    """Ambiguous: several interpretations are right."""
    WITHDRAWN = "withdrawn"
    """No verdict is possible; scores exclude the entry."""


@dataclass(frozen=True)
class Erratum(StrictRecord):
    """Judgement and corrections of an entry."""

    id: str
    """Id of the entry."""
    judgement: Assessment
    reason: str
    """Explanation for people."""
    evidence: str
    """Executed calls or other checks, and their results."""
    published: str
    """Fingerprint of the published entry."""
    ground_truth: Turns = field(default_factory=dict)
    """Corrected ground truth."""
    alternatives: tuple[Turns, ...] = ()
    """Alternative ground truths of single turns."""
    wording: Mapping[int, str] = field(default_factory=dict)
    """Maps turn indices to corrected messages of the user."""
    config: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Corrected fields of the initial config, for each backend."""
    answers: tuple[Answers, ...] = ()
    """Corrected parameters of the calls that a single-turn request expects."""

    @property
    def asks_otherwise(self) -> bool:
        """Whether the request is corrected; answers to the published request are then invalid."""
        return bool(self.wording or self.config)

    @property
    def paths(self) -> tuple[Turns, ...]:
        """The corrected ground truth first, then the alternative ground truths."""
        return (self.ground_truth, *self.alternatives)
