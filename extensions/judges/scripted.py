"""A judge that needs no server: it knows the verdict, and says so in a set share of its votes.

It shows what majorities, intervals and both orders are worth, and that they are reckoned right.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import NamedTuple, Self

from extensions.judges.exhibit import Exhibit
from extensions.judges.judging import Choice, JudgeLabel
from extensions.judges.votes import PreferenceVote, Vote
from runner.models.model_name import parsed
from trajectories.errors import DataError

_SHARES = ("first", "unsure")


class ScriptedJudge(NamedTuple):
    """What a scripted judge says, by chance but by its seed always the same."""

    right: float
    """Share of votes that are as the verdict has it."""
    first: float = 0.0
    """Share of preferences that go to whatever is shown first."""
    unsure: float = 0.0
    """Share of votes that are unsure; all others are wrong."""
    seed: int = 0
    by_turn: bool = False
    """Whether each turn is a matter by itself, or the episode as a whole."""

    @classmethod
    def named(cls, name: str, seed: int, *, by_turn: bool = False) -> Self:
        """Return the judge of a name such as ``scripted:0.8,first=0.3,unsure=0.1``.

        Raises:
            DataError: It is no such name.
        """
        right, *more = parsed(name).argument.split(",")
        shares = {"right": _share(right, name)}
        for each in more:
            what, _, share = each.partition("=")
            if what not in _SHARES or what in shares:
                raise DataError("--judge", f"{name!r}: {each!r} is not first=SHARE or unsure=SHARE")
            shares[what] = _share(share, name)
        if shares["right"] + shares.get("unsure", 0.0) > 1:
            raise DataError("--judge", f"{name!r}: the shares of right and unsure exceed 1")
        return cls(**shares, seed=seed, by_turn=by_turn)

    def vote(self, exhibit: Exhibit, draw: int) -> Vote:
        """Return its vote on an episode."""
        vote = Vote(*exhibit.key, draw, exhibit.brief.sha256)
        if exhibit.passed is None:
            return vote._replace(abstained="there is no verdict to know")
        if self.by_turn:
            turns = [turn.passed for turn in exhibit.turns]
            return vote._replace(
                labels=[
                    "unsure" if passed is None else self._label(passed, exhibit, draw, number)
                    for number, passed in enumerate(turns)
                ]
            )
        label = self._label(exhibit.passed, exhibit, draw, None)
        labels: list[JudgeLabel] = ["pass"] * len(exhibit.turns)
        if label != "pass":
            failed = [n for n, turn in enumerate(exhibit.turns) if turn.passed is False]
            labels[failed[0] if failed else -1] = label
        return vote._replace(labels=labels)

    def _label(self, passed: bool, exhibit: Exhibit, draw: int, turn: int | None) -> JudgeLabel:
        """Return what it says of something that passed or failed."""
        id, trial = exhibit.key
        place = f"{self.seed}/{id}/{trial}/{draw}" + ("" if turn is None else f"/{turn}")
        number = Random(place).random()
        if self.right <= number < self.right + self.unsure:
            return "unsure"
        return "pass" if passed == (number < self.right) else "fail"

    def prefer(self, a: Exhibit, b: Exhibit, draw: int, brief: str) -> PreferenceVote:
        """Return its preference, as two requests have it: it knows who reached more milestones."""
        id, trial = a.key
        source = Random(f"{self.seed}/{id}/{trial}/{draw}/preference")
        better = a.doings.merits.against(b.doings.merits)["milestones"]
        said = []
        for a_is_first in (True, False):
            by_place, is_right = source.random() < self.first, source.random() < self.right
            choice: Choice = better if a_is_first else _swapped(better)
            if by_place:
                choice = "first"
            elif not is_right:
                choice = "first" if choice == "equal" else _swapped(choice)
            said.append(choice)
        return PreferenceVote(id, trial, draw, brief, {"richness": said[0]}, {"richness": said[1]})


def _swapped(choice: Choice) -> Choice:
    swapped: Mapping[Choice, Choice] = {"first": "second", "second": "first", "equal": "equal"}
    return swapped[choice]


def _share(text: str, name: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise DataError("--judge", f"{name!r}: {text!r} is no share from 0 to 1")
    return share
