"""Judging session: one command collects and stores votes within one budget."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from envs.errors import DataError
from extensions.judges.judge_setting import JudgeSetting
from extensions.judges.vote_collection import VotingCase, VotingResult, collect_votes
from extensions.judges.votes import VOTES_FILE, AnyVote, JudgeDefinition, VoteStore
from runner.live.budget import Budget
from runner.live.progress_display import ProgressDisplay
from runner.live.run_control import RunEnding, limits_of
from runner.records.episode_record import RunSpending
from runner.records.secret_finder import redact_command


class JudgingSession:
    """All votes that one command requests. If ``resumes`` is true, stored votes must exist."""

    def __init__(
        self, setting: JudgeSetting, command: Sequence[str], *, resumes: bool = False
    ) -> None:
        self.setting = setting
        self.stopped: RunEnding | None = None
        """Reason for an early stop of the voting, or None."""
        self.used = RunSpending()
        """Requests, tokens and cost of all votes, including the votes of earlier commands."""
        self.failed: dict[str, str] = {}
        """Error of each episode that has no vote."""
        self.folders: list[Path] = []
        """Folders of the votes."""
        self._command = command
        self._resumes = resumes

    def hear(
        self,
        cases: Sequence[VotingCase[AnyVote]],
        folder: Path,
        definition: JudgeDefinition,
        kind: type[AnyVote],
        tool: str,
    ) -> VotingResult[AnyVote]:
        """Collect votes on all cases, within the budget.

        The votes are stored in a subfolder of ``folder``. The judge model answers by calling
        ``tool``.

        Raises DataError if the folder or the judge model cannot be used.
        """
        setting, settings = self.setting, self.setting.settings
        place = folder / definition.folder
        self._check_resumed(folder, place)
        created = datetime.now().isoformat(timespec="seconds")
        note = {"created": created, "command": redact_command(self._command)}
        with VoteStore(place, definition, kind, note, setting.secrets) as store:
            self.folders.append(place)
            if self.stopped is not None:
                return VotingResult()
            used = self.used
            requests = settings.max_requests and settings.max_requests - used.requests
            cost = settings.max_cost and settings.max_cost - (used.cost or 0.0)
            budget = Budget(requests, cost, store.spent)
            meter = ProgressDisplay(len(cases), sys.stderr, time.monotonic)
            limits = limits_of(settings)._replace(waits_for_server=False)

            async def vote() -> VotingResult[AnyVote]:
                return await collect_votes(cases, store, setting.model(tool), limits, budget, meter)

            result = asyncio.run(vote())
        self._count(result)
        return result

    def kept(
        self, folder: Path, definition: JudgeDefinition, kind: type[AnyVote]
    ) -> VoteStore[AnyVote] | None:
        """Open the store of existing votes for reading only; return None if there are no votes."""
        place = folder / definition.folder
        if not (place / VOTES_FILE).exists():
            return None
        with VoteStore(place, definition, kind, {}, self.setting.secrets) as store:
            return store

    def _count(self, result: VotingResult[AnyVote]) -> None:
        ending = result.ending
        assert ending is not None
        spent, used = ending.spent, self.used
        cost = used.cost if spent.cost is None else (used.cost or 0.0) + spent.cost
        self.used = RunSpending(used.requests + spent.requests, used.tokens + spent.tokens, cost)
        self.failed |= {f"{id}, trial {trial}": why for (id, trial), why in result.failed.items()}
        if ending.stop_reason is not None:
            self.stopped = ending

    def _check_resumed(self, folder: Path, place: Path) -> None:
        if not self._resumes or (place / VOTES_FILE).exists():
            return
        others = sorted(path.parent.name for path in folder.glob(f"*/{VOTES_FILE}"))
        there = f"; it has {', '.join(others)}" if others else ""
        message = f"{folder} has no votes of this judge model under these options{there}"
        raise DataError("--resume", message)
