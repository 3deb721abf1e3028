"""The command ``turnwise completion``: what shells read, and what they are answered."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from runner.cli import main

ROOT = Path(__file__).parents[3]


def completed(line: str, folder: Path) -> set[str]:
    """Return what a shell is offered at the end of a line."""
    answer = folder / "answer"
    asked = {"COMP_LINE": line, "COMP_POINT": str(len(line)), "COMP_TYPE": "9"}
    environment = {**asked, "_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "runner.cli"],
        cwd=ROOT,
        env={**os.environ, **environment, "_ARGCOMPLETE_STDOUT_FILENAME": str(answer)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return {word.strip() for word in answer.read_text(encoding="utf-8").split("\n")}


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("turnwise rep", {"replay", "report"}),
        ("turnwise retrieve ", {"query", "evaluate", "train"}),
        ("turnwise dataset va", {"validate", "vary"}),
        (
            "turnwise env ",
            {"new", "check", "tools", "serve", "health", "generate", "import", "record"},
        ),
        ("turnwise eval --lim", {"--limit"}),
        ("turnwise eval --profile ", {"bfcl", "strict", "tau2"}),
        ("turnwise env tools --o", {"--openai"}),
        ("turnwise align --htm", {"--html"}),
        ("turnwise completion f", {"fish"}),
    ],
)
def test_commands_options_and_choices_are_completed(
    line: str, offered: set[str], tmp_path: Path
) -> None:
    assert completed(line, tmp_path) - {"-h", "--help"} == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_can_read_its_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "turnwise" in script
    program = shutil.which(shell)
    if program:
        done = subprocess.run(
            [program, "-n"], input=script, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_another_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["completion", "tcsh"])
    assert "turnwise completion: argument SHELL: invalid choice" in capsys.readouterr().err
