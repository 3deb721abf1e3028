"""Training and held-out transcripts of runs: ``turnwise export --split``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from envs.errors import DataError
from extensions.export.commands.export import TranscriptsOfRun
from extensions.export.fine_tuning import write_transcripts
from extensions.splits.fold import FoldOptions, KindName, is_in_part
from runner.analysis.replayed_runs import dataset_of
from runner.commands.common_options import note
from runner.commands.options import option
from runner.data import dataset_choice
from runner.show.terminal import say

TRAINING, HELD_OUT = "train.jsonl", "held_out.jsonl"
"""Names of the files with training data and held-out data."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SplitOptions(FoldOptions):
    """Transcripts for training."""

    split: KindName | None = option(
        f"write {TRAINING} and {HELD_OUT}, split by scenario (`instruction`), backend (`tool`) "
        "or group (`category`)"
    )


def check_split(options: Any, own: SplitOptions) -> None:
    """Refuse ``--split`` for the format ``bfcl``, which contains no transcripts.

    Raises DataError if the format is ``bfcl``.
    """
    if own.split is not None and options.format == "bfcl":
        raise DataError("--split", "is for --format openai-messages, sharegpt or trl, not bfcl")


def write_parts(options: Any, own: SplitOptions, found: Sequence[TranscriptsOfRun]) -> None:
    """Write the training and the held-out transcripts.

    Raises DataError if a part is empty, or if reading or writing fails.
    """
    assert own.split is not None
    fold = own.fold_of(own.split)
    sets = [dataset_of(run, None, note) for run, _ in found]
    held = fold.held_out(sets)
    keyed = [
        (each, fold.keys(dataset_choice.get_entry(data, each.key[0]), each.load().record))
        for (_, some), data in zip(found, sets, strict=True)
        for each in some
    ]
    parts = {
        name: [each for each, keys in keyed if is_in_part(keys, held, training=name == TRAINING)]
        for name in (TRAINING, HELD_OUT)
    }
    for name, some in parts.items():
        if not some:
            part = "training" if name == TRAINING else "held-out"
            why = f"{fold.kind}: fold {fold.fold} of {fold.folds} has no {part} episodes"
            raise DataError("--split", why)
    folder = options.output or options.runs[0] / options.format
    write_transcripts({folder / name: some for name, some in parts.items()}, options.format)
    left = len(keyed) - sum(map(len, parts.values()))
    if left:
        say(f"omitted: {left} transcripts that belong to both parts")
    if own.split != "instruction":
        say(f"held out: {', '.join(sorted(held))}")
