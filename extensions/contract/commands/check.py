"""The command ``turnwise env check``: whether environments keep the contract."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unittest import SkipTest

from envs.lazy import lazily
from envs.tool import place
from runner.commands import DONE
from runner.commands.env.tools import environments
from runner.commands.options import argument
from runner.show.terminal import say
from trajectories.errors import needing

if TYPE_CHECKING:
    from extensions.contract import contract as testing
    from extensions.contract.contract import BoundCheck
else:
    # It needs an extra.
    testing = lazily("extensions.contract.contract")

EXAMPLE = "turnwise env check TicketAPI"

PROBLEMS = 1
"""Exit status: a check failed."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What to check."""

    environments: tuple[str, ...] = argument(
        "names of environments (default: all)", "NAME", required=False, default=()
    )


def run(options: Options) -> int:
    """Check environments, and print every promise with what came out."""
    backends = environments(options.environments)
    with needing("dev", "env check"):
        contract = testing.contract
    # Hypothesis keeps notes in the current folder where it is not told otherwise.
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", folder)
        failed = sum(_check(contract(backend.__name__)) for backend in backends)
    return PROBLEMS if failed else DONE


def _check(checks: Sequence[BoundCheck]) -> int:
    """Check one environment, print what comes out, and return how many checks failed."""
    subject = checks[0].subject
    say(f"{subject.name}  ({place(subject.backend)})", flush=True)
    outcomes = [_outcome(check) for check in checks]
    for exception in subject.exceptions():
        say(f"  except {exception}")
    failed, skipped = outcomes.count(False), outcomes.count(None)
    rest = f", {skipped} not looked at" if skipped else ""
    say(f"  {outcomes.count(True)} passed, {failed} failed{rest}\n", flush=True)
    return failed


def _outcome(bound: BoundCheck) -> bool | None:
    """Run and print a check; tell whether it passes, None where another comes first."""
    promise = f"{bound.check.name:14}  {bound.check.promise}"
    try:
        # What an environment prints does not belong among the lines of this command.
        with redirect_stdout(io.StringIO()):
            bound()
    except testing.Broken as finding:
        say(f"  FAIL  {promise}\n        {finding}", flush=True)
        return False
    except SkipTest as reason:
        say(f"  ----  {bound.check.name:14}  {reason}", flush=True)
        return None
    say(f"  pass  {promise}", flush=True)
    return True
