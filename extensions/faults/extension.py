"""Registration of the extension ``faults``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from envs.lazy_modules import lazy_module
from runner.extension import Extension, JsonObject, RunFeature

if TYPE_CHECKING:
    from envs.session import Session
    from extensions.faults import faults, feature, variants
    from runner.commands.variant_types import VariantSet
    from runner.live.live_run import RunInputs
    from runner.live.run_settings import Settings
    from runner.records.episode_record import EpisodeRecord, ExtensionData
    from trajectories.schema import Trajectory
else:
    faults = lazy_module("extensions.faults.faults")
    feature = lazy_module("extensions.faults.feature")
    variants = lazy_module("extensions.faults.variants")


class FaultsExtension(Extension):
    """Extension that injects faults into functions and changes functions."""

    name = "faults"

    def options(self, command: str) -> type | None:
        """Return the fault options of ``eval`` and ``env serve``."""
        if command == "eval":
            return feature.PairedFaultOptions
        return feature.FaultOptions if command == "env serve" else None

    def features(self, options: Any, own: Any, settings: Settings) -> Sequence[RunFeature]:
        """Return the run feature if the options select faults or drift."""
        found = _disturbances(own)
        return (
            [feature.FaultsFeature(found)] if _is_on(found) and not self.makes_variants(own) else []
        )

    def makes_variants(self, own: Any) -> bool:
        """Tell whether the options also ask for a run without faults."""
        is_paired = isinstance(own, feature.PairedFaultOptions) and not own.unpaired
        return is_paired and _is_on(_disturbances(own))

    def variants(
        self, options: Any, own: Any, plan: RunInputs, trajectories: Sequence[Trajectory]
    ) -> VariantSet | None:
        """Return two variants: a run without faults and drift, and a run with both."""
        if not self.makes_variants(own):
            return None
        return variants.make_variants(_disturbances(own), plan, trajectories)

    def recorded(self, definition: JsonObject, where: str) -> RunFeature:
        """Return the run feature that applies the faults and the drift of a recorded run."""
        return feature.FaultsFeature(feature.read_disturbances(definition, where))

    def episode(self, member: JsonObject, where: str) -> ExtensionData:
        """Return the faults of an episode."""
        return feature.InjectedFaults.from_json(member, where)

    def replayed(self, template: Session, record: EpisodeRecord) -> Session:
        """Return a session with the faults and the drift of an episode."""
        wrapped: Session = record.extensions[self.name].disturbances.wrap(template, record.id)
        return wrapped


def _disturbances(own: Any) -> faults.FaultsAndDrift:
    given = {"faults": own.faults, "drift": own.drift}
    return feature.read_disturbances(given, "--faults")


def _is_on(found: faults.FaultsAndDrift) -> bool:
    return bool(found.faults.rate or found.drift.kinds)


EXTENSION = FaultsExtension()
