"""One run on disk: what defines it, its finished episodes, and the tool lists they were offered.

A line is written in one piece when its episode is done, and never edited. At whatever moment a
process is killed, opening the folder again drops at most an unfinished last line, whose episode is
then done again. ``runner/README.md`` describes the files.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import datetime
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, NamedTuple, TypeVar

from envs.state import ABSENT
from trajectories.errors import DataError
from trajectories.jsonl import parse_object

FORMAT = 1
"""Version of the files; a run of another one is refused."""

TIMING_FIELDS = frozenset({"attempts", "latency", "timing"})
"""Members of a record and of its steps that differ between runs that are otherwise the same."""

RUN_FILE = "run.json"
EPISODES_FILE = "episodes.jsonl"
TOOLS_FILE = "tools.jsonl"
SUPERSEDED_FILE = "superseded.jsonl"
LOCK_FILE = "lock"

_NEXT_SUPERSEDED_FILE = "superseded.next"
_LONGEST_MODEL_NAME = 60
_SHORTEST_SECRET = 8

_Unique = TypeVar("_Unique")

Record = dict[str, Any]
"""One finished episode as a JSON object."""

Key = tuple[str, int]
"""An episode's trajectory and trial."""


class Summary(NamedTuple):
    """What is kept in memory of a finished episode."""

    category: str
    outcome: Literal["passed", "failed", "error"]


