"""Experiments on the list of functions, from the command line: over real HTTP, and scripted."""

from __future__ import annotations

import json
from pathlib import Path
from socket import socket

import pytest

from runner.cli import main
from runner.data.dataset_choice import load_dataset
from runner.models.toolbox import own_documents
from runner.records.durable_files import RUN_FILE
from runner.records.recorded_run import open_run
from tests.live.running import arguments, ready_and, records
from tests.servers.answers import of_dataset
from tests.servers.faults import fault
from tests.servers.serving import Answer, Asked, FakeServer
from tests.servers.shapes import completion

SOME = ("--category", "base", "--limit", "4")


@pytest.fixture
def right(server: FakeServer) -> FakeServer:
    """Return a server that makes the calls of the ground truth."""
    server.answer = ready_and(of_dataset("turnwise", "base"))
    return server


def run(server: FakeServer, folder: Path, *more: str) -> int:
    return main(arguments(server, folder, *SOME, *more))


def scripted(folder: Path, *more: str, model: str = "oracle") -> int:
    place = () if "--resume" in more else ("--run-dir", str(folder))
    return main(["eval", "--model", model, *SOME, *place, *more])


def shown_in(folder: Path) -> list[list[str]]:
    """Return the names in the tool lists of a run."""
    lines = (folder / "tools.jsonl").read_text().splitlines()
    return [[tool["function"]["name"] for tool in json.loads(line)["tools"]] for line in lines]


