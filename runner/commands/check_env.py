"""The command ``turnwise check-env``: whether environments keep the contract."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from envs.backend import Backend
from envs.interface import place
from runner.commands.common import DONE, new_command
from runner.commands.environments import environments
from trajectories.errors import DataError

if TYPE_CHECKING:
    from envs.testing import BoundCheck

PROBLEMS = 1
"""Exit status: a check failed."""


def add_command(commands: Any) -> None:
    """Add the command to those of the command line."""
    text = "Check that environments keep the contract; each failure names the line to mend."
    parser = new_command(commands, "check-env", _check_env, text)
    parser.add_argument(
        "environments", nargs="*", metavar="NAME", help="names of environments (default: all)"
    )


def _check_env(options: argparse.Namespace) -> int:
    backends = environments(options.environments)
    # Not at the top: most commands need no such folder, and it takes a while to import.
    import tempfile

    # Hypothesis keeps notes in the current folder where it is not told otherwise.
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", folder)
        failed = sum(_check(backend) for backend in backends)
    return PROBLEMS if failed else DONE


def _check(backend: type[Backend]) -> int:
    """Check one environment, print what comes out, and return how many checks failed."""
    checks = _contract(backend.__name__)
    print(f"{backend.__name__}  ({place(backend)})", flush=True)
    failed = [check for check in checks if not _passes(check)]
    subject = checks[0].subject
    for exception in subject.exceptions():
        print(f"  except {exception}")
    print(f"  {len(checks) - len(failed)} passed, {len(failed)} failed\n", flush=True)
    return len(failed)


def _passes(bound: BoundCheck) -> bool:
    from envs.testing import Broken

    promise = f"{bound.check.name:14}  {bound.check.promise}"
    try:
        bound()
    except Broken as finding:
        print(f"  FAIL  {promise}\n        {finding}", flush=True)
        return False
    print(f"  pass  {promise}", flush=True)
    return True


def _contract(name: str) -> list[BoundCheck]:
    try:
        from envs.testing import contract
    except ModuleNotFoundError as error:
        advice = "install them with: pip install 'turnwise[dev]'"
        raise DataError("check-env", f"the test tools need {error.name}; {advice}") from None
    return contract(name)
