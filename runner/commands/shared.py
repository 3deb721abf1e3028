"""What the commands share: options, notes, lines in colour, files that appear whole."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentTypeError
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checkers.profile import PROFILES
from checkers.reasons import Reason
from envs.lazy import lazily
from runner.commands.options import above_zero, option, positive, switch
from runner.episodes.allowance import limited_memory
from runner.episodes.episode import STEP_LIMIT
from runner.show.terminal import Line, painted, tell, visible, wants_colour
from trajectories.schema import Split

if TYPE_CHECKING:
    from runner.data import services
    from runner.data.services import Reach
else:
    # Only commands that take REST entries need them.
    services = lazily("runner.data.services")

# Records that others are made of are never compared or shown: to make what does that would take
# most of the time of loading them.


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DatasetOption:
    """Data."""

    dataset: str | None = option(
        "bfcl, held-back or a path (default: built-in)",
        "NAME",
    )


def category_option(default: str) -> Any:
    """Return the option that takes categories of a data set, and what is taken without it."""
    return option(
        f"categories or suites, separated by commas (default: {default})",
        "NAMES",
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DataOptions(DatasetOption):
    """Data."""

    category: str | None = category_option("multi_turn")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EntriesOptions(DataOptions):
    """Data."""

    split: str | None = option(
        "plain, hard or mini (60 that rank models alike)",
        "SUBSET",
        choices=[split.value for split in Split],
    )
    ids: str | None = option("only these entries, separated by commas", "IDS")
    limit: int | None = option("only the first N entries", "N", read=positive)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JudgingOptions:
    """Judging."""

    profile: str | None = option(
        "checking rules (default: by data set)",
        choices=list(PROFILES),
    )
    step_limit: int = option(
        "maximum steps with calls per turn",
        "N",
        default=STEP_LIMIT,
        read=positive,
    )
    memory: int | None = option(
        "maximum memory per process (default: no limit)",
        "MB",
        read=positive,
    )

    def within(self) -> AbstractContextManager[None]:
        """Limit the memory of this process, where the user says so.

        Raises:
            DataError: The system does not limit the memory of a process.
        """
        return limited_memory(self.memory)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ErrataOption:
    """Judging."""

    errata: str = option(
        "corrected data: bfcl, FILE or none",
        "NAME",
        default="none",
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TellingOption:
    """Judging."""

    require_told: bool = switch("fail episodes that omit required information")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GpuPriceOption:
    """Cost."""

    gpu_price: float | None = option(
        "hourly price of your GPU server (default: the run's)",
        "USD_PER_HOUR",
        read=above_zero,
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OutputOption:
    """Output."""

    output: Path | None = option(
        "write one JSON line per verdict", "FILE", flags=("--output", "-o")
    )


def _percentage(text: str) -> float:
    try:
        share = float(text.removesuffix("%")) / 100
    except ValueError:
        share = -1
    if not 0 <= share <= 1:
        raise ArgumentTypeError(f"{text!r} is not a percentage, such as 90%")
    return share


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WorkOptions(OutputOption, JudgingOptions, ErrataOption, TellingOption):
    """Processes."""

    workers: int | None = option(
        "worker processes (default: 1; on Ray all)",
        "N",
        read=positive,
    )
    engine: str = option(
        "where episodes run",
        default="local",
        choices=["local", "ray"],
    )
    address: str | None = option("address of the Ray cluster (default: a local one)", "NAME")
    entry_timeout: float | None = option(
        "maximum time per entry (default: 600)",
        "SECONDS",
        read=above_zero,
    )
    fail_under: float | None = option(
        "exit with status 4 if the overall score is lower",
        "PERCENT",
        read=_percentage,
    )

    def within(self) -> AbstractContextManager[None]:
        """Limit nothing here: those that judge do so, whichever process they are in."""
        return nullcontext()


def _service(text: str) -> tuple[str, int]:
    """Read the host and the port of a web service."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or len(port) > len("65535"):
        raise ArgumentTypeError(f"{text!r:.200} is not HOST:PORT")
    return host.strip("[]").lower(), int(port)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReachOptions:
    """Web services."""

    allow_host: tuple[tuple[str, int], ...] = option(
        "let REST entries call this service; repeatable",
        "HOST:PORT",
        default=(),
        read=_service,
    )
    allow_network: bool = switch("let REST entries call other machines")

    @property
    def reach(self) -> Reach:
        """Which web services may be asked."""
        return services.Reach(frozenset(self.allow_host), self.allow_network)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JsonOption:
    """Output."""

    json: bool = switch("print one JSON object")


REASONS = (
    "why an episode failed, as error_type has it:\n"
    + "".join(f"  {reason}\n      {reason.meaning}\n" for reason in Reason)
    + "\n"
)
"""What ends the help of a command that prints verdicts."""


def note(line: str) -> None:
    """Tell the user something that is no result."""
    tell(f"turnwise: {visible(line)}\n", sys.stderr)


def show(lines: Iterable[Line]) -> None:
    """Print lines, in colour where that is wanted."""
    colour = wants_colour(sys.stdout, os.environ)
    for line in lines:
        print(painted(line, colour=colour))
