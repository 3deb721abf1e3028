"""Run feature of faults: the model's session has faults, the ground truth's session has not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from extensions.faults.faults import KINDS, FaultSettings, Kind, find_kind
from runner.commands.options import option
from runner.extension import JsonObject, RunFeature
from runner.live.settings import Settings
from runner.models.conversation import ConversationSettings
from runner.records.record import EpisodeRecord, ExtensionData
from trajectories.dataset import Dataset
from trajectories.errors import DataError


@dataclass(frozen=True, kw_only=True)
class FaultOptions:
    """Faults of functions."""

    faults: str | None = option(
        "let calls fail at random: timeout, refusal, partial or stale", "rate=R,kinds=K|K,seed=S"
    )


class InjectedFault(NamedTuple):
    """One injected fault."""

    turn: int
    step: int
    """Number of the step in the record."""
    call: str
    kind: Kind


class InjectedFaults(NamedTuple):
    """Faults of one episode, with rate, kinds and seed."""

    faults: str
    injected: Sequence[InjectedFault]
    own_functions: Sequence[str] = ()

    def to_json(self) -> JsonObject:
        """Return the JSON form."""
        return {"faults": self.faults, "injected": [each._asdict() for each in self.injected]}

    @classmethod
    def from_json(cls, member: Mapping[str, Any], where: str) -> Self:
        """Read the JSON form. Raises DataError if it is invalid."""
        try:
            injected = [InjectedFault(**each) for each in member["injected"]]
            return cls(str(FaultSettings.read(member["faults"], where)), injected)
        except (KeyError, TypeError):
            raise DataError(where, "$.extensions.faults: has no list of faults") from None

    def all_steps(self, kept: Sequence[Any]) -> Sequence[Any]:
        """Return the steps of the record."""
        return kept

    def message_of(self, step: Any) -> JsonObject | None:
        """Return None, because all steps are in the record."""
        return None

    def problems(self, record: EpisodeRecord) -> Iterator[tuple[str, str]]:
        """Yield nothing, because the faults are not compared with the record."""
        yield from ()

    def verdict_members(self, verdict: object) -> JsonObject:
        """Return the faults for the line of the verdict."""
        return {"faults": [f"{each.kind}: {each.call}" for each in self.injected]}


@dataclass(frozen=True)
class FaultsFeature(RunFeature):
    """Injected faults of functions."""

    extension = "faults"
    flag = "--faults"
    faults: FaultSettings

    def definition(self) -> JsonObject:
        """Return rate, kinds and seed."""
        return {"faults": str(self.faults)}

    def style(self, style: ConversationSettings, settings: Settings) -> ConversationSettings:
        """Return the style with the session that has faults."""
        return style._replace(session=self.faults.wrap)

    def kept(self, record: EpisodeRecord) -> ExtensionData | None:
        """Return the faults of an episode."""
        injected = [
            InjectedFault(step.turn, number, call, kind)
            for number, step in enumerate(record.steps)
            for call, result in zip(step.calls, step.results, strict=False)
            if (kind := find_kind(result))
        ]
        return InjectedFaults(str(self.faults), injected)

    def lines(
        self, dataset: Dataset, ids: Sequence[str], records: Sequence[EpisodeRecord]
    ) -> Iterator[str]:
        """Yield the number of faults by kind, and a paired count of episodes."""
        members = [each.extensions["faults"] for each in records if "faults" in each.extensions]
        injected = [fault for member in members for fault in member.injected]
        kinds = Counter(fault.kind for fault in injected)
        counted = ", ".join(f"{kind} {kinds[kind]}" for kind in KINDS if kinds[kind])
        yield f"injected faults ({self.faults}): {counted or 'none'}"
