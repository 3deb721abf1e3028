"""Command ``turnwise label``: writes an HTML page on which people label episodes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from extensions.judges.commands.judge_options import JudgedEpisodeOptions, load_run
from extensions.judges.label_page import label_page
from runner.commands import DONE
from runner.commands.common_options import note
from runner.commands.options import argument, option
from runner.records.durable_files import check_writable, open_for_writing
from runner.show.terminal import say
from trajectories.errors import DataError

EXAMPLE = "turnwise label runs/mine --sample 50 -o label.html"


@dataclass(frozen=True, kw_only=True)
class Options(JudgedEpisodeOptions):
    """The episodes, and the output file."""

    run: Path = argument("run folder, result file, or folder of result files", "RUN")
    output: Path = option(
        "HTML file to write", "FILE", default=Path("label.html"), flags=("--output", "-o")
    )


def run(options: Options) -> int:
    """Write the page."""
    check_writable(options.output)
    judged = load_run(options, options.run, options.show or "steps")
    if not judged.exhibits:
        raise DataError(str(options.run), "has no episodes without errors")
    text = label_page(judged.exhibits)
    with open_for_writing(options.output) as file:
        file.write(text)
    note(
        f"{len(judged.exhibits)} episodes; next: turnwise judge {options.run} --labels labels.jsonl"
    )
    say(options.output)
    return DONE
