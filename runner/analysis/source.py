"""Which data a recorded run is of, and how it has changed."""

from __future__ import annotations

from runner.data import choose
from runner.data.choose import Notify
from runner.records import result_file
from runner.records.run import Run
from trajectories.dataset import Dataset


def dataset_of(run: Run, name: str | None, notify: Notify) -> Dataset:
    """Load the data set that a run is of.

    Args:
        run: The run.
        name: What the user says that it is of; by default the run says so, or its ids do.
        notify: Told when the data is not what it was when the run was made.

    Raises:
        DataError: The data cannot be loaded.
    """
    if run.definition is None:
        named = any(map(result_file.category_of, run.ids))
        wanted = result_file.categories_of(run.ids)
        name = name or ("bfcl" if named else None)
    else:
        then = run.definition.dataset.name
        name = name or (None if then == "turnwise" else then)
        wanted = choose.categories(run.definition.selection.category, name)
    dataset = choose.dataset(name, wanted, notify)
    change = data_change(run, dataset)
    if change is not None:
        notify(f"{run.path}: {change}")
    known = dataset.trajectories
    choose.require_languages(known[id] for id in run.ids if id in known)
    return dataset


def data_change(run: Run, dataset: Dataset) -> str | None:
    """Say how a data set differs from the one that a run was made with, or None."""
    if run.definition is None or run.definition.dataset.sha256 == dataset.sha256:
        return None
    name, version, sha256 = run.definition.dataset
    return (
        f"the data is not what it was: {dataset.name} {dataset.version} now has sha256 "
        f"{dataset.sha256[:12]}, it was {name} {version} with {sha256[:12]}"
    )
