from __future__ import annotations

import json
import subprocess
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest

from envs.errors import DataError
from runner.data import bfcl_download
from runner.data.source_literals import TEXTS_FILE, load_texts
from trajectories import bfcl_reader
from trajectories.dataset import load_bfcl
from trajectories.schema import MULTI_TURN

NAME = f"bfcl_eval-{bfcl_reader.VERSION}"


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """Have a cache of this test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("TURNWISE_CACHE", str(folder))
    return folder


@pytest.fixture
def make_wheel(monkeypatch, tmp_path, package_files):
    """Make a wheel, expect its hash, and have it be all that the package installer finds."""
    served = tmp_path / "served"
    served.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(served))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_DISABLE_PIP_VERSION_CHECK", "1")

    def make(**more: str) -> Path:
        path = served / f"{NAME}-py3-none-any.whl"
        metadata = f"Metadata-Version: 2.1\nName: bfcl-eval\nVersion: {bfcl_reader.VERSION}\n"
        wheel = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        members = {f"bfcl_eval/{name}": text for name, text in package_files.items()}
        members["bfcl_eval/__init__.py"] = "raise SystemExit('this package was run')"
        members[f"{NAME}.dist-info/METADATA"] = metadata
        members[f"{NAME}.dist-info/WHEEL"] = wheel
        members[f"{NAME}.dist-info/RECORD"] = ""
        with ZipFile(path, "w") as archive:
            for name, text in {**members, **more}.items():
                archive.writestr(name, text)
        monkeypatch.setattr(bfcl_download, "WHEEL_SHA256", sha256(path.read_bytes()).hexdigest())
        return path

    return make


@pytest.fixture
def download(monkeypatch):
    """Have a function stand for the package installer; it gets the folder to download into."""

    def replace(stand_in):
        def run(command, **options):
            stand_in(Path(command[command.index("--dest") + 1]))
            return subprocess.CompletedProcess(command, 0, "", "")

        monkeypatch.setattr(bfcl_download.subprocess, "run", run)

    return replace


def contents(folder):
    """Return the names of all files below a folder."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


# Where the cache is


@pytest.mark.parametrize(
    ("environment", "root"),
    [
        ({"TURNWISE_CACHE": "/own", "XDG_CACHE_HOME": "/xdg"}, "/own"),
        ({"TURNWISE_CACHE": "", "XDG_CACHE_HOME": "/xdg"}, "/xdg/turnwise"),
        ({"XDG_CACHE_HOME": "/xdg"}, "/xdg/turnwise"),
        ({"XDG_CACHE_HOME": ""}, "/home/ann/.cache/turnwise"),
        ({}, "/home/ann/.cache/turnwise"),
    ],
)
def test_where_the_cache_is(monkeypatch, environment, root):
    for name in ("TURNWISE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/ann", **environment}.items():
        monkeypatch.setenv(name, value)
    assert bfcl_download.cache_folder() == Path(root) / f"bfcl-eval-{bfcl_reader.VERSION}"


# With the real package installer


def test_data_is_downloaded_checked_and_unpacked_and_nothing_is_run(cache, make_wheel, bfcl_folder):
    make_wheel()
    folder = bfcl_download.fetch()
    assert folder == bfcl_download.cache_folder()
    assert list(cache.iterdir()) == [folder]
    expected = contents(bfcl_folder) | {
        bfcl_reader.MANIFEST_FILE,
        bfcl_reader.LONG_CONTEXT_FILE,
        TEXTS_FILE,
    }
    assert contents(folder) == expected
    assert json.loads((folder / bfcl_reader.MANIFEST_FILE).read_text(encoding="utf-8")) == {
        "package": "bfcl-eval",
        "version": bfcl_reader.VERSION,
        "sha256": bfcl_download.WHEEL_SHA256,
    }
    assert bfcl_reader.load_pack(folder) == bfcl_reader.load_pack(bfcl_folder)
    loaded, original = (load_bfcl(f, list(MULTI_TURN)) for f in (folder, bfcl_folder))
    assert loaded.trajectories == original.trajectories
    assert (loaded.version, original.version) == (bfcl_reader.VERSION, "unknown")


