"""What this extension registers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from envs.lazy import lazily
from runner.extension import Command, Extension, JsonObject, RunFeature

if TYPE_CHECKING:
    from extensions.experiments import eval_vary, feature, vary
    from runner.commands import options
    from runner.commands.variants import Variants
    from runner.live.campaign import Plan
    from trajectories.schema import Trajectory
else:
    eval_vary = lazily("extensions.experiments.eval_vary")
    feature = lazily("extensions.experiments.feature")
    options = lazily("runner.commands.options")
    vary = lazily("extensions.experiments.vary")


class ExperimentsExtension(Extension):
    """Varies the list of functions that a model is offered."""

    name = "experiments"
    commands = {
        "vary": Command(
            "experiments",
            "Show experiments on the list of functions, with curves.",
            f"{__package__}.commands.vary",
        ),
        "dataset vary": Command(
            "data authoring",
            "Write entries that offer another number of functions.",
            f"{__package__}.commands.dataset_vary",
        ),
    }

    def options(self, command: str) -> type | None:
        """Return the options on experiments of ``eval``."""
        return feature.VaryOptions if command == "eval" else None

    def makes_variants(self, own: Any) -> bool:
        """Tell whether axes are named."""
        return bool(own.vary)

    def variants(
        self, options: Any, own: Any, plan: Plan, trajectories: Sequence[Trajectory]
    ) -> Variants | None:
        """Return a run for each level of the axes."""
        if not own.vary:
            return None
        found: Variants = eval_vary.vary_variants(options, own, plan, trajectories)
        return found

    def recorded(self, definition: JsonObject, where: str) -> RunFeature:
        """Return the levels of a run."""
        levels = vary.Levels.from_json(definition.get("vary") or {}, where)
        found: RunFeature = feature.VaryFeature(levels)
        return found


EXTENSION = ExperimentsExtension()
