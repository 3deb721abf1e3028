"""Registration of the extension ``extraction``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from envs.lazy_modules import lazy_module
from runner.extension import Extension

if TYPE_CHECKING:
    from extensions.extraction import extraction_figures, extraction_kind
    from runner.analysis.figure_table import FigureRow
    from runner.episodes.entry_kinds import EntryKind
    from trajectories import dataset
    from trajectories.dataset import Dataset
    from trajectories.schema import Category, Trajectory
else:
    dataset = lazy_module("trajectories.dataset")
    extraction_figures = lazy_module("extensions.extraction.extraction_figures")
    extraction_kind = lazy_module("extensions.extraction.extraction_kind")


class ExtractionExtension(Extension):
    """Extension for entries that ask the model to extract structured data from a text."""

    name = "extraction"

    def dataset(self, name: str, categories: Sequence[Category]) -> Dataset | None:
        """Load the data set of the extension."""
        if name != self.name:
            return None
        return replace(dataset.load_path(Path(__file__).with_name("data"), categories), name=name)

    def entry_kind(self, trajectory: Trajectory) -> EntryKind | None:
        """Return the entry kind for the extraction of data from texts."""
        if self.name not in trajectory.extensions:
            return None
        return extraction_kind.EXTRACTION

    def figures(self) -> Sequence[FigureRow]:
        """Return the score rows of extraction, such as right fields and invented fields."""
        return extraction_figures.FIGURES


EXTENSION = ExtractionExtension()
