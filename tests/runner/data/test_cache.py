from __future__ import annotations

from dataclasses import replace

import pytest

from runner.data import cache as module
from runner.data.cache import cached_counts
from trajectories.dataset import load_embedded
from trajectories.schema import Category


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TURNWISE_CACHE", str(tmp_path))
    return tmp_path / "counts"


@pytest.fixture(scope="module")
def dataset():
    return load_embedded([Category.BASE])


@pytest.fixture
def count():
    """Return a function that counts, and how often it has been called."""

    def count():
        count.calls += 1
        return 3, 2

    count.calls = 0
    return count


def test_what_is_counted_in_a_data_set_is_counted_once(dataset, count):
    assert [cached_counts(dataset, count) for _ in range(2)] == [(3, 2), (3, 2)]
    assert count.calls == 1
    assert cached_counts(replace(dataset, sha256="0" * 64), lambda: (1, 1)) == (1, 1)


def test_another_simulator_counts_anew(dataset, count, tmp_path, monkeypatch):
    source = tmp_path / "envs" / "__init__.py"
    source.parent.mkdir()
    monkeypatch.setattr(module.envs, "__file__", str(source))
    for text in ("a = 1\n", "a = 2\n"):
        source.write_text(text)
        cached_counts(dataset, count)
    assert count.calls == 2


@pytest.mark.parametrize("content", [b"", b"3", b"3 x", b"3 2 1", b"\xff", b"1" * 5000 + b" 2"])
def test_a_damaged_file_is_ignored(dataset, count, folder, content):
    cached_counts(dataset, count)
    [path] = folder.iterdir()
    path.write_bytes(content)
    assert cached_counts(dataset, count) == (3, 2)
    assert count.calls == 2
    assert path.read_bytes() == b"3 2\n"


def test_a_folder_that_cannot_be_written_is_ignored(dataset, count, folder, capfd):
    folder.write_text("in the way")
    assert cached_counts(dataset, count) == (3, 2)
    assert capfd.readouterr() == ("", "")
