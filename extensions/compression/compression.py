"""Long results made short before a model reads them; results, states and verdicts stay.

Tokens are counted as four characters each, or by a tokenizer's file. What is left out is told by a
mark, which counts within the limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from envs.calls import Call
from envs.errors import MalformedCall
from envs.registry import tools_of
from envs.results import Result
from envs.session import Session
from extensions.compression.shortening import shorter, structure, whole
from runner.models.conversation import Observe
from trajectories.errors import DataError, did_you_mean, needing
from trajectories.jsonl import parse_object, read_text

Way = Literal["cut", "ends", "keys"]
"""The beginning; what ``shortening`` makes of it, or else the ends of the whole; or where members
must be left out, those that no file keeps."""
WAYS: tuple[Way, ...] = ("cut", "ends", "keys")
KEYS = Path(__file__).parents[2] / "configs" / "compression"
"""Where the members are listed that are kept, a file for each backend."""

SMALLEST = 64
_MOST_PATHS = 200
_CHARACTERS = 4
_MARK = " ... [{} tokens left out] ... "
_PAIR = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE = re.compile(rf"{_PAIR}|\\u[0-9a-fA-F]{{4}}|\\.", re.DOTALL)
_LONGEST_ESCAPE = 12

Ends = Callable[[str], list[int]]
"""Gives where each token of a text ends."""


class Compression(NamedTuple):
    """How long results are made short."""

    limit: int
    """Tokens that the model reads of a result at most."""
    way: Way = "ends"
    tokenizer: str | None = None
    """A ``tokenizer.json`` that counts tokens; None for four characters each."""

    @classmethod
    def named(cls, text: str, tokenizer: str | None = None) -> Compression:
        """Return what a user typed, ``LIMIT`` or ``LIMIT,WAY``.

        Raises:
            DataError: It is none, or the tokenizer cannot be read.
        """
        limit, comma, way = text.partition(",")
        if not limit.isdecimal() or len(limit) > 9 or int(limit) < SMALLEST:
            raise DataError("--compress", f"{limit!r:.40} is no number of tokens from {SMALLEST}")
        known = next((each for each in WAYS if each == (way if comma else "ends")), None)
        if known is None:
            raise DataError("--compress", f"{way!r:.40} is none of {', '.join(WAYS)}")
        made = cls(int(limit), known, tokenizer)
        made.tokens("")
        return made

    def __str__(self) -> str:
        """Return what a user types."""
        return f"{self.limit},{self.way}"

    def tokens(self, text: str) -> int:
        """Return how many tokens a text has."""
        if self.tokenizer is None:
            return -(-len(text) // _CHARACTERS)
        return len(ends_by(self.tokenizer)(text))

    def shown(self, text: str, keep: tuple[str, ...] | None = None) -> str:
        """Return what a model reads of a result: the same object where that is within the limit.

        Args:
            text: The result.
            keep: Paths of members that are kept; None where nobody listed any.
        """
        if self.tokens(text) <= self.limit:
            return text
        if self.way == "keys" and keep is not None:
            if (fitting := self._fitting(whole(text))) is not None:
                return fitting
            text = _reduced(text, keep)
            if self.tokens(text) <= self.limit:
                return text
        if self.way != "cut" and (fitting := self._fitting(shorter(text))) is not None:
            return fitting
        # The mark is within the limit, whatever a tokenizer makes of where the pieces meet.
        room = self.limit
        while room > 0:
            found = self._shortened(text, room)
            over = self.tokens(found) - self.limit
            if over <= 0:
                return found
            room -= max(1, over)
        return text[: self.limit] if self.tokens(text[: self.limit]) <= self.limit else ""

    def _fitting(self, forms: Iterable[str]) -> str | None:
        """Return the first form of a result that is within the limit, None where none is."""
        return next((each for each in forms if self.tokens(each) <= self.limit), None)

    def _shortened(self, text: str, room: int) -> str:
        ends = self._token_ends(text)
        room = max(0, room - self.tokens(_MARK.format(len(ends))))
        mark = _MARK.format(len(ends) - room)
        if self.way == "cut":
            return text[: _before(text, ends[room - 1] if room else 0)] + mark.rstrip()
        head, tail = room - room // 2, room // 2
        first = _before(text, ends[head - 1] if head else 0)
        last = _after(text, ends[len(ends) - tail - 1] if tail else len(text))
        return text[:first] + mark + text[last:]

    def _token_ends(self, text: str) -> list[int]:
        if self.tokenizer is not None:
            return ends_by(self.tokenizer)(text)
        return [*range(_CHARACTERS, len(text), _CHARACTERS), len(text)]


def observing(observe: Observe | None, compression: Compression | None) -> Observe | None:
    """Return what says what a model reads of a call, made short where it is long."""
    if compression is None:
        return observe

    def shown(session: Session, call: Call | MalformedCall, result: Result) -> str | None:
        told = observe(session, call, result) if observe else None
        text = result.text if told is None else told
        tool = session.tools.get(call.name) if isinstance(call, Call) else None
        keep = kept_members(tool.backend).get(tool.name) if tool else None
        short = compression.shown(text, keep)
        return told if short is text else short

    return shown


@cache
def kept_members(backend: str) -> Mapping[str, tuple[str, ...]]:
    """Return the paths of members that are kept of a backend's results, by function.

    Raises:
        DataError: The file is not of its form, or names a function that there is not.
    """
    path = KEYS / f"{backend}.json"
    if not path.is_file():
        return {}
    found, functions = {}, tools_of((backend,))
    for name, value in parse_object(read_text(path), str(path)).items():
        if name not in functions:
            advice = did_you_mean(name, functions)
            raise DataError(str(path), f"{name!r} is no function of {backend}{advice}")
        match value:
            case {"keep": [*paths]} if all(isinstance(each, str) and each for each in paths):
                found[name] = tuple(map(str, paths))
            case _:
                raise DataError(f"{path}: {name}", 'is no {"keep": [PATH, ...]}')
    return found


def _before(text: str, place: int) -> int:
    """Return the last place up to one that is within no escape."""
    inside = _escape_around(text, place)
    return inside[0] if inside else place


def _after(text: str, place: int) -> int:
    inside = _escape_around(text, place)
    return inside[1] if inside else place


def _escape_around(text: str, place: int) -> tuple[int, int] | None:
    """Return where the escape begins and ends that a place is within, if it is within one."""
    for start in range(max(0, place - _LONGEST_ESCAPE), place):
        before = len(text[:start]) - len(text[:start].rstrip("\\"))
        found = _ESCAPE.match(text, start) if before % 2 == 0 else None
        if found and start < place < found.end():
            return found.span()
    return None


def _reduced(text: str, keep: tuple[str, ...]) -> str:
    """Return a result with only those members whose path is kept; as it is where none is there."""
    value, write = structure(text)
    if not isinstance(value, dict | list):
        return text
    kept = _kept(value, [path.replace("[]", ".[]").split(".") for path in keep])
    return write(kept) if kept else text


def paths_of(text: str) -> list[str]:
    """Return the paths of the members of a result, outermost first; none of a mere text."""
    value, _ = structure(text)
    return list(islice(dict.fromkeys(_paths(value, "")), _MOST_PATHS))


def _paths(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            below = f"{path}.{name}".lstrip(".")
            yield below
            yield from _paths(inner, below)
    elif isinstance(value, list):
        for inner in value:
            yield from _paths(inner, f"{path}[]")


def _kept(value: Any, paths: list[list[str]]) -> Any:
    """Return a value without what no path leads to; a path that ends keeps all below it."""
    paths = [[step for step in path if step] for path in paths]
    if any(not path for path in paths):
        return value
    if isinstance(value, list):
        below = [path[1:] for path in paths if path[0] == "[]"]
        return [_kept(each, below) for each in value] if below else []
    if isinstance(value, dict):
        return {
            name: _kept(inner, [path[1:] for path in paths if path[0] == name])
            for name, inner in value.items()
            if any(path[0] == name for path in paths)
        }
    return value


@cache
def ends_by(path: str) -> Ends:
    """Return what counts with a tokenizer's file.

    Raises:
        DataError: It is none.
    """
    with needing("retrieval", "--tokenizer"):
        from tokenizers import Tokenizer
    try:
        tokenizer = Tokenizer.from_str(read_text(Path(path)))
    except DataError:
        raise
    except Exception as error:  # whatever the library makes of a file
        said = " ".join(str(error).split())
        raise DataError("--tokenizer", f"{path} is no tokenizer: {said:.200}") from None
    tokenizer.no_truncation()

    def ends(text: str) -> list[int]:
        try:
            found = tokenizer.encode(text, add_special_tokens=False).offsets
        except Exception as error:  # such as a word that it lacks
            said = " ".join(str(error).split())
            raise DataError("--tokenizer", f"{path} cannot count: {said:.200}") from None
        return [end for _, end in found]

    return ends
