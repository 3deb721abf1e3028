"""The command ``turnwise dataset overlap``: what two data sets share word for word."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from envs.state import cut
from extensions.authoring.canary import CANARY
from extensions.authoring.overlap import WORDS, Overlap, Texts, overlap, texts_of
from runner.commands import DONE
from runner.commands.options import argument, option, positive
from runner.commands.shared import JsonOption, note
from runner.data import choose
from runner.show.terminal import say, say_json, table, visible
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.jsonl import read_text

EXAMPLE = "turnwise dataset overlap turnwise bfcl"

_OURS = "turnwise"
_SHOWN = 20
"""Entries that are listed, those that share most of themselves."""
_EXCERPT = 100


@dataclass(frozen=True, kw_only=True)
class Options(JsonOption):
    """What to compare: turnwise, bfcl, a trajectory file, or any file or folder of text."""

    first: str = argument("whose entries are looked at", "A")
    second: str = argument("where their words are looked for", "B")
    words: int = option("consecutive words that are shared", "N", default=WORDS, read=positive)


def run(options: Options) -> int:
    """Print which entries of A share runs of words with B, and whether B has our canary."""
    caught = _Canary()
    first = _texts(options.first)
    second = caught.watching(_texts(options.second)) if options.second != _OURS else _texts(_OURS)
    found = overlap(first, second, options.words)
    if options.json:
        say_json(_as_json(found, caught.seen))
        return DONE
    for line in _lines(found, options):
        say(line)
    for place in caught.seen:
        note(f"{visible(place)} holds the canary of Turnwise's data")
    return DONE


class _Canary:
    """Notes which of the texts that pass have the canary."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def watching(self, texts: Texts) -> Texts:
        for id, parts in texts:
            if any(CANARY in part for part in parts):
                self.seen.append(id)
            yield id, parts


def _texts(name: str) -> Texts:
    """Return the texts of a data set, or of any file or folder.

    Raises:
        DataError: There is no such thing, or it cannot be read.
    """
    path = Path(name)
    if name == _OURS or choose.is_bfcl(name):
        return texts_of(_dataset(None if name == _OURS else name))
    if not path.exists():
        raise DataError(name, f"is neither {_OURS}, bfcl, bfcl:FOLDER nor a file or folder")
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        return (entry for file in files for entry in _of_file(file, skips=True))
    return _of_file(path, skips=False)


def _dataset(name: str | None) -> Dataset:
    return choose.dataset_named(name, "all", note)


def _of_file(path: Path, *, skips: bool) -> Texts:
    """Yield the entries of a file: of JSON lines each line, else the file as a whole."""
    try:
        text = read_text(path)
    except DataError as error:
        if not skips:
            raise
        note(f"{visible(str(error))}; left out")
        return
    if path.suffix == ".jsonl":
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield _of_line(line, f"{path}:{number}")
    else:
        yield str(path), text.split("\n\n")


def _of_line(line: str, where: str) -> tuple[str, Sequence[str]]:
    """Return an entry under its id, if it has one; what is no JSON is taken as plain text."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return where, [line]
    id = value.get("id") if isinstance(value, dict) else None
    return (id if isinstance(id, str) else where), [*_strings(value)]


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _strings(member)


def _lines(found: Overlap, options: Options) -> Iterator[str]:
    first, second = visible(options.first), visible(options.second)
    count = len(found.shared)
    share = count / found.entries if found.entries else 0.0
    yield (
        f"{count} of {found.entries} entries of {first} ({share:.1%}) share {options.words} words "
        f"in a row with the {found.others} of {second}"
    )
    if not count:
        return
    rows = [["entry", "shared runs", "of", "share", "most with"]]
    for each in found.shared[:_SHOWN]:
        numbers = [str(each.shared), str(each.runs), f"{each.share:.1%}"]
        rows.append([visible(each.id), *numbers, visible(each.other)])
    yield table(rows)
    if count > _SHOWN:
        yield f"and {count - _SHOWN} more (--json has all)"
    for each in found.shared[:3]:
        yield f"{visible(each.id)}: {cut(visible(each.text), _EXCERPT)}"


def _as_json(found: Overlap, canary: Sequence[str]) -> dict[str, object]:
    return {
        "entries": found.entries,
        "others": found.others,
        "shared": [{**each._asdict(), "share": each.share} for each in found.shared],
        "canary": canary,
    }
