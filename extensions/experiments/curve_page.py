"""The page on experiments on the list of functions: curves with bands, a panel an axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from extensions.experiments.vary_scores import AxisScore, Experiment, experiment_json
from runner.analysis.report.pages import packed, page

_ASSETS = ("report.css", "scores.css", "curve.css", "radar.js", "curve.js")


def curve_page(experiments: Sequence[Experiment]) -> str:
    """Return the page on experiments, one of each model."""
    names = ", ".join(found.model for found in experiments)
    shown = {
        "models": [
            {"name": found.model, "dataset": found.dataset, "profile": found.profile}
            for found in experiments
        ],
        "panels": _panels(experiments),
    }
    return page(f"Turnwise: {names}", [packed(shown)], _ASSETS)


def _panels(experiments: Sequence[Experiment]) -> list[dict[str, Any]]:
    """Return one panel for each axis, with what each model has of it, or null."""
    blocks = [{_key(axis): place for place, axis in enumerate(e.axes)} for e in experiments]
    keys = dict.fromkeys(key for of_one in blocks for key in of_one)
    axes = [experiment_json(found)["axes"] for found in experiments]
    panels = []
    for key in keys:
        mine = [
            of_one[known[key]] if key in known else None
            for of_one, known in zip(axes, blocks, strict=True)
        ]
        levels = dict.fromkeys(
            level["level"] for axis in mine if axis is not None for level in axis["levels"]
        )
        panels.append(
            {
                "axis": key[0],
                "at": key[1],
                "levels": [*levels],
                "runs": [axis and _by_level(axis) for axis in mine],
            }
        )
    return panels


def _key(axis: AxisScore) -> tuple[str, str]:
    return axis.axis, ", ".join(f"{name}={level}" for name, level in axis.rest.items())


def _by_level(axis: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "levels": {level["level"]: level for level in axis["levels"]},
        "slopes": axis["slopes_per_doubling"],
        "bias": axis["position_bias"],
    }
