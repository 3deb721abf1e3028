"""Readings as a file, where entries stand, how far readers agree; the record of our data."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from envs.errors import DataError
from extensions.authoring.making.scenarios import read_scenarios
from extensions.authoring.review_lines import make_agreement_rows
from extensions.authoring.review_status import (
    Review,
    ReviewOutcome,
    ReviewState,
    changed,
    compute_agreements,
    compute_statuses,
    parse_category,
    read_record,
    summary,
    tallies,
    to_json,
    withdrawn,
)
from trajectories.dataset import load_embedded
from trajectories.fingerprint import fingerprint
from trajectories.schema import MULTI_TURN, Category, Message, Trajectory, Turn

READ_BEFORE = Path(__file__).with_name("read_before_last_change.txt")
"""Entries that nobody has read since their last change, which is known."""
LINE = {"entry": "base_one", "reader": "A", "class": "wrong", "read": "0f", "reason": "A guess."}


def entry(id: str = "base_one", words: str = "Go.") -> Trajectory:
    """Return a small trajectory."""
    return Trajectory(id, Category.BASE, (), {}, (Turn((Message("user", words),), ()),))


def reading(found: str = "sound", reader: str = "A", **changes: Any) -> Review:
    """Return a reading of the small trajectory as it is."""
    members = {"entry": "base_one", "read": fingerprint(entry()), "reason": "why", **changes}
    return Review(reader=reader, found=ReviewOutcome(found), **members)


def written(path: Path, *lines: dict[str, Any]) -> Path:
    """Write lines."""
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    return path


def test_a_reading_is_written_as_it_is_read(tmp_path: Path) -> None:
    lines = [{**LINE, "mended": "asks now"}, {**LINE, "reader": "B"}, {**LINE, "read": "1f"}]
    found = read_record(written(tmp_path / "r.jsonl", *lines))
    assert found[0].found is ReviewOutcome.WRONG
    assert [to_json(each) for each in found] == lines


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"class": "odd"}, r"r\.jsonl:2: \$\.class: .*sound"),
        ({"found": "sound"}, r"\$\.found: "),
        ({"entry": "one"}, r"\$\.entry: 'one' does not begin with a category"),
        ({"reader": "AB"}, r"\$\.reader: must be a letter"),
        ({"reader": ""}, r"\$\.reader: must be a letter"),
        ({"reason": " "}, r"\$\.reason: must say why the entry is wrong"),
        ({"mended": "a", "kept": "b"}, r"\$: use only one of `mended`, `kept` and `withdrawn`"),
        ({"reader": "B"}, r"\$\.entry: duplicate review of base_one by B"),
    ],
)
def test_what_is_no_reading_is_refused(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    path = written(tmp_path / "r.jsonl", {**LINE, "reader": "B"}, {**LINE, **changes})
    with pytest.raises(DataError, match=message):
        read_record(path)


@pytest.mark.parametrize(
    ("readings", "state"),
    [
        ([], ReviewState.UNREAD),
        ([reading()], ReviewState.SOUND),
        ([reading(kept="It says so.")], ReviewState.SOUND),
        ([reading(mended="accepts more")], ReviewState.MENDED),
        ([reading("wrong", mended="asks now")], ReviewState.MENDED),
        ([reading("arguable", mended="asks now"), reading(reader="B")], ReviewState.MENDED),
        ([reading("arguable")], ReviewState.OPEN),
        ([reading("arguable", kept="It says so.")], ReviewState.OPEN),
        ([reading("wrong", mended="asks now"), reading("arguable", "B")], ReviewState.OPEN),
    ],
)
def test_where_an_entry_stands(readings: list[Review], state: ReviewState) -> None:
    (standing,) = compute_statuses({"base_one": entry()}, readings)
    assert standing.state is state


def test_an_entry_that_is_gone_is_withdrawn() -> None:
    gone = reading("wrong", entry="base_two", withdrawn="Nobody can know.")
    other = reading(entry="miss_func_two")
    found = compute_statuses({"base_one": entry()}, [reading(), gone, other])
    assert [(each.entry, each.state) for each in found] == [
        ("base_one", ReviewState.SOUND),
        ("base_two", ReviewState.WITHDRAWN),
    ]
    assert summary(found) == "1 sound, 0 corrected, 1 withdrawn"
    assert changed(found) == []


def test_a_change_since_the_reading_is_seen() -> None:
    now = {"base_one": entry(words="Go now.")}
    assert changed(compute_statuses(now, [reading()])) == ["base_one"]
    again = reading(read=fingerprint(now["base_one"]))
    assert changed(compute_statuses(now, [reading(), again])) == []
    assert changed(compute_statuses(now, [])) == []


def test_tallies_are_by_reader_and_category() -> None:
    found = tallies(
        [
            reading("wrong", "B"),
            reading(entry="miss_func_one"),
            reading("arguable"),
            reading(entry="base_two"),
        ]
    )
    assert [(each.reader, each.category) for each in found] == [
        ("A", Category.BASE),
        ("A", Category.MISSING_FUNCTION),
        ("B", Category.BASE),
    ]
    assert found[0].found == Counter([ReviewOutcome.SOUND, ReviewOutcome.ARGUABLE])
    assert found[0].not_sound == 0.5
    assert found[2].interval == pytest.approx((0.2065, 1.0), abs=1e-4)


def test_readers_agree_on_what_both_have_read() -> None:
    one = [reading("wrong"), reading(entry="base_two"), reading(entry="base_three", read="0f")]
    two = [
        reading("wrong", "B"),
        reading("arguable", "B", entry="base_two", read="1f"),
        reading("arguable", "B", entry="base_two"),
        reading("sound", "B", entry="base_three", read="1f"),
        reading("sound", "B", entry="base_four"),
    ]
    unchanged, everything = compute_agreements([*one, *two])
    assert everything[:4] == (("A", "B"), False, 3, 2)
    assert everything.kappa == pytest.approx(0.5)
    assert unchanged[:4] == (("A", "B"), True, 2, 1)
    assert compute_agreements(one) == []


def test_agreement_is_said_with_what_it_is_of() -> None:
    readings = [reading("arguable"), reading(reader="B"), reading(entry="base_two")]
    both = compute_agreements([*readings, reading(reader="B", entry="base_two", read="1f")])
    heading, first, second = make_agreement_rows(both)
    assert heading[-1] == "Cohen's kappa"
    assert first == ["A and B", "unchanged", "0 of 1", "0.0%", "0.0% to 79.3%", "0.00"]
    assert second[:2] == ["A and B", "all common"]
    alike = compute_agreements([reading(), reading(reader="C")])
    assert make_agreement_rows(alike)[1][-1] == "undefined"


def test_ids_of_our_data_begin_with_their_category() -> None:
    everything = load_embedded(list(Category)).trajectories.values()
    assert [each.id for each in everything if parse_category(each.id) is not each.category] == []


def test_every_entry_is_read_as_it_is_or_known_to_have_been_read_before() -> None:
    data = load_embedded(MULTI_TURN).trajectories
    found = compute_statuses(data, read_record())
    # Of scenarios since version 3, which reader A has not read, the README counts what nobody has.
    begun = {
        data[e.entry].base for e in found if e.now and any(r.reader == "A" for r in e.readings)
    }
    unread = [each.entry for each in found if each.state is ReviewState.UNREAD]
    assert [id for id in unread if data[id].base in begun] == []
    known = READ_BEFORE.read_text(encoding="utf-8").split()
    assert [id for id in known if id not in data] == []
    assert [id for id in changed(found) if id not in known] == []


def test_no_objection_is_open_and_what_is_withdrawn_is_gone() -> None:
    record = read_record()
    found = compute_statuses(load_embedded(MULTI_TURN).trajectories, record)
    assert [each.entry for each in found if each.state is ReviewState.OPEN] == []
    gone = {each.entry for each in found if each.state is ReviewState.WITHDRAWN}
    # Scenarios that cannot be long lost these variants.
    bulky = (Category.LONG_CONTEXT, Category.COMPOSITE)
    short = {f"{each}_{s.name}" for s in read_scenarios() if s.not_long for each in bulky}
    assert gone - short == withdrawn(record) - short
