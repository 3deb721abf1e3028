"""Scenarios that are held back: in the repository, but not in clear text.

That is no secrecy, as the key is here: it keeps text that is gathered by machine free of them, so
that a model which has seen everything public has not seen these.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256, shake_256
from pathlib import Path

from extensions.authoring.canary import CANARY
from runner.data.cache import cache_root
from trajectories.dataset import DATA, Dataset, load_path
from trajectories.errors import DataError
from trajectories.jsonl import parse_object
from trajectories.schema import Category

HELD_BACK = DATA / "held_back.bin"
NAME = "held-back"
"""What the data set is called."""
NOTE = (
    "These entries are held back so that models cannot have learned them. Evaluate with them; do "
    "not train on them, publish them in clear text or put them where text is gathered."
)

_HEAD = f"Held back; see extensions/authoring/held_back.py. {CANARY}\n".encode()
_DIGEST = 32
_NAME = re.compile(r"(?:\w+/)?\w[\w.-]*")
_LARGEST = 100_000_000
"""Characters that are unpacked at most."""


def pack(files: Mapping[str, str]) -> bytes:
    """Return files by name, no longer in clear text."""
    return sealed(zlib.compress(json.dumps(files, sort_keys=True).encode(), 9))


def sealed(body: bytes) -> bytes:
    """Return a compressed body with what tells that it is whole."""
    return b"".join((_HEAD, sha256(body).digest(), _hidden(body)))


def unpack(path: Path = HELD_BACK) -> dict[str, str]:
    """Return the files by name.

    Raises:
        DataError: They cannot be read, or are not what was packed.
    """
    try:
        packed = path.read_bytes()
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror}") from None
    rest = packed.removeprefix(_HEAD)
    digest, body = rest[:_DIGEST], _hidden(rest[_DIGEST:])
    if rest is packed or sha256(body).digest() != digest:
        raise DataError(str(path), "is damaged; install turnwise anew")
    try:
        text = zlib.decompressobj().decompress(body, _LARGEST).decode()
    except (zlib.error, UnicodeDecodeError) as error:
        raise DataError(str(path), f"cannot be unpacked: {error}") from None
    files = parse_object(text, str(path))
    for name, content in files.items():
        if not isinstance(content, str) or not _NAME.fullmatch(name):
            raise DataError(str(path), f"$[{name!r:.80}]: is no file of text in the folder")
    return files


def _hidden(body: bytes) -> bytes:
    """Return bytes with each turned into another one, and back when done twice."""
    size = len(body)
    key = shake_256(CANARY.encode()).digest(size)
    return (int.from_bytes(body) ^ int.from_bytes(key)).to_bytes(size)


def unpacked_folder() -> Path:
    """Return the folder in the cache of the unpacked entries, whether or not it exists."""
    return cache_root() / f"{NAME}-{sha256(HELD_BACK.read_bytes()).hexdigest()[:12]}"


def load_held_back(categories: Sequence[Category]) -> Dataset:
    """Load the held-back entries.

    Raises:
        DataError: They have not been unpacked.
    """
    folder = unpacked_folder()
    if not (folder / "base.jsonl").is_file():
        raise DataError("--dataset", f"{NAME} is packed; turnwise dataset unpack")
    return replace(load_path(folder, categories), name=NAME)
