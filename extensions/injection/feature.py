"""Attacks in a run of ``turnwise eval``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from extensions.injection.dojo import entries
from runner.commands.options import option
from runner.extension import JsonObject, RunFeature
from trajectories.dataset import Dataset
from trajectories.errors import DataError


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AttackOptions:
    """Prompt injection."""

    attack: str | None = option(
        "attack of AgentDojo, such as direct",
        "NAME",
    )


def attacked(dataset: Dataset, attack: str) -> Dataset:
    """Return the attacked entries of a data set.

    Raises DataError if the attack does not exist.
    """
    found = entries.load(dataset.name, attack)
    if found is None:
        raise DataError("--attack", f"{dataset.name} has no attacks")
    # The hash stays that of the plain data: the run's definition has the attack beside it.
    return replace(dataset, trajectories=found.trajectories)


@dataclass(frozen=True)
class AttackFeature(RunFeature):
    """Entries with planted instructions."""

    extension = "injection"
    flag = "--attack"
    is_offline = True
    attack: str

    def definition(self) -> JsonObject:
        """Return the attack."""
        return {"attack": self.attack}

    def restored(self, dataset: Dataset) -> Dataset:
        """Return the attacked entries of a recorded run's data set."""
        return attacked(dataset, self.attack)