class RunStore:
    """A run that is being written, by this process and no other; made by create or resume.

    Args:
        folder: Where the run is; it exists.
        definition: Everything that defines the run's result.
        note: What else to keep of the run's start.
        secrets: Texts that must not reach a file and are written as ``***``; those that are too
            short to be told from ordinary text are ignored.
        resumes: Whether the folder's run goes on, or a new one begins.
    """

    def __init__(
        self,
        folder: Path,
        definition: Mapping[str, Any],
        note: Mapping[str, Any],
        secrets: Sequence[str],
        *,
        resumes: bool,
    ) -> None:
        self.folder = folder
        self._secrets = _Secrets(secrets)
        self._done: dict[Key, Summary] = {}
        self._digests: set[str] = set()
        with ExitStack() as opened:
            opened.enter_context(_locked(folder))
            self._begin(definition, note, resumes)
            self._tools = _LineFile(folder / TOOLS_FILE)
            opened.callback(self._tools.close)
            self._episodes = _LineFile(folder / EPISODES_FILE)
            opened.callback(lambda: self._episodes.close())
            self._load()
            _sync_folder(folder)
            self._syncing: Future[None] | None = None
            opened.callback(self._sync)
            opened.callback(self._wait_for_disk)
            self._syncer = opened.enter_context(ThreadPoolExecutor(max_workers=1))
            self._opened = opened.pop_all()

    @classmethod
    def create(
        cls,
        folder: Path,
        definition: Mapping[str, Any],
        *,
        note: Mapping[str, Any] | None = None,
        secrets: Sequence[str] = (),
    ) -> RunStore:
        """Begin a run in a folder that need not exist.

        Args:
            folder: Where to put it.
            definition: Everything that defines the run's result, as JSON values.
            note: What else to keep of its start: time, command line, concurrency, budgets.
            secrets: Texts that must not reach a file.

        Raises:
            DataError: The folder holds a run, is in use, or cannot be written.
        """
        with _writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        return cls(folder, definition, note or {}, secrets, resumes=False)

    @classmethod
    def resume(
        cls,
        folder: Path,
        definition: Mapping[str, Any],
        *,
        note: Mapping[str, Any] | None = None,
        secrets: Sequence[str] = (),
    ) -> RunStore:
        """Go on with a run; one that was killed before it had begun is begun.

        Args:
            folder: Where it is.
            definition: As for create; must be that of the run.
            note: As for create; only used when the run had not begun.
            secrets: Texts that must not reach a file.

        Raises:
            DataError: The folder holds no run, a run with another definition, or one that cannot be
                read; or it is in use, or cannot be written.
        """
        if not (folder / RUN_FILE).exists() and not _is_unused(folder):
            raise DataError(str(folder), f"holds no run: there is no {RUN_FILE}")
        return cls(folder, definition, note or {}, secrets, resumes=True)

    @property
    def done(self) -> Mapping[Key, Summary]:
        """The finished episodes."""
        return self._done

    def append(self, record: Record) -> None:
        """Add a finished episode, which from then on survives the end of this process.

        It reaches the disk a little later, from a thread, since the wait for a disk would hold up
        all episodes that are under way.

        Raises:
            DataError: The file cannot be written.
        """
        key, summary = _key_and_summary(record)
        if key in self._done:
            raise ValueError(f"episode {key} is in the run already")
        self._episodes.append(self._secrets.encode(record))
        self._done[key] = summary
        if self._syncing is None or self._syncing.done():
            self._wait_for_disk()
            self._syncing = self._syncer.submit(self._sync)

    def put_tools(self, digest: str, tools: Sequence[Mapping[str, Any]]) -> None:
        """Keep a tool list, unless it is there already; to be done before an episode names it.

        Raises:
            DataError: The file cannot be written.
        """
        if digest not in self._digests:
            self._tools.append(self._secrets.encode({"digest": digest, "tools": tools}))
            self._digests.add(digest)

    def supersede(self, keys: Collection[Key]) -> None:
        """Take finished episodes out of the run, so that they can be done again.

        Their records are kept in a file of their own. A process that is killed meanwhile leaves
        either all of them or none taken out.

        Args:
            keys: Which; those that are not done are passed over.

        Raises:
            DataError: A file cannot be read or written.
        """
        keys = self._done.keys() & set(keys)
        if not keys:
            return
        self._wait_for_disk()
        path, upcoming = self.folder / EPISODES_FILE, self.folder / _NEXT_SUPERSEDED_FILE
        superseded = self.folder / SUPERSEDED_FILE
        taken = (line.raw for line in _lines(path) if _key(line) in keys)
        write_whole(upcoming, chain(_raw_lines(superseded), taken))
        # With this write they are taken out; were it never reached, `upcoming` would be void.
        write_whole(path, (line.raw for line in _lines(path) if _key(line) not in keys))
        self._episodes.close()
        self._episodes = _LineFile(path)
        for key in keys:
            del self._done[key]
        with _writing(superseded):
            upcoming.replace(superseded)
        _sync_folder(self.folder)

    def close(self) -> None:
        """Bring everything to the disk and let others have the folder."""
        self._opened.close()

    def __enter__(self) -> RunStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _begin(self, definition: Mapping[str, Any], note: Mapping[str, Any], resumes: bool) -> None:
        """Write what defines the run, or see that it is what it was.

        Raises:
            DataError: There is a run though a new one is to begin, or it is another one.
        """
        path = self.folder / RUN_FILE
        run = {"format": FORMAT, "definition": definition, "note": note}
        encoded = self._secrets.encode(run, indent=2)
        if resumes and path.exists():
            then, now = _read_run_file(self.folder), json.loads(encoded)
            _compare(self.folder, then["definition"], now["definition"])
            return
        if any((self.folder / name).exists() for name in (RUN_FILE, EPISODES_FILE, TOOLS_FILE)):
            raise DataError(
                str(self.folder),
                "holds a run already; go on with it by --resume, or choose another folder",
            )
        write_whole(path, [encoded])

    def _load(self) -> None:
        """Read what is there, mending what a killed process left.

        Raises:
            DataError: A file is not what such a process leaves.
        """
        for line in self._tools.mended():
            self._digests.add(_once(_tools_of(line)[0], self._digests, line))
        for line in self._episodes.mended():
            key, summary = _episode_of(line)
            self._done[_once(key, self._done, line)] = summary
        with _writing(self.folder):
            self._finish_superseding()
            for name in (RUN_FILE, EPISODES_FILE, _NEXT_SUPERSEDED_FILE):
                _unfinished(self.folder / name).unlink(missing_ok=True)

    def _finish_superseding(self) -> None:
        """Finish what a killed process began to take out of the run, or undo it."""
        upcoming = self.folder / _NEXT_SUPERSEDED_FILE
        if not upcoming.exists():
            return
        *_, last = _lines(upcoming)
        if _key(last) in self._done:
            upcoming.unlink()
        else:
            upcoming.replace(self.folder / SUPERSEDED_FILE)

    def _sync(self) -> None:
        # In this order, so that no episode names tools that a power failure has undone.
        self._tools.sync()
        self._episodes.sync()

    def _wait_for_disk(self) -> None:
        """Let the thread finish; an error that it met is raised here."""
        if self._syncing is not None:
            self._syncing.result()


