from __future__ import annotations

from collections import Counter

from runner.episodes.scripted_models import POLICIES
from tools.discrimination import MINI_SIZE, RATES, choose_mini, lines, passed, rank_correlation
from trajectories.dataset import load_embedded
from trajectories.schema import Category, Tier

OUTCOMES = {"a": frozenset("1234"), "b": frozenset("123"), "c": frozenset("12"), "d": frozenset()}


def test_the_same_order_correlates_wholly_and_the_other_way_round_not():
    assert rank_correlation(OUTCOMES, "123456", "1234") == 1.0
    other = {
        "a": frozenset("5"),
        "b": frozenset("56"),
        "c": frozenset("567"),
        "d": frozenset("5678"),
    }
    turned = {name: ids | other[name] for name, ids in OUTCOMES.items()}
    assert rank_correlation(turned, "5678", "1234") == -1.0


def test_ties_share_their_rank():
    assert 0.7 < rank_correlation(OUTCOMES, "12", "1234") < 1.0


def test_twenty_models_are_told_apart_by_what_they_pass():
    dataset = load_embedded([Category.BASE])
    some = list(dataset.trajectories.values())[:8]
    found = passed(dataset, some)
    assert [*found] == [*map(str, RATES), *POLICIES]
    assert len(found) == 20
    assert len(found["0.01"]) > len(found["0.5"])
    assert passed(dataset, some) == found != passed(dataset, some, 50)


def test_the_chosen_part_ranks_at_least_as_well_as_any_first_sample():
    entries = [*load_embedded([Category.BASE]).trajectories.values()]
    ids = [entry.id for entry in entries]
    outcomes = {str(n): frozenset(ids[: n * len(ids) // 20]) for n in range(1, 21)}
    chosen = choose_mini(outcomes, entries)
    assert len({*chosen}) == MINI_SIZE
    assert rank_correlation(outcomes, chosen, ids) > 0.99


def test_lines_have_a_column_for_each_tier_that_there_is():
    dataset = load_embedded([Category.BASE])
    some = [*dataset.trajectories.values()][:8]
    outcomes = passed(dataset, some)
    shown = lines(some, [some[0].id, some[1].id], outcomes, outcomes)
    tiers = Counter(t.tier for t in some)
    heading = " | ".join(f"{tier}, {tiers[tier]}" for tier in Tier) + " | mini, 2 |"
    assert shown[0] == f"| `--model scripted:` | {heading}"
    assert shown[-1].startswith(f"Across {len(outcomes)} other models")