def test_a_live_model_is_shown_what_each_level_says(
    right: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    axes = ("--vary", "tools=20,all", "--vary", "names=plain,codes")
    assert run(right, tmp_path, *axes) == 0
    out = capsys.readouterr().out
    assert "difference: compared with the level 20, paired by entry\n" in out
    assert "p, Holm: p-value with Holm's correction for 1 comparison\n" in out
    assert f"next: turnwise vary {tmp_path} --html curves.html" in out
    assert {len(names) for names in shown_in(tmp_path / "tools=20,names=plain")} == {20}
    assert {len(names) for names in shown_in(tmp_path / "tools=all,names=plain")} == {128}
    codes = shown_in(tmp_path / "tools=20,names=codes")
    assert all(name.startswith("fn_") for names in codes for name in names)
    assert {r["outcome"] for r in records(tmp_path / "tools=all,names=plain")} == {"passed"}
    definition = open_run(tmp_path / "tools=20,names=codes").definition
    levels = {"tools": "20", "names": "codes", "seed": 0}
    assert definition.extensions == {"experiments": {"vary": levels}}


def test_codes_come_back_as_the_real_functions(tmp_path: Path) -> None:
    assert scripted(tmp_path, "--vary", "names=codes") == 0
    folder = tmp_path / "names=codes"
    assert {r["outcome"] for r in records(folder)} == {"passed"}
    called = {
        call.split("(")[0] for r in records(folder) for s in r["steps"] for call in s["calls"]
    }
    assert called
    assert not any(name.startswith("fn_") for name in called)


def test_it_goes_on_where_the_budget_ended_it(
    right: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    axes = ("--vary", "tools=need,20")
    assert run(right, tmp_path, *axes, "--max-requests", "30") == 5
    assert f"resume with --resume {tmp_path}" in capsys.readouterr().err
    assert run(right, tmp_path, *axes, "--resume", str(tmp_path)) == 0
    for name in ("tools=need", "tools=20"):
        assert [r["outcome"] for r in records(tmp_path / name)] == ["passed"] * 4
    assert "unfinished" not in capsys.readouterr().out


def test_a_dry_run_counts_all_levels_and_asks_nothing(
    right: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(right, tmp_path / "none", "--vary", "tools=need,5,20", "--dry-run") == 0
    assert "4 entries in 3 runs" in capsys.readouterr().out
    assert (right.requests, (tmp_path / "none").exists()) == (0, False)


def test_each_trial_is_shuffled_anew(tmp_path: Path) -> None:
    assert scripted(tmp_path, "--limit", "1", "--vary", "order=shuffled", "--trials", "3") == 0
    assert len({tuple(names) for names in shown_in(tmp_path / "order=shuffled")}) == 3


def test_other_commands_take_the_runs_as_they_were(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = "scripted:0,tools=0.2"
    assert scripted(tmp_path, "--vary", "tools=need,all", model=model) == 0
    wide = tmp_path / "tools=all"
    calls = [r["verdict"]["selected"]["strangers"] for r in records(wide)]
    assert sum(calls) > 0
    capsys.readouterr()
    assert main(["verify", str(wide)]) == 0
    assert "4 of 4 verdicts are as recorded" in capsys.readouterr().out
    assert main(["compare", str(tmp_path / "tools=need"), str(wide)]) == 0
    assert main(["table", str(wide)]) == 0
    assert "calls of other functions" in capsys.readouterr().out
    assert main(["report", str(wide), "-o", str(tmp_path / "r.html")]) == 0


def test_two_runs_of_it_are_the_same(tmp_path: Path) -> None:
    axes = ("--vary", "tools=need,20", "--vary", "place=head,spread", "--vary-seed", "7")
    for name in ("a", "b"):
        assert scripted(tmp_path / name, *axes, model="scripted:0.2,tools=0.1,middle=0.1") == 0
    for run_of in (path.parent for path in (tmp_path / "a").glob(f"*/{RUN_FILE}")):
        other = tmp_path / "b" / run_of.name
        assert sorted(shown_in(run_of)) == sorted(shown_in(other))
        one, two = (
            sorted((r["id"], r["outcome"], json.dumps(r["result"])) for r in records(each))
            for each in (run_of, other)
        )
        assert one == two


def words_of(*names: str) -> dict[str, object]:
    """Return good words for functions: their own."""
    return {
        document["name"]: {
            "description": document["description"],
            "parameters": {
                name: member.get("description", "")
                for name, member in document["parameters"]["properties"].items()
            },
        }
        for document in own_documents(names)
    }


def test_words_of_a_file_are_shown(tmp_path: Path) -> None:
    words = words_of("GorillaFileSystem", "TicketAPI", "TwitterAPI", "MessageAPI")
    words |= words_of("MathAPI", "TradingBot", "TravelAPI", "VehicleControlAPI")
    words["mkdir"]["description"] = "Sets up a place."
    file = tmp_path / "other.json"
    file.write_text(json.dumps(words))
    axis = ("--vary", f"descriptions=full,{file}")
    assert scripted(tmp_path / "run", "--vary", "tools=all", *axis) == 0
    text = (tmp_path / "run" / "tools=all,descriptions=other" / "tools.jsonl").read_text()
    assert "Sets up a place." in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mkdir": None}, "does not describe the function mkdir"),
        ({"mkdir": 3}, "$.mkdir: must have a string `description`"),
        ({"mkdir": {"description": "Like create_ticket.", "parameters": {"dir_name": "x"}}},
         "$.mkdir: names the function create_ticket"),
        ({"mkdir": {"description": "Makes one.", "parameters": {}}},
         "$.mkdir: lacks the parameter 'dir_name'"),
        ({"mkdir": {"description": " ", "parameters": {"dir_name": "x"}}}, "$.mkdir: is empty"),
        ({"mkdir": {"description": "Makes.", "parameters": {"dir_name": "x", "y": "z"}}},
         "$.mkdir: has no parameter 'y'"),
    ],
)  # fmt: skip
def test_words_that_do_not_hold_are_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    change: dict[str, object],
    message: str,
) -> None:
    words = {**words_of("GorillaFileSystem"), **change}
    file = tmp_path / "other.json"
    file.write_text(json.dumps({name: word for name, word in words.items() if word is not None}))
    more = ("--ids", files_only(), "--vary", f"descriptions={file}")
    assert scripted(tmp_path / "run", *more) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert message in said[0]


def files_only() -> str:
    """Return the id of an entry that has the file system and nothing else."""
    entries = load_dataset(categories="base").trajectories.values()
    return next(each.id for each in entries if each.environments == ("GorillaFileSystem",))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--vary", "tols=5"), "--vary: 'tols' is not an axis; did you mean tools?"),
        (("--vary", "tools=5", "--output", "x"), "--output: needs a single run"),
        (("--vary", "tools=5", "--errata", "bfcl"), "--errata: needs a single run"),
        (("--vary", "place=head", "--vary", "order=shuffled"), "cannot be combined"),
        (("--design", "full"), "--design: needs --vary: add it"),
        (("--vary-seed", "3"), "--vary-seed: needs --vary: add it"),
        (("--vary", "tools=5", "--temperature", "1"), "--temperature: only live models"),
        (("--vary", "descriptions=none.json"), "none.json: cannot be read"),
        (("--vary", "words=none.jsonl"), "none.jsonl: cannot be read"),
        (("--category", "irrelevance", "--vary", "tools=5"), "cannot vary the 4 entries"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    more: tuple[str, ...],
    message: str,
) -> None:
    assert scripted(tmp_path / "none", *more) == 2
    said = capsys.readouterr().err.splitlines()
    assert message in said[-1]
    assert not (tmp_path / "none").exists()


def test_what_does_not_go_together_with_prompting_or_formats(
    right: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(right, tmp_path, "--mode", "prompt", "--vary", "names=plain,codes") == 2
    assert "the axis `names` needs tool calls" in capsys.readouterr().err
    both = ("--category", "chat", "--mode", "prompt", "--formats", "all", "--vary", "tools=5")
    assert run(right, tmp_path, *both) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["eval", "--model", "replay:x", "--vary", "tools=5"]) == 2
    assert "recorded runs cannot answer changed entries" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            "scripted:0.1,tool=0.1",
            "'tool' is not an option of scripted models; did you mean tools?",
        ),
        ("scripted:0.1,tools=2", "'tools=2': give one share from 0 to 1"),
        ("scripted:0.1,tools=0.1,tools=0.2", "give one share"),
        ("scripted:2,tools=0.1", "there is no scripted model"),
    ],
)
def test_sensitivities_that_there_are_not(
    capsys: pytest.CaptureFixture[str], model: str, message: str
) -> None:
    assert main(["eval", "--model", model]) == 2
    assert message in capsys.readouterr().err


