"""Attacks in a run of ``turnwise eval``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from extensions.injection import planting
from extensions.injection.dojo import entries
from extensions.injection.families import FAMILIES
from runner.commands.options import option
from runner.extension import JsonObject, RunFeature
from trajectories.dataset import Dataset
from trajectories.errors import DataError, suggest_name
from trajectories.schema import Trajectory


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AttackOptions:
    """Prompt injection."""

    attack: str | None = option(
        "plant an instruction in texts of the data; for agentdojo one of its attacks",
        "FAMILY[:SEED]",
    )


def attacked(dataset: Dataset, attack: str) -> Dataset:
    """Return the attacked entries of a data set.

    Raises DataError if the attack does not exist.
    """
    is_dojo = dataset.name.partition(":")[0] == entries.NAME
    dojo = entries.load(dataset.name, attack) if is_dojo else None
    found = _planted(dataset, attack) if dojo is None else dojo.trajectories
    # The hash stays that of the plain data: the run's definition has the attack beside it.
    return replace(dataset, trajectories=found)


def _planted(dataset: Dataset, attack: str) -> dict[str, Trajectory]:
    """Return the injectable entries of a data set with attacks of one family."""
    family, _, seed = attack.partition(":")
    if family not in FAMILIES:
        hint = suggest_name(family, FAMILIES) or f"; choose from {', '.join(FAMILIES)}"
        raise DataError("--attack", f"there is no family {family!r:.80}{hint}")
    if seed and not seed.isdecimal():
        raise DataError("--attack", f"the seed must be a number from 0, is {seed!r:.80}")
    several = [each for each in dataset.trajectories.values() if not each.expects]
    made = (planting.make_attack(dataset, each, family, int(seed or 0)) for each in several)
    found = {each.id: each for each in made if each is not None}
    if not found:
        raise DataError("--attack", f"no entry of {dataset.name} shows texts by third parties")
    return found


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
