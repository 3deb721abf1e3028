"""The command ``turnwise env serve``: over standard input and output, its options, its end."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from mcp import Client, StdioServerParameters

from checkers.profile import STRICT
from extensions.serving.commands import env_serve as command
from runner.cli import main
from tests.extensions.serving.serving import answer
from tests.extensions.serving.test_http import hello
from tests.extensions.serving.test_truth import expected, play
from trajectories.dataset import load_embedded
from trajectories.prepared_trajectory import prepare
from trajectories.schema import Category

COMMAND = [sys.executable, "-W", "error", "-m", "runner.cli", "env", "serve"]
DESK = {"TicketAPI": {"current_user": "ann"}}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A file with the help desk's initial config."""
    path = tmp_path / "desk.json"
    path.write_text(json.dumps(DESK), encoding="utf-8")
    return path


@contextmanager
def started(*arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """Run the command for the time of a ``with``."""
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def told(process: subprocess.Popen[str], pattern: str) -> str:
    """Return what a pattern's group matches in the next line of a process's notes."""
    assert process.stderr
    line = process.stderr.readline()
    found = re.search(pattern, line)
    assert found, line
    return found[1]


def test_the_official_client_over_standard_input_and_output() -> None:
    dataset = load_embedded([Category.MISSING_FUNCTION])
    one = prepare(dataset, next(iter(dataset.trajectories.values())), STRICT)
    arguments = [*COMMAND[1:], "--trajectory", one.trajectory.id]

    async def through_mcp() -> list[tuple[str, bool]]:
        async with Client(StdioServerParameters(command=COMMAND[0], args=arguments)) as client:
            return await play(client, one)

    assert asyncio.run(through_mcp()) == expected(one)[0]


@pytest.mark.slow
def test_the_control_beside_standard_input_and_output(config: Path) -> None:
    with started(
        "--config", str(config), "--control", "0", TURNWISE_CONTROL_TOKEN="known"
    ) as process:
        assert process.stdin
        assert process.stdout
        assert told(process, "serving (.*) on standard input and output") == "TicketAPI"
        url = told(
            process, r"control API at (\S+)/sessions with the token in TURNWISE_CONTROL_TOKEN"
        )
        process.stdin.write(hello().decode() + "\n" + call("create_ticket", title="x") + "\n")
        process.stdin.flush()
        replies = [json.loads(process.stdout.readline()) for _ in range(2)]
        assert [reply["id"] for reply in replies] == [1, 2]
        request = urllib.request.Request(f"{url}/sessions/stdio")
        request.add_header("Authorization", "Bearer known")
        _, shown = answer(request)
        assert [ticket["title"] for ticket in shown["state"]["TicketAPI"]["ticket_queue"]] == ["x"]


def call(name: str, **arguments: Any) -> str:
    """Return the message of a call."""
    params = {"name": name, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})


