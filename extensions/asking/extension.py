"""Registration of the extension ``asking``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from envs.lazy_modules import lazy_module
from runner.extension import Extension

if TYPE_CHECKING:
    from extensions.asking import asking_figures, asking_kind
    from runner.analysis.figure_table import FigureRow
    from runner.episodes.entry_kinds import EntryKind
    from trajectories import dataset
    from trajectories.dataset import Dataset
    from trajectories.schema import Category, Trajectory
else:
    dataset = lazy_module("trajectories.dataset")
    asking_figures = lazy_module("extensions.asking.asking_figures")
    asking_kind = lazy_module("extensions.asking.asking_kind")


class AskingExtension(Extension):
    """Extension that judges questions for missing values."""

    name = "asking"

    def dataset(self, name: str, categories: Sequence[Category]) -> Dataset | None:
        """Load the built-in pairs of requests."""
        if name != self.name:
            return None
        return replace(dataset.load_path(Path(__file__).with_name("data"), categories), name=name)

    def entry_kind(self, trajectory: Trajectory) -> EntryKind | None:
        """Return the entry kind if the entry's request lacks a value, else None."""
        return asking_kind.ASKING if self.name in trajectory.extensions else None

    def figures(self) -> Sequence[FigureRow]:
        """Return the table row for questions that mention the missing value."""
        return asking_figures.FIGURES


EXTENSION = AskingExtension()
