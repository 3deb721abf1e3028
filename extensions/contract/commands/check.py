"""Command ``turnwise env check``: checks environments against the contract."""

from __future__ import annotations

import io
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest import SkipTest

from envs import registry
from envs.errors import require_extra
from envs.lazy_modules import lazy_module
from envs.tool import place
from extensions.contract.commands.tools import environments
from runner.commands import DONE
from runner.commands.options import argument, option
from runner.show.terminal import say

if TYPE_CHECKING:
    from extensions.contract import contract as testing
    from extensions.contract.contract import BoundCheck
    from runner.data import dataset_choice
else:
    dataset_choice = lazy_module("runner.data.dataset_choice")
    # It needs an extra.
    testing = lazy_module("extensions.contract.contract")

EXAMPLE = "turnwise env check TicketAPI"

PROBLEMS = 1
"""Exit status if a check failed."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options for the environments."""

    environments: tuple[str, ...] = argument(
        "names of environments (default: all)", "NAME", required=False, default=()
    )
    dataset: str | None = option(
        "also start from the initial configs of this data set: bfcl, a file or a folder", "NAME"
    )


def run(options: Options) -> int:
    """Check environments, and print every rule with its outcome."""
    names = options.environments or registry.names()
    environments(names)
    with require_extra("dev", "env check"):
        contract = testing.contract
    # By default, Hypothesis writes into the current folder.
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", folder)
        configs = _list_configs(options.dataset) if options.dataset else {}
        checked = [contract(name, configs.get(name, ())) for name in names]
        failed = sum(map(_check, checked))
    return PROBLEMS if failed else DONE


def _list_configs(name: str) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for trajectory in dataset_choice.load_dataset(name).trajectories.values():
        for backend, config in trajectory.config.items():
            found.setdefault(backend, {})[json.dumps(config, sort_keys=True)] = config
    return {backend: [*configs.values()] for backend, configs in found.items()}


def _check(checks: Sequence[BoundCheck]) -> int:
    subject = checks[0].subject
    say(f"{subject.name}  ({place(subject.backend)})", flush=True)
    outcomes = [_outcome(check) for check in checks]
    for exception in subject.exceptions():
        say(f"  except {exception}")
    failed, skipped = outcomes.count(False), outcomes.count(None)
    rest = f", {skipped} skipped" if skipped else ""
    say(f"  {outcomes.count(True)} passed, {failed} failed{rest}\n", flush=True)
    return failed


def _outcome(bound: BoundCheck) -> bool | None:
    promise = f"{bound.check.name:14}  {bound.check.promise}"
    try:
        # Output of the environment must not mix with the lines of this command.
        with redirect_stdout(io.StringIO()):
            bound()
    except testing.ContractViolation as finding:
        say(f"  FAIL  {promise}\n        {finding}", flush=True)
        return False
    except SkipTest as reason:
        say(f"  ----  {bound.check.name:14}  {reason}", flush=True)
        return None
    say(f"  pass  {promise}", flush=True)
    return True
