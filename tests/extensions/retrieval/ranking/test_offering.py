"""What retrieval offers: which functions in which turn, what a model finds, bad options."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checkers.profile import STRICT
from envs.calls import parse_call
from envs.errors import DataError
from envs.registry import BACKENDS, list_tools
from extensions.retrieval.policy import Retrieval, RetrievalPolicy, measure_ceiling
from runner.cli import main
from runner.data import dataset_choice
from runner.episodes.judging import evaluate
from runner.episodes.offline import run_null, run_oracle
from runner.episodes.script_playback import start_episode
from tests.runner.commands.running import run
from trajectories.dataset import Dataset
from trajectories.offered_functions import FIND
from trajectories.prepared_trajectory import prepare
from trajectories.schema import Category


@pytest.fixture(scope="module")
def base() -> Dataset:
    return dataset_choice.open_dataset(None, [Category.BASE, Category.MISSING_FUNCTION], print)


def some(data: Dataset, number: int = 40) -> list[str]:
    return [*data.trajectories][:: max(1, len(data.trajectories) // number)]


@pytest.mark.parametrize("policy", ["top=3", "top=10", "backends=3"])
def test_what_was_offered_stays_and_what_is_held_out_comes_later(
    base: Dataset, policy: str
) -> None:
    ids = some(base)
    data, _ = Retrieval(RetrievalPolicy.named(policy)).narrowed(base, ids, None)
    assert data.offering is not None
    for id in ids:
        trajectory, offering = data.trajectories[id], data.offering[id]
        everything = tuple(list_tools(trajectory.environments))
        before: frozenset[str] = frozenset()
        for number, offered in enumerate(offering.turns):
            assert offered <= trajectory.offered(everything, number)
            assert before <= offered
            assert {*trajectory.turns[number].offers} <= offered
            before = offered
        assert {*trajectory.environments} == {*BACKENDS}


def test_more_functions_are_never_worth_less(base: Dataset) -> None:
    ids = some(base)
    reached = []
    for number in (1, 5, 20, 128):
        data, _ = Retrieval(RetrievalPolicy("top", number)).narrowed(base, ids, None)
        reached.append(len(measure_ceiling(data, ids).covered))
    assert reached == sorted(reached)
    assert reached[-1] == len(ids)


def test_without_keeping_a_turn_has_its_own_functions(base: Dataset) -> None:
    ids = [id for id in some(base) if base.trajectories[id].category is Category.BASE]
    data, reference = Retrieval(RetrievalPolicy("top", 4), keep=False).narrowed(base, ids, None)
    assert data.offering is not None
    assert {len(offered) for id in ids for offered in data.offering[id].turns} == {4}
    assert reference.keep is False


def test_what_functions_may_need_first_is_offered_too(base: Dataset) -> None:
    ids = some(base)
    plain, _ = Retrieval(RetrievalPolicy.named("top=10")).narrowed(base, ids, None)
    more, reference = Retrieval(RetrievalPolicy.named("top=10+needs")).narrowed(base, ids, None)
    assert reference.policy == "top=10+needs"
    assert str(RetrievalPolicy.named("top=10+needs")) == "top=10+needs"
    assert plain.offering is not None
    assert more.offering is not None
    for id in ids:
        for one, other in zip(plain.offering[id].turns, more.offering[id].turns, strict=True):
            assert one <= other
            if "startEngine" in other:
                assert "pressBrakePedal" in other
    assert measure_ceiling(plain, ids).covered <= measure_ceiling(more, ids).covered


@pytest.mark.parametrize("policy", ["top=10", "backends=3", "oracle"])
def test_an_oracle_passes_what_is_offered_all_it_needs(base: Dataset, policy: str) -> None:
    ids = some(base)
    data, _ = Retrieval(RetrievalPolicy.named(policy)).narrowed(base, ids, None)
    chosen = [data.trajectories[id] for id in ids]
    found = measure_ceiling(data, ids)
    records = evaluate(data, chosen, STRICT, lambda one: run_oracle(one, STRICT))
    assert {record.id for record in records if record.outcome == "passed"} == found.covered
    silent = evaluate(data, chosen, STRICT, lambda one: run_null(one, STRICT))
    assert not any(record.outcome == "passed" for record in silent)


def test_a_model_that_looks_is_offered_what_it_finds_from_the_next_step(base: Dataset) -> None:
    id = "base_vehicle_winter_morning"
    data, _ = Retrieval(RetrievalPolicy("search", 3)).narrowed(base, [id], None)
    episode = start_episode(prepare(data, data.trajectories[id], STRICT), STRICT, 20)
    assert episode.offered == {FIND}
    look, lock = parse_call(f"{FIND}(query='lock the doors')"), parse_call("lockDoors(unlock=True)")
    first = episode.act([look, lock])
    assert "lockDoors" in first[0].text
    assert "no function" in first[1].text.lower() or not first[1].ok
    assert len(episode.offered) == 4
    assert "lockDoors" in episode.offered
    copy = episode.fork()
    copy.act([parse_call(f"{FIND}(query='send a message')")])
    assert len(copy.offered) > len(episode.offered)
    episode.end_turn()
    # Looking is no act in the world, and what was found stays.
    assert [call.name for call in episode.outcomes[0].calls] == ["lockDoors"]
    assert "lockDoors" in episode.offered


@pytest.mark.parametrize("arguments", ["", "3", "query=3", "text='x'", "'a', 'b'", "'x' * 3000"])
def test_a_model_that_looks_for_nothing_reads_how_to_look(base: Dataset, arguments: str) -> None:
    id = some(base)[0]
    data, _ = Retrieval(RetrievalPolicy("search", 3)).narrowed(base, [id], None)
    episode = start_episode(prepare(data, data.trajectories[id], STRICT), STRICT, 20)
    text = arguments.replace("'x' * 3000", f"query='{'x' * 3000}'")
    [result] = episode.act([parse_call(f"{FIND}({text})")])
    assert not result.ok
    assert "query" in result.text
    assert episode.offered == {FIND}


def test_an_oracle_looks_by_the_users_words(base: Dataset) -> None:
    ids = some(base, 20)
    data, _ = Retrieval(RetrievalPolicy("search", 128)).narrowed(base, ids, None)
    chosen = [data.trajectories[id] for id in ids]
    records = evaluate(data, chosen, STRICT, lambda one: run_oracle(one, STRICT))
    passed = [record.outcome == "passed" for record in records]
    assert sum(passed) >= 0.9 * len(ids)


def test_a_file_says_which_functions_there_are(base: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "pool.json"
    named = [{"name": name, "description": "x"} for name in ("lockDoors", "send_message")]
    path.write_text(json.dumps(named), encoding="utf-8")
    data, _ = Retrieval(RetrievalPolicy("top", 9), str(path)).narrowed(base, some(base), None)
    assert data.offering is not None
    assert {f for o in data.offering.values() for t in o.turns for f in t} <= {
        "lockDoors",
        "send_message",
        *(name for t in base.trajectories.values() for name in t.held_out),
    }
    path.write_text(json.dumps([{"name": "dance", "description": "x"}]), encoding="utf-8")
    with pytest.raises(DataError, match="no environment has the function dance"):
        Retrieval(RetrievalPolicy("top", 9), str(path)).narrowed(base, some(base), None)


def test_the_command_prints_the_ceiling(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--model", "oracle", "--category", "base", "--limit", 12, "--retrieve", "backends=3")
    assert run("eval", *words) == 0
    said = capsys.readouterr().out
    assert "retrieval policy backends=3, corpus own, ranking default: " in said
    assert "entries with all needed functions: " in said


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--retrieve", "top"), "is not one of backends=N"),
        (("--retrieve", "top=0"), "is not a positive number"),
        (("--retrieve", "top=-1"), "is not a positive number"),
        (("--retrieve", "best=3"), "is not one of backends=N"),
        (("--retrieve", "top=3+more"), "use +needs only after top=N"),
        (("--retrieve", "backends=3+needs"), "use +needs only after top=N"),
        (("--retrieve", "top=+needs"), "is not a positive number"),
        (
            ("--retrieve", "search=3", "--retrieve-by", "embed:http://127.0.0.1:9/v1#m"),
            "cannot use the ranking `embed`; choose another",
        ),
        (
            ("--retrieve", "top=3", "--vary", "tools=need,5"),
            "--vary: cannot be combined with --retrieve",
        ),
        (("--retrieve", "top=3", "--pool", "mine"), "must be `own`, `all` or a file"),
        (("--retrieve", "top=3", "--retrieve-by", "bm26"), "did you mean bm25"),
        (("--retrieve", "search=3", "--no-keep"), "cannot be combined with search=3"),
        (("--retrieve", "top=3", "--no-keep", "--keep"), "cannot be combined with --keep"),
        (("--pool", "all"), "--pool: needs --retrieve"),
        (("--no-keep",), "--no-keep: needs --retrieve"),
        (("--retrieve", "top=3", "--category", "simple_python"), "their own functions"),
        (
            ("--retrieve", "top=3", "--model", "scripted:0.1"),
            "only live models, oracle and null",
        ),
    ],
)
def test_bad_input_is_one_line(
    words: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    category = () if "--category" in words else ("--category", "base")
    model = () if "--model" in words else ("--model", "oracle")
    assert main(["eval", *model, *category, "--limit", "2", *words]) == 2
    said = capsys.readouterr().err
    assert why in said.splitlines()[-1]
    assert "Traceback" not in said
