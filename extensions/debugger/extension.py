"""Registration of the extension ``debugger``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envs.lazy_modules import lazy_module
from runner.extension import Command, Extension

if TYPE_CHECKING:
    from extensions.debugger import breakpoints
    from runner.episodes.rejudged_episode import RejudgedEpisode
else:
    breakpoints = lazy_module("extensions.debugger.breakpoints")


class DebuggerExtension(Extension):
    """Extension that debugs one episode in the terminal."""

    name = "debugger"
    commands = {
        "debug": Command(
            "interactive tools",
            "Step through one episode and try other calls in it.",
            f"{__package__}.commands.debug",
        )
    }

    def options(self, command: str) -> type | None:
        """Return the breakpoints of ``replay``."""
        return breakpoints.BreakpointOptions if command == "replay" else None

    def debug(self, options: Any, own: Any, found: RejudgedEpisode) -> bool:
        """Stop at breakpoints."""
        if not own.places and not own.events:
            return False
        breakpoints.debug(own, found)
        return True


EXTENSION = DebuggerExtension()
