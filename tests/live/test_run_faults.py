"""Whole runs that meet trouble: what ends them early, what is tried again, what stays a secret."""

from __future__ import annotations

import json
import signal
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from runner.cli import main
from runner.records.durable_files import WriteError
from runner.records.episode_record import EpisodeRecord
from runner.records.run_store import RunStore
from tests.live.running import (
    BASE,
    ENTRIES,
    Ended,
    arguments,
    comparable,
    end,
    outcomes,
    ready_and,
    records,
    resume,
    spoiled,
    start,
    wait_until,
)
from tests.servers.faults import BLAMED, fault, passing
from tests.servers.serving import Answer, Answerer, Asked, FakeServer, as_json
from tests.servers.shapes import completion

pytest_plugins = ["tests.live.run_fixtures"]

CERTIFICATE = Path(__file__).parents[1] / "servers" / "localhost.pem"
KEY = "sk-test-0123456789abcdef"
SINGLE = ("simple_python_tomato_bed", "irrelevance_haircut")
SECRET = "correct-horse-battery-staple"
ON_ITS_WAY = 16
"""Requests that may be under way at once."""

Run = Callable[..., Ended]


def one_line(ended: Ended) -> str:
    """Return what a run that could not begin said, which is one line and nothing else."""
    assert ended.out == ""
    assert ended.err.startswith("turnwise: ")
    assert ended.err.count("\n") == 1, ended.err
    return ended.err


# No room


