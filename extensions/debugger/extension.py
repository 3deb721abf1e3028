"""What this extension registers."""

from __future__ import annotations

from runner.extension import Command, Extension


class DebuggerExtension(Extension):
    """Steps through one trajectory in the terminal."""

    name = "debugger"
    commands = {
        "debug": Command(
            "inspect",
            "Step through one trajectory, and try other calls in it.",
            f"{__package__}.commands.debug",
        ),
    }


EXTENSION = DebuggerExtension()
