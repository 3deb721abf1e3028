"""Registration of the extension ``faults``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from envs.lazy_modules import lazy_module
from runner.extension import Extension, JsonObject, RunFeature

if TYPE_CHECKING:
    from envs.session import Session
    from extensions.faults import faults, feature
    from runner.live.settings import Settings
    from runner.records.record import EpisodeRecord, ExtensionData
else:
    faults = lazy_module("extensions.faults.faults")
    feature = lazy_module("extensions.faults.feature")


class FaultsExtension(Extension):
    """Extension that injects faults into functions."""

    name = "faults"

    def options(self, command: str) -> type | None:
        """Return the fault options of ``eval``."""
        return feature.FaultOptions if command == "eval" else None

    def features(self, options: Any, own: Any, settings: Settings) -> Sequence[RunFeature]:
        """Return the run feature of the options; empty if the rate is 0."""
        if own.faults is None:
            return []
        found = faults.FaultSettings.read(own.faults)
        return [feature.FaultsFeature(found)] if found.rate else []

    def recorded(self, definition: JsonObject, where: str) -> RunFeature:
        """Return the faults of a run."""
        found = faults.FaultSettings.read(str(definition.get("faults")), where)
        made: RunFeature = feature.FaultsFeature(found)
        return made

    def episode(self, member: JsonObject, where: str) -> ExtensionData:
        """Return the faults of an episode."""
        found: ExtensionData = feature.InjectedFaults.from_json(member, where)
        return found

    def replayed(self, template: Session, record: EpisodeRecord) -> Session:
        """Return a session with the faults of an episode."""
        drawn = faults.FaultSettings.read(record.extensions[self.name].faults)
        wrapped: Session = drawn.wrap(template, record.id)
        return wrapped


EXTENSION = FaultsExtension()
