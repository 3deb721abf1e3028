"""Runs in several calling formats: ``--calling-formats`` and ``--formats``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from envs.errors import DataError, find_nearest
from extensions.formats import registry
from extensions.formats.feature import PromptFormatFeature, with_calling_format
from extensions.formats.tables import calling_format_lines, format_lines
from runner.commands.common_options import note
from runner.commands.variant_types import Variant, VariantSet
from runner.live.live_run import RunInputs
from runner.models.prompting import ALL, PromptFormat
from trajectories.schema import Trajectory


def variants_in_formats(
    names: str, plan: RunInputs, trajectories: Sequence[Trajectory]
) -> VariantSet:
    """Return one run for each prompt format in a comma-separated list."""
    formats = formats_named([name.strip() for name in names.split(",")])
    if plan.settings.mode != "prompt":
        raise DataError("--formats", "requires --mode prompt")
    if plan.settings.prompts is not None:
        raise DataError(
            "--formats", "cannot be combined with --prompts: each format has its own prompts"
        )
    entries = _select_python(trajectories)
    members = [
        Variant(each.name, plan.with_feature(PromptFormatFeature(each)), entries)
        for each in formats
    ]
    return VariantSet("--formats", "format", members, format_lines)


def formats_named(names: Iterable[str]) -> list[PromptFormat]:
    """Return the formats with these names, or all formats for ``all``.

    Raises DataError if a format does not exist.
    """
    known = {each.name: each for each in ALL}
    wanted = list(dict.fromkeys(names))
    if wanted == ["all"]:
        return list(ALL)
    for name in wanted:
        if name not in known:
            close = find_nearest(name, known, least=0.0)
            raise DataError(
                "--formats",
                f"unknown format {name!r}; did you mean {close}? `all` runs every format",
            )
    return [known[name] for name in wanted]


def _select_python(trajectories: Sequence[Trajectory]) -> list[Trajectory]:
    entries = [
        trajectory
        for trajectory in trajectories
        if not trajectory.is_executed and trajectory.language == "python"
    ]
    if not entries:
        message = "requires single-turn Python entries; select them with --category"
        raise DataError("--formats", message)
    if len(entries) < len(trajectories):
        omitted = len(trajectories) - len(entries)
        note(f"skipping {omitted} entries: --formats runs single-turn Python entries only")
    return entries


def variants_in_calling_formats(
    names: str, plan: RunInputs, trajectories: Sequence[Trajectory]
) -> VariantSet:
    """Return a set of runs, one for each calling format in a comma-separated list."""
    option = "--calling-formats"
    formats = registry.calling_formats_named([name.strip() for name in names.split(",")])
    members = []
    for each in formats:
        settings = with_calling_format(plan.settings, each.name, option)
        members.append(Variant(each.name, plan._replace(settings=settings), trajectories))
    return VariantSet(option, "calling format", members, calling_format_lines)
