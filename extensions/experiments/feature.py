"""Run feature of experiments, which varies the functions that the model is offered."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from extensions.experiments.arrangement import arrange_toolbox
from extensions.experiments.axes import Levels, vary_recorded_dataset
from extensions.experiments.scripted_client import ScriptedModel
from runner.commands.options import index, option
from runner.extension import JsonObject, RunFeature
from runner.live.live_run import RunInputs
from runner.models.model_types import Model
from runner.models.toolbox import FunctionNotes, Toolbox
from trajectories.dataset import Dataset
from trajectories.schema import Trajectory


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class VaryOptions:
    """Experiments."""

    vary: tuple[str, ...] = option(
        "one run per level, such as tools=10,all; repeatable",
        "AXIS=LEVELS",
        default=(),
        excludes=("--retrieve",),
    )
    vary_seed: int = option("seed of random draws", "S", default=0, read=index, needs="--vary")
    design: Literal["full", "latin"] | None = option(
        "how to combine axes (default: each run varies only one axis)", needs="--vary"
    )


@dataclass(frozen=True)
class VaryFeature(RunFeature):
    """Run feature with one level of each axis of an experiment."""

    extension = "experiments"
    flag = "--vary"
    is_offline = True
    levels: Levels

    def definition(self) -> JsonObject:
        """Return the levels."""
        return {"vary": self.levels.to_json()}

    def toolbox(
        self, trajectory: Trajectory, folder: Path | None, notes: FunctionNotes, trial: int
    ) -> Toolbox | None:
        """Return the functions; the levels determine their order, names and descriptions."""
        how = self.levels.arrangement
        if how is None:
            return None
        seed = trial if how.order == "shuffled" else 0
        return arrange_toolbox(trajectory, folder, notes, how, seed)

    def model(self, plan: RunInputs) -> Model | None:
        """Return a scripted model that replays the ground truth."""
        return ScriptedModel(plan, self.levels)

    def restored(self, dataset: Dataset, ids: Collection[str]) -> Dataset:
        """Apply the run's levels to the data set.

        Raises DataError if a level names a file that cannot be read.
        """
        return vary_recorded_dataset(dataset, self.levels)
