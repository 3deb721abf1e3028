"""Search in a run: the model may go back on steps, or begin again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from runner.extension import JsonObject, RunFeature
from runner.live.campaign import Plan
from runner.records.codec import members_of, read


class SearchReference(NamedTuple):
    """How a model was to search, where it might go back on steps or begin again."""

    children: int
    """Steps tried at one point; 1 is ReAct."""
    max_calls: int
    """Requests for an entry."""
    max_nodes: int
    """Steps for an entry."""
    finish: bool
    """Whether there was a function to end a turn by."""
    repeat: int | None
    """Attempts at an entry, at most, at the budget of the run with undo; null for one."""
    texts_sha256: str
    """Hash of what a search adds to the conversation, in hex."""


@dataclass(frozen=True)
class SearchFeature(RunFeature):
    """Has the model search."""

    extension = "search"
    flag = "search"
    has_siblings = True
    reference: SearchReference

    @property
    def repeats_entries(self) -> bool:
        """Whether an entry is run until it passes."""
        return self.reference.repeat is not None

    def definition(self) -> JsonObject:
        """Return how the model searches."""
        return {"search": members_of(self.reference)}


def reference_of(plan: Plan) -> SearchReference:
    """Return how the model of a plan searches."""
    feature = plan.feature(SearchFeature)
    assert feature is not None
    return feature.reference


def recorded(definition: JsonObject, where: str) -> SearchFeature:
    """Return how the model of a run searched.

    Raises:
        DataError: The definition does not say it.
    """
    return SearchFeature(read(SearchReference, definition.get("search"), where))
