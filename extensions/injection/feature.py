"""Attacks and defences in a run of ``turnwise eval``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

from envs.errors import DataError, require_type
from extensions.injection import planting
from extensions.injection.attack_families import check_family
from extensions.injection.defences import DEFENCES, Defences
from extensions.injection.dojo import entries
from runner.commands.options import option, switch
from runner.extension import JsonObject, RunFeature
from runner.models.conversation import Observe
from runner.records.recorded_run import Run
from trajectories.dataset import Dataset
from trajectories.schema import Trajectory


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AttackOptions:
    """Prompt injection."""

    attack: str | None = option(
        "attack that plants an instruction in texts of the data (agentdojo has its own attacks)",
        "FAMILY[:SEED]",
    )
    defence: str | None = option(
        f"defences, separated by commas: {', '.join(DEFENCES)}, or your own",
        "NAME|MODULE:FUNCTION",
    )

    controls: bool = switch(
        "also run two controls of each entry: without the attack, and with a harmless text",
        needs="--attack",
    )

    @property
    def feature(self) -> InjectionFeature | None:
        """The attack and the defences, if given. Raises DataError if a defence does not exist."""
        if self.attack is None and self.defence is None:
            return None
        return InjectionFeature(
            self.attack,
            None if self.defence is None else Defences.named(self.defence),
            self.controls,
        )


def attacked(
    dataset: Dataset, attack: str, *, controls: bool = False, ids: Collection[str] | None = None
) -> Dataset:
    """Return a data set of attacked entries; ``controls`` adds entries without an attack.

    The result contains at least the entries in ``ids`` (default: all entries).

    Raises DataError if the attack does not exist.
    """
    is_dojo = dataset.name.partition(":")[0] == entries.NAME
    dojo = entries.load(dataset.name, attack) if is_dojo else None
    found = _planted(dataset, attack, ids) if dojo is None else dict(dojo.trajectories)
    if controls and dojo is not None:
        found |= dataset.trajectories
    elif controls:
        # The controls follow their attack, so that --limit keeps both.
        groups = [(each, *planting.make_controls(each)) for each in found.values()]
        found = {each.id: each for group in groups for each in group}
    # The hash covers only the plain data, because the run's definition also contains the attack.
    return replace(dataset, trajectories=found)


def _planted(dataset: Dataset, attack: str, ids: Collection[str] | None) -> dict[str, Trajectory]:
    family, _, seed = attack.partition(":")
    check_family(family, "--attack")
    if seed and not seed.isdecimal():
        raise DataError("--attack", f"the seed must be a number of at least 0, but is {seed!r:.80}")
    several = [each for each in dataset.trajectories.values() if not each.expects]
    if ids is not None:
        # The id of an attacked entry is the id of its plain entry, "~" and the attack.
        wanted = {each for id in ids for each in accumulate(id.split("~"), "{}~{}".format)}
        several = [each for each in several if each.id in wanted]
    made = (planting.make_attack(dataset, each, family, int(seed or 0)) for each in several)
    found = {each.id: each for each in made if each is not None}
    if not found and ids is None:
        raise DataError("--attack", f"no entry of {dataset.name} shows texts by third parties")
    return found


@dataclass(frozen=True)
class InjectionFeature(RunFeature):
    """A run feature that plants instructions and applies defences."""

    extension = "injection"
    is_offline = True
    attack: str | None
    defences: Defences | None = None
    controls: bool = False

    @property
    def flag(self) -> str:  # type: ignore[override]
        """Option that enables the feature."""
        return "--attack" if self.defences is None else "--defence"

    def definition(self) -> JsonObject:
        """Return the attack and the names of the defences."""
        attack = {} if self.attack is None else {"attack": self.attack}
        defences = {"defences": [*self.defences.names]} if self.defences else {}
        return {**attack, **defences, **({"controls": True} if self.controls else {})}

    @classmethod
    def of(cls, definition: JsonObject) -> InjectionFeature:
        """Return the feature of a run's definition. Raises DataError if a defence is missing."""
        attack, names = definition.get("attack"), definition.get("defences")
        require_type("defences", names, list, None, described="a list of names")
        defences = Defences.named(",".join(map(str, names))) if names else None
        found = None if attack is None else str(attack)
        return cls(found, defences, definition.get("controls") is True)

    def observe(self, observe: Observe | None) -> Observe | None:
        """Return a function that renders results with the defences."""
        return self.defences.observe(observe) if self.defences else observe

    def narrowed(
        self, dataset: Dataset, ids: Sequence[str], folder: Path | None
    ) -> tuple[Dataset, RunFeature]:
        """Return a data set with the policies of the defences.

        The data set lacks the functions that the defences remove.
        """
        if self.defences is None:
            return dataset, self
        return self.defences.with_policies(self.defences.with_offers(dataset)), self

    def restored(self, dataset: Dataset, ids: Collection[str]) -> Dataset:
        """Return the data set with the attacks and the defence policies of the recorded run."""
        found = (
            dataset
            if self.attack is None
            else attacked(dataset, self.attack, controls=self.controls, ids=ids)
        )
        return self.defences.with_policies(found) if self.defences else found

    def restored_offers(
        self, run: Run, dataset: Dataset, notify: Callable[[str], object]
    ) -> Dataset:
        """Return the data set after the defences have removed functions."""
        return self.defences.with_offers(dataset) if self.defences else dataset
