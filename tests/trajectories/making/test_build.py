from __future__ import annotations

import json

import pytest

from trajectories.dataset import load_path
from trajectories.errors import DataError
from trajectories.making import build
from trajectories.making.base import MissingFunction, MissingParameter, Notes, read_notes
from trajectories.making.build import compose
from trajectories.packs import widened
from trajectories.schema import Category, Message, Trajectory, Turn


def few(count):
    paths = (build.FOLDER / "base.jsonl", build.FOLDER / "notes.jsonl")
    base = load_path(paths[0], [Category.BASE]).trajectories.values()
    return list(base)[:count], read_notes(paths[1])


@pytest.fixture
def folder(tmp_path):
    base, _ = few(1)
    text = (build.FOLDER / "notes.jsonl").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if f'"{base[0].id}"' in line)
    (tmp_path / "base.jsonl").write_text(build.lines(base), encoding="utf-8")
    (tmp_path / "notes.jsonl").write_text(f"{line}\n", encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_the_committed_files_are_what_is_built():
    for path, text in build.texts().items():
        assert path.read_text(encoding="utf-8") == text, path.name


def test_every_base_has_notes_and_nothing_else_has():
    base, notes = few(None)
    assert list(notes) == [t.id for t in base]


def test_each_base_gives_one_trajectory_of_each_category():
    built = build.build(*few(2))
    assert {category: len(members) for category, members in built.items()} == {
        # The second reads nothing that there would be more of.
        Category.MISSING_PARAMETER: 2,
        Category.MISSING_FUNCTION: 2,
        Category.LONG_CONTEXT: 1,
        Category.COMPOSITE: 1,
    }
    for category, members in built.items():
        assert {t.category for t in members} == {category}


def test_what_is_withdrawn_is_not_built(folder):
    id = few(1)[0][0].id.replace("base_", "composite_")
    line = {"entry": id, "reader": "A", "class": "wrong", "read": "0f", "reason": "a guess"}
    kept, gone = {**line, "kept": "no guess"}, {**line, "read": "1f", "withdrawn": "a guess"}
    assert len(build.texts(folder)[folder / "composite.jsonl"].splitlines()) == 1
    for lines, there in (([kept], 1), ([kept, gone], 0)):
        text = "".join(json.dumps(each) + "\n" for each in lines)
        (folder / "readings.jsonl").write_text(text, encoding="utf-8")
        texts = build.texts(folder)
        assert len(texts[folder / "composite.jsonl"].splitlines()) == there
        assert len(texts[folder / "long_context.jsonl"].splitlines()) == 1


def test_a_base_without_notes_is_refused():
    base, _ = few(1)
    with pytest.raises(DataError, match=f"{base[0].id}: there are no notes"):
        build.build(base, {})


def test_files_are_written_and_checked(folder):
    assert "miss_param.jsonl" in build.main(["--check"], folder)
    assert build.main([], folder) is None
    assert build.main(["--check"], folder) is None
    (folder / "composite.jsonl").write_text("", encoding="utf-8")
    assert build.main(["--check"], folder).startswith("composite.jsonl: out of date")


def test_bad_input_ends_in_one_line(folder):
    (folder / "notes.jsonl").write_text("{}\n", encoding="utf-8")
    assert "notes.jsonl:1: $.base" in build.main([], folder)
    assert build.main(["--help"], folder).startswith("usage:")


BASE = Trajectory(
    "base_x",
    Category.BASE,
    ("MessageAPI",),
    {"MessageAPI": {"current_user": "USR001"}},
    (
        Turn(
            (Message("user", "Tell Bob 'see you at six'."),),
            (
                "get_user_id(user='Bob')",
                "send_message(receiver_id='USR002', message='see you at six')",
            ),
        ),
        Turn(
            (Message("user", "Take it back, and show me the others."),),
            ("delete_message(receiver_id='USR002')", "view_messages_sent()"),
        ),
    ),
    provenance={"author": "Turnwise"},
)


def noted(turn, functions, without="Tell Bob that.", answer="That is 'see you at six'."):
    return Notes("base_x", MissingParameter(0, without, answer), MissingFunction(turn, functions))


def shape(trajectory):
    return [(bool(t.messages), bool(t.ground_truth), t.offers) for t in trajectory.turns]


def test_all_three_are_there():
    harder = compose(BASE, noted(1, ("delete_message",)), items=40)
    assert (harder.id, harder.category) == ("composite_x", Category.COMPOSITE)
    assert harder.provenance == {"author": "Turnwise", "base": "base_x"}
    wide = widened(harder.environments, harder.config, harder.long_context)
    assert len(wide["MessageAPI"]["inbox"]) == 43
    assert shape(harder) == [
        (True, False, ()),
        (True, True, ()),
        (True, False, ()),
        (False, True, ("delete_message",)),
    ]
    assert harder.held_out == ("delete_message",)


def test_both_may_be_about_the_same_turn():
    harder = compose(BASE, noted(0, ("send_message",)), items=40)
    assert shape(harder) == [
        (True, False, ()),
        (True, False, ()),
        (False, True, ("send_message",)),
        (True, True, ()),
    ]
    assert harder.turns[2].ground_truth == BASE.turns[0].ground_truth


def test_the_same_seed_and_size_give_the_same_trajectory():
    note = noted(1, ("delete_message",))
    assert compose(BASE, note, 3, 40) == compose(BASE, note, 3, 40)
    assert compose(BASE, note, 3, 40) != compose(BASE, note, 4, 40)


def test_a_value_that_can_be_had_otherwise_is_refused():
    with pytest.raises(DataError, match="base_x: missing_parameter"):
        compose(BASE, noted(1, ("delete_message",), "Say 'see you at six' to Bob.", "Bob."))