@pytest.mark.slow
def test_input_that_ends_is_answered_to_its_end() -> None:
    calls = [json.loads(call("create_ticket", title=f"t{n}")) | {"id": n} for n in range(2, 202)]
    lines = [hello().decode(), *map(json.dumps, calls), ""]
    done = subprocess.run(
        [*COMMAND, "TicketAPI"], input="\n".join(lines), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == list(range(1, 202))


@pytest.mark.parametrize(
    ("reader", "status", "said"),
    [("/dev/full", 2, ["turnwise: standard output: No space left on device"]), (None, 0, [])],
)
def test_output_that_cannot_be_written_ends_it_without_a_trace(
    reader: str | None, status: int, said: list[str]
) -> None:
    with open(reader, "wb") if reader else closed_pipe() as output:
        done = subprocess.run(
            [*COMMAND, "TicketAPI"],
            input=hello() + b"\n",
            stdout=output,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )
    assert done.returncode == status
    assert done.stderr.decode().splitlines()[1:] == said


def closed_pipe() -> BinaryIO:
    """Return the end of a pipe that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    return os.fdopen(writer, "wb")


def test_every_request_is_answered_if_all_have_the_same_id() -> None:
    calls = [json.dumps(json.loads(call("get_ticket", ticket_id=n)) | {"id": 7}) for n in range(9)]
    lines = [hello().decode(), *calls, ""]
    done = subprocess.run(
        [*COMMAND, "TicketAPI"], input="\n".join(lines), capture_output=True, text=True, timeout=120
    )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, *[7] * 9]


@pytest.mark.slow
def test_nothing_but_messages_is_written_to_standard_output_and_the_end_is_clean() -> None:
    lines = [hello().decode(), "no message", "[" * 10_000, call("get_ticket", ticket_id=1)]
    done = subprocess.run(
        [*COMMAND, "TicketAPI"],
        input="\n".join([*lines, ""]),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0
    assert {json.loads(line)["jsonrpc"] for line in done.stdout.splitlines()} == {"2.0"}
    assert "Traceback" not in done.stderr


PRINTING = (
    ("from typing import Any\n", "from typing import Any\nimport os\nprint('imported')\n"),
    (
        "    @classmethod",
        "    def _load(self, config, pack):\n        print('loaded')\n\n    @classmethod",
    ),
    (
        '        return {"items": self.items}',
        "        print('listed')\n        os.write(1, b'written')\n"
        "        os.system('echo started')\n        return {\"items\": self.items}",
    ),
)


@pytest.mark.slow
def test_what_a_function_prints_is_no_message(install, tmp_path: Path) -> None:
    name = install(*PRINTING)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / name)}
    listing = f"{name.lower()}_list"

    async def through_mcp() -> str:
        server = StdioServerParameters(
            command=COMMAND[0], args=[*COMMAND[1:], name], env=environment
        )
        async with Client(server) as client:
            [content] = (await client.call_tool(listing, {})).content
            return content.text

    assert asyncio.run(through_mcp()) == '{"items": []}'
    done = subprocess.run(
        [*COMMAND, name],
        input=f"{hello().decode()}\n{call(listing)}\n",
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2]
    assert all(
        word in done.stderr for word in ("imported", "loaded", "listed", "written", "started")
    )


@pytest.mark.parametrize(
    "how",
    [
        pytest.param([], id="stdio"),
        pytest.param(["--http", "0"], id="http", marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_ends_it(how: list[str]) -> None:
    with started("TicketAPI", *how) as process:
        told(process, "(serving)")
        process.send_signal(signal.SIGINT)
        _, notes = process.communicate(timeout=60)
    assert (process.returncode, notes) == (130, "turnwise: interrupted\n")


@pytest.mark.slow
def test_a_token_is_shown_where_none_is_given() -> None:
    with started("TicketAPI", "--http", "0", "--control", "0") as process:
        told(process, r"serving TicketAPI at (http://127\.0\.0\.1:\d+/mcp)")
        assert len(told(process, r"with token (\S+)")) >= 32


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "NAME: is missing; give an environment, or use --config or --trajectory"),
        (["TicketApi"], "NAME: $.TicketApi: unknown backend"),
        (["--trajectory", "nothing"], "ID: 'nothing' is not in turnwise"),
        (["TicketAPI", "--trajectory", "x"], "NAME: cannot be combined with --trajectory"),
        (["TicketAPI", "--dataset", "bfcl"], "NAME: cannot be combined with options"),
        (["--config", "missing.json"], "missing.json: cannot be read: No such file"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_line(
    arguments: list[str], complaint: str, capsys
) -> None:
    assert main(["env", "serve", *arguments]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith(f"turnwise: {complaint}")
    assert output.err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"{", "is not valid JSON"),
        (b"[]", "must be a JSON object, but is of type list"),
        (b"\xff", "is not UTF-8 text"),
        (b"{}", "NAME: is missing"),
        (b'{"TicketAPI": 1}', "$.TicketAPI"),
        (b'{"TicketAPI": {"ticket_qeue": []}}', "$.TicketAPI.ticket_qeue: unknown key"),
        (b'{"Tickets": {}}', "$.Tickets: unknown backend"),
    ],
)
def test_a_bad_config_is_said_in_one_line(
    text: bytes, complaint: str, tmp_path: Path, capsys
) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(text)
    assert main(["env", "serve", "--config", str(path)]) == 2
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("option", ["--http", "--control"])
def test_a_port_in_use_is_said_in_one_line(option: str, capsys) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["env", "serve", "TicketAPI", option, port]) == 2
    expected = f"turnwise: {option}: port {port}: Address already in use; choose another port"
    assert capsys.readouterr().err.startswith(expected)


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_a_port_is_a_number(port: str, capsys) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["env", "serve", "TicketAPI", f"--http={port}"])
    assert "is not a port number from 0 to 65535" in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_install(monkeypatch, capsys) -> None:
    for name in [
        name for name in sys.modules if name.startswith(("extensions.serving", "extensions.viewer"))
    ]:
        if not name.endswith(".extension") and ".commands" not in name:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(vars(command.mcp_server), "serve", raising=False)
    assert main(["env", "serve", "TicketAPI"]) == 2
    assert "pip install 'turnwise[serve]'" in capsys.readouterr().err
