"""``turnwise generate`` offline: what it writes is sound, repeatable, and extends the data."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from envs.errors import DataError
from extensions.generation.commands.generate import EXAMPLE
from tests.runner.commands.running import run as run_command
from trajectories.dataset import DATA, load_path
from trajectories.schema import Category, Trajectory

Generate = Callable[..., dict[str, Any]]


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNWISE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "new.jsonl"


@pytest.fixture
def generate(output: Path, capsys: pytest.CaptureFixture[str]) -> Generate:
    """Run the command with a scripted writer, and return its figures."""

    def whole(model: str, *words: object, to: Path = output) -> dict[str, Any]:
        assert run_command("generate", to, "--model", model, *words, "--json") == 0
        return dict(json.loads(capsys.readouterr().out))

    return whole


def entries(path: Path) -> list[Trajectory]:
    return [*load_path(path, [*Category]).trajectories.values()]


@pytest.mark.parametrize("number", [6, pytest.param(18, marks=pytest.mark.slow)])
def test_what_is_written_passes_validate_and_the_oracle(
    generate: Generate, output: Path, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    found = generate("scripted:0.3", "--number", number, "--rejected", output.with_name("rejected"))
    assert found["entries"] == found["wanted"] == number == len(entries(output))
    assert {kind: n["kept"] for kind, n in found["kinds"].items()} == dict.fromkeys(
        ("I1", "I2", "I3"), number // 3
    )
    assert run_command("dataset validate", output, "--strict-warnings") == 0
    verdicts = output.with_name("verdicts")
    command = ("eval", "--dataset", output, "--model", "oracle", "--output", verdicts)
    assert run_command(*command) == 0
    assert verdicts.read_text(encoding="utf-8").count('"valid": true') == number
    capsys.readouterr()


def test_an_entry_says_where_it_comes_from(generate: Generate, output: Path) -> None:
    generate("scripted:0", "--kind", "i2", "--number", 3, "--seed", 5, "--judge", "scripted:1")
    for entry in entries(output):
        told = entry.provenance
        assert entry.category is Category.BASE
        assert entry.id.startswith("base_i2_s5_")
        assert (told["source"], told["generator"]) == ("generated", "scripted:0")
        assert (told["kind"], told["seed"], told["from"]) == ("I2", "5", "paths")
        assert (told["solved"], told["aligned"]) == ("1 of 1", "pass")
        assert {"group", "path_seed", "world", "persona", "solver", "author"} <= told.keys()


@pytest.mark.parametrize("number", [3, pytest.param(6, marks=pytest.mark.slow)])
def test_equal_seeds_give_equal_files(generate: Generate, output: Path, number: int) -> None:
    def made(name: str, seed: int) -> str:
        path = output.with_name(name)
        generate("scripted:0.5", "--number", number, "--seed", seed, to=path)
        return path.read_text(encoding="utf-8")

    assert made("a", 1) == made("b", 1) != made("c", 2)


def test_faults_are_counted_by_the_filter_that_finds_them(generate: Generate, output: Path) -> None:
    rejected = output.with_name("rejected")
    found = generate(
        *("scripted:1,only=NAMED", "--number", 3, "--tries", 2, "--rejected", rejected),
        *("--trials", 0),
    )
    counted = [kind["refused"]["NAMED"] for kind in found["kinds"].values()]
    assert counted == [kind["tasks"] for kind in found["kinds"].values()]
    lines = [json.loads(line) for line in rejected.read_text(encoding="utf-8").splitlines()]
    named = [line for line in lines if line["by"] == "NAMED"]
    assert len(named) == sum(counted) >= 3
    assert all("names the function" in line["reason"] and line["calls"] for line in named)


@pytest.mark.slow
def test_who_makes_only_faults_ends_with_fewer_entries(
    output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("generate", output, "--model", "scripted:1,only=LONG", "--kind", "I1")
    assert run_command(*command, "--number", 1, "--tries", 1, "--trials", 0) == 3
    assert "I1: only 0 of 30 tasks led to an entry" in capsys.readouterr().err
    assert output.read_text(encoding="utf-8") == ""


@pytest.mark.slow
def test_a_writer_that_is_never_in_form_is_stopped(
    output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("generate", output, "--model", "scripted:1,only=FORM", "--number", 40)
    assert run_command(*command, "--tries", 1) == 3
    said = capsys.readouterr().err
    assert "20 answers in a row were malformed; last error: the answer has no JSON object" in said


def test_a_solver_that_errs_fails_some(generate: Generate) -> None:
    found = generate("scripted:0", "--number", 9, "--solver", "scripted:0.3", "--kind", "I1")
    assert found["kinds"]["I1"]["lost"].get("SOLVED", 0) > 0
    assert found["yield"] < 1


@pytest.mark.slow
def test_a_judge_that_never_passes_keeps_nothing(
    output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("generate", output, "--model", "scripted:0", "--kind", "I1", "--number", 1)
    assert run_command(*command, "--judge", "scripted:0", "--json") == 3
    found = json.loads(capsys.readouterr().out)["kinds"]["I1"]
    rules = [lost for rule, lost in found["lost"].items() if rule.startswith("RULES")]
    assert found["lost"]["ALIGN"] == found["tasks"] - sum(rules) > 0


def test_from_functions_searches_find_the_calls(generate: Generate, output: Path) -> None:
    found = generate("scripted:0", "--from", "functions", "--number", 6)
    assert found["entries"] == 6
    for entry in entries(output):
        assert len(entry.turns) == 1
        assert entry.turns[0].ground_truth
        assert entry.provenance["from"] == "functions"
    assert run_command("dataset validate", output, "--strict-warnings") == 0


def test_searches_that_err_agree_less_often(generate: Generate) -> None:
    flags = ("--from", "functions", "--number", 6, "--kind", "I1", "--trials", 0)
    found = generate("scripted:0", *flags, "--solver", "scripted:0.6", "--solutions", 3)
    assert found["kinds"]["I1"]["lost"]["AGREE"] > 0


@pytest.mark.slow
def test_what_is_missing_in_the_data_is_gone_through(generate: Generate, output: Path) -> None:
    plain = generate("scripted:0", "--number", 6, "--trials", 0)
    there = output.with_name("other")
    wanted = generate("scripted:0", "--number", 6, "--trials", 0, "--want", "missing", to=there)
    assert wanted["edges"] > plain["edges"]
    assert wanted["edges_with_ours"] > wanted["edges_of_ours"]


@pytest.mark.slow
def test_scenarios_extend_to_all_categories(generate: Generate, output: Path) -> None:
    scenarios, built = output.with_name("scenarios"), output.with_name("built")
    scenarios.mkdir()
    built.mkdir()
    found = generate("scripted:0", "--number", 12, "--scenarios", scenarios)
    assert 0 < found["scenarios"] == len([*scenarios.glob("*.json")]) < 12
    with pytest.raises(DataError, match="is a file; name a folder of scenarios"):
        run_command("dataset build", built, "--source", output)
    assert run_command("dataset build", built, "--source", scenarios) == 0
    categories = {entry.category for entry in entries(built)}
    assert {Category.BASE, Category.MISSING_PARAMETER, Category.MISSING_FUNCTION} <= categories
    assert run_command("dataset validate", built) == 0


def test_dry_run_asks_nobody_and_writes_nothing(
    output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("generate", output, "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    assert run_command(*command, "--number", 3, "--price", "1,2", "--dry-run") == 0
    said = capsys.readouterr().out
    assert "3 entries requested" in said
    assert "writer m: about 3 requests, " in said
    assert "solver m: " in said
    assert "tokens, $0.0" in said
    assert [*output.parent.iterdir()] == []


def test_it_goes_on_only_with_what_is_its_own(generate: Generate, output: Path) -> None:
    with pytest.raises(DataError, match="--resume: nothing to resume"):
        generate("scripted:0", "--number", 3, "--resume")
    generate("scripted:0", "--number", 3)
    before = output.read_bytes()
    with pytest.raises(DataError, match="exists already; use --resume, or name another file"):
        generate("scripted:0", "--number", 3)
    with pytest.raises(DataError, match="has other settings: seed was 0, now 1"):
        generate("scripted:0", "--number", 3, "--seed", 1, "--resume")
    generate("scripted:0", "--number", 3, "--resume")
    assert output.read_bytes() == before


def test_what_failed_before_it_began_binds_nobody(
    generate: Generate, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(DataError, match=r"--model: .*OPENAI_API_KEY"):
        generate("gpt-4o-mini", "--number", 3)
    with pytest.raises(DataError, match=r"--solver: .*OPENAI_API_KEY"):
        generate("scripted:0", "--number", 3, "--solver", "gpt-4o-mini")
    assert [*output.parent.iterdir()] == []
    generate("scripted:0", "--number", 3)
    output.unlink()
    generate("scripted:0", "--number", 3, "--seed", 1)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--kind", "I4"), "--kind: unknown kind 'I4'; choose from I1, I2, I3"),
        (("--number", 2), "--number: must be at least 3, the number of kinds"),
        (("--want", "cdd"), "--want: 'cdd' is neither a function nor an edge; did you mean cd?"),
        (("--personas", "/dev/null"), "/dev/null: has no line with a persona"),
        (("--solutions", 2), "--solutions: needs --from functions: add it"),
        (("--search-calls", 2), "--search-calls: needs --from functions: add it"),
        (("--from", "functions", "--solutions", 1), "--solutions: must be 2 or more"),
        (("--solver", "scripted:2"), "--solver: there is no scripted model '2'"),
        (("--solver", "oracle"), "--solver: 'oracle' cannot solve"),
        (("--solver", "m", "--trials", 0), "--solver: cannot be combined with --trials 0"),
        (("--judge", "scripted:x"), "--judge: 'scripted:x': 'x' is not a share"),
        (("--scenarios", "nowhere"), "nowhere: is not a folder; create it first"),
        (("--prompts", "/dev/null"), "/dev/null: system: is missing or not a string"),
        (("--no-cache", "--reply-cache", "x"), "--no-cache: cannot be combined with --reply-cache"),
        (("--max-cost", 1, "--solver", "m", "--base-url", "http://h/v1"), "--max-cost: the price"),
    ],
)
def test_what_makes_no_sense_is_refused(
    words: tuple[object, ...], complaint: str, generate: Generate, output: Path
) -> None:
    with pytest.raises(DataError) as caught:
        generate("scripted:0", *words)
    assert complaint in str(caught.value)
    assert [*output.parent.iterdir()] == []


def test_nothing_is_written_where_it_does_not_belong(generate: Generate, tmp_path: Path) -> None:
    same = tmp_path / "a.jsonl"
    with pytest.raises(DataError, match="--rejected: is also the output file of the entries"):
        generate("scripted:0", "--rejected", same, to=same)
    for place, complaint in (
        (DATA / "new.jsonl", "is in the built-in data"),
        (tmp_path / "none" / "new.jsonl", "is not a folder; create it first"),
        (tmp_path, "is a folder; name a file"),
    ):
        with pytest.raises(DataError, match=complaint):
            generate("scripted:0", to=place)


def test_a_link_to_itself_is_replaced(generate: Generate, tmp_path: Path) -> None:
    loop = tmp_path / "loop.jsonl"
    loop.symlink_to(loop)
    generate("scripted:0", "--number", "3", to=loop)
    assert not loop.is_symlink()
    assert loop.read_text(encoding="utf-8").count("\n") == 3


def test_models_that_only_play_write_nothing(generate: Generate) -> None:
    with pytest.raises(DataError, match="--model: 'oracle' cannot write; use a live model"):
        generate("oracle")
    with pytest.raises(DataError, match="--solver: a scripted solver cannot solve requests"):
        generate("m", "--from", "functions", "--solver", "scripted:0")


def test_the_table_names_every_filter(output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command("generate", output, "--model", "scripted:0", "--number", 3) == 0
    said = capsys.readouterr().out
    assert "refused: ECHO" in said
    assert "yield" in said
    assert "random walks" in said
    assert EXAMPLE.startswith("turnwise generate ")
