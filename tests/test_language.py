"""One word for one thing: words that have a replacement appear in no page, help or public name."""

from __future__ import annotations

import ast
import io
import re
from contextlib import redirect_stdout, suppress
from pathlib import Path

import pytest

from checkers.causes.diagnosis import SUB_REASONS, Cause
from checkers.reasons import Reason
from extensions import NAMES
from runner.cli import all_commands, main
from tests.source import FUNCTIONS, ROOT, nodes, paths

EVERYWHERE = {
    "bench": "judge model",
    "court": "judge model",
    "crew": "workers",
    "gist": "summary",
    "sitting": "judge model, or segment of a run",
    "stranger": "distractor",
    "symptom": "cause",
    "thereof": "the noun",
}
IN_TEXTS = {
    "defect": "finding",
    "doubt": "finding",
    "exhibit": "judged episode",
    "flaw": "bug",
    "mend": "correct",
    "mended": "corrected",
    "misfit": "bug",
    "protocol": "calling format",
    "telling": "required information",
    "untold": "not reported",
}
"""Not yet true of all names."""
IN_PAGES = {
    "attempt": "episode, trial or retry",
    "nobody": "the subject",
    "tells": "reports",
    "told": "reported",
}
"""Not yet true of all helps."""

FENCE = re.compile(r"^```.*?^```$|^    turnwise [^\n]*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`|\]\([^)\s]*\)")
ALLOWED = re.compile(r"Model Context Protocol|typing\.Protocol|HTTP protocol|make bench[a-z-]*")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MAX_WORDS = 30
MEANINGS = {*(member.meaning for member in (*Reason, *Cause)), *SUB_REASONS.values()}
"""Sentences of the code that pages repeat; the helps show them, too."""


def replaced(text: str, words: dict[str, str]) -> list[str]:
    """Return the words of a text that have a replacement, with it."""
    found = re.findall(r"[a-z]+", ALLOWED.sub("", text).lower())
    singular = [word if word in words else word.removesuffix("s") for word in found]
    return [f"{word}: {words[word]}" for word in singular if word in words]


def test_words_are_found_in_singular_and_plural() -> None:
    words = EVERYWHERE | IN_TEXTS | IN_PAGES
    assert replaced("Two Strangers, told twice.", words) == [
        "stranger: distractor",
        "told: reported",
    ]
    assert replaced("the Model Context Protocol, benchmarks", words) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_pages(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for meaning in MEANINGS:
        text = text.replace(f"| {meaning} |", "|")
    text = CODE.sub("", text)
    assert replaced(text, EVERYWHERE | IN_TEXTS | IN_PAGES) == []


@pytest.mark.parametrize("command", all_commands())
def test_helps(command: str) -> None:
    printed = io.StringIO()
    with redirect_stdout(printed), suppress(SystemExit):
        main([*command.split(), "--help"])
    assert replaced(printed.getvalue(), EVERYWHERE | IN_TEXTS) == []


def test_public_names() -> None:
    files = (path.relative_to(ROOT).with_suffix("") for path in paths())
    declared = [(each.path, each.node.name) for each in nodes(ast.ClassDef, *FUNCTIONS)]
    names = [
        (path, name)
        for path, name in (*((str(path), name) for path in files for name in path.parts), *declared)
        if not name.startswith("_")
    ]
    assert len(names) > 1000
    words = [
        (path, name, " ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)))
        for path, name in names
    ]
    assert [(path, name) for path, name, text in words if replaced(text, EVERYWHERE)] == []


def test_the_glossary_is_short() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z ]+) \| ([A-Z].*) \|$", text, re.MULTILINE)
    assert 20 <= len(rows) <= MAX_WORDS
    assert [
        word for word, meaning in rows if not re.fullmatch(r"[^.]*(\.\w[^.]*)*\.", meaning)
    ] == []


# The documents of functions that models call are frozen, or follow one form.
OFFERED = ("envs/backends", "tau", "library", "retired/functions", "worlds", "sql/database.py")
ARTICLES = {"a", "an", "its", "of", "the"}


def repeated(docstring: str) -> list[str]:
    """Return the lines of a docstring that only repeat the name of a parameter."""
    found = re.findall(r"^ +(\w+): (.+)\.$", docstring.partition("Args:\n")[2], re.MULTILINE)
    return [
        name
        for name, text in found
        if {*re.findall(r"\w+", text.lower())} - ARTICLES <= {*name.lower().split("_")}
    ]


def test_no_line_repeats_only_the_name_of_a_parameter() -> None:
    assert repeated("Do.\n\nArgs:\n    run: The run.\n    row_id: Id of the row.\n") == [
        "run",
        "row_id",
    ]
    assert repeated("Do.\n\nArgs:\n    run: The recorded run.\n") == []
    assert [
        f"{each.place}: {name}"
        for each in nodes(ast.ClassDef, *FUNCTIONS)
        if not any(folder in each.path for folder in OFFERED)
        for name in repeated(each.node.docstring)
    ] == []


def stem(name: str) -> tuple[str, ...]:
    """Return the words of a module's name without their endings, in no order."""
    return tuple(sorted(re.sub(r"(ing|ed|er|e?s|e)$", "", word) for word in name.split("_")))


def test_no_two_modules_of_an_extension_have_nearly_the_same_name() -> None:
    assert stem("voting") == stem("votes")
    assert stem("info_judge") == stem("judge_info")
    for name in NAMES:
        folder = ROOT / "extensions" / name
        # The command line dictates the names of commands.
        ours = [path.stem for path in folder.rglob("[!_]*.py") if path.parent.name != "commands"]
        stems = {stem(each): each for each in ours}
        assert [each for each in ours if stems[stem(each)] != each] == []
        assert len(stems) == len(ours)
