"""What this extension registers."""

from __future__ import annotations

from runner.extension import Command, Extension


class AuthoringExtension(Extension):
    """Makes, validates, describes and audits data sets."""

    name = "authoring"
    commands = {
        "dataset show": Command(
            "data authoring", "Show what is in a data set.", f"{__package__}.commands.show"
        ),
        "dataset build": Command(
            "data authoring",
            "Build the five categories out of scenarios.",
            f"{__package__}.commands.build",
        ),
        "dataset validate": Command(
            "data authoring",
            "Check a data set by rule: truth, configs, documents.",
            f"{__package__}.commands.validate",
        ),
        "dataset graph": Command(
            "data authoring",
            "Show which results can feed which arguments; sample paths.",
            f"{__package__}.commands.graph",
        ),
        "dataset audit": Command(
            "data authoring",
            "List entries where the data, not the models, may be wrong.",
            f"{__package__}.commands.audit",
        ),
        "dataset unpack": Command(
            "data authoring",
            "Unpack the entries that are held back.",
            f"{__package__}.commands.unpack",
        ),
        "dataset overlap": Command(
            "data authoring",
            "Show what two data sets share word for word.",
            f"{__package__}.commands.overlap",
        ),
    }


EXTENSION = AuthoringExtension()
