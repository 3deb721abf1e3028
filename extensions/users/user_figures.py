"""Metrics of runs with simulated users, such as the user's errors and the user model's cost."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from extensions.users.record import UserRecord
from extensions.users.scenario import NAME
from runner.analysis.figure_table import FigureRow, FigureSection, Form
from runner.analysis.figures import RunFigures

MEASURED = Path(__file__).with_name("fidelity.json")
"""File with the fidelity of the rule-based user, written by ``turnwise user evaluate``."""
_SECTION = FigureSection(title="Simulated user", beside_scores=True)
_USAGE = FigureSection(title="Simulated user", of_usage=True)


def _users(figures: RunFigures) -> list[UserRecord]:
    found = [each.extensions.get(NAME) for each in figures.outcomes]
    return [each for each in found if isinstance(each, UserRecord)]


def _count_errors(figures: RunFigures) -> float | None:
    users = _users(figures)
    return sum(user.error is not None for user in users) if users else None


def _count_requests(figures: RunFigures) -> float | None:
    total = sum(user.requests for user in _users(figures))
    return total or None


def _cost(figures: RunFigures) -> float | None:
    costs = [user.cost for user in _users(figures) if user.requests]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


@cache
def _measured() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(MEASURED.read_text(encoding="utf-8"))
    return found


def _describe_fidelity(figures: RunFigures) -> str | None:
    users = _users(figures)
    if not users:
        return None
    if any(user.kind == "model" for user in users):
        return "; a model plays the user, and the fidelity of this model is not measured"
    known = _measured()
    return (
        "; rules simulate the user. Agreement with recorded users:"
        f" {known['facts_f1']:.2f} F1 of facts, {known['same_stops']:.0%} of stops,"
        f" {known['calls_recall']:.0%} of calls"
    )


def _fidelity(figures: RunFigures) -> float | None:
    users = _users(figures)
    rules = users and all(user.kind == "rules" for user in users)
    return float(_measured()["facts_f1"]) if rules else None


def _row(
    name: str,
    section: FigureSection,
    value: Callable[[RunFigures], float | None],
    form: Form,
    **more: Any,
) -> FigureRow:
    label = name.replace("_", " ")
    known: dict[str, Any] = {"label": label, "caption": label.capitalize(), "optional": True}
    return FigureRow(name=name, section=section, value=value, form=form, **known, **more)


FIGURES = (
    _row(
        "user_errors",
        _SECTION,
        _count_errors,
        "count",
        phrase="; episodes with an error of the simulated user: {value}",
    ),
    _row("user_requests", _USAGE, _count_requests, "count"),
    _row("user_cost", _USAGE, _cost, "dollars"),
    _row("user_fidelity", _SECTION, _fidelity, "share", phrase=_describe_fidelity),
)
