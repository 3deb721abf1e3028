"""Registration of the extension ``formats``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from envs.lazy_modules import lazy_module
from runner.extension import Extension, JsonObject, RunFeature

if TYPE_CHECKING:
    from extensions.formats import feature, variants
    from runner.commands.variant_types import VariantSet
    from runner.live.live_run import RunInputs
    from runner.live.run_settings import Settings
    from trajectories.schema import Trajectory
else:
    feature = lazy_module("extensions.formats.feature")
    variants = lazy_module("extensions.formats.variants")


class FormatsExtension(Extension):
    """Extension with calling formats and prompt formats of model families."""

    name = "formats"

    def options(self, command: str) -> type | None:
        """Return the format options of ``eval`` and ``search``."""
        kinds = {"eval": feature.FormatOptions, "search": feature.CallingFormatOption}
        return kinds.get(command)

    def features(self, options: Any, own: Any, settings: Settings) -> Sequence[RunFeature]:
        """Return the feature that applies the calling format in the options."""
        if own.calling_format is None:
            return ()
        found: Settings = feature.with_calling_format(settings, own.calling_format)
        return found.features[len(settings.features) :]

    def makes_variants(self, own: Any) -> bool:
        """Tell whether the options select several formats."""
        return own.calling_formats is not None or own.formats is not None

    def variants(
        self, options: Any, own: Any, plan: RunInputs, trajectories: Sequence[Trajectory]
    ) -> VariantSet | None:
        """Return one run for each format."""
        found: VariantSet | None = None
        if own.calling_formats is not None:
            found = variants.variants_in_calling_formats(own.calling_formats, plan, trajectories)
        elif own.formats is not None:
            found = variants.variants_in_formats(own.formats, plan, trajectories)
        return found

    def recorded(self, definition: JsonObject, where: str) -> RunFeature:
        """Return the feature that applies the format of a recorded run."""
        return feature.RecordedFormat.of(definition, where)


EXTENSION = FormatsExtension()
