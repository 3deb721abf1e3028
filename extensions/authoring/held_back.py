"""Held-back entries, which the repository stores in packed form.

The key is public. The packed form keeps the entries out of training corpora.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256, shake_256
from pathlib import Path

from envs.errors import DataError
from extensions.authoring.canary import CANARY
from runner.data.cache import cache_root
from trajectories.dataset import DATA, Dataset, load_path
from trajectories.jsonl import parse_object
from trajectories.schema import Category

HELD_BACK = DATA / "held_back.bin"
NAME = "held-back"
"""Name of the data set."""
NOTE = (
    "These entries are held back so that models cannot have learned them. Use them for evaluation "
    "only: do not train on them, and do not publish them in clear text."
)

_HEAD = f"Held back; see extensions/authoring/held_back.py. {CANARY}\n".encode()
_DIGEST = 32
_NAME = re.compile(r"(?:\w+/)?\w[\w.-]*")
_MAX_BYTES = 100_000_000
"""Maximum size of the unpacked text."""


def pack(files: Mapping[str, str]) -> bytes:
    """Return files in packed form, which contains no readable text."""
    return sealed(zlib.compress(json.dumps(files, sort_keys=True).encode(), 9))


def sealed(body: bytes) -> bytes:
    """Return a compressed body with header and digest."""
    return b"".join((_HEAD, sha256(body).digest(), _mask(body)))


def unpack(path: Path = HELD_BACK) -> dict[str, str]:
    """Map the name of each packed file to its text.

    Raises DataError if the file cannot be read, or is damaged.
    """
    try:
        packed = path.read_bytes()
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror}") from None
    rest = packed.removeprefix(_HEAD)
    digest, body = rest[:_DIGEST], _mask(rest[_DIGEST:])
    if rest is packed or sha256(body).digest() != digest:
        raise DataError(str(path), "is damaged; reinstall turnwise")
    try:
        text = zlib.decompressobj().decompress(body, _MAX_BYTES).decode()
    except (zlib.error, UnicodeDecodeError) as error:
        raise DataError(str(path), f"cannot be unpacked: {error}") from None
    files = parse_object(text, str(path))
    for name, content in files.items():
        if not isinstance(content, str) or not _NAME.fullmatch(name):
            raise DataError(str(path), f"$[{name!r:.80}]: must be a text file inside the folder")
    return files


def _mask(body: bytes) -> bytes:
    size = len(body)
    key = shake_256(CANARY.encode()).digest(size)
    return (int.from_bytes(body) ^ int.from_bytes(key)).to_bytes(size)


def unpacked_folder() -> Path:
    """Return the cache folder for the unpacked entries; the folder may not exist."""
    return cache_root() / f"{NAME}-{sha256(HELD_BACK.read_bytes()).hexdigest()[:12]}"


def load_held_back(categories: Sequence[Category]) -> Dataset:
    """Load the held-back entries. Raises DataError if the entries have not been unpacked."""
    folder = unpacked_folder()
    if not (folder / "base.jsonl").is_file():
        raise DataError("--dataset", f"{NAME} is packed; run turnwise dataset unpack")
    return replace(load_path(folder, categories), name=NAME)
