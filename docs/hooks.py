"""Hooks of MkDocs: pages that the build makes, and links between pages.

Pages elsewhere in the repository, such as the packages' READMEs, get a place on the site. Every
command has a page made from its ``--help``, names have one made from their docstrings, and the
notebooks are executed. In the repository a link leads to a file. On the site it leads to the page
of that file; a link to a file without a page becomes plain text.
"""

from __future__ import annotations

import io
import os
import posixpath
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout, suppress
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from nbclient import NotebookClient

import runner
from envs.registry import BACKENDS, backend_class
from extensions import NAMES
from runner.cli import all_commands, main

ROOT = Path(__file__).resolve().parents[1]
PLACES = {
    "CHANGELOG.md": "packages/changes.md",
    "CONTRIBUTING.md": "packages/contributing.md",
    "README.md": "packages/readme.md",
    "SECURITY.md": "packages/security.md",
    "checkers/README.md": "packages/checkers.md",
    "configs/README.md": "packages/configs.md",
    "envs/README.md": "packages/envs.md",
    "examples/README.md": "packages/examples.md",
    "extensions/README.md": "packages/extensions.md",
    "runner/README.md": "packages/runner.md",
    "tests/README.md": "packages/tests.md",
    "tests/benchmarks/README.md": "packages/benchmarks.md",
    "tests/conformance/README.md": "packages/conformance.md",
    "trajectories/README.md": "packages/trajectories.md",
    **{f"extensions/{name}/README.md": f"packages/extensions/{name}.md" for name in NAMES},
}
"""Pages of the site by their files, which are not in docs/."""
SOURCES = {page: path for path, page in PLACES.items()}
BRIEF = "options of extensions; "
"""Beginning of the line above options that the help of a command names but does not explain."""
COMMANDS = "reference/commands/index.md"
NOTEBOOKS = {
    "tutorials/first_steps.md": "examples/first_steps.ipynb",
    "tutorials/data_frames.md": "examples/data_frames.ipynb",
}
"""Notebooks by their pages."""
MAX_MENTIONS = 8
"""Pages that the page of a command links to."""

FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
HIDDEN = re.compile(r"<!--\n.*?^-->\n", re.MULTILINE | re.DOTALL)
"""Blocks that the test of a page runs, and that the page does not show."""
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#)([^)#\s]+)(#[^)\s]*)?\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of commands and of extensions into the navigation.

    Commands have the groups of ``turnwise --help``.
    """
    groups: dict[str, list[dict[str, str]]] = {}
    for name, command in all_commands().items():
        groups.setdefault(command.group.capitalize(), []).append({name: page_of(name)})
    pages = [COMMANDS, *({group: members} for group, members in groups.items())]
    for section in config.nav or ():
        if "Reference" in section:
            section["Reference"].insert(0, {"Commands": pages})
        if "Extensions" in section:
            section["Extensions"] += [f"packages/extensions/{name}.md" for name in NAMES]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/."""
    made = {page: (ROOT / path).read_text(encoding="utf-8") for page, path in SOURCES.items()}
    made |= {page_of(name): command_page(name) for name in all_commands()}
    made[COMMANDS] = commands()
    made["reference/python.md"] = names()
    made["reference/backends.md"] = backends()
    made |= {page: notebook(path) for page, path in NOTEBOOKS.items()}
    # Search ranks current pages above the list of changes.
    made["packages/changes.md"] = f"---\nsearch: {{boost: 0.1}}\n---\n{made['packages/changes.md']}"
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: object) -> str:
    """Point links to pages, remove hidden blocks, and title blocks that are files."""
    source = SOURCES.get(page.file.src_uri, f"docs/{page.file.src_uri}")

    def link(found: re.Match[str]) -> str:
        mark, text, target, anchor = found.groups(default="")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        place = PLACES.get(path, path.removeprefix("docs/"))
        if files.get_file_from_path(place) is None:
            return text
        near = posixpath.relpath(place, posixpath.dirname(page.file.src_uri))
        return f"{mark}[{text}]({near}{anchor})"

    parts = FENCE.split(HIDDEN.sub("", markdown))
    parts[::2] = [LINK.sub(link, part) for part in parts[::2]]
    return re.sub(r"^```(\w+) file=(\S+)$", r'```\1 title="\2"', "".join(parts), flags=re.MULTILINE)


