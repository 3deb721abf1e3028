"""Compression of long results before a model reads them.

The compression changes neither states nor verdicts. Without a tokenizer file, four characters count
as one token. A note in the result states the number of omitted tokens. The limit includes this
note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from envs.calls import Call
from envs.errors import DataError, MalformedCall, require_extra, suggest_name
from envs.registry import list_tools
from envs.results import Result
from envs.session import Session
from extensions.compression.shortening import parse_structure, shorten, shorten_texts
from runner.models.conversation import Observe
from trajectories.jsonl import parse_object, read_text

Way = Literal["cut", "ends", "keys"]
"""``cut`` keeps the start of a result. ``ends`` shortens the result's structure; if this is not
enough, only both ends of the text remain. ``keys`` first removes the fields that the file of the
backend does not list."""
WAYS: tuple[Way, ...] = ("cut", "ends", "keys")
KEYS = Path(__file__).parents[2] / "configs" / "compression"
"""Folder with one file per backend; each file lists the fields that are kept."""

MIN_LIMIT = 64
_MAX_PATHS = 200
_CHARACTERS = 4
_MARK = " ... [{} tokens left out] ... "
_PAIR = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE = re.compile(rf"{_PAIR}|\\u[0-9a-fA-F]{{4}}|\\.", re.DOTALL)
_MAX_ESCAPE_CHARS = 12

Ends = Callable[[str], list[int]]
"""Returns the end position of each token of a text."""


class Compression(NamedTuple):
    """Settings of the compression."""

    limit: int
    """Maximum number of tokens of a result."""
    way: Way = "ends"
    tokenizer: str | None = None
    """Path of the ``tokenizer.json`` for counting tokens. With None, 4 characters count as 1
    token."""

    @classmethod
    def named(
        cls,
        text: str,
        tokenizer: str | None = None,
        limit_flag: str = "--compress",
        way_flag: str = "--compress",
    ) -> Compression:
        """Parse ``LIMIT`` or ``LIMIT,WAY``; errors name the flag of the wrong part.

        Raises DataError if the text is malformed, or the tokenizer cannot be read.
        """
        limit, comma, way = text.partition(",")
        if not limit.isdecimal() or len(limit) > 9 or int(limit) < MIN_LIMIT:
            message = f"{limit!r:.40} is not a number of tokens; the minimum is {MIN_LIMIT}"
            raise DataError(limit_flag, message)
        known = next((each for each in WAYS if each == (way if comma else "ends")), None)
        if known is None:
            raise DataError(way_flag, f"{way!r:.40} is not one of {', '.join(WAYS)}")
        made = cls(int(limit), known, tokenizer)
        made.tokens("")
        return made

    def __str__(self) -> str:
        """Return the settings as written on the command line."""
        return f"{self.limit},{self.way}"

    def tokens(self, text: str) -> int:
        """Return the number of tokens of a text."""
        if self.tokenizer is None:
            return -(-len(text) // _CHARACTERS)
        return len(load_tokenizer(self.tokenizer)(text))

    def shown(self, text: str, keep: tuple[str, ...] | None = None) -> str:
        """Compress a result if it exceeds the limit.

        With the compression method ``keys``, only the fields at the paths in ``keep`` remain.
        """
        if self.tokens(text) <= self.limit:
            return text
        if self.way == "keys" and keep is not None:
            if (fitting := self._fitting(shorten_texts(text))) is not None:
                return fitting
            text = _select(text, keep)
            if self.tokens(text) <= self.limit:
                return text
        if self.way != "cut" and (fitting := self._fitting(shorten(text))) is not None:
            return fitting
        # The tokenizer may split text differently at the mark, so the length is measured again.
        room = self.limit
        while room > 0:
            found = self._shorten(text, room)
            over = self.tokens(found) - self.limit
            if over <= 0:
                return found
            room -= max(1, over)
        return text[: self.limit] if self.tokens(text[: self.limit]) <= self.limit else ""

    def _fitting(self, forms: Iterable[str]) -> str | None:
        return next((each for each in forms if self.tokens(each) <= self.limit), None)

    def _shorten(self, text: str, room: int) -> str:
        ends = self._token_ends(text)
        room = max(0, room - self.tokens(_MARK.format(len(ends))))
        mark = _MARK.format(len(ends) - room)
        if self.way == "cut":
            return text[: _escape_span(text, ends[room - 1] if room else 0)[0]] + mark.rstrip()
        head, tail = room - room // 2, room // 2
        first, _ = _escape_span(text, ends[head - 1] if head else 0)
        _, last = _escape_span(text, ends[len(ends) - tail - 1] if tail else len(text))
        return text[:first] + mark + text[last:]

    def _token_ends(self, text: str) -> list[int]:
        if self.tokenizer is not None:
            return load_tokenizer(self.tokenizer)(text)
        return [*range(_CHARACTERS, len(text), _CHARACTERS), len(text)]


def compress_observations(observe: Observe | None, compression: Compression) -> Observe:
    """Return a function that renders results for the model and compresses them."""

    def shown(
        session: Session, call: Call | MalformedCall, result: Result, words: str
    ) -> str | None:
        replaced = observe(session, call, result, words) if observe else None
        text = result.text if replaced is None else replaced
        tool = session.tools.get(call.name) if isinstance(call, Call) else None
        keep = load_kept_members(tool.backend).get(tool.name) if tool else None
        short = compression.shown(text, keep)
        return replaced if short is text else short

    return shown


@cache
def load_kept_members(backend: str) -> Mapping[str, tuple[str, ...]]:
    """Map each function of a backend to the paths of the result fields that compression keeps.

    Raises DataError if the file is malformed, or contains an unknown function.
    """
    path = KEYS / f"{backend}.json"
    if not path.is_file():
        return {}
    found, functions = {}, list_tools((backend,))
    for name, value in parse_object(read_text(path), str(path)).items():
        if name not in functions:
            advice = suggest_name(name, functions)
            raise DataError(str(path), f"{name!r} is not a function of {backend}{advice}")
        match value:
            case {"keep": [*paths]} if all(isinstance(each, str) and each for each in paths):
                found[name] = tuple(map(str, paths))
            case _:
                raise DataError(f"{path}: {name}", 'must have the form {"keep": [PATH, ...]}')
    return found


def _escape_span(text: str, place: int) -> tuple[int, int]:
    for start in range(max(0, place - _MAX_ESCAPE_CHARS), place):
        before = len(text[:start]) - len(text[:start].rstrip("\\"))
        found = _ESCAPE.match(text, start) if before % 2 == 0 else None
        if found and start < place < found.end():
            return found.span()
    return place, place


def _select(text: str, keep: tuple[str, ...]) -> str:
    value, write = parse_structure(text)
    if not isinstance(value, dict | list):
        return text
    kept = _select_members(value, [path.replace("[]", ".[]").split(".") for path in keep])
    return write(kept) if kept else text


def list_paths(text: str) -> list[str]:
    """Return the paths of a result's fields, outermost first."""
    value, _ = parse_structure(text)
    return list(islice(dict.fromkeys(_walk_paths(value, "")), _MAX_PATHS))


