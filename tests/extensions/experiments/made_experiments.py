"""Experiments made up for tests: folders of runs whose episodes are what the test says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from checkers.verdict import SelectionCounts
from extensions.experiments.experiment_scores import RecordedAxis, VaryFile, write_vary_file
from runner.records.run_store import RunStore
from tests.runner.records.made import defining, episode

Outcomes = Sequence[tuple[bool, SelectionCounts]]
"""Of each entry whether it passed, and what was chosen."""


def experiment(
    folder: Path,
    axes: Mapping[str, Mapping[str, Outcomes]],
    *,
    model: str = "m",
    sizes: Mapping[str, int] | None = None,
    rest: Mapping[str, str] | None = None,
    design: str | None = None,
    planned: int | None = None,
) -> Path:
    """Write an experiment: by axis and level what became of the entries.

    Args:
        folder: Where.
        axes: Axis to level to outcomes; entries are called by their place.
        model: Its name.
        sizes: Level to how many functions were offered.
        rest: At which levels the other axes were.
        design: Of the experiment.
        planned: How many entries there were to be; by default as many as ended.
    """
    blocks, all_sizes = [], {}
    for axis, levels in axes.items():
        runs = {}
        for level, outcomes in levels.items():
            name = f"{axis}={level}".replace("/", "-")
            runs[level] = name
            size = (sizes or {}).get(level, 4)
            all_sizes[name] = {str(n): size for n in range(planned or len(outcomes))}
            with RunStore.create(folder / name, defining(model)) as store:
                for place, (passed, chosen) in enumerate(outcomes):
                    record = episode(str(place), 0, "base", "passed" if passed else "failed", 1, 0)
                    verdict = record.verdict._replace(selected=chosen)
                    store.append(record._replace(verdict=verdict))
        blocks.append(RecordedAxis(axis, rest or {}, runs))
    ids = {id for of_run in all_sizes.values() for id in of_run}
    write_vary_file(VaryFile(design, 1, blocks, all_sizes, {id: id for id in sorted(ids)}), folder)
    return folder


def outcomes(passed: int, of: int, *, functions: int = 4, strangers: int = 0) -> Outcomes:
    """Return entries of which the first pass, each with so many of four functions right."""
    chosen = SelectionCounts(4, functions, min(functions, 3), strangers)
    return [(place < passed, chosen) for place in range(of)]
