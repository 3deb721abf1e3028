"""Command ``turnwise env import``: makes an environment from a RapidAPI or OpenAPI file."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass
from pathlib import Path

from envs.errors import DataError
from extensions.apis.collection import MAX_SECONDS, ApiCollection
from extensions.apis.readers import read_collection
from runner.commands import DONE
from runner.commands.common_options import note
from runner.commands.options import argument, option
from runner.records.durable_files import write_files
from runner.show.terminal import format_count, say

EXAMPLE = "turnwise env import rapidapi.json Faker --path faker"

_NAME = re.compile(r"[A-Z][A-Za-z0-9]{2,29}")
_MODULE = '''"""{name}, with the answers of {file}."""

from pathlib import Path

from turnwise.extensions.apis.environment import make_backend

{name} = make_backend(Path(__file__).with_name("{file}"))
'''


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options for the source, the name and the folder."""

    source: Path = argument("file of RapidAPI or ToolBench (JSON), or OpenAPI (JSON, YAML)", "FILE")
    name: str = argument("class name of the environment, such as Faker", "NAME")
    path: Path = option("folder for the collection and its module", "DIR", default=Path())


def run(options: Options) -> int:
    """Write the collection and the module, and print how many functions can be called."""
    name = options.name
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise DataError("NAME", f"{name!r:.60} is not a class name; use letters, such as Faker")
    found = read_collection(options.source, name, note)
    collection = options.path / f"{name.lower()}.json"
    module = options.path / f"{name.lower()}.py"
    for path in (collection, module):
        if path.exists():
            raise DataError(str(path), "exists already; use another name or folder")
    text = _MODULE.format(name=name, file=collection.name)
    write_files({collection: found.encoded(), module: [text.encode()]}, named=True)
    say(
        f"{collection}: {format_count(len(found.functions), 'function')}, "
        f"{format_count(len(found.answers), 'example response')}"
    )
    print_yields(found, MAX_SECONDS)
    say(f"\nnext: cd {options.path}; in entries, write the environment as {name.lower()}:{name}")
    return DONE


def print_yields(found: ApiCollection, max_seconds: float) -> None:
    """Print how many functions were kept, and how many were omitted for each reason."""
    for reason, count in found.yields(max_seconds):
        say(f"  {reason:<12} {count:>5}")
