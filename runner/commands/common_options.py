"""Options and output functions that several commands share."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checkers.profile import PROFILES
from checkers.reasons import Reason
from envs.lazy_modules import lazy_module
from runner.commands.options import above_zero, index, option, positive, switch
from runner.episodes.turn_loop import STEP_LIMIT
from runner.records.durable_files import write_files
from runner.show.terminal import OutputLine, escape_unprintable, paint, tell, wants_colour
from trajectories.schema import Subset

if TYPE_CHECKING:
    from runner.data import web_services
    from runner.data.web_services import AllowedServices
    from runner.episodes import judging
else:
    # Only commands that judge entries or run REST entries need them.
    judging = lazy_module("runner.episodes.judging")
    web_services = lazy_module("runner.data.web_services")

# Shared records are never created alone, so they load faster without generated methods.


@dataclass(frozen=True, kw_only=True, init=False, eq=False, repr=False)
class DatasetOption:
    """Data."""

    dataset: str | None = option(
        "bfcl, held-back or a path (default: the run's data, or built-in data)", "NAME"
    )


def category_option(default: str) -> Any:
    """Return the option ``--category`` with a default."""
    return option(f"categories or suites, separated by commas (default: {default})", "NAMES")


@dataclass(frozen=True, kw_only=True, init=False, eq=False, repr=False)
class DataOptions(DatasetOption):
    """Data."""

    category: str | None = category_option("multi_turn")


@dataclass(frozen=True, kw_only=True, init=False, eq=False, repr=False)
class EntriesOptions(DataOptions):
    """Data."""

    subset: str | None = option(
        "plain, hard, expert or mini (60 fixed entries)",
        "SUBSET",
        choices=[subset.value for subset in Subset],
    )
    tag: str | None = option("only entries with this tag", "TAG")
    ids: str | None = option("only these entries, separated by commas", "IDS")
    limit: int | None = option("only the first N entries", "N", read=positive)


@dataclass(frozen=True, kw_only=True, init=False, eq=False, repr=False)
class SampleOptions(EntriesOptions):
    """Data."""

    sample: int | None = option("stratified sample of N entries", "N", read=positive)
    sample_seed: int = option("seed of the sample", "S", default=0, read=index)


@dataclass(frozen=True, kw_only=True, init=False, eq=False, repr=False)
class JudgingOptions:
    """Judging."""

    profile: str | None = option("judging rules (default: from the data)", choices=list(PROFILES))
    step_limit: int = option(
        "maximum steps with calls per turn", "N", default=STEP_LIMIT, read=positive
    )
    memory: int | None = option(
        "maximum memory per process (default: no limit)", "MB", read=positive
    )

    def within(self) -> AbstractContextManager[None]:
        """Limit this process's memory to ``--memory``.

        Raises DataError if the system cannot limit memory.
        """
        return judging.limited_memory(self.memory)


@dataclass(frozen=True, kw_only=True, init=False, eq=False, repr=False)
class ErrataOption:
    """Judging."""

    errata: str = option("corrections of the data: bfcl, a file, or none", "NAME", default="none")


@dataclass(frozen=True, kw_only=True, init=False, eq=False, repr=False)
class RequiredInfoOption:
    """Judging."""

    require_info: bool = switch("fail episodes that omit required information")


@dataclass(frozen=True, kw_only=True, init=False, eq=False, repr=False)
class GpuPriceOption:
    """Cost."""

    gpu_price: float | None = option(
        "hourly price of your GPU server (default: the run's)", "USD_PER_HOUR", read=above_zero
    )


@dataclass(frozen=True, kw_only=True, init=False, eq=False, repr=False)
class OutputOption:
    """Output."""

    output: Path | None = option(
        "write one JSON line per verdict", "FILE", flags=("--output", "-o")
    )


def percentage(text: str) -> float:
    """Return the share in a string such as "90%" or "0.9".

    Raises ArgumentTypeError for other strings.
    """
    number = text.removesuffix("%")
    try:
        value = float(number)
    except ValueError:
        value = -1
    if number == text and 1 <= value < 2:
        raise ArgumentTypeError(f"{text!r} is ambiguous; write {value:g}% or {value:.0%}")
    share = value if number == text and value < 1 else value / 100
    if not 0 <= share <= 1:
        raise ArgumentTypeError(f"{text!r} is not a share, such as 90% or 0.9")
    return share


@dataclass(frozen=True, kw_only=True, init=False, eq=False, repr=False)
class _ScoringOptions(JudgingOptions, ErrataOption, RequiredInfoOption):
    """Judging."""

    fail_under: float | None = option(
        "exit with status 4 if the score is below SHARE, such as 90% or 0.9",
        "SHARE",
        read=percentage,
    )


@dataclass(frozen=True, kw_only=True, init=False, eq=False, repr=False)
class WorkOptions(OutputOption, _ScoringOptions):
    """Processes."""

    workers: int | None = option(
        "worker processes; a crash affects only one entry (default: none; with Ray, all CPUs)",
        "N",
        read=positive,
    )
    engine: str = option("where episodes run", default="local", choices=["local", "ray"])
    address: str | None = option("Ray cluster (default: a local one)", "NAME")
    entry_timeout: float | None = option(
        "maximum time per entry (default: 600)", "SECONDS", read=above_zero
    )

    def within(self) -> AbstractContextManager[None]:
        """Return a context that does nothing: each worker process limits its own memory."""
        return nullcontext()


def _service(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or len(port) > 5 or not 0 < int(port) < 65_536:
        raise ArgumentTypeError(f"{text!r:.200} is not HOST:PORT, with a port from 1 to 65535")
    return host.strip("[]").lower(), int(port)


@dataclass(frozen=True, kw_only=True, init=False, eq=False, repr=False)
class ServiceOptions:
    """Web services."""

    allow_host: tuple[tuple[str, int], ...] = option(
        "let REST entries call this service; repeatable", "HOST:PORT", default=(), read=_service
    )
    allow_network: bool = switch("let REST entries call public addresses")

    @property
    def reach(self) -> AllowedServices:
        """Web services that REST entries may call."""
        return web_services.AllowedServices(frozenset(self.allow_host), self.allow_network)


@dataclass(frozen=True, kw_only=True, init=False, eq=False, repr=False)
class JsonOption:
    """Output."""

    json: bool = switch("print one JSON object")


REASONS = "reasons of failed episodes (error_type in verdict files):\n" + "".join(
    f"  {reason}\n      {reason.meaning}\n" for reason in Reason
)


def note(line: str) -> None:
    """Print a message to standard error."""
    tell(f"turnwise: {escape_unprintable(line)}\n", sys.stderr)


def write_pages(*pages: tuple[Path | None, Callable[[], str]]) -> None:
    """Write the files that the user asked for, and name them on standard error."""
    files = {path: map(str.encode, [make()]) for path, make in pages if path is not None}
    write_files(files, named=True)
    for path in files:
        note(f"wrote {path}")


def show(lines: Iterable[OutputLine]) -> None:
    """Print lines, in colour if standard output supports it."""
    colour = wants_colour(sys.stdout, os.environ)
    for line in lines:
        print(paint(line, colour=colour))
