"""What the package registers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from turnwise.envs.errors import DataError
from turnwise.runner.analysis.figure_table import FigureRow, FigureSection
from turnwise.runner.analysis.figures import RunFigures
from turnwise.runner.commands.options import option, positive
from turnwise.runner.extension import Command, Extension, RunFeature
from turnwise.runner.live.run_settings import Settings
from turnwise.runner.records.episode_record import EpisodeRecord, ExtensionData


@dataclass(frozen=True, kw_only=True)
class VolumeOptions:
    """Number of calls."""

    volume: int | None = option("count episodes with more than N calls", "N", read=positive)


@dataclass(frozen=True)
class Volume(ExtensionData):
    """How much was called in an episode."""

    calls: int
    most: int

    def to_json(self) -> Mapping[str, Any]:
        """Return it as a JSON object."""
        return asdict(self)


@dataclass(frozen=True)
class VolumeFeature(RunFeature):
    """Counts the calls of episodes."""

    extension = "volume"
    flag = "--volume"
    is_offline = True
    most: int

    def definition(self) -> Mapping[str, Any]:
        """Return from how many calls on an episode counts."""
        return {"most": self.most}

    def kept(self, record: EpisodeRecord) -> Volume:
        """Count the calls of an episode."""
        return Volume(sum(len(step.calls) for step in record.steps or ()), self.most)


def loud_episodes(figures: RunFigures) -> float | None:
    """Return the share of episodes with more calls than the run's limit; None of no episode."""
    found = [each.extensions.get("volume") for each in figures.outcomes]
    known = [each for each in found if isinstance(each, Volume)]
    return sum(each.calls > each.most for each in known) / len(known) if known else None


class VolumeExtension(Extension):
    """Shows how much a model calls."""

    name = "volume"
    commands = {
        "volume": Command(
            "experiments", "Show how many calls episodes have.", "volume_extension.command"
        )
    }

    def options(self, command: str) -> type | None:
        """Return the option of ``eval``."""
        return VolumeOptions if command == "eval" else None

    def features(self, options: Any, own: Any, settings: Settings) -> Sequence[RunFeature]:
        """Return the count, where it is wanted."""
        return [] if own.volume is None else [VolumeFeature(own.volume)]

    def recorded(self, definition: Mapping[str, Any], where: str) -> RunFeature:
        """Return the count of a run."""
        most = definition.get("most")
        if not isinstance(most, int):
            raise DataError(where, "$.definition.extensions.volume.most: must be a number")
        return VolumeFeature(most)

    def episode(self, member: Mapping[str, Any], where: str) -> Volume:
        """Return what was kept of an episode."""
        return Volume(member["calls"], member["most"])

    def figures(self) -> Sequence[FigureRow]:
        """Return the share of loud episodes."""
        return [
            FigureRow(
                name="volume/loud",
                label="loud",
                section=FigureSection(title="Volume"),
                value=loud_episodes,
                form="share",
                phrase="volume: {label} {text}",
            )
        ]


EXTENSION = VolumeExtension()
