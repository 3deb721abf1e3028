"""Registration of the extension ``debugger``."""

from __future__ import annotations

from runner.extension import Command, Extension


class DebuggerExtension(Extension):
    """Debugger of one episode in the terminal."""

    name = "debugger"
    commands = {
        "debug": Command(
            "interactive tools",
            "Step through one episode and try other calls in it.",
            f"{__package__}.commands.debug",
        )
    }


EXTENSION = DebuggerExtension()
