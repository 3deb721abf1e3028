"""The command ``turnwise export``: kept runs in the formats of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from runner import extension
from runner.commands import DONE
from runner.commands.options import argument, index, option, switch
from runner.commands.shared import note
from runner.records.export import TuningTranscript, export_bfcl, transcripts_of
from runner.records.fine_tuning import TrainingFormat, was_ended, write_transcripts
from runner.records.run import Run, read_run
from runner.show.terminal import say
from trajectories.errors import DataError

EXAMPLE = "turnwise export runs/mine --format trl --split instruction -o training"

TranscriptsOfRun = tuple[Run, list[TuningTranscript]]


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
    extensions: Mapping[str, Any] = field(default_factory=dict)
    """The options of extensions, by their names, where any is given."""


def run(options: Options) -> int:
    """Write runs in another format."""
    _check(options)
    for name, own in options.extensions.items():
        extension.named(name).check_export(options, own)
    kept = [read_run(path) for path in options.runs]
    if options.format == "bfcl":
        folder = options.output or options.runs[0] / "bfcl"
        for path in export_bfcl(kept[0], folder, trial=options.trial or 0, model=options.model):
            say(str(path))
        return DONE
    found = _transcripts(options, options.format, kept)
    for name, own in options.extensions.items():
        if extension.named(name).export(options, own, found):
            return DONE
    path = options.output or options.runs[0] / f"{options.format}.jsonl"
    named = options.output is not None
    each = (transcript for _, some in found for transcript in some)
    count = write_transcripts(each, options.format, path, named=named)
    say(f"{path}: {count} transcripts")
    return DONE


def _transcripts(
    options: Options, form: TrainingFormat, kept: Sequence[Run]
) -> list[TranscriptsOfRun]:
    """Return the transcripts of runs; for training those in which the model had the last word."""
    if form == "openai-messages":
        return [(run, transcripts_of(run, only_passed=options.only_passed)) for run in kept]
    passed = [(run, transcripts_of(run, only_passed=True)) for run in kept]
    found = [(run, [each for each in some if not was_ended(each)]) for run, some in passed]
    ended = sum(len(some) for _, some in passed) - sum(len(some) for _, some in found)
    if ended:
        note(f"{ended} that passed are left out: a search ended a turn, and not the model's words")
    return found


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
    }
    for flag, (formats, fits, there) in given.items():
        if there and not fits:
            raise DataError(flag, f"is for --format {formats}, not {options.format}")
    if bfcl and len(options.runs) > 1:
        raise DataError("RUN", "one is written for BFCL; there is room for one in its files")
