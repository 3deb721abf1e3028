"""Fetch tau2's files: download the pinned revision, or copy the files of a checkout."""

from __future__ import annotations

import io
import json
import lzma
import os
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from envs.errors import DataError
from envs.lazy_modules import lazy_module
from extensions.tau.documents import MAX_BYTES
from extensions.tau.tasks import DOMAINS
from extensions.tau.worlds import Checkout
from runner.data.cache import cache_root

VARIABLE = "TURNWISE_TAU2"
"""Environment variable with the path of a checkout, which is used instead of the cache."""
_URL = "https://codeload.github.com/sierra-research/tau2-bench/tar.gz/{revision}"
_TIMEOUT_SECONDS = 120
_MAX_TOTAL_BYTES = 4 * MAX_BYTES
"""Maximum size of all stored files."""
_SUFFIXES = (".json", ".toml", ".md", ".gz")
_COUNTS = {
    "airline": {"flights": 300, "users": 500, "reservations": 2000},
    "retail": {"products": 50, "users": 500, "orders": 1000},
    "telecom": {"plans": 5, "customers": 4, "lines": 9, "bills": 6, "devices": 9},
}

if TYPE_CHECKING:
    import httpx
else:
    # Slow to import, and needed for downloads only.
    httpx = lazy_module("httpx")

Notify = Callable[[str], object]


@cache
def _pinned() -> Mapping[str, Mapping[str, str | None]]:
    """Return the hashes of the pinned revision's files; None means an unknown hash."""
    text = Path(__file__).with_name("upstream_files.json").read_text(encoding="utf-8")
    found: Mapping[str, Mapping[str, str | None]] = json.loads(text)
    return found


def revision() -> str:
    """Return the pinned revision."""
    return str(_pinned()["revision"])


def cache_folder() -> Path:
    """Return the folder of tau2's files in the cache."""
    return cache_root() / f"tau2-{revision()[:8]}"


def find_checkout() -> Checkout:
    """Return tau2's files. Raises DataError if the files have not been fetched."""
    named = os.environ.get(VARIABLE)
    folder = Path(named) if named else cache_folder()
    if not folder.is_dir():
        raise DataError("tau2", "is not downloaded; run turnwise dataset fetch tau2")
    return Checkout(folder)


def fetch(source: Path | None, notify: Notify) -> Path:
    """Store tau2's files in the cache; return their folder.

    Args:
        source: Checkout, or its ``.zip`` or ``.tar.gz`` archive. None downloads the pinned revision
            unless it is cached.
        notify: Shows warnings.

    Raises:
        DataError: The download fails, a file is missing, or its content is not tau2's.
    """
    folder = cache_folder()
    if source is None and folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as work:
            made = Path(work) / "data"
            _store(_read_members(source, notify), made)
            _check(made, source, notify)
            if folder.exists():
                shutil.rmtree(folder)
            made.rename(folder)
    except OSError as error:
        message = f"cannot be written: {error}; set TURNWISE_CACHE to another folder"
        raise DataError(str(folder.parent), message) from None
    return folder


def _read_members(source: Path | None, notify: Notify) -> Iterator[tuple[str, bytes]]:
    if source is None:
        notify(f"downloading tau2-bench {revision()[:8]}")
        yield from _read_tar(io.BytesIO(_download()), "the download")
    elif source.is_dir():
        domains = Checkout(source).folder
        for path in sorted([*domains.glob("*/*"), *domains.parent.glob("user_simulator/*")]):
            if path.is_file() and path.stat().st_size <= MAX_BYTES:
                yield f"{path.parent.name}/{path.name}", path.read_bytes()
    elif not source.is_file():
        raise DataError(str(source), "does not exist")
    elif zipfile.is_zipfile(source):
        yield from _read_zip(source)
    else:
        with source.open("rb") as file:
            yield from _read_tar(file, str(source))


