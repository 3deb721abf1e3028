"""Command ``turnwise dataset overlap``: shows texts that occur word for word in two data sets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from checkers.known_values import list_literals
from envs.errors import DataError
from extensions.authoring.canary import CANARY
from extensions.authoring.overlap import WORDS, Overlap, Texts, collect_texts, overlap
from runner.commands import DONE
from runner.commands.common_options import JsonOption, note
from runner.commands.options import argument, option, positive
from runner.data import dataset_choice
from runner.show.terminal import cut_to_terminal, escape_unprintable, say, say_json, table
from trajectories.jsonl import read_text

EXAMPLE = "turnwise dataset overlap turnwise bfcl"

_OURS = "turnwise"
_SHOWN = 20
"""Maximum number of listed entries."""
_EXCERPT = 100


@dataclass(frozen=True, kw_only=True)
class Options(JsonOption):
    """Options of the command.

    A data set is ``turnwise``, ``bfcl``, ``bfcl:FOLDER``, a file or a folder.
    """

    first: str = argument("data set to check; variants of a scenario count as one entry", "A")
    second: str = argument("data set to search", "B")
    words: int = option(
        "minimum number of consecutive words in common", "N", default=WORDS, read=positive
    )


def run(options: Options) -> int:
    """Print the entries of A that have word sequences from B, and the canaries in B."""
    canaries: list[str] = []
    first, second = _load_texts(options.first), _load_texts(options.second)
    if options.second != _OURS:
        second = _record_canaries(second, canaries)
    found = overlap(first, second, options.words)
    if options.json:
        say_json(_as_json(found, canaries))
        return DONE
    for line in _lines(found, options):
        say(line)
    for place in canaries:
        note(f"{escape_unprintable(place)} contains the canary of Turnwise's data")
    return DONE


def _record_canaries(texts: Texts, canaries: list[str]) -> Texts:
    for id, parts in texts:
        if any(CANARY in part for part in parts):
            canaries.append(id)
        yield id, parts


def _load_texts(name: str) -> Texts:
    path = Path(name)
    if name == _OURS or dataset_choice.is_bfcl(name):
        return collect_texts(
            dataset_choice.load_named(None if name == _OURS else name, "all", note)
        )
    if not path.exists():
        raise DataError(
            name, f"must be `{_OURS}`, `bfcl`, `bfcl:FOLDER`, or an existing file or folder"
        )
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        return (entry for file in files for entry in _read_file(file, skips=True))
    return _read_file(path, skips=False)


def _read_file(path: Path, *, skips: bool) -> Texts:
    try:
        text = read_text(path)
    except DataError as error:
        if not skips:
            raise
        note(f"skipped {escape_unprintable(str(error))}")
        return
    if path.suffix == ".jsonl":
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield _read_line(line, f"{path}:{number}")
    else:
        yield str(path), text.split("\n\n")


def _read_line(line: str, where: str) -> tuple[str, Sequence[str]]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return where, [line]
    id = value.get("id") if isinstance(value, dict) else None
    texts = [text for text in list_literals(value) if isinstance(text, str)]
    return (id if isinstance(id, str) else where), texts


def _lines(found: Overlap, options: Options) -> Iterator[str]:
    first, second = escape_unprintable(options.first), escape_unprintable(options.second)
    count = len(found.shared)
    share = count / found.entries if found.entries else 0.0
    yield (
        f"{first}: {count} of {found.entries} entries ({share:.1%}) contain {options.words} "
        f"consecutive words of {second} ({found.others} entries)"
    )
    if not count:
        return
    rows = [["entry", "shared runs", "of", "share", "most with"]]
    for each in found.shared[:_SHOWN]:
        numbers = [str(each.shared), str(each.runs), f"{each.share:.1%}"]
        rows.append([escape_unprintable(each.id), *numbers, escape_unprintable(each.other)])
    yield table(rows)
    if count > _SHOWN:
        yield f"and {count - _SHOWN} more; use --json to list all entries"
    for each in found.shared[:3]:
        text = cut_to_terminal(escape_unprintable(each.text), _EXCERPT)
        yield f"{escape_unprintable(each.id)}: {text}"


def _as_json(found: Overlap, canary: Sequence[str]) -> dict[str, object]:
    return {
        "entries": found.entries,
        "others": found.others,
        "shared": [{**each._asdict(), "share": each.share} for each in found.shared],
        "canary": canary,
    }
