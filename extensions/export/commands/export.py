"""Command ``turnwise export``: writes runs in the formats of other tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from envs.errors import DataError
from envs.lazy_modules import lazy_module
from extensions.export.fine_tuning import TrainingFormat, write_transcripts
from extensions.export.transcripts import (
    StoredTranscript,
    add_causes,
    export_bfcl,
    tuning_transcripts,
)
from runner import extension
from runner.analysis.figure_lines import progress_text
from runner.commands import DONE
from runner.commands.common_options import note
from runner.commands.options import argument, index, option, switch
from runner.records.recorded_run import Run, open_run, read_run
from runner.records.run_catalog import run_folders
from runner.show.terminal import say

if TYPE_CHECKING:
    from extensions.export import tables
    from runner.analysis import frames
else:
    # Other formats need no execution.
    frames = lazy_module("runner.analysis.frames")
    tables = lazy_module("..tables", __package__)

EXAMPLE = "turnwise export runs/mine --format trl --split instruction -o training"

TranscriptsOfRun = tuple[Run, list[StoredTranscript]]


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options for the runs and the output format."""

    runs: tuple[Path, ...] = argument("run folder; --format bfcl accepts a single run", "RUN")
    format: Literal["bfcl", "openai-messages", "sharegpt", "trl", "csv", "parquet"] = option(
        "bfcl: result files; openai-messages: transcripts; sharegpt, trl: training data "
        "(docs/training.md); csv, parquet: tables of episodes and calls",
        required=True,
    )
    output: Path | None = option(
        "output file or folder (default: in RUN, named after the format)",
        "PATH",
        flags=("--output", "-o"),
    )
    trial: int | None = option(
        "with --format bfcl: trial number to write, starting at 0 (default: 0)", "N", read=index
    )
    model: str | None = option(
        "with --format bfcl: model name that BFCL knows (default: the run's)", "NAME"
    )
    only_passed: bool = switch(
        "with --format openai-messages: skip failed episodes, as sharegpt and trl always do"
    )
    extensions: Mapping[str, Any] = field(default_factory=dict)
    """Options of extensions, by extension name."""


def run(options: Options) -> int:
    """Write runs in another format."""
    _check(options)
    for name, own in options.extensions.items():
        extension.load_extension(name).check_export(options, own)
    if options.format == "csv" or options.format == "parquet":
        rows = frames.load_runs(*options.runs, notify=note)
        for path in tables.write_frames(rows, options.format, options.output or options.runs[0]):
            say(str(path))
        # A line with a note in a CSV file would break its readers.
        folders = [each for path in options.runs for each in [*run_folders(path)] or [path]]
        _note_unfinished([open_run(folder, hold=False) for folder in folders])
        return DONE
    kept = [read_run(path) for path in options.runs]
    _note_unfinished(kept)
    if options.format == "bfcl":
        folder = options.output or options.runs[0] / "bfcl"
        for path in export_bfcl(kept[0], folder, trial=options.trial or 0, model=options.model):
            say(str(path))
        return DONE
    found = _transcripts(options, options.format, kept)
    for name, own in options.extensions.items():
        if extension.load_extension(name).export(options, own, found):
            return DONE
    path = options.output or options.runs[0] / f"{options.format}.jsonl"
    named = options.output is not None
    every = [transcript for _, some in found for transcript in some]
    write_transcripts({path: every}, options.format, named=named)
    return DONE


def _note_unfinished(runs: Sequence[Run]) -> None:
    for each in runs:
        if unfinished := progress_text(each.progress):
            note(f"warning: the files hold results {unfinished} ({each.path})")


def _transcripts(
    options: Options, form: TrainingFormat, kept: Sequence[Run]
) -> list[TranscriptsOfRun]:
    if form == "openai-messages":
        found = [(run, tuning_transcripts(run, only_passed=options.only_passed)) for run in kept]
        for run, transcripts in found:
            add_causes(run, transcripts, note)
        return found
    passed = [(run, tuning_transcripts(run, only_passed=True)) for run in kept]
    found = [(run, [each for each in some if not each.ended_by_search]) for run, some in passed]
    ended = sum(len(some) for _, some in passed) - sum(len(some) for _, some in found)
    if ended:
        note(f"skipped {ended} passed episodes, because the search ended one of their turns")
    return found


def _check(options: Options) -> None:
    bfcl = options.format == "bfcl"
    given = {
        "--trial": ("bfcl", bfcl, options.trial is not None),
        "--model": ("bfcl", bfcl, options.model is not None),
        "--only-passed": (
            "openai-messages",
            options.format in ("openai-messages", "sharegpt", "trl"),
            options.only_passed,
        ),
    }
    for flag, (formats, fits, there) in given.items():
        if there and not fits:
            raise DataError(flag, f"is for --format {formats}, not {options.format}; leave it out")
    if bfcl and len(options.runs) > 1:
        raise DataError("RUN", "--format bfcl takes a single run; export each run separately")
