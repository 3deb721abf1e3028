"""Scripted judge model: a given share of its votes agrees with the known verdict.

Tests of majorities, intervals and comparisons use this model, because it needs no server.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import NamedTuple, Self

from envs.errors import DataError
from extensions.judges.judged_episode import JudgedEpisode
from extensions.judges.label_rules import Choice, JudgeLabel
from extensions.judges.votes import PreferenceVote, Vote
from runner.models.model_name import ModelName

_SHARES = ("first", "unsure")
_SWAPPED: Mapping[Choice, Choice] = {"first": "second", "second": "first", "equal": "equal"}


class ScriptedJudge(NamedTuple):
    """Simulated judge model; its votes are random, with a fixed seed."""

    right: float
    """Share of votes that agree with the verdict."""
    first: float = 0.0
    """Share of choices that prefer the episode shown first, regardless of the verdicts."""
    unsure: float = 0.0
    """Share of ``unsure`` votes. A vote that is neither right nor ``unsure`` is wrong."""
    seed: int = 0
    by_turn: bool = False
    """Whether the model labels each turn, not the whole episode."""

    @classmethod
    def named(cls, name: ModelName, seed: int, *, by_turn: bool = False) -> Self:
        """Return the judge model of a name such as ``scripted:0.8,first=0.3,unsure=0.1``.

        Raises DataError if the name is malformed.
        """
        right, *more = name.argument.split(",")
        shares = {"right": read_share(right, name, "--judge")}
        for each in more:
            key, _, share = each.partition("=")
            if key not in _SHARES or key in shares:
                raise DataError(
                    "--judge", f"{name!r}: {each!r} must be first=SHARE or unsure=SHARE"
                )
            shares[key] = read_share(share, name, "--judge")
        if shares["right"] + shares.get("unsure", 0.0) > 1:
            raise DataError(
                "--judge", f"{name!r}: the shares of right and unsure votes add up to more than 1"
            )
        return cls(**shares, seed=seed, by_turn=by_turn)

    def vote(self, exhibit: JudgedEpisode, draw: int) -> Vote:
        """Return a vote on an episode."""
        vote = Vote(*exhibit.key, draw, exhibit.brief.sha256)
        if exhibit.passed is None:
            return vote._replace(
                abstained="the episode has no verdict, so a scripted judge cannot vote on it"
            )
        id, trial = exhibit.key
        place = f"{self.seed}/{id}/{trial}/{draw}"
        labels: list[JudgeLabel] = ["pass"] * len(exhibit.turns)
        if self.by_turn:
            for number, turn in enumerate(exhibit.turns):
                labels[number] = self._draw_label(turn.passed, f"{place}/{number}")
        elif (label := self._draw_label(exhibit.passed, place)) != "pass":
            failed = [n for n, turn in enumerate(exhibit.turns) if turn.passed is False]
            labels[failed[0] if failed else -1] = label
        return vote._replace(labels=labels)

    def _draw_label(self, passed: bool | None, place: str) -> JudgeLabel:
        number = Random(place).random()
        if passed is None or self.right <= number < self.right + self.unsure:
            return "unsure"
        return "pass" if passed == (number < self.right) else "fail"

    def prefer(self, a: JudgedEpisode, b: JudgedEpisode, draw: int, brief: str) -> PreferenceVote:
        """Return a vote on two episodes; the episode with more milestones is better."""
        id, trial = a.key
        source = Random(f"{self.seed}/{id}/{trial}/{draw}/preference")
        better = a.doings.merits.against(b.doings.merits)["milestones"]
        choices = []
        for right in (better, _SWAPPED[better]):
            by_place, is_right = source.random() < self.first, source.random() < self.right
            choice = right
            if by_place:
                choice = "first"
            elif not is_right:
                choice = "first" if right == "equal" else _SWAPPED[right]
            choices.append(choice)
        a_first, b_first = choices
        return PreferenceVote(id, trial, draw, brief, {"richness": a_first}, {"richness": b_first})


def read_share(text: str, name: str, option: str) -> float:
    """Read a share (0 to 1) from a scripted model's name. Raises DataError for other text."""
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise DataError(option, f"{name!r:.80}: {text!r:.40} is not a share from 0 to 1")
    return share