def _walk_paths(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            below = f"{path}.{name}".lstrip(".")
            yield below
            yield from _walk_paths(inner, below)
    elif isinstance(value, list):
        for inner in value:
            yield from _walk_paths(inner, f"{path}[]")


def _select_members(value: Any, paths: list[list[str]]) -> Any:
    paths = [[step for step in path if step] for path in paths]
    if any(not path for path in paths):
        return value
    if isinstance(value, list):
        below = [path[1:] for path in paths if path[0] == "[]"]
        return [_select_members(each, below) for each in value] if below else []
    if isinstance(value, dict):
        return {
            name: _select_members(inner, [path[1:] for path in paths if path[0] == name])
            for name, inner in value.items()
            if any(path[0] == name for path in paths)
        }
    return value


@cache
def load_tokenizer(path: str) -> Ends:
    """Return the token counter of a tokenizer file. Raises DataError if the file cannot be used."""
    with require_extra("retrieval", "--tokenizer"):
        from tokenizers import Tokenizer
    try:
        tokenizer = Tokenizer.from_str(read_text(Path(path)))
    except DataError:
        raise
    except Exception as error:  # any error of the library
        problem = f"is not a tokenizer: {' '.join(str(error).split()):.200}"
        raise DataError("--tokenizer", f"{path} {problem}") from None
    tokenizer.no_truncation()

    def ends(text: str) -> list[int]:
        try:
            found = tokenizer.encode(text, add_special_tokens=False).offsets
        except Exception as error:  # such as an unknown word
            message = " ".join(str(error).split())
            raise DataError("--tokenizer", f"{path} cannot count: {message:.200}") from None
        return [end for _, end in found]

    return ends
