"""What this extension registers."""

from __future__ import annotations

from runner.extension import Command, Extension


class ExperimentsExtension(Extension):
    """Varies the list of functions that a model is offered."""

    name = "experiments"
    commands = {
        "vary": Command(
            "experiments",
            "Show experiments on the list of functions, with curves.",
            f"{__package__}.commands.vary",
        ),
        "dataset vary": Command(
            "data authoring",
            "Write entries that offer another number of functions.",
            f"{__package__}.commands.dataset_vary",
        ),
    }


EXTENSION = ExperimentsExtension()
