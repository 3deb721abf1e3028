"""Runs, commands and files of Turnwise.

The package also contains the public API.

The names in ``__all__`` are loaded on first use, so that the command starts fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checkers.calls.call_entry import UnjudgeableEntry
    from checkers.profile import BFCL, STRICT, Profile
    from checkers.reasons import Reason
    from checkers.user_checks import check
    from checkers.verdict import Verdict
    from envs import __version__
    from envs.backend import Backend, irreversible, reads, writes
    from envs.calls import Call, parse_call
    from envs.errors import (
        AccessDenied,
        AlreadyExists,
        BackendFault,
        ConfigError,
        DataError,
        InvalidArgument,
        MalformedCall,
        NotFound,
        Refused,
        SimulatorError,
        ToolError,
        UnknownFunction,
    )
    from envs.notices import Notice
    from envs.registry import register
    from envs.results import Result
    from envs.session import Session
    from envs.state import Difference, Snapshot
    from envs.worlds import World
    from runner.analysis.frames import RunFrames, load_runs
    from runner.data.dataset_choice import load_dataset
    from runner.episodes.turn_loop import TurnLoop
    from runner.models.model_types import ModelError
    from runner.records.durable_files import WriteError
    from runner.records.episode_record import EpisodeRecord, StepRecord
    from runner.records.recorded_run import open_run
    from runner.records.run_definition import RunDefinition
    from runner.rollouts.evaluation import Evaluation, evaluate, judge
    from runner.rollouts.rollout_env import RolloutEnv
    from trajectories.dataset import Dataset
    from trajectories.schema import Category, Trajectory, Turn

__all__ = [
    "BFCL",
    "STRICT",
    "AccessDenied",
    "AlreadyExists",
    "Backend",
    "BackendFault",
    "Call",
    "Category",
    "ConfigError",
    "DataError",
    "Dataset",
    "Difference",
    "EpisodeRecord",
    "Evaluation",
    "InvalidArgument",
    "MalformedCall",
    "ModelError",
    "NotFound",
    "Notice",
    "Profile",
    "Reason",
    "Refused",
    "Result",
    "RolloutEnv",
    "RunDefinition",
    "RunFrames",
    "Session",
    "SimulatorError",
    "Snapshot",
    "StepRecord",
    "ToolError",
    "Trajectory",
    "Turn",
    "TurnLoop",
    "UnjudgeableEntry",
    "UnknownFunction",
    "Verdict",
    "World",
    "WriteError",
    "__version__",
    "check",
    "evaluate",
    "irreversible",
    "judge",
    "load_dataset",
    "load_runs",
    "open_run",
    "parse_call",
    "reads",
    "register",
    "writes",
]

_IN = {
    "envs": "__version__",
    "envs.backend": "Backend irreversible reads writes",
    "envs.calls": "Call parse_call",
    "envs.errors": "AccessDenied AlreadyExists BackendFault ConfigError DataError "
    "InvalidArgument MalformedCall NotFound Refused SimulatorError ToolError UnknownFunction",
    "envs.registry": "register",
    "envs.results": "Result",
    "envs.notices": "Notice",
    "envs.session": "Session",
    "envs.state": "Difference Snapshot",
    "envs.worlds": "World",
    "checkers.calls.call_entry": "UnjudgeableEntry",
    "checkers.user_checks": "check",
    "checkers.profile": "BFCL STRICT Profile",
    "checkers.reasons": "Reason",
    "checkers.verdict": "Verdict",
    "trajectories.dataset": "Dataset",
    "trajectories.schema": "Category Trajectory Turn",
    "runner.analysis.frames": "RunFrames load_runs",
    "runner.data.dataset_choice": "load_dataset",
    "runner.episodes.turn_loop": "TurnLoop",
    "runner.records.run_definition": "RunDefinition",
    "runner.models.model_types": "ModelError",
    "runner.records.durable_files": "WriteError",
    "runner.records.episode_record": "EpisodeRecord StepRecord",
    "runner.records.recorded_run": "open_run",
    "runner.rollouts.rollout_env": "RolloutEnv",
    "runner.rollouts.evaluation": "Evaluation evaluate judge",
}
_MODULES = {name: module for module, names in _IN.items() for name in names.split()}


if not TYPE_CHECKING:
    # A type checker would take any name for a member.

    def __getattr__(name):
        if name == "testing":
            # Not in __all__: it requires the extra ``dev``.
            return import_module("turnwise.testing")
        if name not in _MODULES:
            raise AttributeError(f"module 'turnwise' has no attribute {name!r}")
        # In a wheel, all packages are inside turnwise.
        module = import_module(__name__.removesuffix("runner") + _MODULES[name])
        return getattr(module, name)


def __dir__() -> list[str]:
    return [*__all__, "testing"]
