"""The conductor: sources of calls, the turn loop, files and commands. And the door, ``turnwise``.

What people import is listed here, in the one package that sees all others, and loaded when it is
first used: the command starts without.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from checkers.profile import BFCL, STRICT, Profile
    from checkers.reasons import Reason
    from checkers.verdict import Verdict
    from envs import __version__
    from envs.backend import Backend, irreversible, reads, writes
    from envs.calls import Call, parse_call
    from envs.errors import AlreadyExists, InvalidArgument, NotFound, Refused, ToolError
    from envs.results import Result
    from envs.session import Session
    from envs.state import Difference, Snapshot
    from runner.data.choose import load_dataset
    from runner.episodes.episode import Episode
    from runner.records.definition import RunDefinition
    from runner.records.record import EpisodeRecord, StepRecord
    from runner.records.run import open_run
    from runner.rollouts.env import RolloutEnv
    from runner.rollouts.evaluate import Evaluation, evaluate, judge
    from trajectories.dataset import Dataset
    from trajectories.errors import DataError
    from trajectories.schema import Category, Trajectory, Turn

__all__ = [
    "BFCL",
    "STRICT",
    "AlreadyExists",
    "Backend",
    "Call",
    "Category",
    "DataError",
    "Dataset",
    "Difference",
    "Episode",
    "EpisodeRecord",
    "Evaluation",
    "InvalidArgument",
    "NotFound",
    "Profile",
    "Reason",
    "Refused",
    "Result",
    "RolloutEnv",
    "RunDefinition",
    "Session",
    "Snapshot",
    "StepRecord",
    "ToolError",
    "Trajectory",
    "Turn",
    "Verdict",
    "__version__",
    "evaluate",
    "irreversible",
    "judge",
    "load_dataset",
    "open_run",
    "parse_call",
    "reads",
    "writes",
]

_IN = {
    "envs": "__version__",
    "envs.backend": "Backend irreversible reads writes",
    "envs.calls": "Call parse_call",
    "envs.errors": "AlreadyExists InvalidArgument NotFound Refused ToolError",
    "envs.results": "Result",
    "envs.session": "Session",
    "envs.state": "Difference Snapshot",
    "checkers.profile": "BFCL STRICT Profile",
    "checkers.reasons": "Reason",
    "checkers.verdict": "Verdict",
    "trajectories.dataset": "Dataset",
    "trajectories.errors": "DataError",
    "trajectories.schema": "Category Trajectory Turn",
    "runner.data.choose": "load_dataset",
    "runner.episodes.episode": "Episode",
    "runner.records.definition": "RunDefinition",
    "runner.records.record": "EpisodeRecord StepRecord",
    "runner.records.run": "open_run",
    "runner.rollouts.env": "RolloutEnv",
    "runner.rollouts.evaluate": "Evaluation evaluate judge",
}
_MODULES = {name: module for module, names in _IN.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name == "testing":
        # Not in __all__, because it needs the extra ``dev``.
        return import_module("turnwise.testing")
    if name not in _MODULES:
        raise AttributeError(f"module 'turnwise' has no attribute {name!r}")
    # In a wheel all packages are within turnwise.
    module = import_module(__name__.removesuffix("runner") + _MODULES[name])
    return getattr(module, name)


def __dir__() -> list[str]:
    return [*__all__, "testing"]
