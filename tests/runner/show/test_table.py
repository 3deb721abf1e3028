from __future__ import annotations

from runner.show.terminal import table


def test_columns_are_aligned():
    assert table([["name", "size"], ["a", "10"], ["longer name", "5"]]) == (
        "name         size\n-----------  ----\na              10\nlonger name     5"
    )


def test_a_heading_alone_is_a_table():
    assert table([["a", "b"]]) == "a  b\n-  -"
