"""Registration of the extension ``experiments``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from envs.lazy_modules import lazy_module
from runner.extension import Command, Extension, JsonObject, RunFeature

if TYPE_CHECKING:
    from extensions.experiments import axes, feature, variants
    from runner.commands import options
    from runner.commands.variant_types import VariantSet
    from runner.live.live_run import RunInputs
    from trajectories.schema import Trajectory
else:
    variants = lazy_module("extensions.experiments.variants")
    feature = lazy_module("extensions.experiments.feature")
    options = lazy_module("runner.commands.options")
    axes = lazy_module("extensions.experiments.axes")

_COMMANDS = f"{__package__}.commands"


class ExperimentsExtension(Extension):
    """Extension that varies the functions that a model is offered."""

    name = "experiments"
    commands = {
        "vary": Command(
            "experiments",
            "Show the results of eval --vary as tables and curves.",
            f"{_COMMANDS}.vary",
        ),
        "dataset vary": Command(
            "data authoring",
            "Write entries with more or fewer functions.",
            f"{_COMMANDS}.dataset_vary",
        ),
    }

    def options(self, command: str) -> type | None:
        """Return the options of ``eval`` for experiments."""
        return feature.VaryOptions if command == "eval" else None

    def makes_variants(self, own: Any) -> bool:
        """Tell whether the options name axes."""
        return bool(own.vary)

    def variants(
        self, options: Any, own: Any, plan: RunInputs, trajectories: Sequence[Trajectory]
    ) -> VariantSet | None:
        """Return the planned runs, one for each combination of levels that the options select."""
        if not own.vary:
            return None
        return variants.make_vary_variants(options, own, plan, trajectories)

    def recorded(self, definition: JsonObject, where: str) -> RunFeature:
        """Return the feature that restores the levels of a recorded run."""
        levels = axes.Levels.from_json(definition.get("vary") or {}, where)
        return feature.VaryFeature(levels)


EXTENSION = ExperimentsExtension()
