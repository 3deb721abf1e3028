"""Training and held-out transcripts of runs: ``turnwise export --split``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from extensions.export.commands.export import TranscriptsOfRun
from extensions.export.fine_tuning import write_transcripts
from extensions.retrieval.queries import SplitKind
from extensions.retrieval.transcript_split import split_transcripts
from runner.analysis.replayed_runs import dataset_of
from runner.commands.common_options import note
from runner.commands.options import index, option, positive
from runner.show.terminal import say
from trajectories.errors import DataError

TRAINING, HELD_OUT = "train.jsonl", "held_out.jsonl"
"""File names of the two parts."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SplitOptions:
    """Transcripts for training."""

    split: Literal["instruction", "tool", "category"] | None = option(
        f"transcripts: write {TRAINING} and {HELD_OUT}, which share no scenario (instruction), no "
        "backend (tool) or no group of backends (category)"
    )
    fold: int | None = option(
        "with --split: number of the held-out fold (default: 0)", "N", read=index, needs="--split"
    )
    folds: int | None = option(
        "with --split: number of folds (default: 5)", "N", read=positive, needs="--split"
    )
    split_seed: int | None = option(
        "with --split: seed of the folds (default: 0)", "S", read=index, needs="--split"
    )


def check_split(options: Any, own: SplitOptions) -> None:
    """Refuse to split a format that has no transcripts.

    Raises DataError if the format is ``bfcl``.
    """
    if own.split is not None and options.format == "bfcl":
        raise DataError("--split", "is for --format openai-messages, sharegpt or trl, not bfcl")


def write_parts(options: Any, own: SplitOptions, found: Sequence[TranscriptsOfRun]) -> None:
    """Write the training and the held-out transcripts.

    Raises DataError if a run's data cannot be loaded, or a file cannot be written.
    """
    parts = split_transcripts(
        [(each, data) for run, some in found for data in [dataset_of(run, None, note)]
         for each in some],
        SplitKind(own.split or ""),
        fold=own.fold or 0,
        folds=own.folds or 5,
        seed=own.split_seed or 0,
    )  # fmt: skip
    folder = options.output or options.runs[0] / options.format
    for name, some in ((TRAINING, parts.training), (HELD_OUT, parts.held_out)):
        count = write_transcripts(some, options.format, folder / name)
        say(f"{folder / name}: {count} transcripts")
    if parts.left_out:
        say(f"omitted: {parts.left_out} transcripts that belong to both parts")
    if own.split != "instruction":
        say(f"held out: {', '.join(sorted(parts.held))}")
