"""The command ``turnwise env new``: what it writes is green at once, and nothing is overwritten."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from envs.errors import DataError
from extensions.drafting.commands import new
from tests.environments.installing import pip_install
from tests.runner.commands.running import run as run_command

ROOT = Path(__file__).parents[4]
PARTS = ("envs", "checkers", "trajectories", "runner", "configs", "tests/golden", "pyproject.toml")


def run(*words):
    return run_command("env new", *words)


def python(folder, *arguments, path):
    """Run a module in a folder, with only some folders to import from."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def is_green(folder, site):
    """Install a package, and have its tests and checks pass."""
    pip_install(folder, site)
    path = [ROOT, folder, site]
    python(folder, "pytest", "-q", path=path)
    python(folder, "ruff", "check", ".", path=path)
    python(folder, "ruff", "format", "--check", ".", path=path)
    python(folder, "mypy", "--strict", path=path)


@pytest.mark.slow
def test_a_package_is_green(tmp_path, capsys):
    folder, site = tmp_path / "home", tmp_path / "site"
    assert run("SmartHomeAPI", "--path", folder) == 0
    out = capsys.readouterr().out
    assert f"{folder}/smart_home_env/backend.py\n" in out
    assert "  turnwise env check SmartHomeAPI\n" in out
    is_green(folder, site)


@pytest.mark.slow
def test_an_environment_in_the_checkout_is_green(tmp_path):
    checkout = tmp_path / "checkout"
    for part in PARTS:
        source, target = ROOT / part, checkout / part
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    out = python(checkout, "runner.cli", "env", "new", "SmartHome", path=[checkout])
    files = out.split("\n\n")[0].splitlines()
    assert files == [
        "envs/more/smart_home.py",
        "configs/initial/SmartHome.json",
        "tests/envs/more/test_smart_home.py",
        "tests/envs/more/smart_home.jsonl",
        "tests/golden/SmartHome.functions.json",
    ]
    sources = [name for name in files if name.endswith(".py")]
    python(checkout, "pytest", "-q", "tests/envs/more/test_smart_home.py", path=[checkout])
    python(checkout, "ruff", "check", *sources, path=[checkout])
    python(checkout, "ruff", "format", "--check", *sources, path=[checkout])
    # No file was edited, so that a second one does not meet the first.
    python(checkout, "runner.cli", "env", "new", "Smart", path=[checkout])
    code = "from envs import registry; print(*registry.load_more())"
    (checkout / "listed.py").write_text(code, encoding="utf-8")
    assert python(checkout, "listed", path=[checkout]).split() == ["Smart", "SmartHome"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("calendar", "is not a class name; use a capital letter and 2 to 29"),
        ("Ab", "is not a class name"),
        ("My-Env", "is not a class name"),
        ("../Evil", "is not a class name"),
        ("A" * 31, "is not a class name"),
        ("TicketAPI", "environment TicketAPI exists already"),
    ],
)
def test_a_name_that_will_not_do(name, message, tmp_path):
    with pytest.raises(DataError, match=f"NAME: .*{message}"):
        run(name, "--path", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_the_name_of_an_installed_environment(install, tmp_path):
    with pytest.raises(DataError, match="already; use another name"):
        run(install(), "--path", tmp_path / "new")


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "tests").mkdir()
    mine = tmp_path / "tests" / "trajectories.jsonl"
    mine.write_text("mine")
    with pytest.raises(DataError, match=r"trajectories.jsonl: exists already, so nothing was"):
        run("SmartHome", "--path", tmp_path)
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == [mine]
    assert mine.read_text() == "mine"


def test_a_file_where_the_folder_should_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"--path: .*file is a file; name a folder"):
        run("SmartHome", "--path", tmp_path / "file")


def test_without_a_checkout(monkeypatch, tmp_path):
    monkeypatch.setattr(new, "_ROOT", tmp_path)
    with pytest.raises(DataError, match="this is not a checkout of Turnwise; add --path"):
        run("SmartHome")


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("CalendarAPI", "calendar"),
        ("SmartHome", "smart_home"),
        ("HTTPServer2", "http_server2"),
        ("API", "api"),
    ],
)
def test_functions_are_named_after_the_class(name, prefix, tmp_path):
    files = new.in_package(name, tmp_path / "new").files
    assert f"def {prefix}_add(" in files[tmp_path / "new" / f"{prefix}_env" / "backend.py"]
