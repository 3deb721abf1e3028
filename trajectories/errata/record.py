"""One erratum as a record: the judgement of an entry, its reason, and how the entry is read then.

It holds for the entry as it was when it was judged, which a hash tells. What was published is not
repeated but named: ``#2.0`` is the first ground-truth call of the third turn, and ``#2.0 ~ 2023 ~
2026`` the same with another text in it. Among the answers of a single turn, ``#question`` is what
was allowed for that parameter, and null takes a parameter away.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from trajectories.schema import Strict

Turns = Mapping[int, tuple[str, ...]]
"""Index of a turn, from 0, to its ground truth; the other turns keep theirs."""

Answers = tuple[Mapping[str, Mapping[str, Sequence[Any] | str | None]], ...]
"""Per answer a function, and by parameter what is allowed; the others keep what they have."""


NAMED_CALL = re.compile(r"#(?P<turn>\d+)\.(?P<call>\d+)(?P<changes>(?: ~ [^~]+ ~ [^~]*)*)")
"""How a published call is named, and what of it is another text."""


class Assessment(StrEnum):
    """What an entry was found to be."""

    SOUND = "sound"
    """It is right as published, however many fail it."""
    MENDED = "mended"
    """It is wrong as published, and read otherwise."""
    AMBIGUOUS = "ambiguous"
    """It may be understood in several ways, each of which is right."""
    WITHDRAWN = "withdrawn"
    """It cannot be judged by anything: it leaves the denominator."""


@dataclass(frozen=True)
class Erratum(Strict):
    """The judgement of an entry.

    Attributes:
        id: The entry's.
        judgement: What it was found to be.
        reason: Why, for people.
        evidence: What was executed or looked up, and what it gave.
        published: The entry's ``fingerprint`` when it was judged.
        ground_truth: What is right in place of what was published.
        alternatives: What is right besides, each for the turns that it names; those that name no
            turn in common may be taken together.
        wording: Index of a turn to what the user says in place of what was published.
        config: By backend, the members of its initial config that are other ones.
        answers: Of a single turn: by reading the answers that are right, one per published one,
            with the parameters that are other ones.
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
        """Whether it has to be asked anew: an answer to what was published does not count."""
        return bool(self.wording or self.config)

    @property
    def paths(self) -> tuple[Turns, ...]:
        """The calls of all turns that it names, path by path."""
        return (self.ground_truth, *self.alternatives)
