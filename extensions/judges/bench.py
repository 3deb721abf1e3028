"""The sittings of one command: their votes on disk, and one budget for all of them."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from extensions.judges.setting import JudgeSetting
from extensions.judges.sitting import Case, Sat, sit
from extensions.judges.votes import VOTES_FILE, AnyVote, JudgeDefinition, VoteStore
from runner.live.budget import Budget
from runner.live.conduct import Ending, limits_of
from runner.live.meter import Meter
from runner.records.record import Spent
from trajectories.errors import DataError


class Bench:
    """Where a judge sits.

    Args:
        setting: Who judges, and how.
        command: What the user typed.
        resumes: Whether there must be votes to go on with.

    Attributes:
        stopped: How a sitting ended before all was done, or None.
        used: What was used by the sittings so far, in all their lives.
        failed: How many things have no vote since a request failed.
        folders: Where votes were kept.
    """

    def __init__(
        self, setting: JudgeSetting, command: Sequence[str], *, resumes: bool = False
    ) -> None:
        self.setting = setting
        self.stopped: Ending | None = None
        self.used = Spent()
        self.failed: dict[str, str] = {}
        self.folders: list[Path] = []
        self._command = command
        self._resumes = resumes

    def hear(
        self,
        cases: Sequence[Case[AnyVote]],
        folder: Path,
        definition: JudgeDefinition,
        kind: type[AnyVote],
        tool: str,
    ) -> Sat[AnyVote]:
        """Have all cases voted on, as far as the budget goes, and keep the votes.

        Args:
            cases: What to vote on.
            folder: Where the folder for the votes goes.
            definition: What defines them.
            kind: What a vote is.
            tool: By which function the judge answers.

        Raises:
            DataError: The folder or the judge cannot be used.
        """
        setting, settings = self.setting, self.setting.settings
        place = folder / definition.folder
        self._check_resumed(folder, place)
        with VoteStore(
            place, definition, kind, setting.note(self._command), setting.secrets
        ) as store:
            self.folders.append(place)
            if self.stopped is not None:
                return Sat()
            used = self.used
            requests = settings.max_requests and settings.max_requests - used.requests
            cost = settings.max_cost and settings.max_cost - (used.cost or 0.0)
            budget = Budget(requests, cost, store.spent)
            meter = Meter(len(cases), sys.stderr, time.monotonic)

            async def whole() -> Sat[AnyVote]:
                model = setting.model(tool)
                return await sit(
                    cases,
                    store,
                    model,
                    limits_of(settings)._replace(waits_for_server=False),
                    budget,
                    meter,
                )

            sat = asyncio.run(whole())
        self._count(sat)
        return sat

    def kept(
        self, folder: Path, definition: JudgeDefinition, kind: type[AnyVote]
    ) -> VoteStore[AnyVote] | None:
        """Return the votes that there are, closed; None where there are none."""
        place = folder / definition.folder
        if not (place / VOTES_FILE).exists():
            return None
        with VoteStore(place, definition, kind, {}, self.setting.secrets) as store:
            return store

    def _count(self, sat: Sat[AnyVote]) -> None:
        ending = sat.ending
        assert ending is not None
        spent, used = ending.spent, self.used
        cost = used.cost if spent.cost is None else (used.cost or 0.0) + spent.cost
        self.used = Spent(used.requests + spent.requests, used.tokens + spent.tokens, cost)
        self.failed |= {f"{id}, trial {trial}": why for (id, trial), why in sat.failed.items()}
        if ending.stop_reason is not None:
            self.stopped = ending

    def _check_resumed(self, folder: Path, place: Path) -> None:
        if not self._resumes or (place / VOTES_FILE).exists():
            return
        others = sorted(path.parent.name for path in folder.glob(f"*/{VOTES_FILE}"))
        there = f"; there are those of {', '.join(others)}" if others else ""
        raise DataError(
            "--resume", f"{folder} has no votes of this judge, asked in this way{there}"
        )
