"""The command ``turnwise env check``: whether environments keep the contract."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import envs
from envs.lazy import lazily
from envs.tool import place
from runner.commands import DONE
from runner.commands.env.tools import environments
from runner.commands.options import argument
from runner.show.terminal import say
from trajectories.errors import needing

if TYPE_CHECKING:
    from envs import testing
    from envs.testing import BoundCheck
else:
    # It needs an extra.
    testing = lazily(".testing", envs.__name__)

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
    failed = [check for check in checks if not _passes(check)]
    for exception in subject.exceptions():
        say(f"  except {exception}")
    say(f"  {len(checks) - len(failed)} passed, {len(failed)} failed\n", flush=True)
    return len(failed)


def _passes(bound: BoundCheck) -> bool:
    promise = f"{bound.check.name:14}  {bound.check.promise}"
    try:
        bound()
    except testing.Broken as finding:
        say(f"  FAIL  {promise}\n        {finding}", flush=True)
        return False
    say(f"  pass  {promise}", flush=True)
    return True
