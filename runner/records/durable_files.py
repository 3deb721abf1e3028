"""Files that survive a killed process: files of whole lines, whole files, and folder locks.

Each line is appended by one system call and never edited. A killed process leaves at most one
unfinished last line, which the next process cuts off. An output file outside of a run folder may be
a link or a pipe. Run folders are untrusted. In a run folder, writers replace links and refuse pipes
and devices.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from errno import EINVAL, ELOOP, EMFILE, ENOENT
from pathlib import Path
from stat import S_ISREG
from typing import IO, Any, NamedTuple, Self

from envs.errors import DataError
from trajectories.jsonl import NonFiniteNumber, parse_object

LOCK_FILE = "lock"
RUN_FILE = "run.json"
"""File with the definition of the run, its start time and its command."""
_BUFFER = 1 << 17

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
"""Flag of ``os.open`` that opens a pipe even if no process has opened the other end."""


class WriteError(DataError):
    """A file or folder cannot be written, for example because the disk is full."""


class FileLine(NamedTuple):
    """One line of a JSON lines file."""

    where: str
    raw: bytes
    value: dict[str, Any]
    end: int


class LockedFolder:
    """Folder with a lock: until ``close``, other processes cannot write to the folder."""

    _opened: ExitStack

    def close(self) -> None:
        """Sync all files to disk and release the folder."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class LineFile:
    """File of whole lines; lines are appended and never changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with report_write_errors(path):
            # Unbuffered, so that one system call appends a line.
            self._file = open(path, "a+b", buffering=0, opener=_unlinked)  # noqa: SIM115

    def lock(self) -> None:
        """Lock the file until it is closed; the lock of the folder may be deleted during a run."""
        import fcntl

        with report_write_errors(self._path):
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def mended(self) -> Iterator[FileLine]:
        """Yield the whole lines, then remove an unfinished last line from the file."""
        end = 0
        for line in read_lines(self._path):
            end = line.end
            yield line
        with report_write_errors(self._path):
            if end < self._size():
                self._file.truncate(end)

    def append(self, line: bytes) -> int:
        """Append a line and return the new file size; after an error, the file is unchanged."""
        with report_write_errors(self._path):
            written = self._file.write(line)
            if written == len(line):
                return self._file.tell()
            self._file.truncate(self._size() - (written or 0))
        raise WriteError(str(self._path), "cannot be written: no space left")

    def read(self, begin: int, end: int) -> bytes:
        """Return a part of the file. Raises DataError if the file cannot be read."""
        with report_write_errors(self._path):
            self._file.seek(begin)
            return self._file.read(end - begin)

    def sync(self) -> None:
        """Sync all lines to disk. Raises DataError if the disk cannot store the lines."""
        with report_write_errors(self._path):
            os.fsync(self._file.fileno())
            if not self.is_in_place():
                raise FileNotFoundError(ENOENT, "the file was moved or deleted during the run")

    def is_in_place(self) -> bool:
        """Tell whether the path still leads to this file, and not to another run's file."""
        return self._path.exists() and os.path.samefile(self._path, self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _size(self) -> int:
        return self._file.seek(0, os.SEEK_END)


def write_whole(path: Path, chunks: Iterable[bytes], *, named: bool = False) -> None:
    """Write a file and its folder; the file appears only when it is complete on disk.

    If ``path`` is a link, the file replaces the link. If ``named`` is true, links are followed.
    Raises DataError if the file cannot be written.
    """
    write_files({path: chunks}, named=named)


def write_files(files: Mapping[Path, Iterable[bytes]], *, named: bool = False) -> None:
    """Write several files; they appear only when all files are complete on disk."""
    with ExitStack() as unfinished:
        for path, chunks in files.items():
            unfinished.enter_context(report_write_errors(path))
            unfinished.enter_context(_folder(path.parent))
            target = Path(os.path.realpath(path)) if named else path
            is_direct = named and not _is_file(path)
            opened = nullcontext(path) if is_direct else _upcoming(target)
            upcoming = unfinished.enter_context(opened)
            with _open(upcoming) as file:
                file.writelines(chunks)


@contextmanager
def _folder(folder: Path) -> Iterator[None]:
    """Create a folder; after an error, remove the new folders that are empty."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for each in missing:
            with suppress(OSError):
                each.rmdir()
        raise


def check_writable(*paths: Path | None) -> None:
    """Check in advance that output files can be written; None means no file.

    Raises DataError if a folder does not exist or cannot be written.
    """
    for path in filter(None, paths):
        if path.is_dir():
            raise WriteError(str(path), "cannot be written: the path is a folder")
        if not _is_file(path):
            continue
        folder = Path(os.path.realpath(path)).parent
        if not folder.is_dir():
            raise WriteError(str(path), f"cannot be written: the folder {folder} does not exist")
        if not os.access(folder, os.W_OK):
            raise WriteError(str(path), f"cannot be written: no permission to write in {folder}")


def write_output(path: Path, texts: Iterable[str]) -> None:
    """Write a file that the user named, as ``write_whole`` does, or write to a pipe or device."""
    write_whole(path, map(str.encode, texts), named=True)


def _is_file(path: Path) -> bool:
    held_open = path.absolute().parts[1:2] in (("dev",), ("proc",))
    return not held_open and (path.is_file() or not path.exists())


@contextmanager
def _upcoming(path: Path) -> Iterator[Path]:
    upcoming = unfinished_path(path)
    upcoming.unlink(missing_ok=True)
    try:
        yield upcoming
        upcoming.replace(path)
    finally:
        with suppress(OSError):
            upcoming.unlink()


@contextmanager
def _open(path: Path) -> Iterator[IO[bytes]]:
    """Open a new file, a pipe or a device, and sync a new file to disk at the end."""
    is_new = not path.exists()
    with path.open("xb" if is_new else "wb") as file:
        yield file
        file.flush()
        if is_new:
            os.fsync(file.fileno())


def read_lines(path: Path, *containing: bytes) -> Iterator[FileLine]:
    """Yield the whole lines of a file; the file can be missing or still growing.

    An unfinished or damaged last line is ignored. If strings are given in ``containing``, only
    lines with one of these strings are parsed.

    Raises DataError if the file cannot be read, or an earlier line is not a JSON object.
    """
    end = 0
    damaged: DataError | None = None
    for number, raw in enumerate(read_raw_lines(path), start=1):
        if damaged is not None:
            raise damaged
        end += len(raw)
        if containing and not any(part in raw for part in containing):
            continue
        where = f"{path}:{number}"
        try:
            value = parse_object(raw.decode("utf-8"), where, unique=False)
        except NonFiniteNumber:
            raise
        except UnicodeDecodeError as error:
            damaged = DataError(where, f"is not UTF-8 text: {error.reason}")
        except DataError as error:
            damaged = error
        else:
            yield FileLine(where, raw, value, end)


def read_raw_lines(path: Path) -> Iterator[bytes]:
    """Yield the finished lines of a file as bytes. Raises DataError if the file cannot be read."""
    try:
        with open(path, "rb", buffering=_BUFFER, opener=open_regular) as file:
            for raw in file:
                # If another process finishes the line later, the rest belongs to that process.
                if not raw.endswith(b"\n"):
                    return
                yield raw
    except FileNotFoundError:
        return
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror}") from None


def read_run_text(path: Path) -> str:
    """Return the text of a file of a run folder.

    Raises OSError if the file is unreadable or not a regular file. Raises UnicodeDecodeError if the
    file is not text.
    """
    with open(path, encoding="utf-8", opener=open_regular) as file:
        return file.read()


def unfinished_path(path: Path) -> Path:
    """Return the temporary path of an unfinished file."""
    return path.with_name(f".{path.name}.unfinished")


def lock_folder(folder: Path) -> IO[str]:
    """Lock a folder until the returned file is closed.

    Raises DataError if the folder is already locked.
    """
    # Missing on Windows, where runs can still be read and exported.
    import fcntl

    with report_write_errors(folder):
        file = open(folder / LOCK_FILE, "a+", encoding="utf-8", opener=_unlinked)  # noqa: SIM115
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with file:
                file.seek(0)
                why = f"another process is writing this run (pid {file.read() or 'unknown'})"
            raise DataError(str(folder), why) from None
        except OSError as error:
            file.close()
            why = f"cannot be locked: {error.strerror}; use a folder on a file system with locks"
            raise DataError(str(folder), why) from None
        file.truncate(0)
        os.write(file.fileno(), str(os.getpid()).encode())
    return file


def _unlinked(path: str, flags: int) -> int:
    """Open a regular file; refuse links, pipes and devices."""
    try:
        return open_regular(path, flags | _NO_LINK)
    except OSError as error:
        if error.errno == ELOOP:
            raise OSError(ELOOP, "the path is a symbolic link; put the file itself there") from None
        raise


def open_regular(path: str, flags: int) -> int:
    """Open a file; refuse pipes and devices. ``open`` calls this function as its ``opener``."""
    handle = os.open(path, flags | _NO_WAIT, 0o666)
    if not S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(EINVAL, "the path is not a regular file")
    return handle


def sync_folder(folder: Path) -> None:
    """Sync the entries of a folder to disk."""
    with report_write_errors(folder):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def report_write_errors(path: Path) -> Iterator[None]:
    """Return a context that converts errors of the file system to ``WriteError``."""
    try:
        yield
    except OSError as error:
        reason = _name_obstacle(error) or error.strerror
        raise WriteError(str(path), f"cannot be written: {reason}") from None
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])
        raise WriteError(str(path), f"cannot be written: {half} is a lone surrogate") from None


def _name_obstacle(error: OSError) -> str | None:
    """Describe the limit, process, file or broken link that is in the way, if any."""
    place = error.filename
    if error.errno == EMFILE:
        return f"{error.strerror}; raise the limit (ulimit -n) or lower --concurrency"
    if isinstance(error, BlockingIOError):
        return "another process is writing this run"
    if not isinstance(error, FileExistsError):
        return None
    if os.path.islink(place):
        target = os.readlink(place)
        return f"{place} is a broken link to {target}; create that folder or remove the link"
    return f"{place} is a file, not a folder" if os.path.isfile(place) else None
