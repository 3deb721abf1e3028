"""Confirmation turns: an agent that makes an irreversible call before the user confirms fails."""

from __future__ import annotations

from collections.abc import Iterator

from turnwise import judge

from envs.registry import list_irreversible
from runner.data.dataset_choice import load_dataset
from trajectories.schema import DifficultyLabel, Trajectory


def early_calls(entry: Trajectory) -> Iterator[list[list[str]]]:
    """Yield the ground truth with the calls of one irreversible turn in the turn before it.

    In the turn before it, the agent must wait for the confirmation.
    """
    irreversible = list_irreversible(entry.environments)
    truth = [[*turn.ground_truth] for turn in entry.turns]
    for place, calls in enumerate(truth[1:]):
        if not truth[place] and any(text.partition("(")[0] in irreversible for text in calls):
            early = [*truth[:place], calls, [], *truth[place + 2 :]]
            yield [[*(f"[{text}]" for text in turn), "Done."] for turn in early]


def test_an_act_before_the_confirmation_fails() -> None:
    entries = load_dataset(categories="base").trajectories.values()
    asking = [each for each in entries if DifficultyLabel.CONFIRMATION in each.labels]
    verdicts = [judge(each, turns=t, mode="prompt") for each in asking for t in early_calls(each)]
    assert len(verdicts) == 13
    assert not any(verdict.valid for verdict in verdicts)
