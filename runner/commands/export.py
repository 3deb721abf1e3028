"""The command ``turnwise export``: kept runs in the formats of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from envs.lazy import lazily
from runner.analysis.runs import dataset_of
from runner.commands import DONE
from runner.commands.options import argument, index, option, positive, switch
from runner.commands.shared import note
from runner.records.export import TuningTranscript, export_bfcl, transcripts_of
from runner.records.fine_tuning import TrainingFormat, was_ended, write_transcripts
from runner.records.run import Run, read_run
from runner.show.terminal import say
from trajectories.errors import DataError

if TYPE_CHECKING:
    from extensions.retrieval import queries, transcript_parts
else:
    # Only a split needs to know whose the functions are.
    transcript_parts = lazily("extensions.retrieval.transcript_parts")
    queries = lazily("extensions.retrieval.queries")

EXAMPLE = "turnwise export runs/mine --format trl --split instruction -o training"

TRAINING, HELD_OUT = "train.jsonl", "held_out.jsonl"
"""Names of the files of a split."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Which runs to write, and how."""

    runs: tuple[Path, ...] = argument(
        "folder of a run, or of each method of a search; for training there may be several", "RUN"
    )
    format: Literal["bfcl", "openai-messages", "sharegpt", "trl"] = option(
        "what to write: result files of BFCL; transcripts; or transcripts of what passed, for "
        "training (docs/training.md)",
        required=True,
    )
    output: Path | None = option(
        "bfcl: the folder for MODEL/GROUP/; transcripts: the file, or with --split the folder "
        "(default: named after the format, in RUN)",
        "PATH",
        flags=("--output", "-o"),
    )
    trial: int | None = option("bfcl: which trial, counted from 0 (default: 0)", "N", read=index)
    model: str | None = option("bfcl: a name that BFCL knows, instead of the run's", "NAME")
    only_passed: bool = switch("openai-messages: leave out what failed; others do anyway")
    split: Literal["instruction", "tool", "category"] | None = option(
        f"transcripts: write {TRAINING} and {HELD_OUT}, which share no scenario (instruction), no "
        "backend (tool) or no group of backends (category)"
    )
    fold: int | None = option("with --split: which fold is held out (default: 0)", "N", read=index)
    folds: int | None = option(
        "with --split: how many folds there are (default: 5)", "N", read=positive
    )
    split_seed: int | None = option(
        "with --split: seed of who is in which fold (default: 0)", "S", read=index
    )


def run(options: Options) -> int:
    """Write runs in another format."""
    _check(options)
    kept = [read_run(path) for path in options.runs]
    if options.format == "bfcl":
        folder = options.output or options.runs[0] / "bfcl"
        for path in export_bfcl(kept[0], folder, trial=options.trial or 0, model=options.model):
            say(str(path))
        return DONE
    found = _transcripts(options, options.format, kept)
    if options.split is not None:
        return _write_parts(options, options.format, found)
    path = options.output or options.runs[0] / f"{options.format}.jsonl"
    named = options.output is not None
    each = (transcript for _, some in found for transcript in some)
    count = write_transcripts(each, options.format, path, named=named)
    say(f"{path}: {count} transcripts")
    return DONE


def _transcripts(
    options: Options, form: TrainingFormat, kept: Sequence[Run]
) -> list[tuple[Run, list[TuningTranscript]]]:
    """Return the transcripts of runs; for training those in which the model had the last word."""
    if form == "openai-messages":
        return [(run, transcripts_of(run, only_passed=options.only_passed)) for run in kept]
    passed = [(run, transcripts_of(run, only_passed=True)) for run in kept]
    found = [(run, [each for each in some if not was_ended(each)]) for run, some in passed]
    ended = sum(len(some) for _, some in passed) - sum(len(some) for _, some in found)
    if ended:
        note(f"{ended} that passed are left out: a search ended a turn, and not the model's words")
    return found


def _write_parts(
    options: Options, form: TrainingFormat, found: Sequence[tuple[Run, list[TuningTranscript]]]
) -> int:
    """Write what is trained on and what is held out."""
    parts = transcript_parts.tuning_parts(
        [(each, data) for run, some in found for data in [dataset_of(run, None, note)]
         for each in some],
        queries.Unseen(options.split or ""),
        fold=options.fold or 0,
        folds=options.folds or 5,
        seed=options.split_seed or 0,
    )  # fmt: skip
    folder = options.output or options.runs[0] / form
    for name, some in ((TRAINING, parts.training), (HELD_OUT, parts.held_out)):
        say(f"{folder / name}: {write_transcripts(some, form, folder / name)} transcripts")
    if parts.left_out:
        say(f"{parts.left_out} are of both parts, and in neither file")
    if options.split != "instruction":
        say(f"held out: {', '.join(sorted(parts.held))}")
    return DONE


def _check(options: Options) -> None:
    """Refuse options that the format has no use for.

    Raises:
        DataError: There is one.
    """
    bfcl = options.format == "bfcl"
    given = {
        "--trial": ("bfcl", bfcl, options.trial is not None),
        "--model": ("bfcl", bfcl, options.model is not None),
        "--only-passed": ("openai-messages", not bfcl, options.only_passed),
        "--split": ("openai-messages, sharegpt or trl", not bfcl, options.split is not None),
    }
    for flag, (formats, fits, there) in given.items():
        if there and not fits:
            raise DataError(flag, f"is for --format {formats}, not {options.format}")
    if bfcl and len(options.runs) > 1:
        raise DataError("RUN", "one is written for BFCL; there is room for one in its files")
    for flag, value in (
        ("--fold", options.fold),
        ("--folds", options.folds),
        ("--split-seed", options.split_seed),
    ):
        if value is not None and options.split is None:
            raise DataError(flag, "says how --split parts; add it")
