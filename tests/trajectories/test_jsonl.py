from __future__ import annotations

import os
from pathlib import Path

import pytest

from envs.errors import DataError
from trajectories.jsonl import RepeatedMember, parse_object, read_objects


@pytest.fixture
def path(tmp_path):
    return tmp_path / "lines.jsonl"


def test_lines_come_with_their_numbers_and_blank_ones_are_passed_over(path):
    path.write_bytes(b'\n{"a": 1}\n  \r\n\t\n{"b": "\xc3\xa9"}\r\n{"c": 3}')
    assert list(read_objects(path)) == [
        (f"{path}:2", {"a": 1}),
        (f"{path}:5", {"b": "é"}),
        (f"{path}:6", {"c": 3}),
    ]


@pytest.mark.parametrize("content", ["", "\n", " \n\n"])
def test_a_file_may_hold_nothing(path, content):
    path.write_text(content, encoding="utf-8")
    assert list(read_objects(path)) == []


@pytest.mark.parametrize("separator", ["\u2028", "\u0085"])
def test_only_a_line_break_ends_a_line(path, separator):
    path.write_text(f'{{"a": "x{separator}y"}}\n', encoding="utf-8")
    assert list(read_objects(path)) == [(f"{path}:1", {"a": f"x{separator}y"})]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "is not valid JSON"),
        ('{"a": 1} {"b": 2}', "is not valid JSON"),
        ("{'a': 1}", "is not valid JSON"),
        ('{"a": ' + "9" * 5000 + "}", "is not valid JSON: Exceeds the limit (4300 digits)"),
        ("[1]", "must be a JSON object, but is of type list"),
        ("null", "must be a JSON object, but is null"),
        ('"text"', "must be a JSON object, but is of type str"),
        ("[" * 100_000, "is nested too deep"),
        ('{"a":' * 100_000, "is nested too deep"),
    ],
    ids=lambda text: text[:20],
)
def test_a_line_that_is_no_object_is_named_by_file_and_line(path, line, message):
    path.write_text(f'{{"a": 1}}\n\n{line}\n', encoding="utf-8")
    with pytest.raises(DataError) as caught:
        list(read_objects(path))
    text = str(caught.value)
    assert text.startswith(f"{path}:3: {message}")
    assert "\n" not in text
    assert "sys." not in text  # advice to programmers of Python


def test_a_named_pipe_is_refused_before_it_blocks(path):
    os.mkfifo(path)
    with pytest.raises(DataError) as caught:
        list(read_objects(path))
    assert str(caught.value) == f"{path}: is a named pipe; write its content to a file"


def test_a_link_to_a_device_is_refused_before_it_fills_the_memory(path):
    path.symlink_to("/dev/zero")
    with pytest.raises(DataError) as caught:
        list(read_objects(path))
    assert str(caught.value) == f"{path}: is a device; write its content to a file"
    assert list(read_objects(Path("/dev/null"))) == []


def test_a_byte_order_mark_is_passed_over(path):
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n')
    assert list(read_objects(path)) == [(f"{path}:1", {"a": 1})]


def test_lines_before_a_bad_one_are_yielded(path):
    path.write_text('{"a": 1}\n{\n', encoding="utf-8")
    lines = read_objects(path)
    assert next(lines) == (f"{path}:1", {"a": 1})
    with pytest.raises(DataError, match=":2: "):
        next(lines)


def test_a_missing_file_is_named(path):
    with pytest.raises(DataError, match="cannot be read: No such file") as caught:
        list(read_objects(path))
    assert str(path) in str(caught.value)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        list(read_objects(tmp_path))


def test_what_is_not_utf8_is_named(path):
    path.write_bytes(b'{"a": "\xff"}\n')
    with pytest.raises(DataError, match="is not UTF-8 text"):
        list(read_objects(path))


def test_one_object_is_parsed_for_any_place():
    assert parse_object(' {"a": [1]} ', "<here>") == {"a": [1]}
    with pytest.raises(DataError, match=r"^<here>: must be a JSON object, but is of type int"):
        parse_object("1", "<here>")


