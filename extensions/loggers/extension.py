"""Registration of the extension ``loggers``."""

from __future__ import annotations

from runner.extension import Command, Extension


class LoggersExtension(Extension):
    """Extension that sends runs to experiment trackers."""

    name = "loggers"
    commands = {
        "log": Command(
            "interactive tools",
            "Send a run's metrics to MLflow or Weights & Biases.",
            f"{__package__}.commands.log",
        )
    }


EXTENSION = LoggersExtension()
