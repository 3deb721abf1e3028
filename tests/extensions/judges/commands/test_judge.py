"""``turnwise judge`` offline: scripted judges, figures, files, people, probes, and bad input."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from envs.errors import DataError
from extensions.authoring.commands.audit import EXAMPLE
from extensions.judges.probes import KINDS
from tests.runner.analysis.replayed_runs import (
    definition,
    error_record,
    record,
    truth_turns,
    write_run,
)
from tests.runner.commands.running import run as run_command
from trajectories.dataset import load_embedded
from trajectories.record_validation import to_json
from trajectories.schema import Category

ENTRIES = 12
TRIALS = 5


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a few entries of ours as a data set of their own."""
    found = load_embedded([Category.BASE]).trajectories.values()
    path = tmp_path_factory.mktemp("data") / "data.jsonl"
    lines = [json.dumps(to_json(entry)) for entry in [*found][:ENTRIES]]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def source(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a run in which trials 0 to 2 passed, and 3 and 4 did nothing in their last turn."""
    entries = [*load_embedded([Category.BASE]).trajectories.values()][:ENTRIES]
    records = []
    for entry in entries:
        right = truth_turns(entry)
        wrong = [*right[:-1], ["Done."]] if len(right[-1]) > 1 else [["Done."]] * len(right)
        records += [
            record(data, entry.id, right if trial < 3 else wrong, trial) for trial in range(TRIALS)
        ]
    folder = tmp_path_factory.mktemp("source") / "run"
    return write_run(folder, definition(data), *records, error_record(entries[0].id, TRIALS))


@pytest.fixture
def judge(source: Path, tmp_path: Path, capsys) -> Callable[..., dict[str, Any]]:
    """Return what judges the run and gives all figures."""

    def whole(*words: object, runs: tuple[Path, ...] = (source,)) -> dict[str, Any]:
        status = run_command("judge", *runs, *words, "--json", "--keep", tmp_path / "votes")
        assert status == 0
        return dict(json.loads(capsys.readouterr().out))

    return whole


def test_a_judge_that_knows_agrees_in_all(judge, source: Path) -> None:
    (found,) = judge("--judge", "scripted:1")["runs"]
    verdicts = found["verdicts"]
    assert (found["episodes"], found["labelled"]) == (ENTRIES * TRIALS, ENTRIES * TRIALS)
    assert verdicts["agreement"]["value"] == verdicts["kappa"]["value"] == 1.0
    assert found["rate"]["half"] == pytest.approx(3 / 5)
    assert verdicts["scenarios"] == ENTRIES
    assert verdicts["disagreements"] == []
    assert {cause["judged_passed"] for cause in verdicts["causes"]} == {0.0}


def test_a_judge_that_knows_and_lies_agrees_in_nothing(judge) -> None:
    (found,) = judge("--judge", "scripted:0")["runs"]
    assert found["verdicts"]["agreement"]["value"] == 0.0
    assert found["verdicts"]["kappa"]["value"] < 0
    assert {cause["judged_passed"] for cause in found["verdicts"]["causes"]} == {1.0}


def test_who_is_always_unsure_gives_no_label(judge) -> None:
    (found,) = judge("--judge", "scripted:0,unsure=1")["runs"]
    rate = found["rate"]
    assert (rate["lower"], rate["half"], rate["upper"]) == (0.0, 0.5, 1.0)
    assert found["verdicts"]["agreement"]["value"] == 0.0


@pytest.mark.slow
def test_stopping_early_labels_as_all_votes_do(judge) -> None:
    (early,) = judge("--judge", "scripted:0.8")["runs"]
    (whole,) = judge("--judge", "scripted:0.8", "--all-votes")["runs"]
    assert early["rate"]["counts"] == whole["rate"]["counts"]
    assert (early["votes"] < whole["votes"]) == (whole["votes"] == 5 * ENTRIES * TRIALS)
    assert whole["rate"]["rounds"]["rounds"] == 5
    assert early["rate"]["rounds"]["rounds"] == 3


def test_turns_are_labelled_one_by_one(judge) -> None:
    (found,) = judge("--judge", "scripted:1", "--unit", "turn")["runs"]
    assert found["labelled"] > ENTRIES * TRIALS
    assert found["verdicts"]["agreement"]["value"] == 1.0


def test_equal_seeds_say_the_same(judge, tmp_path: Path) -> None:
    def labels(seed: int) -> bytes:
        path = tmp_path / "labels.jsonl"
        judge("--judge", "scripted:0.5", "--seed", seed, "--output", path)
        return path.read_bytes()

    assert labels(1) == labels(1) != labels(2)


def test_labels_and_disagreements_are_written(judge, tmp_path: Path) -> None:
    labels, other = tmp_path / "labels.jsonl", tmp_path / "other.jsonl"
    judge("--judge", "scripted:0.7", "--output", labels, "--disagreements", other)
    lines = [json.loads(line) for line in labels.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == ENTRIES * TRIALS
    assert all(len(line["votes"]) >= 3 for line in lines)
    wrong = [line for line in lines if (line["label"] == "pass") != line["passed"]]
    found = [json.loads(line) for line in other.read_text(encoding="utf-8").splitlines()]
    assert [line["id"] for line in found] == [line["id"] for line in wrong] != []
    assert all("<<<user quoted" in line["brief"] for line in found)


def test_what_was_chosen_is_judged(judge, data: Path) -> None:
    id = json.loads(data.read_text(encoding="utf-8").splitlines()[3])["id"]
    assert judge("--judge", "scripted:1", "--ids", id)["runs"][0]["episodes"] == TRIALS
    assert judge("--judge", "scripted:1", "--limit", 2)["runs"][0]["episodes"] == 2 * TRIALS
    assert judge("--judge", "scripted:1", "--sample", 4)["runs"][0]["episodes"] == 4 * TRIALS


def test_a_run_is_put_beside_another(judge, data: Path, source: Path, tmp_path: Path) -> None:
    entries = [*load_embedded([Category.BASE]).trajectories.values()][:ENTRIES]
    better = [
        record(data, entry.id, truth_turns(entry), trial)
        for entry in entries
        for trial in range(TRIALS)
    ]
    other = write_run(tmp_path / "better", definition(data), *better)
    (win,) = judge("--judge", "scripted:1", runs=(source, other))["wins"]
    assert (win["win"], win["tie"], win["lose"]) == (2 * ENTRIES, 3 * ENTRIES, 0)
    assert win["by"] == {"label": 2 * ENTRIES, "same": 3 * ENTRIES, "votes": 0}
    assert win["rate"] == pytest.approx(0.7)
    (lost,) = judge("--judge", "scripted:1", runs=(other, source))["wins"]
    assert lost["rate"] == pytest.approx(0.3)


def reworded(source: Path, folder: Path, name: str) -> Path:
    """Copy a run with other words at the end of its turns."""
    place = folder / name
    place.mkdir()
    for file in source.glob("*.json*"):
        text = file.read_text(encoding="utf-8").replace('"Done."', f'"{name}."')
        (place / file.name).write_text(text, encoding="utf-8")
    return place


@pytest.mark.slow
def test_who_always_prefers_the_first_decides_nothing(judge, source: Path, tmp_path: Path) -> None:
    other = reworded(source, tmp_path, "Finished")
    (win,) = judge("--judge", "scripted:1,first=1", runs=(source, other))["wins"]
    assert (win["consistency"], win["first_share"], win["rate"]) == (0.0, 1.0, 0.5)
    assert win["tie"] == win["by"]["votes"] == ENTRIES * TRIALS
    (fair,) = judge("--judge", "scripted:1", runs=(source, other))["wins"]
    assert (fair["consistency"], fair["first_share"], fair["rate"]) == (1.0, None, 0.5)


PRINTED = """RUN: 12 episodes
36 votes on 12 episodes (3.00 per episode), 0 abstentions
pass rate: 100.0% (75.8% to 100.0%); 100.0% if unsure means \
fail, 100.0% if unsure means pass; 12 labels: pass 12, unsure 0, fail 0
           [##############################]
3 rounds of votes: 100.0 +- 0.0 (mean and population standard deviation; unsure counts half)

judge model against verdicts: 12 labels, 12 scenarios
judge model  passed  failed
-----------  ------  ------
pass             12       0
fail              0       0
unsure            0       0
agreement 100.0% (75.8% to 100.0%); precision 100.0% (75.8% to 100.0%); recall 100.0% (75.8% to \
100.0%); specificity -; kappa -
"""


def test_what_is_printed(data: Path, tmp_path: Path, capsys) -> None:
    entries = [*load_embedded([Category.BASE]).trajectories.values()][:ENTRIES]
    records = [record(data, entry.id, truth_turns(entry)) for entry in entries]
    run = write_run(tmp_path / "run", definition(data), *records)
    assert run_command("judge", run, "--judge", "scripted:1") == 0
    out = capsys.readouterr().out
    figures, rest = out.split("\n\njudge model: scripted:1; ")
    assert figures + "\n" == PRINTED.replace("RUN", str(run))
    assert rest.startswith(
        "--show steps --rules paper --votes 5 --solvable known; votes stored in "
    )
    (place,) = (run / "judged").iterdir()
    assert rest.endswith(f"{place}\n")


# People


@pytest.fixture
def labels(tmp_path: Path) -> Callable[..., Path]:
    """Return what writes a file of labels."""

    def write(*lines: object) -> Path:
        path = tmp_path / "people.jsonl"
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
        return path

    return write


def test_people_stand_beside_judge_and_verdicts(judge, labels, data: Path) -> None:
    ids = [json.loads(line)["id"] for line in data.read_text(encoding="utf-8").splitlines()]
    path = labels(
        *[{"id": id, "trial": 0, "passed": True} for id in ids[:6]],
        *[{"id": id, "trial": 4, "passed": id != ids[0], "note": "x"} for id in ids[:6]],
    )
    (found,) = judge("--judge", "scripted:1", "--labels", path)["runs"]
    assert found["people"]["agreement"]["value"] == pytest.approx(7 / 12)
    assert found["verdicts_with_people"]["recall"]["value"] == pytest.approx(6 / 11)
    alone = judge("--labels", path)
    assert alone["verdicts_with_people"] == found["verdicts_with_people"]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([{"id": "nobody", "passed": True}], "the run has no entry 'nobody'"),
        ([{"id": "ID", "trial": 9, "passed": True}], "has no trial 9 of"),
        ([{"id": "ID", "trial": "0", "passed": True}], r"\$.trial: must be a whole number"),
        ([{"id": "ID", "passed": "yes"}], 'must have "id"'),
        ([{"id": "ID", "passed": True}] * 2, "has two labels; keep one"),
        (["not JSON"], "not valid JSON"),
        ([], "has no labels; save labels on the page that `turnwise label RUN` writes"),
    ],
)
def test_labels_of_people_are_checked(source: Path, labels, data: Path, lines, why: str) -> None:
    id = json.loads(data.read_text(encoding="utf-8").splitlines()[0])["id"]
    texts = [json.loads(json.dumps(line).replace('"ID"', json.dumps(id))) for line in lines]
    with pytest.raises(DataError, match=why):
        run_command("judge", source, "--labels", labels(*texts))


# Probes


def test_probes_show_what_a_judge_misses(data: Path, tmp_path: Path, capsys) -> None:
    path = tmp_path / "probes.jsonl"
    words = ("--probe", "--dataset", data, "--sample", 21, "--keep", tmp_path / "kept", "--json")
    assert run_command("judge", *words, "--judge", "scripted:1", "--output", path) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["sensitivity"], found["specificity"]) == (1.0, 1.0)
    assert [kind["probes"] for kind in found["kinds"]] == [3] * len(KINDS)
    assert [kind["judged_passed"] == 1.0 for kind in found["kinds"]] == [k.passes for k in KINDS]
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert {line["probe"] for line in lines} == {kind.name for kind in KINDS}
    assert run_command("judge", *words, "--judge", "scripted:0") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["sensitivity"], found["specificity"]) == (0.0, 0.0)


def test_probes_are_the_same_for_a_seed(data: Path, tmp_path: Path, capsys) -> None:
    words = ("--probe", "--dataset", data, "--sample", 14, "--judge", "scripted:1")
    kept = []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        assert run_command("judge", *words, "--sample-seed", seed, "--keep", tmp_path / name) == 0
        (path,) = (tmp_path / name).glob("*/votes.jsonl")
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        kept.append({(line["id"], line["trial"], line["brief"]) for line in lines})
    assert kept[0] == kept[1] != kept[2]
    assert "ground truth, truthful words" in capsys.readouterr().out


# Bad input


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "--judge: is missing; name a model"),
        (("--judge", "oracle"), "'oracle' cannot judge"),
        (("--judge", "replay:x"), "cannot judge"),
        (("--judge", "scripted:1.5"), "not a share from 0 to 1"),
        (("--judge", "scripted:0.8,last=1"), "must be first=SHARE or unsure=SHARE"),
        (("--judge", "scripted:0.8,unsure=0.3"), "more than 1"),
        (("--judge", "scripted:1", "--votes", 3), "--votes: must be at least 4, not 3"),
        (("--judge", "scripted:1", "--votes", 2, "--rules", "fac"), "at least 3"),
        (("--judge", "scripted:1", "--rules", "fac", "--show", "steps"), "must be `answer` with"),
        (("--judge", "scripted:1", "--probe"), "leave RUN out"),
        (("--judge", "scripted:1", "--resume"), "has no votes of this judge"),
        (("--judge", "scripted:1", "--prompts", "gone.toml"), "gone.toml: cannot be read"),
        (("--judge", "scripted:1", "--no-cache", "--reply-cache", "x"), "cannot be combined"),
        (("--judge", "scripted:1", "--ids", "gone"), "unknown id 'gone'"),
        (("--judge", "j", "--base-url", "x"), "--judge: the base URL"),
        (
            ("--judge", "j", "--base-url", "http://127.0.0.1:9", "--max-cost", 1),
            "is unknown; add --price",
        ),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(source: Path, words, why: str) -> None:
    before = sorted(source.rglob("*"))
    with pytest.raises(DataError, match=why):
        run_command("judge", source, *words)
    assert sorted(source.rglob("*")) == before


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--judge", "scripted:1"), "RUN: is missing; name a run"),
        (("--judge", "scripted:1", "--probe", "--unit", "turn"), "`turn` needs a single run"),
        (("--judge", "scripted:1", "--probe", "--labels", "x"), "leave --labels out"),
        (("--probe",), "--judge: is missing; name a model"),
        (
            ("--judge", "scripted:1", "--probe", "--category", "multiple"),
            "multi-turn entries",
        ),
        (("--judge", "scripted:1", "--probe", "--dataset", "gone"), "'gone' must be"),
        (("RUN",) * 3 + ("--judge", "scripted:1", "--labels", "x"), "--labels: needs one or two"),
        (("RUN", "RUN", "--judge", "scripted:1", "--unit", "turn"), "`turn` needs a single run"),
    ],
)
def test_what_does_not_go_together_is_refused(source: Path, words, why: str) -> None:
    with pytest.raises(DataError, match=why):
        run_command("judge", *[source if word == "RUN" else word for word in words])


def test_runs_of_other_data_or_profiles_are_not_compared(
    source: Path, data: Path, tmp_path: Path
) -> None:
    id = json.loads(data.read_text(encoding="utf-8").splitlines()[0])["id"]
    entry = load_embedded([Category.BASE]).trajectories[id]
    one = record(data, id, truth_turns(entry), profile="bfcl")
    other = write_run(tmp_path / "bfcl", definition(data, profile="bfcl"), one)
    words = ("--judge", "scripted:1", "--keep", tmp_path / "votes")
    with pytest.raises(DataError, match=r"has profile bfcl, but .* has profile strict"):
        run_command("judge", source, other, *words)
    moved = definition(data)
    moved = moved._replace(dataset=moved.dataset._replace(sha256="1" * 64))
    elsewhere = write_run(tmp_path / "moved", moved, record(data, id, truth_turns(entry)))
    with pytest.raises(
        DataError, match=r"cannot be compared with .*: the data has changed since the run"
    ):
        run_command("judge", source, elsewhere, *words)


def test_runs_without_a_common_entry_are_not_compared(data: Path, tmp_path: Path) -> None:
    entries = [*load_embedded([Category.BASE]).trajectories.values()][:2]
    one, other = (
        write_run(tmp_path / entry.id, definition(data), record(data, entry.id, truth_turns(entry)))
        for entry in entries
    )
    with pytest.raises(DataError, match="has no entries in common with"):
        run_command("judge", one, other, "--judge", "scripted:1")
    assert not (one / "judged").exists()


def test_a_judge_of_itself_is_noted(source: Path, tmp_path: Path, capsys) -> None:
    words = ("--base-url", "http://127.0.0.1:9", "--dry-run", "--keep", tmp_path / "votes")
    assert run_command("judge", source, "--judge", "model", *words) == 0
    assert "itself" not in capsys.readouterr().err
    done = run_command("judge", source, "--judge", "model", *words[:2], "--retries", 0, *words[3:])
    assert done == 3
    said = capsys.readouterr()
    assert "model judges its own episodes" in said.err
    assert "no answer" in said.err or "connect" in said.err


def test_audit_shows_what_judges_say(
    judge, source: Path, data: Path, tmp_path: Path, capsys
) -> None:
    assert EXAMPLE.startswith("turnwise dataset audit")
    other = tmp_path / "other.jsonl"
    judge("--judge", "scripted:0", "--disagreements", other)
    entries = [*load_embedded([Category.BASE]).trajectories.values()][:ENTRIES]
    records = [record(data, entry.id, [["Done."]] * len(entry.turns)) for entry in entries[:2]]
    records += [record(data, entry.id, truth_turns(entry)) for entry in entries[2:]]
    single = write_run(tmp_path / "single", definition(data), *records)
    words = ("dataset audit", single, "--dataset", data, "--disagreements", other)
    assert run_command(*words) == 0
    out = capsys.readouterr().out
    assert "  judge pass, verdict failed" in out
    assert f"disputes verdicts ({ENTRIES - 2} entries):" in out
    assert run_command(*words, "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["disagreements"]) == ENTRIES
    other.write_text('{"id": "x"}\n', encoding="utf-8")
    with pytest.raises(DataError, match="a disagreement needs"):
        run_command(*words)
