"""Run feature that adds checks to every episode and a policy to every conversation."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from checkers.user_checks import EpisodeCheck
from envs.errors import DataError
from extensions.checks.declared_checks import read_checks, remember
from extensions.checks.judging import NAME
from runner.analysis.figure_table import FigureRow, FigureSection
from runner.analysis.figures import RunFigures
from runner.commands.options import option
from runner.extension import JsonObject, RunFeature
from trajectories.dataset import Dataset
from trajectories.jsonl import parse_value, read_text
from trajectories.schema import Message, Trajectory

_MAX_POLICY_CHARS = 100_000


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CheckOptions:
    """Checks of your own."""

    checks: Path | None = option("also judge episodes by the checks in this file", "FILE")
    policy: Path | None = option(
        "file with the system message at the start of every conversation", "FILE"
    )

    @property
    def feature(self) -> ChecksFeature | None:
        """Feature that applies the options; None if no option is given.

        Raises DataError if a file cannot be used.
        """
        if self.checks is None and self.policy is None:
            return None
        checks: Any = []
        if self.checks is not None:
            checks = parse_value(read_text(self.checks), str(self.checks))
            read_checks(checks, f"{self.checks}: $")
        return ChecksFeature(tuple(checks), None if self.policy is None else read_text(self.policy))


@dataclass(frozen=True)
class ChecksFeature(RunFeature):
    """A run feature that adds checks and a policy to every episode."""

    extension = NAME
    flag = "--checks"
    is_offline = True
    checks: Sequence[Mapping[str, Any]]
    policy: str | None

    def definition(self) -> JsonObject:
        """Return checks and policy."""
        return {"checks": [*self.checks], "policy": self.policy}

    def narrowed(
        self, dataset: Dataset, ids: Sequence[str], folder: Path | None
    ) -> tuple[Dataset, RunFeature]:
        """Return a copy of the data set with the checks and the policy in every entry."""
        return self.restored(dataset, ids), self

    def restored(self, dataset: Dataset, ids: Collection[str]) -> Dataset:
        """Return a copy of the data set with the checks and the policy in every entry."""
        entries = {id: self._extended(entry) for id, entry in dataset.trajectories.items()}
        return replace(dataset, trajectories=entries)

    def _extended(self, entry: Trajectory) -> Trajectory:
        if self.checks:
            own = entry.extensions.get(NAME, {"checks": []})
            checks = {**own, "checks": [*own["checks"], *self.checks]}
            entry = replace(entry, extensions={**entry.extensions, NAME: checks})
        if self.policy is not None:
            first, *others = entry.turns
            messages = (Message("system", self.policy), *first.messages)
            entry = replace(entry, turns=(replace(first, messages=messages), *others))
        return entry


def feature_of(checks: Sequence[Any], policy: str | None) -> ChecksFeature:
    """Return the run feature for checks and a policy from the Python API.

    Raises DataError if a check cannot be used.
    """
    members = [
        {"python": _path(each)} if isinstance(each, EpisodeCheck) else each for each in checks
    ]
    read_checks(members, "checks")
    if policy is not None and len(policy) > _MAX_POLICY_CHARS:
        raise DataError("policy", f"is longer than {_MAX_POLICY_CHARS} characters")
    return ChecksFeature(members, policy)


def _path(own: EpisodeCheck) -> str:
    module, _, name = own.path.partition(":")
    if module == "__main__":
        # Other processes import a script under the name of its file.
        module = Path(getattr(sys.modules[module], "__file__", None) or module).stem
    path = f"{module}:{name}"
    remember(path, own)
    return path


def recorded(definition: JsonObject, where: str) -> ChecksFeature:
    """Return the feature of a recorded run. Raises DataError if the definition is invalid."""
    checks, policy = definition.get("checks"), definition.get("policy")
    if not isinstance(checks, list) or not isinstance(policy, str | None):
        raise DataError(
            where, f"$.definition.extensions.{NAME} must have the fields `checks` and `policy`"
        )
    return ChecksFeature(checks, policy)


def _credit(figures: RunFigures) -> float | None:
    verdicts = [each.verdict for each in figures.judged if each.verdict]
    shares = [share for each in verdicts if (share := each.measures.get(NAME)) is not None]
    return sum(shares) / len(shares) if shares else None


FIGURES = (
    FigureRow(
        name=NAME,
        label="checks",
        section=FigureSection(title="Checks", beside_scores=True),
        value=_credit,
        form="share",
        optional=True,
    ),
)
