"""Registration of the extension ``checks``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from envs.lazy_modules import lazy_module
from runner.extension import Extension, JsonObject, RunFeature

if TYPE_CHECKING:
    from extensions.checks import feature, judging
    from runner.analysis.figure_table import FigureRow
    from runner.episodes.entry_kinds import EntryKind
    from runner.live.run_settings import Settings
    from trajectories.schema import Trajectory
else:
    feature = lazy_module("extensions.checks.feature")
    judging = lazy_module("extensions.checks.judging")


class ChecksExtension(Extension):
    """Extension that judges episodes by user-written checks."""

    name = "checks"

    def options(self, command: str) -> type | None:
        """Return the options of ``eval``."""
        return feature.CheckOptions if command == "eval" else None

    def features(self, options: Any, own: Any, settings: Settings) -> Sequence[RunFeature]:
        """Return the feature that applies the checks and the policy from the options."""
        found = own.feature
        return [found] if found else []

    def judging(self, checks: Sequence[Any], policy: str | None) -> RunFeature:
        """Return the feature for checks and a policy from the Python API."""
        return feature.feature_of(checks, policy)

    def recorded(self, definition: JsonObject, where: str) -> RunFeature:
        """Return the feature that applies the checks and the policy of a recorded run."""
        return feature.recorded(definition, where)

    def entry_kind(self, trajectory: Trajectory) -> EntryKind | None:
        """Return the entry kind of an entry with checks."""
        if self.name not in trajectory.extensions:
            return None
        return judging.CheckedEntryKind(judging.EntryChecks.of(trajectory))

    def figures(self) -> Sequence[FigureRow]:
        """Return the table row for the partial credit."""
        return feature.FIGURES


EXTENSION = ChecksExtension()
