"""Tasks and result files of tau2 through the commands."""

from __future__ import annotations

import gzip
import io
import json
import random
import tarfile
import zipfile

import pytest

from envs.errors import DataError
from extensions.tau.entries import load, open_recording
from runner.cli import main
from tests.extensions.tau.conftest import CANCEL, call, result, results, simulation, task


def write(folder, document):
    path = folder / "results.json"
    path.write_text(json.dumps(document, indent=1))
    return path


def score(capsys, *words):
    status = main([*map(str, words)])
    return status, capsys.readouterr().out


@pytest.mark.parametrize("domain", ["airline", "retail", "telecom"])
def test_the_gold_actions_pass_and_silence_fails(checkout, capsys, domain):
    _, out = score(capsys, "eval", "--model", "oracle", "--dataset", f"tau2:{domain}")
    assert "100.0%" in out
    _, out = score(capsys, "eval", "--model", "null", "--dataset", f"tau2:{domain}")
    assert "score 0.0%" in out


def test_a_result_file_is_judged_by_its_own_tasks(checkout, capsys, tmp_path):
    done = call(CANCEL["name"], CANCEL["arguments"])
    path = write(
        tmp_path,
        results(
            "retail",
            [
                simulation("0", [done, result("{}")]),
                simulation("1", [{"role": "assistant", "content": "It was 40 dollars."}]),
            ],
        ),
    )
    verdicts = tmp_path / "verdicts.jsonl"
    status, out = score(capsys, "score", path, "--output", verdicts)
    assert status == 0
    assert "50.0%" in out
    first, second = map(json.loads, verdicts.read_text().splitlines())
    assert first["valid"]
    assert second["error_type"] == "dialogue:not_communicated"
    assert second["untold"] == ["39.5"]


def test_a_wrong_state_names_the_places_that_differ(checkout, capsys, tmp_path):
    wrong = call("cancel_pending_order", {"order_id": "#W4", "reason": "no longer needed"})
    path = write(tmp_path, results("retail", [simulation("0", [wrong, result("{}")])]))
    verdicts = tmp_path / "verdicts.jsonl"
    score(capsys, "score", path, "--output", verdicts)
    verdict = json.loads(verdicts.read_text())
    assert verdict["error_type"] == "dialogue:wrong_state"
    paths = {each["path"] for each in verdict["differences"]}
    assert "RetailDesk.orders.#W4.status" in paths


def test_an_early_end_fails(checkout, capsys, tmp_path):
    done = call(CANCEL["name"], CANCEL["arguments"])
    ended = simulation("0", [done, result("{}")], termination_reason="max_steps")
    path = write(tmp_path, results("retail", [ended]))
    verdicts = tmp_path / "verdicts.jsonl"
    score(capsys, "score", path, "--output", verdicts)
    assert json.loads(verdicts.read_text())["error_type"] == "dialogue:ended_early"


def test_replay_shows_both_sides(checkout, capsys, tmp_path):
    toggled = call("toggle_roaming", {}, "user")
    messages = [
        {"role": "assistant", "content": "Please turn on roaming."},
        toggled,
        result("Data Roaming is now ON.", "user"),
    ]
    path = write(tmp_path, results("telecom", [simulation("[roaming]", messages)]))
    status, out = score(capsys, "replay", "tau2_telecom_[roaming]", "--run", path)
    assert status == 0
    assert "Please turn on roaming." in out
    assert "Data Roaming is now ON." in out
    assert "the user made this call" in out
    assert "passed" in out