def test_a_wheel_with_another_hash_is_refused_and_leaves_nothing(cache, make_wheel):
    path = make_wheel()
    with ZipFile(path, "a") as archive:
        archive.writestr("bfcl_eval/more.py", "")
    with pytest.raises(DataError) as caught:
        bfcl_download.fetch()
    text = str(caught.value)
    assert text.startswith(f"bfcl-eval=={bfcl_reader.VERSION}: cannot be downloaded: ")
    assert "HASHES" in text
    assert "\n" not in text
    assert list(cache.iterdir()) == []


@pytest.mark.slow
def test_a_package_that_cannot_be_had_is_refused_in_one_line(cache, make_wheel):
    make_wheel().unlink()
    with pytest.raises(DataError) as caught:
        bfcl_download.fetch()
    text = str(caught.value)
    assert text.startswith(f"bfcl-eval=={bfcl_reader.VERSION}: cannot be downloaded: ")
    assert "\n" not in text
    assert list(cache.iterdir()) == []


# With a stand-in for it


def test_data_that_is_there_is_not_downloaded_again(cache, download):
    def fail(work):
        raise AssertionError("a download was started")

    download(fail)
    folder = bfcl_download.cache_folder()
    folder.mkdir(parents=True)
    for name in (bfcl_reader.MANIFEST_FILE, TEXTS_FILE):
        (folder / name).write_text("{}", encoding="utf-8")
    assert bfcl_download.fetch() == folder


@pytest.mark.slow
def test_data_that_an_earlier_version_fetched_without_the_texts_is_fetched_anew(cache, make_wheel):
    make_wheel()
    folder = bfcl_download.cache_folder()
    folder.mkdir(parents=True)
    (folder / bfcl_reader.MANIFEST_FILE).write_text("{}", encoding="utf-8")
    assert load_texts(bfcl_download.fetch())["constants/default_prompts"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("No space left on device")])
def test_an_interrupted_download_leaves_nothing(cache, download, error):
    def stop(work):
        (work / f"{NAME}-py3-none-any.whl").write_bytes(b"half of")
        raise error

    download(stop)
    with pytest.raises((KeyboardInterrupt, DataError)):
        bfcl_download.fetch()
    assert list(cache.iterdir()) == []


def test_an_interrupted_unpacking_leaves_nothing(monkeypatch, cache, make_wheel, download):
    wheel = make_wheel().read_bytes()
    download(lambda work: (work / "x.whl").write_bytes(wheel))

    def stop(source):
        raise KeyboardInterrupt

    monkeypatch.setattr(bfcl_reader, "read_material", stop)
    with pytest.raises(KeyboardInterrupt):
        bfcl_download.fetch()
    assert list(cache.iterdir()) == []


def test_what_an_earlier_attempt_left_is_replaced(cache, make_wheel, download):
    wheel = make_wheel().read_bytes()
    download(lambda work: (work / "x.whl").write_bytes(wheel))
    left = bfcl_download.cache_folder() / "left.json"
    left.parent.mkdir(parents=True)
    left.write_text("{}", encoding="utf-8")
    folder = bfcl_download.fetch()
    assert (folder / bfcl_reader.MANIFEST_FILE).is_file()
    assert not left.exists()


def test_another_process_may_have_been_faster(cache, make_wheel, download):
    wheel = make_wheel().read_bytes()
    theirs = bfcl_download.cache_folder() / bfcl_reader.MANIFEST_FILE

    def slow(work):
        theirs.parent.mkdir()
        theirs.write_text("theirs", encoding="utf-8")
        theirs.with_name(TEXTS_FILE).write_text("{}", encoding="utf-8")
        (work / "x.whl").write_bytes(wheel)

    download(slow)
    bfcl_download.fetch()
    assert theirs.read_text(encoding="utf-8") == "theirs"
    assert list(cache.iterdir()) == [theirs.parent]


