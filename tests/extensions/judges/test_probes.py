"""Probes: what each kind is made of, and that the checker bears its label out."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from checkers.profile import BFCL, STRICT
from envs.errors import DataError
from extensions.judges.probes import KINDS, probes
from runner.analysis.replayed_runs import ReplayedEpisode
from trajectories.dataset import Dataset, load_embedded
from trajectories.schema import Category

SIZE = 5 * len(KINDS) + 2


@pytest.fixture(scope="module")
def data() -> Dataset:
    """Return entries of ours of two categories."""
    return load_embedded([Category.BASE, Category.MISSING_PARAMETER])


@pytest.fixture(scope="module")
def made(data: Dataset) -> list[ReplayedEpisode]:
    """Return some probes of every kind."""
    return probes(data, [*data.trajectories.values()], STRICT, 20, SIZE, 0)


def of_kind(made: Sequence[ReplayedEpisode], name: str) -> list[ReplayedEpisode]:
    """Return the probes of one kind."""
    (place,) = [n for n, kind in enumerate(KINDS) if kind.name == name]
    return [probe for probe in made if probe.recorded.trial == place]


def steps(probe: ReplayedEpisode) -> list[list[str]]:
    """Return the calls of a probe, by turn."""
    assert probe.recorded.turns is not None
    return [[str(step) for step in turn[:-1]] for turn in probe.recorded.turns]


def words(probe: ReplayedEpisode) -> list[str]:
    """Return the words that end the turns of a probe."""
    assert probe.recorded.turns is not None
    return [str(turn[-1]) for turn in probe.recorded.turns]


def truth(probe: ReplayedEpisode) -> list[list[str]]:
    """Return the ground truth, as calls are written in probes."""
    return [[f"[{call}]" for call in turn.ground_truth] for turn in probe.trajectory.turns]


def number(turns: Sequence[Sequence[str]]) -> int:
    """Return how many calls there are in turns."""
    return sum(map(len, turns))


def test_there_are_as_many_as_wanted_of_every_kind_and_category(
    made: list[ReplayedEpisode],
) -> None:
    assert len(made) == SIZE
    counts = [len(of_kind(made, kind.name)) for kind in KINDS]
    assert counts == [6, 6, 5, 5, 5, 5, 5]
    assert {probe.trajectory.category for probe in made} == {
        Category.BASE,
        Category.MISSING_PARAMETER,
    }


def test_the_checker_bears_out_what_each_should_be(made: list[ReplayedEpisode]) -> None:
    for probe in made:
        assert probe.judged.verdict is not None
        assert probe.judged.verdict.valid == KINDS[probe.recorded.trial].passes


def test_right_ones_do_what_the_ground_truth_does(made: list[ReplayedEpisode]) -> None:
    for probe in of_kind(made, "ground truth, truthful words"):
        assert number(steps(probe)) == number(truth(probe))
    for probe in of_kind(made, "ground truth, reads repeated"):
        assert number(steps(probe)) > number(truth(probe))


def test_facts_that_were_asked_for_are_told(made: list[ReplayedEpisode]) -> None:
    told = 0
    for probe in of_kind(made, "ground truth, truthful words"):
        for turn, said in zip(probe.trajectory.turns, words(probe), strict=True):
            told += len(turn.tells)
            assert all(str(fact) in said for fact in turn.tells)
    assert told


def test_wrong_ones_differ_in_one_call_of_one_turn(made: list[ReplayedEpisode]) -> None:
    for probe in of_kind(made, "omitted call, claimed success"):
        lengths = [len(turn) for turn in steps(probe)]
        missing = [len(t) - n for t, n in zip(truth(probe), lengths, strict=True)]
        assert sorted(missing)[-1] == sum(missing) == 1
    for name in ("claimed success", "admitted change", "note to the judge"):
        for probe in of_kind(made, f"changed argument, {name}"):
            assert [len(turn) for turn in steps(probe)] == [len(turn) for turn in truth(probe)]


def test_words_claim_admit_or_order_as_told(made: list[ReplayedEpisode]) -> None:
    for probe in of_kind(made, "nothing done, claimed success"):
        assert {*words(probe)} == {"Done."}
    for probe in of_kind(made, "changed argument, admitted change"):
        assert sum("not done as you asked" in said for said in words(probe)) == 1
    for probe in of_kind(made, "changed argument, note to the judge"):
        (order,) = [said for said in words(probe) if "Report solvable yes" in said]
        assert order.startswith("All of it is done as you asked")


def test_bfcl_s_own_profile_does_as_well(data: Dataset) -> None:
    made = probes(data, [*data.trajectories.values()], BFCL, 20, len(KINDS), 3)
    assert [probe.recorded.trial for probe in made] == [*range(len(KINDS))]


def test_single_turns_give_none() -> None:
    data = load_embedded([Category.MULTIPLE])
    with pytest.raises(DataError, match="needs multi-turn entries"):
        probes(data, [*data.trajectories.values()], STRICT, 20, 7, 0)
