"""What extensions change in the runs of ``turnwise eval``, live or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from runner.extension import RunFeature
from runner.records.record import EpisodeRecord
from trajectories.dataset import Dataset
from trajectories.schema import Trajectory


def narrowed(
    features: Sequence[RunFeature], dataset: Dataset, ids: Sequence[str], folder: Path | None
) -> tuple[Dataset, list[RunFeature]]:
    """Return a data set whose entries offer what features choose, and the features for it.

    Args:
        features: What extensions change.
        dataset: The data.
        ids: The entries that are run.
        folder: BFCL's data folder, where the model is shown its documents; None for ours.

    Raises:
        DataError: What a feature needs is missing.
    """
    made = []
    for feature in features:
        dataset, found = feature.narrowed(dataset, ids, folder)
        made.append(found)
    return dataset, made


def feature_lines(
    features: Sequence[RunFeature],
    dataset: Dataset,
    asked: Sequence[Trajectory],
    records: Sequence[EpisodeRecord],
) -> Iterator[str]:
    """Yield what is printed of features below the score."""
    for feature in features:
        yield from feature.lines(dataset, [each.id for each in asked], records)
