"""Experiments in a run: the list of functions that a model is offered is varied."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from extensions.experiments.arranging import arranged_toolbox
from extensions.experiments.scripted_model import ScriptedModel
from extensions.experiments.vary import Levels, varied_for
from runner.commands.options import index, option
from runner.extension import JsonObject, RunFeature
from runner.live.campaign import Plan
from runner.models.base import Model
from runner.models.tools import Footnotes, Toolbox
from trajectories.dataset import Dataset
from trajectories.schema import Trajectory


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class VaryOptions:
    """Experiments on the list of functions."""

    vary: tuple[str, ...] = option(
        "one run per level, such as tools=10,all",
        "AXIS=LEVELS",
        default=(),
        excludes=("--retrieve",),
    )
    vary_seed: int = option("seed of random draws", "S", default=0, read=index, needs="--vary")
    design: Literal["full", "latin"] | None = option(
        "combine axes (default: each axis alone)",
        needs="--vary",
    )


@dataclass(frozen=True)
class VaryFeature(RunFeature):
    """Offers functions at one level of each axis of an experiment."""

    extension = "experiments"
    flag = "--vary"
    is_offline = True
    levels: Levels

    def definition(self) -> JsonObject:
        """Return the levels."""
        return {"vary": self.levels.to_json()}

    def toolbox(
        self, trajectory: Trajectory, folder: Path | None, notes: Footnotes, trial: int
    ) -> Toolbox | None:
        """Return the functions in the order, and with the names and words, of the levels."""
        how = self.levels.arrangement
        if how is None:
            return None
        return arranged_toolbox(
            trajectory, folder, notes, how, trial if how.order == "shuffled" else 0
        )

    def model(self, plan: Plan) -> Model | None:
        """Return a model that knows the ground truth, asked as live ones are."""
        return ScriptedModel(plan, self.levels)

    def restored(self, dataset: Dataset) -> Dataset:
        """Return the entries at the run's levels.

        Raises:
            DataError: A file that the levels name cannot be read.
        """
        return varied_for(dataset, self.levels)
