"""Registration of the extension ``verify``."""

from __future__ import annotations

from runner.extension import Command, Extension


class VerifyExtension(Extension):
    """Extension that executes recorded runs again and compares the outcomes."""

    name = "verify"
    commands = {
        "verify": Command(
            "further inspection",
            "Execute a run again and compare verdicts and results.",
            f"{__package__}.commands.verify",
        )
    }


EXTENSION = VerifyExtension()
