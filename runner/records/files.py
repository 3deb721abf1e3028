"""Files that survive the end of a process: whole lines, whole files, and a lock on a folder.

A line is added by one system call and never edited. At whatever moment a process is killed, a file
has at most one unfinished line, its last, which the next process cuts off.

What the user names as an output may be a link or no file at all, and is written through. In the
folder of a run nothing is: it may be a stranger's, and a link in it lead anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from errno import ELOOP
from io import TextIOWrapper
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

from trajectories.errors import DataError
from trajectories.jsonl import NotFinite, parse_object

LOCK_FILE = "lock"
_BUFFER = 1 << 17
"""Bytes read at once: lines of episodes are long."""

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


class NotWritten(DataError):
    """A file or folder cannot be written, for example since the disk is full."""


class FileLine(NamedTuple):
    """One line of a file."""

    where: str
    """File and line number."""
    raw: bytes
    """The line with its line break."""
    value: dict[str, Any]
    """The JSON object that it holds."""
    end: int
    """Offset in the file of what follows."""


class HeldFolder:
    """A folder that this process writes, until it is closed."""

    _opened: ExitStack

    def close(self) -> None:
        """Bring everything to the disk and let others have the folder."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class LineFile:
    """A file to which whole lines are added."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with writing(path):
            # Unbuffered: what is added goes to the end of the file in one system call.
            self._file = open(path, "ab", buffering=0, opener=_unlinked)  # noqa: SIM115

    def mended(self) -> Iterator[FileLine]:
        """Yield the lines there are; at the end, cut off what was never finished."""
        end = 0
        for line in lines(self._path):
            end = line.end
            yield line
        with writing(self._path):
            if end < self._size():
                self._file.truncate(end)

    def append(self, line: bytes) -> None:
        """Add a line, or nothing of it.

        Raises:
            DataError: It cannot be written.
        """
        with writing(self._path):
            written = self._file.write(line)
            if written == len(line):
                return
            self._file.truncate(self._size() - (written or 0))
        raise NotWritten(str(self._path), "cannot be written: no space left")

    def sync(self) -> None:
        """Wait until all lines are on the disk.

        Raises:
            DataError: They cannot be put there.
        """
        with writing(self._path):
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _size(self) -> int:
        return self._file.seek(0, os.SEEK_END)


def write_whole(path: Path, chunks: Iterable[bytes], *, named: bool = False) -> None:
    """Write a file, and its folder if need be, that is seen only when all of it is on the disk.

    Args:
        path: The file.
        chunks: What to write.
        named: Whether the user named it, as those of ``written``; else a link that has its name is
            replaced.

    Raises:
        DataError: It cannot be written.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with _output(path) if named else _upcoming(path) as file:
            file.writelines(chunks)


@contextmanager
def written(path: Path) -> Iterator[IO[str]]:
    """Open a file for writing that appears under its name only when all of it is there.

    A link is followed; what is no file, such as a pipe, is written as it goes.

    Raises:
        DataError: It cannot be written.
    """
    if not path.name:
        raise DataError(str(path), "cannot be written: it names no file")
    with writing(path), _output(path) as raw:
        file = TextIOWrapper(raw, encoding="utf-8")
        yield file
        file.detach()


def _output(path: Path) -> AbstractContextManager[IO[bytes]]:
    """Open what the user named."""
    return _upcoming(Path(os.path.realpath(path))) if _is_file(path) else path.open("wb")


def _is_file(path: Path) -> bool:
    """Tell whether a path leads to a file that another one may replace, or to nothing yet."""
    held_open = path.absolute().parts[1:2] in (("dev",), ("proc",))
    return not held_open and (path.is_file() or not path.exists())


@contextmanager
def _upcoming(path: Path) -> Iterator[IO[bytes]]:
    """Open a file anew that gets its name when all of it is there."""
    upcoming = unfinished(path)
    upcoming.unlink(missing_ok=True)
    try:
        with upcoming.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        upcoming.replace(path)
    finally:
        with suppress(OSError):
            upcoming.unlink()


def lines(path: Path, *containing: bytes) -> Iterator[FileLine]:
    """Yield the whole lines of a file, which may still be written or never have been made.

    What a last line that is unfinished or damaged holds is passed over.

    Args:
        path: The file.
        containing: Lines with none of these are passed over, whatever they hold; by default none.

    Raises:
        DataError: The file cannot be read, or another line is not a JSON object.
    """
    end = 0
    damaged: DataError | None = None
    for number, raw in enumerate(raw_lines(path), start=1):
        if damaged is not None:
            raise damaged
        end += len(raw)
        if containing and not any(part in raw for part in containing):
            continue
        where = f"{path}:{number}"
        try:
            text = _decoded(raw, where)
            value = parse_object(text, where)
        except NotFinite:
            raise
        except DataError as error:
            damaged = error
        else:
            yield FileLine(where, raw, value, end)


def raw_lines(path: Path) -> Iterator[bytes]:
    """Yield the finished lines of a file as they stand there.

    Raises:
        DataError: The file cannot be read.
    """
    try:
        with path.open("rb", buffering=_BUFFER) as file:
            for raw in file:
                # What follows an unfinished line belongs to it, should it be finished meanwhile.
                if not raw.endswith(b"\n"):
                    return
                yield raw
    except FileNotFoundError:
        return
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror}") from None


def _decoded(raw: bytes, where: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(where, f"is not UTF-8 text: {error.reason}") from None


def unfinished(path: Path) -> Path:
    """Return where a file is while it is not yet whole."""
    return path.with_name(f".{path.name}.unfinished")


def locked(folder: Path) -> IO[str]:
    """Return a file that keeps other processes out until it is closed.

    Raises:
        DataError: Another process has it.
    """
    # Not there on Windows, where runs can still be read and exported.
    import fcntl

    with writing(folder):
        file = open(folder / LOCK_FILE, "a+", encoding="utf-8", opener=_unlinked)  # noqa: SIM115
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with file:
                file.seek(0)
                holder = file.read() or "unknown"
            raise DataError(
                str(folder), f"another process is writing this run (pid {holder})"
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
    return file


def _unlinked(path: str, flags: int) -> int:
    """Open a file for ``open``, but none that a link leads to."""
    try:
        return os.open(path, flags | _NO_LINK, 0o666)
    except OSError as error:
        if error.errno == ELOOP:
            raise OSError(ELOOP, "it is a link; put the file itself there") from None
        raise


def sync_folder(folder: Path) -> None:
    """Bring to the disk which files a folder holds."""
    with writing(folder):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Tell the user where a file or folder cannot be written.

    Raises:
        NotWritten: It cannot.
    """
    try:
        yield
    except OSError as error:
        raise NotWritten(str(path), f"cannot be written: {error.strerror}") from None
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])
        raise NotWritten(str(path), f"cannot be written: {half} is half a character") from None
