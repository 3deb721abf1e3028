"""Dialogue episode that marks the user's calls."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from checkers.causes.trace import TracedCall
from envs.calls import Call
from runner.episodes.rejudged_episode import RejudgedMultiTurn, Remark


@dataclass(frozen=True, eq=False, kw_only=True)
class DialogueEpisode(RejudgedMultiTurn):
    """Dialogue that was judged again."""

    user_functions: Collection[str]
    """Functions that only the user calls."""

    def remarks(self, traced: TracedCall) -> Sequence[Remark]:
        """Mark the user's calls."""
        name = traced.call.name if isinstance(traced.call, Call) else ""
        is_own = name in self.user_functions or name.startswith("user.")
        return [("user", "the user made this call")] if is_own else ()
