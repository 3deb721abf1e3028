"""Registration of the extension ``worlds``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from envs.lazy_modules import lazy_module
from runner.extension import Extension

if TYPE_CHECKING:
    from trajectories import dataset
    from trajectories.dataset import Dataset
    from trajectories.schema import Category
else:
    dataset = lazy_module("trajectories.dataset")

NAME = "worlds"
"""Name of the extension and of its data set."""


class WorldsExtension(Extension):
    """Extension with four worlds in which time passes and events happen."""

    name = NAME

    def dataset(self, name: str, categories: Sequence[Category]) -> Dataset | None:
        """Load this extension's data set, which contains entries of four worlds."""
        if name != NAME:
            return None
        found = dataset.load_path(Path(__file__).with_name("data"), categories)
        return replace(found, name=NAME)


EXTENSION = WorldsExtension()
