"""Tree search in a run: the model can undo steps or start again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from runner.extension import JsonObject, RunFeature
from runner.live.live_run import RunInputs
from runner.records.json_codec import members_of, read


class SearchSettings(NamedTuple):
    """Settings of a search in the run definition."""

    children: int
    """Maximum branches per step; 1 is ReAct."""
    max_calls: int
    """Maximum requests per entry."""
    max_nodes: int
    """Maximum steps per entry."""
    finish: bool
    """Whether the model is offered the function ``finish``."""
    repeat: int | None
    """Maximum episodes per entry of ReAct@N; None without ReAct@N."""
    texts_sha256: str
    """Hash of the texts that a search adds to the conversation."""


@dataclass(frozen=True)
class SearchFeature(RunFeature):
    """A tree search."""

    extension = "search"
    flag = "search"
    has_siblings = True
    reference: SearchSettings

    @property
    def repeats_entries(self) -> bool:
        """Whether an entry is played again until an episode passes."""
        return self.reference.repeat is not None

    def definition(self) -> JsonObject:
        """Return the settings of the search."""
        return {"search": members_of(self.reference)}


def reference_of(plan: RunInputs) -> SearchSettings:
    """Return the search settings of a plan."""
    feature = plan.feature(SearchFeature)
    assert feature is not None
    return feature.reference


def recorded(definition: JsonObject, where: str) -> SearchFeature:
    """Return the search feature of a recorded run.

    Raises DataError if the definition is invalid.
    """
    return SearchFeature(read(SearchSettings, definition.get("search"), where))
