"""How a reader's file becomes lines of the record."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from extensions.authoring.review_status import Review, ReviewOutcome, read_record
from tools import record_reviews
from tools.record_reviews import main
from trajectories.dataset import DATA, Dataset, load_path
from trajectories.fingerprint import fingerprint
from trajectories.schema import Category

HIVE = "base_files_math_hive_weights"
CHOIR = "base_message_choir_roster"
FOUND = [
    {"entry": HIVE, "class": "arguable", "reason": "Unit?", "mend": "Say it."},
    {"entry": CHOIR, "class": "sound", "reason": "", "mend": ""},
]


read_once = cache(lambda path: load_path(path, list(Category)))


@pytest.fixture(scope="module", autouse=True)
def _our_data_is_read_once() -> Iterator[None]:
    def read(path: Path, categories: list[Category]) -> Dataset:
        ours = path.is_relative_to(DATA) and categories == list(Category)
        return read_once(path) if ours else load_path(path, categories)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_reviews, "load_path", read)
        yield
    # The collector would keep 45 MB for long.
    read_once.cache_clear()
    gc.collect()


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Return where a record is to be."""
    return tmp_path / "readings.jsonl"


def written(path: Path, lines: list[dict[str, Any]]) -> Path:
    """Write lines."""
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    return path


def now(id: str) -> str:
    """Return the fingerprint of an entry of our data as it is."""
    return fingerprint(read_once(DATA / "base.jsonl").trajectories[id])


def add(record: Path, lines: list[dict[str, Any]], *arguments: object) -> list[Review]:
    """Add a file of findings to the record, and return what is in it."""
    file = written(record.with_name("found.jsonl"), lines)
    main([str(file), *map(str, arguments)], record)
    return read_record(record)


def test_findings_become_readings_of_the_data_as_it_is(record: Path) -> None:
    first, second = add(record, FOUND, "--reader", "A")
    assert first == Review(HIVE, "A", ReviewOutcome.ARGUABLE, now(HIVE), "Unit?")
    assert second == Review(CHOIR, "A", ReviewOutcome.SOUND, now(CHOIR))


def test_another_reader_is_added_and_the_same_reading_written_anew(record: Path) -> None:
    add(record, FOUND, "--reader", "A")
    add(record, FOUND[:1], "--reader", "B")
    found = add(record, [{**FOUND[0], "class": "wrong"}], "--reader", "A")
    assert [(each.entry, each.reader, each.found) for each in found] == [
        (HIVE, "A", "wrong"),
        (CHOIR, "A", "sound"),
        (HIVE, "B", "arguable"),
    ]


@pytest.mark.parametrize(
    ("text", "member", "said"),
    [
        ("says grams", "mended", "says grams"),
        ("not changed: it is said", "kept", "it is said"),
        ("withdrawn: nobody knows", "withdrawn", "nobody knows"),
    ],
)
def test_what_came_of_a_reading(record: Path, text: str, member: str, said: str) -> None:
    mended = written(record.with_name("mended.jsonl"), [{"entry": HIVE, "mended": text}])
    add(record, FOUND, "--reader", "A", "--mended", mended)
    first, second = map(json.loads, record.read_text(encoding="utf-8").splitlines())
    assert first[member] == said
    assert second.keys() == {"entry", "reader", "class", "read"}


def test_data_that_has_changed_since_is_read_as_it_was(record: Path) -> None:
    lines = (DATA / "base.jsonl").read_text(encoding="utf-8").splitlines()
    before = next(line for line in map(json.loads, lines) if line["id"] == HIVE)
    before["turns"][0]["messages"][0]["content"] = "Hello."
    folder = record.parent / "before"
    folder.mkdir()
    written(folder / "base.jsonl", [before])
    (found,) = add(record, FOUND[:1], "--reader", "A", "--data", folder)
    assert found.read != now(HIVE)
    assert len(add(record, FOUND[:1], "--reader", "A")) == 2


@pytest.mark.parametrize(
    ("lines", "reader", "mended", "message"),
    [
        ([{**FOUND[0], "entry": "base_files_math_hive_weight"}], "A", [], f"did you mean {HIVE}?"),
        ([FOUND[0], FOUND[0]], "A", [], "found.jsonl:2: $.entry: " + HIVE + " is on an earlier"),
        ([{**FOUND[0], "class": "fine"}], "A", [], "$.class: "),
        ([{**FOUND[0], "reason": ""}], "A", [], "must say why the entry is arguable"),
        (FOUND, "a", [], "must be a letter from A to Z"),
        (FOUND, "A", [{"entry": "base_x", "mended": "so"}], "is not one of the reviewed entries"),
        (FOUND, "A", [{"entry": HIVE, "mended": "so"}] * 2, "mended.jsonl:2: "),
    ],
)
def test_what_is_refused_leaves_the_record_as_it_was(
    record: Path,
    capsys: pytest.CaptureFixture[str],
    lines: list[dict[str, Any]],
    reader: str,
    mended: list[dict[str, Any]],
    message: str,
) -> None:
    file = written(record.with_name("mended.jsonl"), mended)
    with pytest.raises(SystemExit) as ended:
        add(record, lines, "--reader", reader, "--mended", file)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert not record.exists()
