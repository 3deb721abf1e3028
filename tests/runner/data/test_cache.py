from __future__ import annotations

import marshal
from dataclasses import replace
from hashlib import sha256

import pytest

from checkers.profile import BFCL, STRICT
from runner.data import cache as module
from runner.data.cache import TruthCache, cached_counts, open_truth_cache
from runner.episodes.evaluate import evaluate
from runner.episodes.scripts import oracle
from tests.judging import null, run_script
from trajectories.dataset import load_embedded
from trajectories.prepare import load_session, play_truth, prepare
from trajectories.schema import Category


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TURNWISE_CACHE", str(tmp_path))
    return tmp_path / "truth"


@pytest.fixture(scope="module")
def dataset():
    return load_embedded([Category.BASE, Category.LONG_CONTEXT])


@pytest.fixture
def trajectory(dataset):
    return next(iter(dataset.trajectories.values()))


@pytest.fixture
def playing(monkeypatch):
    """Return the ids whose ground truth was played."""
    played = []

    def play(trajectory, template):
        played.append(trajectory.id)
        return play_truth(trajectory, template)

    monkeypatch.setattr(module, "play_truth", play)
    return played


def asked(dataset, trajectory, profile=BFCL):
    with open_truth_cache(dataset, profile) as cache:
        return cache.outcomes(trajectory, load_session(dataset, trajectory))


def seen(outcomes):
    return [
        (
            [(r.ok, r.text, r.members, r.changed, r.value) for r in outcome.results],
            [getattr(r.held, "kind", None) for r in outcome.results],
            [*outcome.calls],
            outcome.snapshot.compared(),
            outcome.acted,
        )
        for outcome in outcomes
    ]


@pytest.mark.parametrize(
    "part",
    [slice(3, None, 40), pytest.param(slice(None), marks=pytest.mark.slow)],
    ids=["some", "all"],
)
@pytest.mark.parametrize("profile", [BFCL, STRICT], ids=lambda profile: profile.name)
def test_what_is_kept_is_what_playing_gives(dataset, profile, part, playing):
    some = [*dataset.trajectories.values()][part]
    for _ in range(2):
        with open_truth_cache(dataset, profile) as cache:
            for trajectory in some:
                kept = prepare(dataset, trajectory, profile, cache.outcomes).truth
                assert seen(kept) == seen(prepare(dataset, trajectory, profile).truth)
    # A few hold values that cannot be written, and are played every time.
    assert len(playing) < 1.04 * len(some)


@pytest.mark.parametrize("script", [oracle, null])
def test_verdicts_are_the_same_with_it(dataset, script):
    def run(prepared):
        return run_script(prepared, script(prepared.trajectory), STRICT)

    trajectories = list(dataset.trajectories.values())[:20]
    plain = [judged.to_json() for judged in evaluate(dataset, trajectories, STRICT, run)]
    for _ in range(2):
        with open_truth_cache(dataset, STRICT) as cache:
            found = evaluate(dataset, trajectories, STRICT, run, cache.outcomes)
            assert [judged.to_json() for judged in found] == plain


def test_ground_truth_is_played_once(dataset, trajectory, playing):
    for _ in range(3):
        asked(dataset, trajectory)
    assert playing == [trajectory.id]


def test_what_changes_the_outcome_is_played_anew(dataset, trajectory, playing):
    turns = (replace(trajectory.turns[0], ground_truth=()), *trajectory.turns[1:])
    long = next(t for t in dataset.trajectories.values() if t.long_context)
    for variant in (
        trajectory,
        replace(trajectory, turns=turns),
        replace(trajectory, config={}),
        replace(trajectory, long_context=long.long_context),
    ):
        asked(dataset, variant)
    asked(dataset, trajectory, STRICT)
    asked(replace(dataset, tolerant=True), trajectory)
    assert len(playing) == 6


def test_another_simulator_plays_anew(dataset, trajectory, playing, monkeypatch):
    asked(dataset, trajectory)
    monkeypatch.setattr(module, "_hash_simulator", lambda _: "another")
    asked(dataset, trajectory)
    assert len(playing) == 2


def test_the_simulator_is_known_by_its_sources(tmp_path, monkeypatch):
    source = tmp_path / "envs" / "__init__.py"
    source.parent.mkdir()
    monkeypatch.setattr(module.envs, "__file__", str(source))
    versions = set()
    for text in ("a = 1\n", "a = 2\n"):
        source.write_text(text)
        versions.add(module._hash_simulator.__wrapped__(False))
    versions.add(module._hash_simulator.__wrapped__(True))
    assert len(versions) == 3


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content[:50] + bytes([content[50] ^ 1]) + content[51:],
        lambda content: content + b"\0",
        lambda content: sha256(content[32:-1]).digest() + content[32:-1],
        lambda content: sha256(marshal.dumps([1])).digest() + marshal.dumps([1]),
    ],
    ids=["empty", "cut off", "a bit flipped", "longer", "hashed anew", "of another form"],
)
def test_a_damaged_file_is_as_good_as_none(dataset, trajectory, playing, folder, damage):
    before = seen(asked(dataset, trajectory))
    [path] = folder.iterdir()
    path.write_bytes(damage(path.read_bytes()))
    assert seen(asked(dataset, trajectory)) == before
    assert len(playing) == 2


@pytest.mark.parametrize("others_may", ["file", "folder"])
def test_what_others_may_write_decides_nothing(dataset, trajectory, playing, folder, others_may):
    before = seen(asked(dataset, trajectory))
    [path] = folder.iterdir()
    assert (path.stat().st_mode & 0o777, folder.stat().st_mode & 0o777) == (0o600, 0o700)
    (path if others_may == "file" else folder).chmod(0o777)
    assert seen(asked(dataset, trajectory)) == before
    assert len(playing) == 2


def test_where_it_cannot_be_written_nothing_is_said(dataset, trajectory, folder, capfd):
    folder.write_text("in the way")
    assert asked(dataset, trajectory)
    assert capfd.readouterr() == ("", "")


def test_old_files_are_removed(dataset, trajectory, folder, monkeypatch):
    for number in range(module._MAX_FILES + 3):
        monkeypatch.setattr(module, "_hash_simulator", lambda _, number=number: f"version{number}")
        asked(dataset, trajectory)
    assert len(list(folder.iterdir())) == module._MAX_FILES


def test_a_backend_from_elsewhere_is_not_kept(dataset, trajectory, monkeypatch):
    template = load_session(dataset, trajectory)
    [backend] = template.backends.values()
    monkeypatch.setattr(type(backend), "__module__", "another_package.worlds")
    cache = TruthCache(dataset, BFCL, {})
    assert cache.outcomes(trajectory, template)
    assert not cache.kept


def test_what_is_counted_in_a_data_set_is_counted_once(dataset):
    counts = []

    def count():
        counts.append(1)
        return 3, 2

    assert [[*cached_counts(dataset, count)] for _ in range(2)] == [[3, 2], [3, 2]]
    assert len(counts) == 1
    assert [*cached_counts(replace(dataset, sha256="0" * 64), lambda: (1, 1))] == [1, 1]
