"""The two sides of the comparison, which play the same scripts and answer in the same form."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any, NamedTuple, Self

from envs.errors import BackendFault, DataError
from envs.long_context import LongContextPack
from extensions.scripts.execute import execute, read_script

DRIVER = Path(__file__).with_name("bfcl_driver.py")
CRASH = "CRASH: "
"""What our problem starts with where a backend broke, which is never right."""
_AHEAD = 200


class Script(NamedTuple):
    """Calls to make, turn by turn, on a fresh world."""

    id: str
    initial_config: Mapping[str, Any]
    involved_classes: list[str]
    long_context: bool
    turns: list[list[str]]


class PlayedTurn(NamedTuple):
    """What the calls of one turn gave, and the compared state after them."""

    results: list[str]
    state: Mapping[str, Mapping[str, Any]]


class Reply(NamedTuple):
    """What one side made of a script; where it could not be played, why, and nothing else."""

    initial_state: Mapping[str, Mapping[str, Any]]
    turns: list[PlayedTurn]
    problem: str | None = None

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """Read a reply of either side."""
        if "problem" in record:
            return cls({}, [], record["problem"])
        turns = [PlayedTurn(turn["results"], turn["state"]) for turn in record["turns"]]
        return cls(record["initial_state"], turns)


def data_folder(python: Path) -> Path:
    """Return where the black box keeps its data."""
    code = "import bfcl_eval; print(bfcl_eval.__path__[0])"
    found = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True)
    return Path(found.stdout.strip()) / "data"


def play_on_bfcl(python: Path, scripts: Iterable[Script]) -> Iterator[tuple[Script, Reply]]:
    """Play scripts on BFCL, in order.

    Args:
        python: An interpreter that has BFCL installed.
        scripts: Drawn from a second thread, a bounded number ahead of the replies.

    Raises:
        RuntimeError: The driver ended before it had answered all scripts.
    """
    driver = subprocess.Popen(
        [python, DRIVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    sent: Queue[Script | Exception | None] = Queue(_AHEAD)
    Thread(target=_feed, args=(driver, scripts, sent), daemon=True).start()
    assert driver.stdout is not None
    try:
        while (script := sent.get()) is not None:
            if isinstance(script, Exception):
                raise script
            line = driver.stdout.readline()
            if not line:
                raise RuntimeError(f"the driver ended with status {driver.wait()} at {script.id}")
            yield script, Reply.from_json(json.loads(line))
    finally:
        driver.kill()
        driver.wait()


def _feed(
    driver: subprocess.Popen[str],
    scripts: Iterable[Script],
    sent: Queue[Script | Exception | None],
) -> None:
    assert driver.stdin is not None
    try:
        for script in scripts:
            driver.stdin.write(json.dumps(script._asdict()) + "\n")
            driver.stdin.flush()
            sent.put(script)
        driver.stdin.close()
        sent.put(None)
    except Exception as error:  # for the reader to raise, who would wait for ever otherwise
        sent.put(error)


def play_on_turnwise(script: Script, pack: LongContextPack) -> Reply:
    """Play a script on our own backends, as ``turnwise exec`` does."""
    try:
        record = execute(read_script(script._asdict(), script.id), script.id, lambda: pack)
    except DataError as error:
        return Reply({}, [], str(error))
    except BackendFault as fault:
        return Reply({}, [], f"{CRASH}{fault}")
    return Reply.from_json(record)