def test_the_entries_of_an_experiment_are_written_as_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["dataset", "vary", str(tmp_path), *SOME, "--vary", "tools=40"]) == 0
    assert main(["eval", "--model", "oracle", "--dataset", str(tmp_path / "base.jsonl")]) == 0
    assert main(["eval", "--model", "null", "--dataset", str(tmp_path / "base.jsonl")]) == 0
    capsys.readouterr()
    for more, message in (
        (("--vary", "names=codes"), "names does not change entries"),
        (("--vary", "tools=5,6"), "needs a single level"),
    ):
        assert main(["dataset", "vary", str(tmp_path), *more]) == 2
        assert message in capsys.readouterr().err
    assert main(["dataset", "vary", str(tmp_path / "no"), "--vary", "tools=5"]) == 2
    assert "is not a folder; create it first" in capsys.readouterr().err


def test_a_model_that_refuses_drafts_nothing_and_is_told_in_one_line(
    server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer = fault("401")
    file = tmp_path / "words.json"
    asked = ("--base-url", server.base_url, "--category", "base", "--output", str(file))
    assert main(["vary", "--paraphrase", "fake", *asked]) == 3
    said = capsys.readouterr()
    assert len(said.err.splitlines()) == 1
    assert (said.out, file.exists()) == ("", False)


@pytest.mark.parametrize("command", [["vary", "--paraphrase"], ["compress-keys", "TravelAPI"]])
def test_a_draft_waits_for_no_server_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    file = tmp_path / "words.json"
    with socket() as bound:
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}/v1"
        named = ["fake"] if command[0] == "vary" else ["--model", "fake"]
        words = [*command, *named, "--base-url", url, "--output", str(file)]
        assert main(words) == 3
    said = capsys.readouterr()
    assert said.err == f"turnwise: {url} cannot be reached: connection refused\n"
    assert (said.out, file.exists()) == ("", False)


def test_levels_may_be_added_and_no_run_may_go(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def again(*levels: str, entries: str = "2") -> int:
        command = ["eval", "--model", "oracle", "--category", "base", "--limit", entries]
        axes = [word for level in levels for word in ("--vary", level)]
        return main([*command, *axes, "--resume", str(tmp_path / "run")])

    wanted = ("--category", "base", "--limit", "2", "--vary", "tools=need,20")
    assert scripted(tmp_path / "run", *wanted) == 0
    kept = (tmp_path / "run" / "vary.json").read_bytes()
    capsys.readouterr()
    for levels, entries in ((("tools=need,40",), "2"), (("tools=need,20",), "3")):
        assert again(*levels, entries=entries) == 2
        assert "holds another experiment: the run" in capsys.readouterr().err
        assert (tmp_path / "run" / "vary.json").read_bytes() == kept
    assert again("tools=need,20,40") == 0
    assert len(records(tmp_path / "run" / "tools=40")) == 2


def test_a_live_model_drafts_words(
    server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer(asked: Asked) -> Answer:
        document = json.loads(asked.body["messages"][0]["content"].partition("\n\n")[2])
        members = document["parameters"]["properties"]
        told = {n: m["description"] for n, m in members.items() if "description" in m}
        words = {"description": f"Well: {document['description']}", "parameters": told}
        message = {"role": "assistant", "content": json.dumps(words)}
        return Answer(json.dumps(completion(message, "stop")).encode())

    server.answer = answer
    file = tmp_path / "words.json"
    asked = ["vary", "--paraphrase", "fake", "--base-url", server.base_url, "--output", str(file)]
    assert main([*asked, "--category", "base"]) == 0
    assert f"{file}: 128 of 128 descriptions paraphrased; review them" in capsys.readouterr().out
    axis = ("--vary", "tools=all", "--vary", f"descriptions=full,{file}")
    assert scripted(tmp_path / "run", *axis) == 0
    for more, message in (
        (asked[:5], "--paraphrase: needs --output: add it"),
        ([*asked, str(tmp_path)], "--paraphrase: cannot be combined with FOLDER"),
        (["vary"], "FOLDER: is missing; give the folder of an experiment"),
        (["vary", "--output", "x", str(tmp_path)], "--output: needs --paraphrase: add it"),
    ):
        capsys.readouterr()
        assert main([*more]) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize("tools", ["need", "20"])
def test_who_knows_what_is_right_passes_single_turns_of_all_kinds(
    tmp_path: Path, tools: str
) -> None:
    kinds = ("--category", "multiple,parallel,exec_multiple,exec_parallel,sql", "--limit", "1000")
    assert scripted(tmp_path, *kinds, "--sample", "20", "--vary", f"tools={tools}") == 0
    found = records(tmp_path / f"tools={tools}")
    assert {r["outcome"] for r in found} == {"passed"}
    assert len({r["category"] for r in found}) == 5