def test_the_hash_is_checked_even_where_the_installer_does_not(cache, make_wheel, download):
    make_wheel()
    download(lambda work: (work / "x.whl").write_bytes(b"something else"))
    with pytest.raises(DataError, match="has an unexpected hash"):
        bfcl_download.fetch()
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("names", [[], ["a.whl", "b.whl"]], ids=["none", "two"])
def test_another_number_of_wheels_than_one_is_refused(cache, download, names):
    download(lambda work: [(work / name).write_bytes(b"") for name in names])
    with pytest.raises(DataError, match="cannot be downloaded"):
        bfcl_download.fetch()


def test_a_wheel_without_the_material_is_refused(cache, make_wheel, download):
    path = make_wheel(**{f"bfcl_eval/{bfcl_reader.MATERIAL_MODULE}": "MA_5_EXTENSION = [1]"})
    wheel = path.read_bytes()
    download(lambda work: (work / path.name).write_bytes(wheel))
    with pytest.raises(DataError, match="is not the expected wheel: no literal for FILE_CONTENT"):
        bfcl_download.fetch()
    assert list(cache.iterdir()) == []


def test_what_is_no_wheel_is_refused(monkeypatch, cache, download):
    monkeypatch.setattr(bfcl_download, "WHEEL_SHA256", sha256(b"no wheel").hexdigest())
    download(lambda work: (work / "x.whl").write_bytes(b"no wheel"))
    with pytest.raises(DataError, match=r"x\.whl: is not the expected wheel"):
        bfcl_download.fetch()
    assert list(cache.iterdir()) == []


def test_only_data_files_are_unpacked_and_only_below_the_folder(
    tmp_path, cache, make_wheel, download, bfcl_folder
):
    hostile = {
        "bfcl_eval/data/../../../owned.json": "{}",
        "bfcl_eval/data/sub/../../owned.json": "{}",
        "/bfcl_eval/data/owned.json": "{}",
        f"bfcl_eval/data//{tmp_path}/owned.json": "{}",
        "bfcl_eval/data/C:owned.json": "{}",
        "bfcl_eval/data/a\\..\\owned.json": "{}",
        "bfcl_eval/data/./owned.json": "{}",
        "other/data/owned.json": "{}",
        "bfcl_eval/data/owned.py": "",
        "bfcl_eval/data/owned.pth": "",
    }
    wheel = make_wheel(**hostile).read_bytes()
    download(lambda work: (work / "x.whl").write_bytes(wheel))
    folder = bfcl_download.fetch()
    expected = contents(bfcl_folder) | {
        bfcl_reader.MANIFEST_FILE,
        bfcl_reader.LONG_CONTEXT_FILE,
        TEXTS_FILE,
    }
    assert contents(folder) == expected
    assert not any("owned" in name for name in contents(tmp_path))


@pytest.mark.parametrize("below", ["", "/sub/sub"])
def test_a_cache_that_cannot_be_written_is_named(monkeypatch, tmp_path, download, below):
    # A file where a folder should be: that stops a superuser, too.
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    monkeypatch.setenv("TURNWISE_CACHE", f"{file}{below}")
    download(lambda work: pytest.fail("a download was started"))
    with pytest.raises(
        DataError, match=r"file.*: cannot be written: [A-Z][a-z ]+; set TURNWISE_CACHE"
    ):
        bfcl_download.fetch()


def test_an_interpreter_that_cannot_be_started_is_named(monkeypatch, cache):
    monkeypatch.setattr(bfcl_download.sys, "executable", "/nothing/python")
    with pytest.raises(DataError, match="pip does not start"):
        bfcl_download.fetch()
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("texts", ["[" * 100_000, "[]", "{", '{"a": NaN}', b"\xff"])
def test_texts_of_another_form_are_one_line(tmp_path, texts):
    raw = texts if isinstance(texts, bytes) else texts.encode()
    (tmp_path / TEXTS_FILE).write_bytes(raw)
    with pytest.raises(DataError, match=r"--observations bfcl: .* has no refusal messages of BFCL"):
        load_texts(tmp_path)
