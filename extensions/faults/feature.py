"""Faults and drift as a run feature; both affect only the model's session."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from envs.calls import Call
from envs.errors import DataError, MalformedCall
from envs.results import Result
from envs.session import Session
from extensions.experiments.axes import Levels
from extensions.experiments.scripted_client import ScriptedModel
from extensions.faults.drift import DRIFTS, Drift
from extensions.faults.drifted_documents import DocumentReader, drift_toolbox
from extensions.faults.faults import KINDS, FaultsAndDrift, FaultSettings, find_kind
from runner.commands.options import option
from runner.extension import JsonObject, RunFeature
from runner.live.live_run import RunInputs
from runner.live.run_settings import Settings
from runner.models.conversation import ConversationSettings, Observe
from runner.models.model_types import Model
from runner.records.episode_record import EpisodeRecord, ExtensionData
from trajectories.dataset import Dataset

ALL_KINDS = (*KINDS, "final", *DRIFTS)


@dataclass(frozen=True, kw_only=True)
class FaultOptions:
    """Faults of functions."""

    faults: str | None = option(
        "make random calls fail (kinds: timeout, refusal, partial, stale)",
        "rate=R,kinds=K|K,seed=S",
    )
    drift: str | None = option(
        "change functions: rename, new-parameter or deprecated; documents=old shows the old "
        "documents",
        "K|K,share=S",
    )


@dataclass(frozen=True, kw_only=True)
class PairedFaultOptions(FaultOptions):
    """Faults of functions, with or without a comparison run."""

    unpaired: bool = option("leave out the comparison run, which has no faults or drift")


class InjectedFault(NamedTuple):
    """One injected fault, or one recorded call that a function's change has affected."""

    turn: int
    step: int
    """Index of the step in the record."""
    call: str
    kind: str


@dataclass(frozen=True)
class InjectedFaults(ExtensionData):
    """Faults of one episode, and the settings of faults and drift."""

    disturbances: FaultsAndDrift
    injected: Sequence[InjectedFault]

    def to_json(self) -> JsonObject:
        """Return the JSON form."""
        injected = [each._asdict() for each in self.injected]
        return {**write_disturbances(self.disturbances), "injected": injected}

    @classmethod
    def from_json(cls, member: Mapping[str, Any], where: str) -> Self:
        """Read the JSON form. Raises DataError if the JSON form is invalid."""
        try:
            injected = [InjectedFault(**each) for each in member["injected"]]
        except (KeyError, TypeError):
            raise DataError(where, "$.extensions.faults: has no list of faults") from None
        return cls(read_disturbances(member, where), injected)

    def verdict_members(self, verdict: object) -> JsonObject:
        """Return the faults as fields of a verdict line."""
        return {"faults": [f"{each.kind}: {each.call}" for each in self.injected]}


def read_disturbances(member: Mapping[str, Any], where: str) -> FaultsAndDrift:
    """Read the definition of faults and drift.

    Raises DataError if the definition is invalid.
    """
    faults, drift = member.get("faults"), member.get("drift")
    is_option = where == "--faults"
    return FaultsAndDrift(
        FaultSettings(0.0) if faults is None else FaultSettings.read(str(faults), where),
        Drift() if drift is None else Drift.read(str(drift), "--drift" if is_option else where),
    )


def write_disturbances(disturbances: FaultsAndDrift) -> dict[str, str]:
    """Return the definition as strings that ``read_disturbances`` can parse."""
    drift = {"drift": str(disturbances.drift)} if disturbances.drift.kinds else {}
    return {"faults": str(disturbances.faults), **drift}


@dataclass(frozen=True)
class FaultsFeature(RunFeature):
    """Run feature that injects faults and changes functions."""

    extension = "faults"
    flag = "--faults"
    disturbances: FaultsAndDrift

    def definition(self) -> JsonObject:
        """Return the settings of faults and drift."""
        return write_disturbances(self.disturbances)

    def style(self, style: ConversationSettings, settings: Settings) -> ConversationSettings:
        """Add faults to a conversation's session, and drift to the function documents."""
        drift = self.disturbances.drift
        if drift.kinds and not drift.has_old_documents:
            style = style._replace(toolbox=drift_toolbox(style.toolbox, drift))
        return style._replace(session=self.disturbances.wrap)

    def observe(self, observe: Observe | None) -> Observe | None:
        """Return a function that renders results, with a notice if the function is deprecated."""
        drift = self.disturbances.drift
        if "deprecated" not in drift.kinds:
            return observe

        def show(
            session: Session, call: Call | MalformedCall, result: Result, words: str
        ) -> str | None:
            text = observe(session, call, result, words) if observe else None
            if not isinstance(call, Call) or call.name not in session.tools or not result.ok:
                return text
            if drift.draw(call.name) != "deprecated":
                return text
            text = result.text if text is None else text
            return _add_notice(text, str(drift.tell(call.name)))

        return show

    def model(self, plan: RunInputs) -> Model | None:
        """Return a scripted model, which trusts all results and never repeats a call."""
        drift, made = self.disturbances.drift, ScriptedModel(plan, Levels({}))
        return made if drift.has_old_documents else DocumentReader(made, drift)

    def kept(self, record: EpisodeRecord) -> ExtensionData | None:
        """Return the faults of an episode."""
        injected = [
            InjectedFault(step.turn, number, call, kind)
            for number, step in enumerate(record.steps)
            for call, result in zip(step.calls, step.results, strict=False)
            if (kind := self._find_kind(call, result))
        ]
        return InjectedFaults(self.disturbances, injected)

    def _find_kind(self, call: str, result: str) -> str | None:
        faults, drift = self.disturbances
        return drift.find_kind(call, result) or (find_kind(result) if faults.rate else None)

    def lines(
        self, dataset: Dataset, ids: Sequence[str], records: Sequence[EpisodeRecord]
    ) -> Iterator[str]:
        """Yield a line with the number of faults of each kind."""
        counted = count_injected(records)
        how = ", ".join(f"{name} {text}" for name, text in self.definition().items())
        yield f"injected faults ({how}): {counted or 'none'}"


def count_injected(records: Sequence[EpisodeRecord]) -> str:
    """Describe how many faults of each kind the records contain."""
    kinds = Counter(
        fault.kind
        for each in records
        if "faults" in each.extensions
        for fault in each.extensions["faults"].injected
    )
    return ", ".join(f"{kind} {kinds[kind]}" for kind in ALL_KINDS if kinds[kind])


def _add_notice(text: str, notice: str) -> str:
    if text.startswith("{") and text.endswith("}"):
        comma = ", " if len(text) > len("{}") else ""
        return f'{text[:-1]}{comma}"notice": {json.dumps(notice)}}}'
    return f"{text}\n{notice}"
