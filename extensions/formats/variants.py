"""Runs in several calling formats: ``--protocols`` and ``--formats``."""

from __future__ import annotations

from collections.abc import Sequence

from extensions.formats import registry
from extensions.formats.feature import PromptFormatFeature, in_protocol
from runner.analysis.variants import format_lines, protocol_lines
from runner.commands.shared import note
from runner.commands.variants import Variant, Variants
from runner.live.campaign import Plan
from runner.models.prompting import formats_named
from trajectories.errors import DataError
from trajectories.schema import Trajectory


def variants_in_formats(names: str, plan: Plan, trajectories: Sequence[Trajectory]) -> Variants:
    """Return a run in each of the prompt formats that the user names."""
    formats = formats_named([name.strip() for name in names.split(",")])
    if plan.settings.mode != "prompt":
        raise DataError("--formats", "is for prompting models: add --mode prompt")
    if plan.settings.prompts is not None:
        raise DataError("--formats", "has prompts of its own; leave --prompts out")
    asked = _in_python(trajectories)
    members = [
        Variant(each.name, plan.with_feature(PromptFormatFeature(each)), asked) for each in formats
    ]
    return Variants("--formats", "format", members, format_lines)


def _in_python(trajectories: Sequence[Trajectory]) -> list[Trajectory]:
    asked = [
        trajectory
        for trajectory in trajectories
        if not trajectory.is_executed and trajectory.language == "python"
    ]
    if not asked:
        raise DataError("--formats", "asks single-turn entries in Python; choose such a --category")
    if len(asked) < len(trajectories):
        note(f"{len(trajectories) - len(asked)} entries are left out: not one turn, or not Python")
    return asked


def variants_in_protocols(names: str, plan: Plan, trajectories: Sequence[Trajectory]) -> Variants:
    """Return a run in each of the protocols that the user names."""
    protocols = registry.protocols_named([name.strip() for name in names.split(",")])
    settings = {p.name: in_protocol(plan.settings, p.name, "--protocols") for p in protocols}
    members = [
        Variant(name, plan._replace(settings=each), trajectories) for name, each in settings.items()
    ]
    return Variants("--protocols", "protocol", members, protocol_lines)
