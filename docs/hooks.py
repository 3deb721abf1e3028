"""What MkDocs does besides: pages that are made when the site is built, and links that hold there.

Pages that are elsewhere in the repository, such as the packages' READMEs, get a place; commands are
described by their own ``--help``, names by their docstrings. In the repository a link leads to a
file; on the site it leads to that file's page, and where it has none, its text alone is left.
"""

from __future__ import annotations

import io
import os
import posixpath
import re
from contextlib import redirect_stdout, suppress
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

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

FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#)([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/."""
    made = {page: (ROOT / path).read_text(encoding="utf-8") for page, path in SOURCES.items()}
    made["reference/commands.md"] = commands()
    made["reference/python.md"] = names()
    made["reference/backends.md"] = backends()
    # What holds now is found before what changed.
    made["packages/changes.md"] = f"---\nsearch: {{boost: 0.1}}\n---\n{made['packages/changes.md']}"
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: object) -> str:
    """Have links lead to pages, and name the file that a block of code is."""
    source = SOURCES.get(page.file.src_uri, f"docs/{page.file.src_uri}")

    def link(found: re.Match[str]) -> str:
        mark, text, target, anchor = found.groups(default="")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        place = PLACES.get(path, path.removeprefix("docs/"))
        if files.get_file_from_path(place) is None:
            return text
        near = posixpath.relpath(place, posixpath.dirname(page.file.src_uri))
        return f"{mark}[{text}]({near}{anchor})"

    parts = FENCE.split(markdown)
    parts[::2] = [LINK.sub(link, part) for part in parts[::2]]
    return re.sub(r"^```(\w+) file=(\S+)$", r'```\1 title="\2"', "".join(parts), flags=re.MULTILINE)


def commands() -> str:
    """Return the page of all commands, by their own help."""
    os.environ["COLUMNS"] = "96"
    text = ["# Commands", "What `turnwise COMMAND --help` prints, of every command."]
    known = all_commands()
    for group in dict.fromkeys(command.group for command in known.values()):
        text.append(f"## {group.capitalize()}")
        for name in [n for n, command in known.items() if command.group == group]:
            said = io.StringIO()
            with redirect_stdout(said), suppress(SystemExit):
                main([*name.split(), "--help"])
            text += [f"### turnwise {name}", f"```text\n{said.getvalue().rstrip()}\n```"]
    return "\n\n".join(text) + "\n"


def names() -> str:
    """Return the page of all that ``import turnwise`` offers, to be filled from docstrings."""
    text = ["# Python", "All that `import turnwise` offers, in the order of the alphabet."]
    for name in sorted(set(runner.__all__) - {"__version__"}, key=str.lower):
        text.append(f"::: {runner._MODULES[name]}.{name}")
    return "\n\n".join(text) + "\n"


def backends() -> str:
    """Return the page of the backends' functions, to be filled from docstrings."""
    text = ["# Backends", "The worlds that come along, with what a model may call in them."]
    for name in BACKENDS:
        text.append(f"::: {backend_class(name).__module__}.{name}")
    return "\n\n".join(text) + "\n"