def test_a_full_disk_ends_a_run_that_can_go_on(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append, room = RunStore.append, iter(range(ENTRIES // 2))

    def filling(store: RunStore, record: EpisodeRecord) -> None:
        if next(room, None) is None:
            raise WriteError("episodes.jsonl", "cannot be written: no space left")
        append(store, record)

    with monkeypatch.context() as full:
        full.setattr(RunStore, "append", filling)
        done = run(*BASE)
    assert done.status == 3
    assert f"no space left; resume with turnwise eval --resume {folder}" in done.err
    assert len(records(folder)) == ENTRIES // 2
    assert run(*BASE, *resume(folder)).status == 0
    assert len(records(folder)) == ENTRIES


# Nobody there, or not for us


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("401", "set OPENAI_API_KEY to a valid key (401)"),
        ("403", "(403)"),
        ("404", "does not exist"),
        ("no-tools", "does not support tools"),
        ("429-quota", "Pay first"),
        ("error200-key", "Invalid API key"),
    ],
)
def test_what_no_request_can_mend_ends_a_run_before_it_begins(
    run: Run, server: FakeServer, folder: Path, kind: str, said: str
) -> None:
    server.answer = fault(kind)
    done = run(*BASE)
    assert done.status == 3
    assert said in one_line(done)
    assert (server.requests, folder.exists()) == (1, False)


def free_port() -> int:
    """Return a port that nobody listens at."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
    return port


@pytest.mark.parametrize("preflight", [True, False])
def test_nobody_listens(folder: Path, preflight: bool, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"http://127.0.0.1:{free_port()}/v1"
    more = () if preflight else ("--no-preflight", "--retries", "1")
    status = main(arguments(url, folder, *BASE, *more))
    said = capsys.readouterr()
    assert (status, said.out) == (3, "")
    assert f"{url} cannot be reached: connection refused" in said.err
    assert folder.exists() is not preflight


def test_there_is_no_server_of_that_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(arguments("http://host.invalid:8000/v1", folder, *BASE))
    line = one_line(Ended(status, *capsys.readouterr()))
    assert status == 3
    assert "host.invalid:8000/v1: unknown host name" in line


def test_a_certificate_that_is_not_to_be_trusted(
    truth: Answerer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    with FakeServer(truth, tls=context) as secure:
        status = main(arguments(secure, folder, *BASE))
    line = one_line(Ended(status, *capsys.readouterr()))
    assert status == 3
    assert "is not trusted" in line
    assert secure.requests == 0


@pytest.mark.parametrize(
    ("kind", "said"), [("401", "set OPENAI_API_KEY"), ("429-quota", "Pay first")]
)
def test_a_refusal_in_the_middle_ends_a_run_that_can_go_on(
    run: Run, server: FakeServer, truth: Answerer, folder: Path, kind: str, said: str
) -> None:
    server.answer = lambda asked: (truth if asked.number < 60 else fault(kind))(asked)
    done = run(*BASE, "--concurrency", "2")
    assert done.status == 3
    last = done.err.splitlines()[-1]
    assert said in last
    assert last.endswith(f"; resume with turnwise eval --resume {folder}")
    assert server.requests < 60 + ON_ITS_WAY
    assert set(outcomes(folder).values()) == {"passed"}
    assert len(records(folder)) < ENTRIES
    server.answer = truth
    assert run(*BASE, *resume(folder)).status == 0
    assert [*outcomes(folder).values()] == ["passed"] * ENTRIES


@pytest.mark.slow
def test_a_server_that_goes_down_in_the_middle_ends_a_run_that_can_go_on(
    truth: Answerer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeServer(truth) as server:
        process = start(arguments(server, folder, *BASE, "--concurrency", "2", "--retries", "1"))
        server.latency = 0.005
        wait_until(lambda: server.requests > 60)
    ended = end(process)
    assert ended.status == 3
    assert "cannot be reached: connection refused; resume with turnwise eval --resume" in ended.err
    done = outcomes(folder)
    assert len(done) < ENTRIES
    assert set(done.values()) == {"passed"}
    with FakeServer(truth, port=server.port) as server:
        assert main(arguments(server, folder, *BASE, *resume(folder))) == 0
    assert [*outcomes(folder).values()] == ["passed"] * ENTRIES


# Trouble that passes, and trouble that stays

LASTING = {
    "reset": "was lost",
    "hang": "within 1 seconds",
    "slow": "within 1 seconds",
    "half": "was lost",
    "truncated": "not a JSON object; check --base-url",
    "empty": "0 bytes of application/json",
    "html": "bytes of text/html",
    "408": "Timed out",
    "409": "Conflict",
    "500": "Oh no",
    "503-html": "(503)",
    "error200": "Rate limit reached",
    "422": "This is not a role.",
}
"""What an episode's error says, by what its requests meet from the second on."""


def test_trouble_that_stays_is_an_error_and_no_verdict(
    run: Run,
    server: FakeServer,
    truth: Answerer,
    openings: Mapping[str, str],
    ids: list[str],
    folder: Path,
) -> None:
    ill = dict(zip(ids, LASTING, strict=False))
    server.answer = spoiled(truth, {id: fault(kind) for id, kind in ill.items()}, openings)
    done = run(*BASE, "--concurrency", "24", "--retries", "1", "--timeout", "1")
    assert done.status == 3
    found = {record["id"]: record for record in records(folder)}
    assert {id for id, record in found.items() if record["outcome"] == "error"} == ill.keys()
    for id, kind in ill.items():
        assert found[id]["verdict"] is None
        assert LASTING[kind] in found[id]["error"], kind
        assert "\n" not in found[id]["error"]
    assert {found[id]["outcome"] for id in ids if id not in ill} == {"passed"}
    assert "no score: more than 2% of the episodes ended in errors" in done.out


@pytest.mark.slow
def test_trouble_that_passes_leaves_no_trace_but_the_attempts(
    run: Run, server: FakeServer, truth: Answerer, tmp_path: Path
) -> None:
    run(*BASE, folder=tmp_path / "calm")
    kinds = ["429", *(kind for kind in LASTING if kind != "422")]
    server.requests = 0
    server.answer = passing(kinds, 0.1, 3, truth)
    flags = ("--no-preflight", "--concurrency", "24", "--timeout", "2")
    assert run(*BASE, *flags, folder=tmp_path / "rough").status == 0
    assert comparable(tmp_path / "rough") == comparable(tmp_path / "calm")
    tries = [s["attempts"] for r in records(tmp_path / "rough") for s in r["steps"]]
    assert sum(tries) == server.requests
    assert max(tries) > 1


# What the model did wrong


def cells(out: str) -> list[str]:
    """Return the figures of the base category: entries, passed, failed, errors, score."""
    row = next(line for line in out.splitlines() if line.startswith("base"))
    return row.split()[1:6]


def test_what_the_model_did_wrong_fails_it_and_is_asked_once(
    run: Run,
    server: FakeServer,
    truth: Answerer,
    openings: Mapping[str, str],
    ids: list[str],
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ill = dict(zip(ids, BLAMED, strict=False))
    server.answer = spoiled(truth, {id: fault(kind) for id, kind in ill.items()}, openings)
    done = run(*BASE, "--limit", "12")
    assert done.status == 0
    assert cells(done.out) == ["12", "6", "6", "0", "50.0%"]
    found = {record["id"]: record for record in records(folder)}
    for id, kind in ill.items():
        record = found[id]
        assert (record["outcome"], record["fault"]["kind"]) == ("failed", BLAMED[kind])
        assert record["verdict"]["error_type"] == f"inference_error:{BLAMED[kind]}"
        assert record["verdict"]["said"] == record["fault"]["said"]
        assert (len(record["steps"]), record["error"]) == (1, None)
    assert "failed_generation' for more details.: <function=cd>{" in found[ids[3]]["fault"]["said"]
    assert sum(record["outcome"] == "passed" for record in found.values()) == 6

    assert main(["export", str(folder), "--format", "bfcl", "-o", str(folder / "out")]) == 0
    [file] = (folder / "out").rglob("*_result.json")
    capsys.readouterr()
    assert main(["score", str(file)]) == 0
    assert cells(capsys.readouterr().out) == cells(done.out)
    assert main(["verify", str(folder)]) == 0
    assert "12 of 12 verdicts are as recorded" in capsys.readouterr().out
    assert main(["replay", ids[3], "--run", str(folder)]) == 0
    said = capsys.readouterr().out
    assert (
        "cause: unanswered at end of turn 1: the model wrote a call that its server could not parse"
        in said
    )


@pytest.mark.parametrize(("profile", "passed"), [("bfcl", "1"), ("strict", "0")])
def test_a_single_turn_without_an_answer_is_judged_as_its_export_is(
    run: Run,
    server: FakeServer,
    folder: Path,
    profile: str,
    passed: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # To BFCL no answer is no call, which is right where none fits.
    server.answer = ready_and(fault("policy"))
    chosen = ("--category", "irrelevance,simple_python", "--profile", profile)
    done = run(*chosen, "--ids", ",".join(SINGLE))
    assert done.status == 0
    assert [line.split()[1:5] for line in done.out.splitlines()[2:4]] == [
        ["1", "0", "1", "0"],
        ["1", passed, str(1 - int(passed)), "0"],
    ]
    assert [record["fault"]["kind"] for record in records(folder)] == ["content_policy"] * 2
    assert main(["export", str(folder), "--format", "bfcl", "-o", str(folder / "out")]) == 0
    capsys.readouterr()
    again = ["score", str(folder / "out"), "--profile", profile]
    assert main(again) == 0
    assert capsys.readouterr().out.splitlines()[:4] == done.out.splitlines()[:4]
    assert main(["export", str(folder), "--format", "openai-messages"]) == 0
    assert (folder / "openai-messages.jsonl").read_text(encoding="utf-8") == ""


def test_who_is_to_blame_can_be_said_and_is_kept_to(
    run: Run,
    server: FakeServer,
    truth: Answerer,
    openings: Mapping[str, str],
    ids: list[str],
    folder: Path,
) -> None:
    ill = {ids[0]: fault("400"), ids[1]: fault("policy"), ids[2]: fault("422")}
    server.answer = spoiled(truth, ill, openings)
    chosen = ("--errors-as", "failure", "--errors-as", "content_policy=error")
    done = run(*BASE, "--limit", "4", *chosen, "--allow-errors")
    assert cells(done.out) == ["4", "1", "2", "1", "33.3%"]
    found = {record["id"]: record for record in records(folder)}
    assert found[ids[2]]["verdict"]["error_type"] == "inference_error:no_answer"
    assert found[ids[1]]["error"].endswith("(400): No.")
    refused = run(*BASE, "--limit", "4", *resume(folder))
    assert refused.status == 2
    assert "settings.errors_as was" in refused.err
    asked = server.requests
    assert run(*BASE, "--limit", "4", *chosen, *resume(folder), "--no-preflight").status == 3
    assert server.requests == asked
    assert run(*BASE, "--errors-as", "weather=error", folder=folder / "x").status == 2


# Ctrl-C


@pytest.mark.parametrize(
    ("manner", "number"),
    [
        ("answers", signal.SIGINT),
        pytest.param("hang", signal.SIGINT, marks=pytest.mark.slow),
        pytest.param("429", signal.SIGINT, marks=pytest.mark.slow),
        pytest.param("answers", signal.SIGTERM, marks=pytest.mark.slow),
    ],
)
def test_an_interrupted_run_ends_and_can_go_on(
    run: Run,
    server: FakeServer,
    truth: Answerer,
    folder: Path,
    manner: str,
    number: signal.Signals,
) -> None:
    then = truth if manner == "answers" else fault(manner)
    server.answer = lambda asked: (truth if asked.number < 60 else then)(asked)
    server.latency = 0.02
    process = start(arguments(server, folder, *BASE, "--concurrency", "8"))
    wait_until(lambda: server.requests > 64)
    begun = time.monotonic()
    process.send_signal(number)
    ended = end(process)
    assert time.monotonic() - begun < 10
    assert ended.status == 130
    assert ended.err.splitlines()[-1] == (
        f"turnwise: interrupted; resume with turnwise eval --resume {folder}"
    )
    assert "Traceback" not in ended.err
    assert len(records(folder)) < ENTRIES
    server.latency, server.answer = 0.0, truth
    assert run(*BASE, *resume(folder)).status == 0
    assert [*outcomes(folder).values()] == ["passed"] * ENTRIES


def test_a_second_interrupt_ends_a_run_at_once(
    run: Run, server: FakeServer, truth: Answerer, folder: Path
) -> None:
    server.latency = 0.5
    process = start(arguments(server, folder, *BASE, "--concurrency", "4"))
    wait_until(lambda: server.requests > 4)
    process.send_signal(signal.SIGINT)
    asked = server.requests
    process.send_signal(signal.SIGINT)
    ended = end(process)
    assert ended.status == 130
    assert server.requests <= asked + 4
    assert f"interrupted; resume with turnwise eval --resume {folder}" in ended.err
    server.latency = 0.0
    assert run(*BASE, *resume(folder)).status == 0
    assert [*outcomes(folder).values()] == ["passed"] * ENTRIES


@pytest.mark.slow
def test_an_interrupt_before_the_run_leaves_nothing(server: FakeServer, folder: Path) -> None:
    server.answer = fault("hang")
    process = start(arguments(server, folder, *BASE))
    wait_until(lambda: server.requests > 0)
    process.send_signal(signal.SIGINT)
    ended = end(process)
    assert (ended.status, ended.out, ended.err) == (130, "", "turnwise: interrupted\n")
    assert not folder.exists()


# Secrets


def everything(folder: Path, ended: Ended) -> dict[str, str]:
    """Return the text of all that a run left, by where it is."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.rglob("*")}
    return {**texts, "stdout": ended.out, "stderr": ended.err}


def repeated(asked: Asked) -> str:
    """Return all that came in headers, whole and word by word."""
    values = list(asked.headers.values())
    return json.dumps([*values, *(word for value in values for word in value.split())])


def reply(asked: Asked) -> Answer:
    """Repeat the headers in all places of an answer that are kept."""
    text = repeated(asked)
    function = {"name": text, "arguments": json.dumps({text: [text]})}
    call = {"id": text, "type": "function", "function": function}
    message = {"role": "assistant", "content": text, "reasoning": text, "tool_calls": [call]}
    return as_json(completion(message, text))


def refusal(status: int) -> Answerer:
    """Return what repeats the headers in an error."""
    return lambda asked: as_json({"error": {"message": repeated(asked)}}, status)


@pytest.mark.parametrize(
    "answer", [reply, refusal(400), refusal(401), refusal(500)], ids=["reply", "400", "401", "500"]
)
@pytest.mark.parametrize("header", ["X-Api-Token=", "X-Team=", "Authorization=Bearer "])
def test_no_secret_is_written_anywhere(
    run: Run,
    server: FakeServer,
    folder: Path,
    answer: Answerer,
    header: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("sys.argv", ["turnwise", "eval", "--header", header + SECRET])
    server.answer = answer
    flags = ("--no-preflight", "--reasoning", "all", "--retries", "0", "--step-limit", "2")
    ended = run(*BASE, "--limit", "2", *flags, "--header", header + SECRET)
    assert server.last is not None
    assert SECRET in repeated(server.last)
    found = everything(folder, ended)
    assert {"run.json", "episodes.jsonl", "stdout", "stderr"} <= found.keys()
    assert [name for name, text in found.items() if SECRET in text or KEY in text] == []


def test_the_key_is_written_nowhere(
    run: Run, server: FakeServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for number, answer in enumerate([reply, refusal(400), refusal(401), refusal(500)]):
        server.answer = answer
        place = folder / str(number)
        ended = run(*BASE, "--limit", "2", "--no-preflight", "--retries", "0", folder=place)
        assert server.last is not None
        assert KEY in repeated(server.last)
        found = everything(place, ended)
        assert [name for name, text in found.items() if KEY in text] == []


def test_a_key_in_the_address_is_written_nowhere(
    server: FakeServer,
    truth: Answerer,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server.answer = truth
    command = arguments(f"{server.base_url}?api-key={SECRET}", folder, *BASE, "--limit", "1")
    monkeypatch.setattr("sys.argv", ["turnwise", *command])
    ended = Ended(main(command), *capsys.readouterr())
    assert ended.status == 0
    assert server.last is not None
    assert SECRET in server.last.path
    assert [n for n, text in everything(folder, ended).items() if SECRET in text] == []