def _read_zip(source: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(source) as archive:
            for member in archive.infolist():
                if not member.is_dir() and member.file_size <= MAX_BYTES:
                    yield member.filename, archive.read(member)
    except (zipfile.BadZipFile, RuntimeError, EOFError, zlib.error, lzma.LZMAError) as error:
        # A RuntimeError means that a member is encrypted, or compressed in an unknown way.
        raise DataError(str(source), f"cannot be unpacked: {error}") from None


def _read_tar(file: io.BufferedIOBase, where: str) -> Iterator[tuple[str, bytes]]:
    try:
        with tarfile.open(fileobj=file, mode="r:*") as archive:
            for member in archive:
                content = archive.extractfile(member) if member.isfile() else None
                if content is not None and member.size <= MAX_BYTES:
                    yield member.name, content.read()
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise DataError(where, f"is not a folder, zip or tar archive: {error}") from None


def _download() -> bytes:
    url = _URL.format(revision=revision())
    try:
        with httpx.stream("GET", url, timeout=_TIMEOUT_SECONDS, follow_redirects=True) as answer:
            answer.raise_for_status()
            data = bytearray()
            for part in answer.iter_bytes():
                data += part
                if len(data) > MAX_BYTES:
                    raise DataError(url, f"is larger than {MAX_BYTES // 1024**2} MB")
            return bytes(data)
    except httpx.HTTPError as error:
        message = f"cannot be downloaded: {error}; use --from PATH with a checkout or archive"
        raise DataError(url, message) from None


def _store(members: Iterator[tuple[str, bytes]], target: Path) -> None:
    """Write the files of the three domains and of the user simulator.

    Raises DataError if the files are too large.
    """
    total = 0
    for name, content in members:
        *_, folder, file = ("", "", *PurePosixPath(name).parts)
        if file.endswith(_SUFFIXES) and folder in (*DOMAINS, "user_simulator"):
            if "src" in PurePosixPath(name).parts:
                continue
            total += len(content)
            if total > _MAX_TOTAL_BYTES:
                message = f"the files are larger than {_MAX_TOTAL_BYTES // 1024**2} MB"
                raise DataError("tau2", message)
            path = target / "domains" / folder / PurePosixPath(file).name
            if folder == "user_simulator":
                path = target / folder / PurePosixPath(file).name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def _check(made: Path, source: Path | None, notify: Notify) -> None:
    """Check hashes, tasks and counts of stored files.

    Raises DataError if a file is missing or malformed, or if a downloaded file has a wrong hash.
    """
    where = "the download" if source is None else str(source)
    if not (made / "domains" / "retail").is_dir():
        raise DataError(where, "is not a checkout of tau2-bench: the domain retail is missing")
    different = [name for name in _pinned()["sha256"] if _differs(made, name)]
    if different and source is None:
        raise DataError(where, f"differs from the expected content in: {', '.join(different)}")
    if different:
        notify(f"warning: the revision is not {revision()[:8]}: {', '.join(different)}")
    files = Checkout(made)
    for domain in DOMAINS:
        state, tasks = files.state(domain), files.tasks(domain)
        for name, count in _COUNTS[domain].items():
            if len(state[name]) != count:
                notify(
                    f"warning: {domain} has {len(state[name])} {name}, but the pinned revision "
                    f"has {count}"
                )
        known, splits = set(tasks), files.splits(domain)
        if files.find(domain, "tasks_full.json"):
            known |= {*files.tasks(domain, full=True)}
        elif domain == "telecom":
            splits = {"base": splits.get("base", ())}
        missing = [id for ids in splits.values() for id in ids if id not in known]
        if missing:
            message = (
                f"{len(missing)} tasks of the splits are missing in {domain}, such as {missing[0]}"
            )
            raise DataError(where, message)
        files.policy(domain)


def _differs(made: Path, name: str) -> bool:
    wanted, path = _pinned()["sha256"][name], made / name
    return bool(wanted) and path.is_file() and sha256(path.read_bytes()).hexdigest() != wanted