@pytest.mark.parametrize("finite", [True, False])
def test_a_key_that_occurs_twice_is_named_by_file_and_line(tmp_path, finite):
    path = tmp_path / "lines.jsonl"
    path.write_text('{"a": {"a": 1}}\n{"a": [{"b": 1, "c": 2, "b": 1}]}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"lines.jsonl:2: an object has the key 'b' twice$"):
        [*read_objects(path, finite=finite)]
    assert len([*read_objects(path, finite=finite, unique=False)]) == 2
    long = f'"{"x" * 99}"'
    with pytest.raises(DataError, match=r"^f: an object has the key 'x{60}' twice$"):
        parse_object(f'{{"k": 0, {long}: 1, {long}: 2}}', "f")


NO_NUMBERS = ["NaN", "Infinity", "-Infinity", "1e999", "-1E+400", "9" * 400 + ".0"]


@pytest.mark.parametrize("number", NO_NUMBERS)
def test_a_number_that_is_none_is_refused_by_its_place(number):
    with pytest.raises(DataError, match=r"f:3: \$\.a\[1\]\.b: must be a finite number"):
        parse_object(f'{{"a": [0, {{"b": {number}}}]}}', "f:3")


@pytest.mark.parametrize("text", ['{"a": "NaN"}', '{"a": "1e999"}', '{"NaN": 1}', '{"a": 1e300}'])
def test_words_and_large_numbers_are_taken(text):
    assert parse_object(text, "f:1")


def test_what_a_model_said_may_hold_them(tmp_path):
    path = tmp_path / "lines.jsonl"
    path.write_text('{"a": NaN}\n', encoding="utf-8")
    [(where, line)] = read_objects(path, finite=False)
    assert where.endswith(":1")
    assert line["a"] != line["a"]


ENDS = [
    '{"id": "a", "function": [{"name": "f"}]}',
    '{"id": "b", "n": {"x": 1}, "function": [{"name": "f"}]}',
    '{"id": "c", "function": [{"name": "g"}], "k": 2}',
    '{"function": [{"name": "g"}], "k": 2}',
    '{"id": {"x": 1, "function": [{"name": "f"}]}}',
    '{"id": "a, \\"function\\": ", "k": 1}',
    ' {"id": 1 , "function": 2} ',
    '{"id": 1, "function": 2}\r',
]


def read_repeated(path, following=None, **how):
    return [*read_objects(path, repeated=RepeatedMember("function", following), **how)]


@pytest.mark.parametrize("following", [None, "k"])
@pytest.mark.parametrize("unique", [True, False])
def test_repeated_members_of_lines_are_shared(path, unique, following):
    path.write_text("\n".join([*ENDS, *ENDS, *reversed(ENDS)]), encoding="utf-8")
    plain = [*read_objects(path, unique=unique)]
    assert read_repeated(path, following, unique=unique) == plain
    path.write_text("\n".join(ENDS[:2]), encoding="utf-8")
    (_, one), (_, other) = read_repeated(path, following, unique=unique)
    assert one["function"] is other["function"]


def test_a_member_is_shared_where_others_follow_it(path):
    lines = [f'{{"id": {n}, "function": [{{"a": 1}}], "k": {n}}}' for n in (1, 2)]
    path.write_text("\n".join(lines), encoding="utf-8")
    (_, one), (_, other) = read_repeated(path, "k")
    assert (one["k"], other["k"]) == (1, 2)
    assert one["function"] is other["function"]


def test_many_members_are_read_as_alone(path):
    lines = [f'{{"id": {n}, "function": {n % 300}}}' for n in range(700)]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert [line["function"] for _, line in read_repeated(path)] == [n % 300 for n in range(700)]


@pytest.mark.parametrize(
    "line",
    [
        '{"id": 1}, "function": 2}',
        '{"id": 1} {, "function": 2}',
        '{"id": 1, "function": 2',
        '{"id": 1, "function": 2} {}',
        '{"id": 1, "function": 2}, "k": 3}',
        '{"id": 1, "function": {"k": 2, "k": 3}, "k": 4',
        '{"id": 1, "k": 1, "function": 2, "k": 3}',
        '{"id": 1, "id": 1, "function": 2}',
        '{"function": 1, "id": 1, "function": 2}',
        '{"id": 1, "function": 2, "id": 1}',
        '{"id": NaN, "function": 2}',
        '[1, "function": 2}',
        '{"id": ' + "[" * 100_000 + ', "function": 2}',
    ],
    ids=lambda text: text[:30],
)
def test_a_wrong_line_with_a_repeated_member_has_the_usual_message(path, line):
    messages = []
    for repeated in (RepeatedMember("function"), RepeatedMember("function", "k"), None):
        path.write_text(f'{{"id": 1, "function": 2}}\n{line}\n', encoding="utf-8")
        with pytest.raises(DataError) as caught:
            list(read_objects(path, repeated=repeated))
        messages.append(str(caught.value))
    assert messages == [messages[-1]] * 3
