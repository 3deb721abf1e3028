"""The run feature of imported traces, and the data that it stores in each episode record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from envs.calls import Call
from envs.errors import MalformedCall
from envs.results import Result
from envs.session import Session
from envs.state import cut
from extensions.traces.recorded_session import RecordedResult
from runner.extension import JsonObject, RunFeature
from runner.records.episode_record import ExtensionData
from runner.records.json_codec import members_of, read

if TYPE_CHECKING:
    from runner.models.conversation import Observe

TraceFormat = Literal["openai", "otel", "langsmith", "inspect", "jsonl"]

_MAX_SHOWN_CHARS = 200


class ImportSettings(NamedTuple):
    """Settings of an import in the run definition."""

    format: TraceFormat
    trust_results: bool
    """Whether a recorded result is used if the execution gives another result."""


class ResultDifference(NamedTuple):
    """A recorded result that differs from the result of the execution."""

    number: int
    """Index of the call in the session, starting at 0."""
    turn: int
    call: str
    ours: str
    theirs: str

    def __str__(self) -> str:
        """Return the difference in one line."""
        call, ours, theirs = (
            cut(text, _MAX_SHOWN_CHARS) for text in (self.call, self.ours, self.theirs)
        )
        return f"turn {self.turn + 1}, {call}: returns {ours}, recorded {theirs}"


class TraceFields(NamedTuple):
    """Trace of an imported episode."""

    source: str
    """File, line and JSON path."""
    differences: Sequence[ResultDifference] = ()
    trusted: bool = False
    """Whether recorded results were judged, even if the execution returned other results."""


class TraceOrigin(TraceFields, ExtensionData):
    """Source of an imported episode, as part of the episode's record."""


@dataclass(frozen=True)
class ImportRunFeature(RunFeature):
    """A run feature for imported traces."""

    extension = "traces"
    flag = "import"
    reference: ImportSettings

    def definition(self) -> JsonObject:
        """Return the settings of the import."""
        return members_of(self.reference)

    def observe(self, observe: Observe | None) -> Observe | None:
        """Return a function that renders all results except recorded ones."""
        if observe is None or not self.reference.trust_results:
            return observe

        def shown(
            session: Session, call: Call | MalformedCall, result: Result, words: str
        ) -> str | None:
            if isinstance(result, RecordedResult):
                return None
            return observe(session, call, result, words)

        return shown


def recorded(definition: JsonObject, where: str) -> ImportRunFeature:
    """Return the import feature of a recorded run.

    Raises DataError if the definition is invalid.
    """
    return ImportRunFeature(read(ImportSettings, definition, where))
