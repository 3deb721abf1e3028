"""Command ``turnwise label``: writes an HTML page for labelling episodes or pairs."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from envs.errors import DataError
from extensions.judges.commands.judge_options import (
    ShownEpisodeOptions,
    check_comparable,
    load_run,
)
from extensions.judges.label_page import label_page, win_label_page
from extensions.judges.win_labels import pair_up
from runner.commands import DONE
from runner.commands.common_options import note
from runner.commands.options import argument, option
from runner.records.durable_files import check_writable, write_output
from runner.show.terminal import format_count, say

EXAMPLE = "turnwise label runs/mine --sample 50 -o label.html"


@dataclass(frozen=True, kw_only=True)
class Options(ShownEpisodeOptions):
    """Options for the episodes and the output file."""

    runs: tuple[Path, ...] = argument(
        "run folder, result file, or folder of result files; with two runs, people choose the "
        "better episode of each pair",
        "RUN",
    )
    output: Path = option(
        "HTML file to write", "FILE", default=Path("label.html"), flags=("--output", "-o")
    )


def run(options: Options) -> int:
    """Write the page."""
    check_writable(options.output)
    if len(options.runs) > 2:
        raise DataError("RUN", f"name one or two runs, not {len(options.runs)}")
    judged = [load_run(options, path, options.show or "steps") for path in options.runs]
    names = shlex.join(map(str, options.runs))
    if len(judged) == 1:
        exhibits = judged[0].exhibits
        if not exhibits:
            raise DataError(names, "has no episodes without errors")
        text, count = label_page(exhibits), format_count(len(exhibits), "episode")
    else:
        check_comparable(judged)
        pairs = list(pair_up(*(each.exhibits for each in judged)).values())
        text, count = win_label_page(pairs), format_count(len(pairs), "pair")
    write_output(options.output, [text])
    note(f"{count}; next: turnwise judge {names} --labels labels.jsonl")
    say(options.output)
    return DONE
