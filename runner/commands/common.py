"""What the commands share: options, exit statuses, notes, files that appear whole."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from checkers.profile import BFCL, PROFILES, STRICT, Profile
from runner.episodes.episode import STEP_LIMIT
from runner.show.terminal import visible
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.schema import Category

DONE, USER_ERROR, RUN_ERROR, INTERRUPTED = 0, 2, 3, 130
"""Exit statuses: done; bad input; the run had errors that are not the model's; Ctrl-C."""


def note(line: str) -> None:
    """Tell the user something that is no result."""
    print(f"turnwise: {visible(line)}", file=sys.stderr)


def new_command(
    commands: Any, name: str, run: Callable[[Any], int], text: str
) -> argparse.ArgumentParser:
    """Add a command, or an action of one, to a parser's subparsers.

    Args:
        commands: Where to add it.
        name: What the user types.
        run: Takes the options, returns the exit status.
        text: What it does, in one sentence.
    """
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(command=run)
    return parser


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose a data set and a part of it."""
    parser.add_argument(
        "--dataset",
        metavar="NAME",
        help="bfcl, bfcl:FOLDER, or a trajectory file; by default the data set that comes along",
    )
    parser.add_argument(
        "--category",
        metavar="NAMES",
        help=f"only these categories, separated by commas: {', '.join(Category)}",
    )


def add_profile_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how runs are executed and judged."""
    parser.add_argument(
        "--profile",
        choices=list(PROFILES),
        help="how runs are executed and judged (default: bfcl for its data, strict for other data)",
    )
    parser.add_argument(
        "--step-limit",
        type=positive,
        default=STEP_LIMIT,
        metavar="N",
        help="steps with calls that a turn may take (default: %(default)s)",
    )


def profile_of(options: argparse.Namespace, dataset: Dataset) -> Profile:
    """Return the profile that was asked for, or the one that suits the data."""
    if options.profile:
        return PROFILES[options.profile]
    return BFCL if dataset.folder else STRICT


@contextmanager
def written(path: Path) -> Iterator[IO[str]]:
    """Open a file for writing that appears under its name only when all of it is there."""
    if not path.name:
        raise DataError(str(path), "cannot be written: it names no file")
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        with unfinished.open("w", encoding="utf-8") as file:
            yield file
        unfinished.replace(path)
    except OSError as error:
        raise DataError(str(path), f"cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            unfinished.unlink()


def positive(text: str) -> int:
    """Read a whole number above 0."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)


def index(text: str) -> int:
    """Read a whole number from 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0")
    return int(text)