def page_of(command: str) -> str:
    """Return the place of the page of a command."""
    return f"reference/commands/{command.replace(' ', '_')}.md"


def commands() -> str:
    """Return the list of all commands, by the groups of ``turnwise --help``."""
    text = ["# Commands", "One page per command, made from its `--help`."]
    known = all_commands()
    for group in dict.fromkeys(command.group for command in known.values()):
        rows = ["| command | what it does |", "|---|---|"]
        for name in [n for n, command in known.items() if command.group == group]:
            link = posixpath.basename(page_of(name))
            rows.append(f"| [turnwise {name}]({link}) | {known[name].text} |")
        text += [f"## {group.capitalize()}", "\n".join(rows)]
    return "\n\n".join(text) + "\n"


def command_page(name: str) -> str:
    """Return the page of a command: its help, and the pages that use it."""
    shown = help_of(name)
    text = [f"# turnwise {name}", all_commands()[name].text, f"```text\n{shown}\n```"]
    for extension in re.findall(r"^  ([a-z]+) +--", shown.partition(BRIEF)[2], re.MULTILINE):
        theirs = help_of(name, extension).partition("show this help message and exit\n")[2]
        text += [f"## Options of the extension {extension}", f"```text\n{theirs}\n```"]
    if mentions := [*mentions_of(name)][:MAX_MENTIONS]:
        text += ["## Pages that use it", "\n".join(f"- {link}" for link in mentions)]
    return "\n\n".join(text) + "\n"


def help_of(name: str, *extension: str) -> str:
    """Return the help of a command, or of the options that an extension adds to it."""
    os.environ["COLUMNS"] = "96"
    printed = io.StringIO()
    with redirect_stdout(printed), suppress(SystemExit):
        main([*name.split(), "--help", *extension])
    return printed.getvalue().rstrip()


def mentions_of(command: str) -> Iterator[str]:
    """Yield links to the pages that use a command, those in docs/ first."""
    pattern = re.compile(rf"\bturnwise {command}(?![\w-])")
    for path in [*sorted((ROOT / "docs").rglob("*.md")), *(ROOT / place for place in PLACES)]:
        text = path.read_text(encoding="utf-8")
        if pattern.search(text) and path.name != "CHANGELOG.md":
            title = re.search(r"^# (.*)$", text, re.MULTILINE)
            target = posixpath.relpath(path.relative_to(ROOT).as_posix(), f"docs/{COMMANDS}/..")
            yield f"[{title[1] if title else path.stem}]({target})"


def notebook(path: str) -> str:
    """Return a notebook as a page, with the outputs of its cells."""
    found = nbformat.read(ROOT / path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(found, timeout=120, resources={"metadata": {"path": folder}}).execute()
    text = []
    for cell in found.cells:
        code = cell.cell_type == "code"
        text.append(f"```python\n{cell.source}\n```" if code else cell.source)
        text += [output_text(output) for output in cell.get("outputs", ())]
    heading, *rest = text
    source = f"This page is the notebook `{path}`, executed when the site was built."
    return "\n\n".join([heading, source, *rest]) + "\n"


def output_text(output: Mapping[str, Any]) -> str:
    """Return an output of a cell as Markdown; tables and pictures are HTML."""
    shown = output.get("data", {"text/plain": output.get("text", "")})
    if "text/html" in shown:
        return f"<div>{' '.join(shown['text/html'].split())}</div>"
    if "image/png" in shown:
        picture = "".join(shown["image/png"].split())
        return f'<img alt="{escape(shown["text/plain"])}" src="data:image/png;base64,{picture}">'
    return f"```text\n{shown['text/plain'].rstrip()}\n```"


def names() -> str:
    """Return the page of all public names, to be filled from docstrings."""
    text = ["# Python", "All public names of `import turnwise`, in alphabetical order."]
    for name in sorted(set(runner.__all__) - {"__version__"}, key=str.lower):
        text.append(f"::: {runner._MODULES[name]}.{name}")
    return "\n\n".join(text) + "\n"


def backends() -> str:
    """Return the page of the backends' functions, to be filled from docstrings."""
    text = ["# Backends", "The built-in backends and their functions."]
    for name in BACKENDS:
        text.append(f"::: {backend_class(name).__module__}.{name}")
    return "\n\n".join(text) + "\n"