class Run:
    """A run that is read, finished or not, while or after it is written.

    Args:
        folder: Where it is.

    Attributes:
        definition: Everything that defines the run's result.
        note: What else was kept of its start.
    """

    def __init__(self, folder: Path) -> None:
        run = _read_run_file(folder)
        self.folder = folder
        self.definition: dict[str, Any] = run["definition"]
        self.note: dict[str, Any] = run["note"]
        self._tools: dict[str, list[dict[str, Any]]] = {}

    def episodes(self) -> Iterator[Record]:
        """Yield the records of the finished episodes, in the order in which they finished.

        Raises:
            DataError: The file cannot be read, or holds an episode twice.
        """
        seen: set[Key] = set()
        for line in _lines(self.folder / EPISODES_FILE):
            seen.add(_once(_episode_of(line)[0], seen, line))
            yield line.record

    def tools(self, digest: str) -> list[dict[str, Any]]:
        """Return the tool list that a record names.

        Raises:
            DataError: The file cannot be read, or has no such list.
        """
        path = self.folder / TOOLS_FILE
        if digest not in self._tools:
            # The run may have gone on since the last look.
            self._tools = dict(_tools_of(line) for line in _lines(path))
        if digest not in self._tools:
            raise DataError(str(path), f"has no tool list {digest!r}")
        return self._tools[digest]


def read_run(folder: Path) -> Run:
    """Return the run in a folder.

    Raises:
        DataError: There is none, or it is of another format.
    """
    return Run(folder)


def default_folder(model: str, now: datetime) -> Path:
    """Return where a run is put when the user does not say."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", model)[:_LONGEST_MODEL_NAME].strip(".-")
    return Path("runs") / f"{now:%Y%m%d-%H%M%S}-{name or 'model'}"


def write_whole(path: Path, chunks: Iterable[bytes]) -> None:
    """Write a file, and its folder if need be, that is seen only when all of it is on the disk.

    Raises:
        DataError: It cannot be written.
    """
    unfinished = _unfinished(path)
    with _writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with unfinished.open("wb") as file:
                file.writelines(chunks)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)


class _Line(NamedTuple):
    where: str
    """File and line number."""
    raw: bytes
    record: Record
    end: int
    """Offset in the file of what follows."""


class _LineFile:
    """A file to which whole lines are added."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with _writing(path):
            # Unbuffered: what is added goes to the end of the file in one system call.
            self._file = path.open("ab", buffering=0)

    def mended(self) -> Iterator[_Line]:
        """Yield the lines there are; at the end, cut off what was never finished."""
        end = 0
        for line in _lines(self._path):
            end = line.end
            yield line
        with _writing(self._path):
            if end < self._size():
                self._file.truncate(end)

    def append(self, line: bytes) -> None:
        """Add a line, or nothing of it.

        Raises:
            DataError: It cannot be written.
        """
        with _writing(self._path):
            before = self._size()
            if self._file.write(line) == len(line):
                return
            self._file.truncate(before)
        raise DataError(str(self._path), "cannot be written: no space left")

    def sync(self) -> None:
        """Wait until all lines are on the disk.

        Raises:
            DataError: They cannot be put there.
        """
        with _writing(self._path):
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _size(self) -> int:
        return self._file.seek(0, os.SEEK_END)


class _Secrets:
    """Writes JSON in which some texts do not occur, however they are escaped.

    Args:
        secrets: The texts.
    """

    def __init__(self, secrets: Sequence[str]) -> None:
        forms = {secret for secret in secrets if len(secret) >= _SHORTEST_SECRET}
        # Texts in a record may themselves be JSON with JSON in it.
        for _ in range(3):
            forms |= {
                json.dumps(form, ensure_ascii=a)[1:-1] for form in forms for a in (False, True)
            }
        self._forms = sorted(forms, key=len, reverse=True)

    def encode(self, value: object, indent: int | None = None) -> bytes:
        """Return a JSON value as one line, or as indented ones."""
        text = _encoded(value, indent)
        if self._occur_in(text):
            text = _encoded(self._masked(value), indent)
        if self._occur_in(text):
            raise ValueError("a secret that is no text of its own would be written")
        return f"{text}\n".encode()

    def _occur_in(self, text: str) -> bool:
        return any(form in text for form in self._forms)

    def _masked(self, value: Any) -> Any:
        if isinstance(value, str):
            for form in self._forms:
                value = value.replace(form, "***")
            return value
        if isinstance(value, Mapping):
            return {self._masked(key): self._masked(member) for key, member in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._masked(member) for member in value]
        return value


