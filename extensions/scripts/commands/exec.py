"""Command ``turnwise exec``: executes call scripts from standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from envs.errors import BackendFault, DataError
from envs.long_context import LongContextPack
from envs.registry import check_config
from extensions.scripts.execute import execute, read_script
from runner.commands import DONE, RUN_ERROR
from runner.commands.common_options import note
from runner.commands.options import option
from runner.data import dataset_choice
from runner.show.terminal import say_json
from trajectories import bfcl_reader
from trajectories.jsonl import parse_object

EXAMPLE = "turnwise exec < scripts.jsonl"


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options for the source of long-context material."""

    dataset: str = option(
        "data set with the long-context material: bfcl or bfcl:FOLDER", "NAME", default="bfcl"
    )


def run(options: Options) -> int:
    """Print the results and states of every script."""

    @cache
    def pack() -> LongContextPack:
        return bfcl_reader.load_pack(dataset_choice.find_bfcl_folder(options.dataset, note))

    status = DONE
    for number, line in enumerate(_input_lines(), start=1):
        where = f"<stdin>:{number}"
        if not line.strip():
            continue
        script = read_script(parse_object(line, where), where)
        problems = check_config(script.environments, script.config)
        try:
            answer = execute(script, where, pack, irregular=bool(problems))
        except BackendFault as error:
            note(f"{where}: {error}")
            status = RUN_ERROR
            continue
        for problem in problems:
            note(f"warning: {where}: {problem}; the value is used unchanged")
        say_json(answer, indent=None, flush=True)
    return status


def _input_lines() -> Iterator[str]:
    try:
        yield from sys.stdin
    except UnicodeDecodeError as error:
        raise DataError("<stdin>", f"is not UTF-8 text: {error.reason}") from None
