"""Registration of the extension ``contamination``."""

from __future__ import annotations

from runner.extension import Command, Extension


class ContaminationExtension(Extension):
    """Extension that probes whether a model has seen a data set."""

    name = "contamination"
    commands = {
        "dataset probe": Command(
            "data authoring",
            "Probe whether a model has seen the entries.",
            f"{__package__}.commands.probe",
        )
    }


EXTENSION = ContaminationExtension()