def _encoded(value: object, indent: int | None) -> str:
    separators = (",", ":") if indent is None else None
    # ASCII, since a model's text may hold half of a surrogate pair, which UTF-8 has no bytes for.
    return json.dumps(value, indent=indent, separators=separators)


def _lines(path: Path) -> Iterator[_Line]:
    """Yield the whole lines of a file, which may still be written or never have been made.

    What a last line that is unfinished or damaged holds is passed over.

    Raises:
        DataError: The file cannot be read, or another line is not a JSON object.
    """
    end = 0
    damaged: DataError | None = None
    for number, raw in enumerate(_raw_lines(path), start=1):
        if damaged is not None:
            raise damaged
        where = f"{path}:{number}"
        end += len(raw)
        try:
            record = parse_object(_decoded(raw, where), where)
        except DataError as error:
            damaged = error
        else:
            yield _Line(where, raw, record, end)


def _raw_lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
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


def _key_and_summary(record: Record) -> tuple[Key, Summary]:
    match record:
        case {"id": str(id), "trial": int(trial), "category": str(category), "outcome": outcome}:
            if outcome in ("passed", "failed", "error"):
                return (id, trial), Summary(category, outcome)
    raise ValueError(
        'no episode with "id", "trial", "category" and "outcome": passed, failed, error'
    )


def _episode_of(line: _Line) -> tuple[Key, Summary]:
    try:
        return _key_and_summary(line.record)
    except ValueError as error:
        raise DataError(line.where, str(error)) from None


def _key(line: _Line) -> Key:
    return _episode_of(line)[0]


def _tools_of(line: _Line) -> tuple[str, list[dict[str, Any]]]:
    match line.record:
        case {"digest": str(digest), "tools": list(tools)}:
            return digest, tools
    raise DataError(line.where, 'no tool list with "digest" and "tools"')


def _once(key: _Unique, seen: Collection[_Unique], line: _Line) -> _Unique:
    """Return a line's key, which must not have been seen.

    Raises:
        DataError: It has.
    """
    if key in seen:
        raise DataError(line.where, f"{key!r} is in the file twice")
    return key


def _read_run_file(folder: Path) -> dict[str, Any]:
    path = folder / RUN_FILE
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise DataError(str(folder), f"holds no run: there is no {RUN_FILE}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(str(path), f"cannot be read: {error}") from None
    run = parse_object(text, str(path))
    if run.get("format") != FORMAT:
        found = run.get("format")
        raise DataError(str(path), f"is of format {found!r}; this turnwise reads format {FORMAT}")
    if not (isinstance(run.get("definition"), dict) and isinstance(run.get("note"), dict)):
        raise DataError(str(path), 'must hold the objects "definition" and "note"')
    return run


def _compare(folder: Path, then: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """See that a run is still defined as it was.

    Raises:
        DataError: It is not; says where.
    """
    changes = [f"{path} was {_brief(a)}, is {_brief(b)}" for path, a, b in _changes(then, now)]
    if changes:
        raise DataError(str(folder), f"the run is defined otherwise: {'; '.join(changes)}")


def _changes(
    then: Mapping[str, Any], now: Mapping[str, Any], prefix: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    for key in {**then, **now}:
        path = f"{prefix}{key}"
        old, new = then.get(key, ABSENT), now.get(key, ABSENT)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _changes(old, new, f"{path}.")
        elif old != new:
            yield path, old, new


def _brief(value: object) -> str:
    return f"{value!r:.120}"


def _is_unused(folder: Path) -> bool:
    """Tell whether a folder holds at most what a process leaves that is killed at once."""
    left = {LOCK_FILE, _unfinished(Path(RUN_FILE)).name}
    return folder.is_dir() and all(path.name in left for path in folder.iterdir())


def _unfinished(path: Path) -> Path:
    return path.with_name(f".{path.name}.unfinished")


def _locked(folder: Path) -> IO[str]:
    """Return a file that keeps other processes out until it is closed.

    Raises:
        DataError: Another process has it.
    """
    # Not there on Windows, where runs can still be read and exported.
    import fcntl

    with _writing(folder):
        file = (folder / LOCK_FILE).open("a+", encoding="utf-8")
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


def _sync_folder(folder: Path) -> None:
    """Bring to the disk which files a folder holds."""
    with _writing(folder):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(str(path), f"cannot be written: {error.strerror}") from None
