"""What the documents promise: examples that run, figures that are true, lines that can be read."""

from __future__ import annotations

import re
import subprocess
import sys
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from zipfile import ZipFile

import pytest

from envs import registry
from extensions import NAMES
from runner.data.dataset_choice import load_dataset
from runner.extension import Extension, RunFeature, load_extension
from tests.blocks import Page, blocks_of
from tests.source import PACKAGES, ROOT


@cache
def files_below(folder: Path) -> tuple[str, ...]:
    """Return the paths of all files and folders below a folder, each after a slash."""
    skipped = {"runs", "build", "dist", "__pycache__"}
    inner = [path for path in folder.iterdir() if path.name[0] != "." and path.name not in skipped]
    found = [f"/{path.relative_to(ROOT).as_posix()}{'/' * path.is_dir()}" for path in inner]
    return (*found, *(name for path in inner if path.is_dir() for name in files_below(path)))


DOCUMENTS = sorted(ROOT / name[1:] for name in files_below(ROOT) if name.endswith(".md"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
PLACES = "|".join((*PACKAGES, "configs", "docs", "examples", "tests", "tools"))
NAMED = re.compile(rf"`((?:{PLACES})/[\w*./-]+|[\w*][\w*./-]*(?:\.py|/))`")
LINE, CELL = 120, 100
READING_PATH = 700
PAGES = sorted((ROOT / "docs").rglob("*.md"))
LONG_PAGES = (
    "docs/contract.md",
    "docs/figures.md",
    "docs/howto/compare.md",
    "docs/howto/continuous_integration.md",
    "docs/howto/data_frames.md",
    "docs/howto/prompt_injection.md",
    "docs/tutorials/agent.md",
    "docs/tutorials/failure.md",
    "extensions/contract/README.md",
)
"""Pages whose commands take seconds."""
EXTENSIONS = sorted((ROOT / "extensions").rglob("README.md"))
MADE = {"RUN/judged/JUDGE-DIGEST/", "base/", "epochs/N/", "runs/", "server.py"}
"""What commands or users make, and no checkout has."""
READMES = sorted({*DOCUMENTS} - {*PAGES, *EXTENSIONS})


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_lines_and_cells_are_short(path: Path) -> None:
    # A line of data cannot be broken, and some code is shown as it is.
    lines = FENCE.sub("", path.read_text(encoding="utf-8")).splitlines()
    assert [line for line in lines if len(line) > LINE] == []
    cells = [cell.strip() for line in lines if line.startswith("|") for cell in line.split("|")]
    assert [cell for cell in cells if len(cell) > CELL] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_and_pictures_are_there(path: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)", path.read_text(encoding="utf-8"))
    ours = [link for link in links if not link.startswith("https://")]
    assert [link for link in ours if not (path.parent / link).exists()] == []


def test_commands_are_those_that_there_are() -> None:
    command = [sys.executable, "-m", "runner.cli", "--help"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"^  ([a-z-]+(?: [a-z-]+)?)  ", shown, re.MULTILINE))
    texts = [path.read_text(encoding="utf-8") for path in DOCUMENTS]
    asked = re.findall(
        r"\bturnwise ((?:dataset |env |retrieve |user )?[a-z][a-z-]+)", "\n".join(texts)
    )
    assert {"eval", "dataset list", "env new", "compress-keys"} <= known
    assert {name for name in asked if name in known} >= known - {"completion"}
    lines = re.findall(
        r"^(?:    )?turnwise ((?:dataset |env |retrieve |user )?[a-z-]+)",
        "\n".join(texts),
        re.MULTILINE,
    )
    assert sorted(set(lines) - known) == []


def test_every_page_has_a_place_on_the_site() -> None:
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    placed = re.findall(r"^ +- (?:[^:\n]+: )?([\w/]+\.md)$", site, re.MULTILINE)
    ours = [page.relative_to(ROOT / "docs").as_posix() for page in PAGES]
    # The build makes the others.
    made = ("packages/", "reference/", "tutorials/first_steps.md", "tutorials/data_frames.md")
    assert sorted(ours) == sorted(page for page in placed if not page.startswith(made))
    assert len(set(placed)) == len(placed)


def test_extensions_are_listed_with_all_that_they_may_do() -> None:
    index = (ROOT / "extensions" / "README.md").read_text(encoding="utf-8")
    assert tuple(re.findall(r"^\| \[(\w+)\]\(\1/README.md\)", index, re.MULTILINE)) == NAMES
    page = (ROOT / "docs" / "extensions.md").read_text(encoding="utf-8")
    for hook in (Extension, RunFeature):
        told = page.partition(f"## The class `{hook.__name__}`")[2].partition("\n## ")[0]
        rows = "".join(re.findall(r"^\| (.*?) \|", told, re.MULTILINE))
        members = {*vars(hook), *hook.__annotations__}
        assert {*re.findall(r"`(\w+)", rows)} == {name for name in members if name[0] != "_"}


def test_the_extension_of_the_page_can_be_built(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "extensions.md").read_text(encoding="utf-8")
    for name, text in re.findall(r"^```\w+ file=(\S+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        (tmp_path / name).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "dist"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [wheel] = (tmp_path / "dist").iterdir()
    assert "longest.py" in ZipFile(wheel).namelist()


def test_the_index_names_every_command_of_an_extension() -> None:
    index = (ROOT / "extensions" / "README.md").read_text(encoding="utf-8")
    rows = {name: index.partition(f"({name}/README.md)")[2].partition("\n")[0] for name in NAMES}
    # Dots stand for the other commands of a family.
    whole = [name for name, row in rows.items() if "..." not in row]
    assert len(whole) > len(NAMES) - 5
    commands = [(name, each) for name in whole for each in load_extension(name).commands]
    assert [each for name, each in commands if f"`{each}`" not in rows[name]] == []


@pytest.mark.parametrize("name", NAMES)
def test_the_page_of_an_extension_is_short_and_names_its_modules(name: str) -> None:
    folder = ROOT / "extensions" / name
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert 25 <= len(page.splitlines()) <= 50
    modules = {path.relative_to(folder).as_posix() for path in folder.rglob("[!_]*.py")}
    named = NAMED.findall(page)
    assert [
        module
        for module in sorted(modules - {"extension.py"})
        if not any(fnmatchcase(module, f"{each}*") for each in named)
    ] == []


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 130


def test_the_readme_s_example_runs(tmp_path: Path) -> None:
    [code] = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert len(code.splitlines()) <= 15
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    run, ticket, difference = done.stdout.splitlines()[:3]
    assert run.startswith("Evaluation(0 of 10 passed, 0 errors; runs/")
    assert '"title": "No light"' in ticket
    assert difference.startswith("TicketAPI.ticket_queue")


def test_the_reading_path_has_the_lines_that_it_says() -> None:
    path = dict(re.findall(r"^\| `(\S+\.py)` \| (\d+) \|", CONTRIBUTING, re.MULTILINE))
    counted = {file: len((ROOT / file).read_text(encoding="utf-8").splitlines()) for file in path}
    assert len(path) >= 4
    told = {file: int(lines) for file, lines in path.items()}
    assert told == pytest.approx(counted, rel=0.1)
    assert sum(counted.values()) <= READING_PATH


def test_the_small_data_sets_have_the_entries_that_a_page_says() -> None:
    page = (ROOT / "docs" / "howto" / "data.md").read_text(encoding="utf-8")
    said = re.findall(r"^\| \[`(\w+)`\]\(\S+\) \| (\d+) \|", page, re.MULTILINE)
    assert len(said) == 4
    assert said == [(name, str(len(load_dataset(name).trajectories))) for name, _ in said]


def test_the_changelog_of_an_unreleased_version_is_short() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "(not yet released)" not in text or len(text.splitlines()) <= 60


def test_what_is_promised_names_tests_that_exist() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    promised = text.partition("## What is promised")[2].partition("\n## ")[0]
    for promise in promised.split("\n- ")[1:]:
        tests = re.findall(r"`([\w/]*test_\w+\.py)`", promise)
        assert tests, promise
        assert [name for name in tests if not (ROOT / "tests" / name).is_file()] == []


def is_there(name: str, page: Path) -> bool:
    """Tell whether a page may call a file or folder by a name: in full, or from near the page."""
    near = ROOT if page.is_relative_to(ROOT / "docs") else page.parent
    below = (ROOT, ROOT / "tests") if "/" in name[:-1] else ()
    return any([*folder.glob(name)] for folder in below) or any(
        fnmatchcase(path, f"*/{name}") for path in files_below(near)
    )


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_and_folders_that_are_named_exist(path: Path) -> None:
    named = {*NAMED.findall(FENCE.sub("", path.read_text(encoding="utf-8")))} - MADE
    assert sorted(name for name in named if not is_there(name, path)) == []


def page_of(path: Path) -> object:
    """Return a page as a parameter of a test."""
    name = path.relative_to(ROOT).as_posix()
    return pytest.param(path, id=name, marks=[pytest.mark.slow] if name in LONG_PAGES else [])


@pytest.mark.parametrize("page", [*map(page_of, [*PAGES, *EXTENSIONS])])
def test_code_on_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # Backends of a page are unknown to later tests.
    monkeypatch.setattr(registry, "_REGISTERED", {})
    runs = Page(tmp_path)
    for block in blocks_of(page.read_text(encoding="utf-8")):
        runs.run(block)
    # Later tests register the worlds again that this page used.
    registry.with_worlds.cache_clear()


@pytest.mark.parametrize("path", READMES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_options_in_a_readme_are_those_that_there_are(path: Path, tmp_path: Path) -> None:
    # Programs in READMEs have tests of their own.
    runs = Page(tmp_path)
    for block in blocks_of(path.read_text(encoding="utf-8")):
        if block.language == "sh":
            runs.run(block)
