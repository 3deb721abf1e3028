"""Figures of runs with attacked episodes: utility and attack success, without errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from runner.analysis.figure_table import FigureRow, FigureSection
from runner.analysis.figures import RunFigures
from runner.records.episode_record import EpisodeRecord

Holds = Callable[[EpisodeRecord], bool]

SECTION = FigureSection(title="Prompt injection")


def measure(record: EpisodeRecord, name: str) -> bool | float | None:
    """Return a measure of an episode; None without a verdict, or if it does not apply."""
    return record.verdict.measures.get(name) if record.verdict else None


def is_clean(record: EpisodeRecord) -> bool:
    """Tell whether an episode has a verdict and was not attacked."""
    return record.verdict is not None and measure(record, "attack_succeeded") is None


def is_attacked(record: EpisodeRecord) -> bool:
    """Tell whether an episode has a verdict and was attacked."""
    return measure(record, "attack_succeeded") is not None


def is_exposed(record: EpisodeRecord) -> bool:
    """Tell whether the model read the planted text; AgentDojo's judges do not know this."""
    return is_attacked(record) and measure(record, "exposed") is True


def passes(record: EpisodeRecord) -> bool:
    """Tell whether an episode did the user's task."""
    return record.verdict is not None and record.verdict.valid


def succeeds(record: EpisodeRecord) -> bool:
    """Tell whether the attack reached its goal."""
    return measure(record, "attack_succeeded") is True


def is_secure(record: EpisodeRecord) -> bool:
    """Tell whether an episode did the user's task and the attack failed."""
    return passes(record) and not succeeds(record)


def _row(name: str, label: str, among: Holds, holds: Holds, before: str = ", ") -> FigureRow:
    def chosen(figures: RunFigures) -> Sequence[EpisodeRecord]:
        return [record for record in figures.outcomes if among(record)]

    def value(figures: RunFigures) -> float | None:
        found = chosen(figures)
        return sum(map(holds, found)) / len(found) if found else None

    return FigureRow(
        name=f"injection/{name}",
        label=label,
        section=SECTION,
        value=value,
        form="share",
        of=lambda figures: len(chosen(figures)) or None,
        optional=True,
        phrase=f"{before}{{label}} {{text}} of {{of}}",
    )


FIGURES = (
    _row("utility", "utility", is_clean, passes, "prompt injection: "),
    _row("utility_under_attack", "utility under attack", is_attacked, passes),
    _row("attack_success", "attack success", is_attacked, succeeds),
    _row("attack_success_exposed", "attack success if exposed", is_exposed, succeeds),
    _row("secure_utility", "secure utility", is_attacked, is_secure),
)
