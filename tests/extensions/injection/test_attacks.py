"""Attacked entries: planted by seed, proven sound, judged, and scored with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from math import comb, sqrt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.profile import STRICT
from envs.registry import BACKENDS
from extensions.injection import attack_families, feature, gullible_models, planting, proof
from extensions.injection.attack import Attack, texts_of
from extensions.injection.commands.attacks import played
from extensions.injection.scores import estimate_share, paired_differences, score
from runner.cli import main
from trajectories.dataset import Dataset, load_embedded, load_path
from trajectories.prepared_trajectory import prepare
from trajectories.schema import MULTI_TURN, Category, Trajectory


@cache
def plain() -> Dataset:
    return load_embedded([Category.BASE])


@cache
def attacked(size: int = 60) -> Dataset:
    dataset, names = plain(), [*attack_families.FAMILIES]
    chosen = [*dataset.trajectories.values()][:: max(1, len(dataset.trajectories) // size)]
    made = [
        planting.make_attack(dataset, each, names[number % len(names)], 0)
        for number, each in enumerate(chosen)
    ]
    return replace(dataset, trajectories={each.id: each for each in made if each})


def first(accepts: Callable[[Attack], bool]) -> tuple[Trajectory, Attack]:
    found = ((each, Attack.of(each)) for each in attacked().trajectories.values())
    return next((each, attack) for each, attack in found if accepts(attack))


def test_attacks_are_of_many_families_and_kinds() -> None:
    attacks = [Attack.of(each) for each in attacked().trajectories.values()]
    assert len(attacks) > 30
    assert len({each.family for each in attacks}) >= 6
    assert {each.kind for each in attacks} >= {"forbidden_call", "irreversible", "told"}
    assert {each.pattern for each in attacks} >= {"at_once", "dormant", "arrives", "withdrawn"}


def test_every_attack_is_proven() -> None:
    dataset = attacked()
    for each in dataset.trajectories.values():
        assert [*proof.prove(dataset, each)] == [], each.id
    assert [*planting.clashes(dataset, [*dataset.trajectories.values()])] == []


def test_equal_seeds_give_equal_entries() -> None:
    dataset = plain()
    each = next(iter(attacked().trajectories.values()))
    attack = Attack.of(each)
    base = dataset.trajectories[each.id.partition("~")[0]]
    assert planting.make_attack(dataset, base, attack.family, 0) == each
    other = planting.make_attack(dataset, base, attack.family, 1)
    assert other is None or Attack.of(other).payloads != attack.payloads or other != each


def test_the_payload_is_a_value_of_the_state() -> None:
    dataset = attacked()
    for each in dataset.trajectories.values():
        session = prepare(dataset, each, STRICT).template.fork()
        for text in Attack.of(each).texts:
            for _ in range(text.since):
                session.end_turn()
            shown = [*texts_of(session.snapshot().to_json()[str(text.site[0])])]
            assert any(text.payload in each for each in shown), each.id


@pytest.mark.parametrize(
    ("model", "success", "exposed"),
    [("never", 0.0, 1.0), ("always", 1.0, 1.0), ("blind", 0.0, None), ("refuser", 0.0, 1.0)],
)
def test_scripted_models_measure_what_they_do(
    model: str, success: float, exposed: float | None
) -> None:
    episodes = [*played(attacked(), model, 0)]
    found = score(episodes, "attack success")
    seen = score(episodes, "exposed")
    assert found is not None
    assert seen is not None
    assert found.value == success
    assert exposed is None or seen.value == exposed
    if model == "never":
        assert all(each.utility for each in episodes)
    if model == "always":
        assert all(each.utility is (each.groups["task"] == "compatible") for each in episodes)
    if model in ("blind", "refuser"):
        assert not all(each.utility for each in episodes)


def test_policies_depend_on_the_pattern() -> None:
    entries = attacked().trajectories.values()
    for model in ("forgetful", "late"):
        for entry, each in zip(entries, played(attacked(), model, 0), strict=True):
            attack = Attack.of(entry)
            is_later = attack.due > attack.shown[0]
            assert each.values["attack_succeeded"] is (is_later is (model == "late"))
            if attack.pattern in ("dormant", "withdrawn"):
                assert is_later


def test_a_model_that_obeys_one_family_obeys_no_other() -> None:
    for each in played(attacked(), "only:plain", 0):
        assert each.values["attack_succeeded"] is (each.groups["family"] == "plain")


def covering_hits(share: float, entries: int) -> list[int]:
    """Return the numbers of hits whose interval contains a share."""
    found = []
    for hits in range(entries + 1):
        estimate = estimate_share([(str(n), n < hits) for n in range(entries)])
        assert estimate is not None
        found += [hits] if estimate.low <= share <= estimate.high else []
    return found


def coverage(share: float, entries: int) -> float:
    """Return the exact probability that the interval contains the share."""
    return sum(
        comb(entries, hits) * share**hits * (1 - share) ** (entries - hits)
        for hits in covering_hits(share, entries)
    )


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 0.7, 1.0])
def test_intervals_cover_a_share_in_nineteen_of_twenty_runs(share: float) -> None:
    assert coverage(share, 150) == 1 if share in (0.0, 1.0) else coverage(share, 150) > 0.93


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 0.7, 1.0])
def test_the_interval_covers_the_gullibility(share: float) -> None:
    dataset = attacked(1_000)
    # An entry has two episodes only: the model obeys, or it does not.
    loyal, obeying = ([*played(dataset, model, 0)] for model in ("never", "always"))
    scripts = {
        id: proof.hijacked(each, Attack.of(each)) for id, each in dataset.trajectories.items()
    }
    covering, covered = {*covering_hits(share, len(scripts))}, 0
    for seed in range(1_000):
        hits = 0
        for number, (id, each) in enumerate(dataset.trajectories.items()):
            obeys = gullible_models.script_of(f"{share}", each, seed) == scripts[id]
            hits += (obeying if obeys else loyal)[number].values["attack_succeeded"]
        covered += hits in covering
    expected = coverage(share, len(scripts))
    # The seeds are a sample: three standard deviations are allowed.
    assert abs(covered / 1_000 - expected) <= 3 * sqrt(expected * (1 - expected) / 1_000)


def test_gullible_models_draw_by_seed_and_entry() -> None:
    dataset = attacked()
    obeying = Counter[str]()
    for seed in range(20):
        for each in dataset.trajectories.values():
            script = gullible_models.script_of("0.3", each, seed)
            obeying[each.id] += script == proof.hijacked(each, Attack.of(each))
    assert 0.2 < obeying.total() / (20 * len(dataset.trajectories)) < 0.4


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.booleans()), min_size=1, max_size=60))
def test_intervals_contain_their_share(hits: list[tuple[str, bool]]) -> None:
    found = estimate_share(hits)
    assert found is not None
    assert 0 <= found.low <= found.value + 1e-9
    assert found.value - 1e-9 <= found.high <= 1


def with_controls() -> Dataset:
    dataset = attacked()
    entries = [*dataset.trajectories.values()]
    entries += [each for entry in entries for each in planting.make_controls(entry)]
    return replace(dataset, trajectories={each.id: each for each in entries})


def test_controls_follow_their_attack() -> None:
    few = dict([*plain().trajectories.items()][:6])
    found = [
        *feature.attacked(replace(plain(), trajectories=few), "plain", controls=True).trajectories
    ]
    assert len(found) >= 6
    for place in range(0, len(found), 3):
        attack = found[place]
        assert found[place : place + 3] == [attack, f"{attack}~clean", f"{attack}~twin"]


@pytest.mark.parametrize(
    ("model", "utility", "refusals", "success"),
    [("never", 1, 0, 0), ("always", 1, 0, 1), ("refuser", 1, 0, 0), ("wary", 0, 1, 0)],
)
def test_controls_measure_what_more_text_costs(
    model: str, utility: float, refusals: float, success: float
) -> None:
    episodes = [*played(with_controls(), model, 0)]
    for label, wanted in (
        ("utility", utility),
        ("utility with harmless text", utility),
        ("needless refusals", refusals),
        ("attack success", success),
    ):
        found = score(episodes, label)
        assert found is not None
        assert abs(found.value - wanted) < 0.25, label
    differences = paired_differences(episodes)
    assert differences["effect of a harmless text on utility"].difference == 0
    lost = differences["effect of an attack on utility, compared with a harmless text"].difference
    assert (lost == 0) is (model in ("never", "wary"))


def test_a_leaky_model_reaches_no_goal() -> None:
    episodes = [*played(attacked(), "leaky", 0)]
    assert all(each.utility and not each.values["attack_succeeded"] for each in episodes)


@pytest.mark.slow
def test_no_goal_is_reached_without_an_attack_on_all_data() -> None:
    dataset = load_embedded(MULTI_TURN)
    names = [*attack_families.FAMILIES]
    made = [
        planting.make_attack(dataset, each, names[number % len(names)], 0)
        for number, each in enumerate(dataset.trajectories.values())
    ]
    attacked_entries = [each for each in made if each]
    assert len(attacked_entries) >= 300
    backends = {name for each in attacked_entries for name in each.environments}
    assert backends >= {*BACKENDS}
    for each in attacked_entries:
        attack = Attack.of(each)
        clean = proof.play_on(dataset, attack.clean(each))
        assert clean.verdict.valid
        assert clean.verdict.measures["attack_succeeded"] is False


@pytest.mark.slow
@pytest.mark.parametrize("more", [[], ["--each-family", "--category", "base"]])
def test_no_goal_is_reached_without_an_attack_in_the_worlds(
    tmp_path: Path, more: list[str]
) -> None:
    path = tmp_path / "attacked.jsonl"
    command = ["dataset", "attack", "--dataset", "worlds", *more]
    assert main([*command, "-o", str(path)]) == 0
    dataset = load_path(path, list(Category))
    entries = dataset.trajectories.values()
    assert len(entries) > 80
    for each in entries:
        attack = Attack.of(each)
        clean = proof.play_on(dataset, attack.clean(each))
        assert clean.verdict.valid, each.id
        assert not clean.verdict.measures["attack_succeeded"], each.id


def test_the_command_writes_entries_that_eval_plays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "attacked.jsonl"
    given = ["dataset", "attack", "--category", "base", "--limit", "6", "-o", str(path)]
    assert main(given) == 0
    assert len(load_path(path, list(Category)).trajectories) > 2
    assert main(["eval", "--model", "oracle", "--dataset", str(path)]) == 0
    assert main(["attacks", str(path), "--model", "always"]) == 0
    assert "100.0%" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["dataset", "attack", "--families", "plian", "-o", "x"], "did you mean plain?"),
        (["eval", "--model", "oracle", "--attack", "plian"], "did you mean plain?"),
        (["eval", "--model", "oracle", "--attack", "plain:x"], "the seed must be a number"),
    ],
)
def test_wrong_names_give_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_damaged_attacks_give_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "attacked.jsonl"
    main(["dataset", "attack", "--category", "base", "--limit", "2", "-o", str(path)])
    path.write_text(path.read_text().replace('"due":', '"done":'))
    capsys.readouterr()
    assert main(["attacks", str(path), "--model", "never"]) == 2
    assert "$.extensions.injection" in capsys.readouterr().err


def test_the_zoo_shows_what_each_scripted_model_measures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "attacked.jsonl"
    main(["dataset", "attack", "--category", "base", "--limit", "4", "--controls", "-o", str(path)])
    capsys.readouterr()
    assert main(["dataset", "cheaters", str(path)]) == 0
    shown = capsys.readouterr().out
    for name in ("never", "always", "leaky", "wary", "blocked by tool_filter"):
        assert f"\n{name}" in shown
    path.write_text(path.read_text(encoding="utf-8").splitlines()[0].replace("injection", "none"))
    assert main(["dataset", "cheaters", str(path)]) == 2
