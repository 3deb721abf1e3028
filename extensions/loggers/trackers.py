"""Trackers: functions that log a run and return its address in the tracker."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal

from envs.errors import DataError
from envs.lazy_modules import lazy_module
from extensions.loggers.logged_run import LoggedRun

if TYPE_CHECKING:
    import mlflow
    import wandb
else:
    # Each needs only its own library.
    mlflow = lazy_module("mlflow")
    wandb = lazy_module("wandb")

Tracker = Literal["mlflow", "wandb"]

_MAX_PARAMETER_CHARS = 500
"""Maximum length of a logged parameter; every MLflow server accepts this length."""


def log_to_mlflow(run: LoggedRun, project: str) -> str:
    """Log a run to the MLflow server or folder that ``MLFLOW_TRACKING_URI`` names.

    Raises DataError if the server refuses the run.
    """
    exceptions = mlflow.exceptions
    try:
        mlflow.set_experiment(project)
        with mlflow.start_run(run_name=run.name) as started:
            texts = {name: str(value) for name, value in run.parameters.items()}
            mlflow.log_params({name: text[:_MAX_PARAMETER_CHARS] for name, text in texts.items()})
            mlflow.log_metrics(dict(run.metrics))
            mlflow.set_tags({f"turnwise.tag.{tag}": "yes" for tag in run.tags})
            mlflow.log_text(run.report, "report.html")
    except exceptions.MlflowException as error:
        raise DataError("--to mlflow", " ".join(str(error).split())[:300]) from None
    return f"{started.info.artifact_uri}/report.html"


def log_to_wandb(run: LoggedRun, project: str) -> str:
    """Log a run to Weights & Biases, or to a local folder if ``WANDB_MODE`` is ``offline``.

    Raises DataError if the service refuses the run.
    """
    errors = wandb.errors
    try:
        started = wandb.init(
            project=project, name=run.name, config=dict(run.parameters), tags=run.tags or None
        )
        started.summary.update(dict(run.metrics))
        with TemporaryDirectory() as folder:
            path = Path(folder) / "report.html"
            path.write_text(run.report, encoding="utf-8")
            artifact = wandb.Artifact(f"{started.id}-report", type="report")
            artifact.add_file(str(path))
            started.log_artifact(artifact)
            address = started.url or os.path.dirname(started.dir)
            started.finish()
    except errors.Error as error:
        raise DataError("--to wandb", " ".join(str(error).split())[:300]) from None
    return str(address)


TRACKERS: Mapping[Tracker, Callable[[LoggedRun, str], str]] = {
    "mlflow": log_to_mlflow,
    "wandb": log_to_wandb,
}
"""Trackers by name."""
