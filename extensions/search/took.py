"""What the undone answers of a search took, read without anything else of its record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from runner.analysis.figures import StepTook


class TriedTook(NamedTuple):
    """What an answer of a search took; None of one that is among the episode's steps."""

    step: StepTook | None = None


class SearchTook(NamedTuple):
    """What the answers of a search took."""

    tree: Sequence[TriedTook] = ()
