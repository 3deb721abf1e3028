"""Registration of the extension ``scripts``."""

from __future__ import annotations

from runner.extension import Command, Extension


class ScriptsExtension(Extension):
    """Extension that executes call scripts without a data set."""

    name = "scripts"
    commands = {
        "exec": Command(
            "environment tools",
            "Execute call scripts from standard input.",
            f"{__package__}.commands.exec",
        )
    }


EXTENSION = ScriptsExtension()