def test_simulations_under_wrong_ids_are_matched_by_their_gold_actions(checkout, tmp_path):
    judged = {"reward": 1.0, "action_checks": [{"action": CANCEL, "action_match": True}]}
    path = write(tmp_path, results("retail", [simulation("1", [], reward_info=judged)]))
    run = open_recording(path)
    assert run.ids == ["tau2_retail_0"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tasks": 3}, "$.tasks: must be a list, but is a int"),
        ({"simulations": [{"messages": [{"role": 1}]}]}, "messages[0].role: must be a string"),
        ({"simulations": [simulation("9", [])]}, "the task '9' is not in the file"),
    ],
)
def test_a_damaged_result_file_is_refused_with_its_place(checkout, tmp_path, change, said):
    path = write(tmp_path, results("retail", []) | change)
    with pytest.raises(DataError, match=r"results\.json") as caught:
        open_recording(path)
    assert said in str(caught.value)


def test_an_unknown_domain_or_split_is_refused(checkout):
    with pytest.raises(DataError, match="airline, retail, telecom"):
        load("tau2:bank")
    with pytest.raises(DataError, match="has the splits base"):
        load("tau2:retail/test")


def test_fetch_takes_a_checkout_or_an_archive(checkout, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TURNWISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TURNWISE_TAU2")
    archive = tmp_path / "tau2.tar.gz"
    with tarfile.open(archive, "w:gz") as file:
        file.add(checkout, "tau2-bench")
    for source in (checkout, archive):
        status, _ = score(capsys, "dataset", "fetch", "tau2", "--from", source)
        assert status == 0
        assert (tmp_path / "cache" / "tau2-a2c02472" / "domains" / "retail" / "db.json").is_file()
    assert set(load("tau2").trajectories) == {
        "tau2_airline_0",
        "tau2_retail_0",
        "tau2_retail_1",
        "tau2_telecom_[roaming]",
    }


@pytest.mark.parametrize("kind", ["damaged zip", "encrypted zip", "damaged xz"])
def test_fetch_refuses_a_damaged_archive_in_one_line(kind, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TURNWISE_CACHE", str(tmp_path / "cache"))
    content = random.Random(1).randbytes(9000)
    path = tmp_path / "archive"
    if kind == "damaged xz":
        with tarfile.open(path, "w:xz") as archive:
            member = tarfile.TarInfo("data/tau2/domains/retail/db.json")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 255
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("data/tau2/domains/retail/db.json", content)
        data = bytearray(path.read_bytes())
        if kind == "damaged zip":
            data[len(data) // 2] ^= 255
        else:
            data[6] |= 1
            data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    assert main(["dataset", "fetch", "tau2", "--from", str(path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"turnwise: {path}: ")
    assert said.count("\n") == 1


def test_fetch_refuses_another_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TURNWISE_CACHE", str(tmp_path / "cache"))
    assert main(["dataset", "fetch", "tau2", "--from", str(tmp_path)]) == 2
    assert "is not a checkout of tau2-bench" in capsys.readouterr().err


def test_recorded_dialogues_that_do_not_fit_their_tasks_are_listed(checkout, capsys, tmp_path):
    wrong = {
        "db_check": {"db_match": True, "db_reward": 1.0},
        "reward": 1.0,
        "reward_breakdown": {"DB": 1.0},
        "reward_basis": ["DB"],
    }
    read = call("get_order_details", {"order_id": "#W1"})
    messages = [read, result("This order is lost.")]
    path = write(tmp_path, results("retail", [simulation("0", messages, reward_info=wrong)]))
    status, out = score(capsys, "dataset", "cheaters", f"tau2:{path}")
    assert status == 0
    assert "2 findings on 1 recorded dialogues" in out
    assert "task 0, trial 0: 1 recorded results differ from the results of a replay" in out
    message = "the recorded verdict on the state is True, but the new verdict is False"
    assert f"task 0, trial 0: {message}" in out


def test_cheaters_play_our_own_dialogues(capsys):
    assert main(["dataset", "cheaters", "dialogues"]) == 0
    shares = [line.split()[-1] for line in capsys.readouterr().out.splitlines()[2:7]]
    assert shares == ["0.0%"] * 5


def test_cheaters_pass_what_the_data_set_rewards(checkout, capsys):
    status = main(["dataset", "cheaters", "tau2:retail"])
    out, err = capsys.readouterr()
    assert status == 0
    passed = {line.split()[0]: line.split()[-2] for line in out.splitlines()[2:7]}
    assert passed == {"null": "0", "refuse": "0", "claim": "0", "tell": "1", "act": "1"}
    assert "warning" not in err


def test_strict_wants_a_look_before_an_agent_does_nothing(checkout, capsys, tmp_path):
    told = {"role": "assistant", "content": "It was $39.50."}
    look = [call("get_order_details", {"order_id": "#W1"}), result("{}")]
    for messages, valid in (([told], False), ([*look, told], True)):
        path = write(tmp_path, results("retail", [simulation("1", messages)]))
        verdicts = tmp_path / "verdicts.jsonl"
        score(capsys, "score", path, "--output", verdicts, "--profile", "strict")
        assert json.loads(verdicts.read_text())["valid"] is valid


def test_strict_wants_a_look_at_customer_and_phone_before_a_transfer(checkout, capsys, tmp_path):
    transfer = {"name": "transfer_to_human_agents", "arguments": {"summary": "No way."}}
    hopeless = task("[pin]", [transfer | {"compare_args": []}], reward_basis=["ACTION"])
    customer = [call("get_customer_by_id", {"customer_id": "C1"}), result("{}")]
    phone = [call("check_status_bar", {}, "user"), result("Status Bar: none", "user")]
    moved = [call(**transfer), result("Transfer successful")]
    passed = {}
    for name, looks in {"none": [], "record": customer, "both": [*customer, *phone]}.items():
        document = results("telecom", [simulation("[pin]", [*looks, *moved])], tasks=[hopeless])
        for profile in ("tau2", "strict"):
            verdicts = tmp_path / "verdicts.jsonl"
            path = write(tmp_path, document)
            score(capsys, "score", path, "--output", verdicts, "--profile", profile)
            passed[name, profile] = json.loads(verdicts.read_text())["valid"]
    assert {name for name, valid in passed.items() if not valid} == {
        ("none", "strict"),
        ("record", "strict"),
    }


def test_strict_finds_no_number_inside_another(checkout, capsys, tmp_path):
    look = [call("get_order_details", {"order_id": "#W1"}), result("{}")]
    told = {"role": "assistant", "content": "It was $139.5."}
    path = write(tmp_path, results("retail", [simulation("1", [*look, told])]))
    for profile, valid in (("tau2", True), ("strict", False)):
        verdicts = tmp_path / f"{profile}.jsonl"
        score(capsys, "score", path, "--output", verdicts, "--profile", profile)
        assert json.loads(verdicts.read_text())["valid"] is valid


def test_a_compressed_file_opens_although_other_readers_refuse_it(checkout, capsys, tmp_path):
    document = results("retail", [simulation("0", [])])
    path = tmp_path / "results.json.gz"
    path.write_bytes(gzip.compress(json.dumps(document).encode()))
    _, out = score(capsys, "score", path)
    assert "1       0       1" in out


def test_several_trials_count_in_the_table(checkout, capsys, tmp_path):
    done = [call(CANCEL["name"], CANCEL["arguments"]), result("{}")]
    path = write(
        tmp_path,
        results("retail", [simulation("0", done), simulation("0", [], trial=1)]),
    )
    _, out = score(capsys, "table", path)
    assert "50.0%" in out


def test_validation_warns_of_dialogues_that_silence_passes(checkout, capsys):
    path = checkout / "data" / "tau2" / "domains" / "retail" / "tasks.json"
    path.write_text(json.dumps([task("0", [])]))
    main(["dataset", "validate", "tau2:retail"])
    warning = "a silent model passes 1 of 1 dialogues (profile tau2)"
    assert warning in capsys.readouterr().err
    path.write_text(json.dumps([task("0", [CANCEL])]))
    main(["dataset", "validate", "tau2:retail"])
    assert warning not in capsys.readouterr().err
