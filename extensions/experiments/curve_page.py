"""Page with the curves of experiments: one panel for each axis, with confidence bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from extensions.experiments.experiment_scores import (
    MEASURES,
    AxisScore,
    Experiment,
    experiment_json,
)
from runner.analysis.report.pages import packed, page

_OWN = Path(__file__).parent / "assets"
_ASSETS = ("report.css", "scores.css", _OWN / "curve.css", "radar.js", _OWN / "curve.js")


def curve_page(experiments: Sequence[Experiment]) -> str:
    """Return the page with the curves of experiments; each experiment has one model."""
    names = ", ".join(found.model for found in experiments)
    models = [{"name": e.model, "dataset": e.dataset, "profile": e.profile} for e in experiments]
    shown = {"models": models, "panels": _make_panels(experiments)}
    return page(f"Turnwise: {names}", [packed(shown)], _ASSETS)


def _make_panels(experiments: Sequence[Experiment]) -> list[dict[str, Any]]:
    blocks = [{_key(axis): place for place, axis in enumerate(e.axes)} for e in experiments]
    keys = dict.fromkeys(key for of_one in blocks for key in of_one)
    axes = [experiment_json(found)["axes"] for found in experiments]
    panels = []
    for key in keys:
        converted = [
            of_one[known[key]] if key in known else None
            for of_one, known in zip(axes, blocks, strict=True)
        ]
        levels = dict.fromkeys(
            level["level"] for axis in converted if axis is not None for level in axis["levels"]
        )
        runs = [axis and _convert_axis(axis) for axis in converted]
        panels.append({"axis": key[0], "at": key[1], "levels": [*levels], "runs": runs})
    return panels


def _key(axis: AxisScore) -> tuple[str, str]:
    return axis.axis, ", ".join(f"{name}={level}" for name, level in axis.rest.items())


def _convert_axis(axis: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "levels": {level["level"]: level for level in axis["levels"]},
        "slopes": {MEASURES[key]: slope for key, slope in axis["slopes_per_doubling"].items()},
        "bias": axis["position_bias"],
    }
