"""What this extension registers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from envs.lazy import lazily
from runner.extension import Extension, JsonObject, RunFeature

if TYPE_CHECKING:
    from extensions.formats import feature, variants
    from runner.commands.variants import Variants
    from runner.live.campaign import Plan
    from runner.live.settings import Settings
    from trajectories.schema import Trajectory
else:
    feature = lazily("extensions.formats.feature")
    variants = lazily("extensions.formats.variants")


class FormatsExtension(Extension):
    """Shows functions to a model and reads its calls in the formats of other model families."""

    name = "formats"

    def options(self, command: str) -> type | None:
        """Return the options on formats of ``eval`` and ``search``."""
        kinds = {"eval": feature.FormatOptions, "search": feature.ProtocolOption}
        return kinds.get(command)

    def features(self, options: Any, own: Any, settings: Settings) -> Sequence[RunFeature]:
        """Return the protocol that is asked for."""
        if own.protocol is None:
            return ()
        found: Settings = feature.in_protocol(settings, own.protocol)
        return found.features[len(settings.features) :]

    def makes_variants(self, own: Any) -> bool:
        """Tell whether several formats are asked for."""
        return own.protocols is not None or own.formats is not None

    def variants(
        self, options: Any, own: Any, plan: Plan, trajectories: Sequence[Trajectory]
    ) -> Variants | None:
        """Return a run in each of the formats."""
        found: Variants | None = None
        if own.protocols is not None:
            found = variants.variants_in_protocols(own.protocols, plan, trajectories)
        elif own.formats is not None:
            found = variants.variants_in_formats(own.formats, plan, trajectories)
        return found

    def recorded(self, definition: JsonObject, where: str) -> RunFeature:
        """Return the format of a run."""
        found: RunFeature = feature.RecordedFormat.of(definition, where)
        return found


EXTENSION = FormatsExtension()
