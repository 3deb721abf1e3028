"""ALIGN: whether a judge finds that an entry's own calls do what its user asks for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from checkers.profile import STRICT
from extensions.generation.asking import Asker
from extensions.generation.entries.tasks import dataset_of
from extensions.judges.exhibit import Exhibit, LabelTerms
from extensions.judges.probes import probe
from extensions.judges.sitting import AnyJudge, EpisodeCase, VoteCount
from extensions.judges.votes import Vote
from runner.episodes.episode import STEP_LIMIT
from runner.live.loop import ModelAnswer
from runner.models.base import Request
from trajectories.schema import Trajectory

VOTES = 5
"""At most; they are drawn until the label cannot change."""
_TERMS = LabelTerms("paper", "judged", "episode")
_ORACLE = 0
"""The kind of probe that is the ground truth with truthful words."""


def aligner(judge: AnyJudge, asker: Asker) -> Callable[[Trajectory], Awaitable[str]]:
    """Return what has a judge label entries, each played by its own calls."""

    async def align(entry: Trajectory) -> str:
        viewed = probe(dataset_of(entry), entry, STRICT, STEP_LIMIT, _ORACLE, 0)
        if viewed is None or viewed.examined is None:
            return "fail"

        async def ask(request: Request) -> ModelAnswer:
            return await asker.ask((f"{entry.id} judge", request.trial), request)

        exhibit = Exhibit(viewed, viewed.examined, "steps")
        case = EpisodeCase(exhibit, judge, _TERMS, VoteCount(VOTES))
        votes: list[Vote] = []
        while not case.is_over(votes):
            votes.append(await case.draw(len(votes), ask))
        return case.outcome(votes)

    return align
