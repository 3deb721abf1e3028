"""Registration of the extension ``loggers``."""

from __future__ import annotations

from runner.extension import Command, Extension


class LoggersExtension(Extension):
    """Runs in the experiment trackers of others."""

    name = "loggers"
    commands = {
        "log": Command(
            "interactive tools",
            "Send a run's figures to MLflow or Weights & Biases.",
            f"{__package__}.commands.log",
        )
    }


EXTENSION = LoggersExtension()
