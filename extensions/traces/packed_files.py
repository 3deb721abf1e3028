"""Recorded runs in plain or compressed files."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import IO, Any

from envs.errors import DataError
from runner.records.durable_files import open_regular

_FIRST_BYTES = b"\x1f\x8b"
"""First bytes of every gzip file."""
_MAX_RATIO = 200
"""Maximum decompressed size of a file as a multiple of its size; runs have up to 90."""
_MAX_SMALL_BYTES = 32 * 1024**2
"""Decompressed size up to which the ratio does not matter."""


@contextmanager
def open_packed(path: Path) -> Iterator[IO[bytes]]:
    """Open a text file for reading, and decompress a gzip file.

    Raises DataError, also in the block, if the file cannot be read, is a pipe or a device, is too
    large after decompression, or is not UTF-8.
    """
    try:
        with open(path, "rb", opener=open_regular) as file:
            is_packed = path.suffix == ".gz" or file.peek(2).startswith(_FIRST_BYTES)
            yield BufferedReader(_Decompressed(file)) if is_packed else file
    except UnicodeDecodeError:
        raise DataError(str(path), "is not UTF-8 text; save it as UTF-8") from None
    except (OSError, EOFError, OverflowError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise DataError(str(path), f"cannot be read: {why}") from None


class _Decompressed(RawIOBase):
    def __init__(self, file: IO[bytes]) -> None:
        self._file = gzip.GzipFile(fileobj=file)
        self._left = max(_MAX_SMALL_BYTES, _MAX_RATIO * os.fstat(file.fileno()).st_size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(buffer)
        self._left -= count
        if self._left < 0:
            message = f"it is more than {_MAX_RATIO} times as large after decompression"
            raise OverflowError(f"{message}; decompress it")
        return count
