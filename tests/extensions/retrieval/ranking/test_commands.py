"""The commands ``turnwise retrieve query`` and ``evaluate``: what they print and refuse."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest

from envs.errors import DataError
from runner.cli import main
from tests.runner.commands.running import run

Captured = pytest.CaptureFixture[str]


def test_a_query_prints_functions(capsys: Captured) -> None:
    assert run("retrieve query", "close the ticket", "-k", "2") == 0
    first, _, last = capsys.readouterr().out.splitlines()
    assert "close_ticket (TicketAPI): " in first
    assert last == "128 functions of own; ranked by default"


def test_a_query_as_json(capsys: Captured) -> None:
    assert run("retrieve query", "", "-k", "200", "--json", "--by", "bm25") == 0
    found = json.loads(capsys.readouterr().out)["found"]
    assert [each["place"] for each in found] == [*range(128)]
    assert {each["score"] for each in found} == {0}
    assert found[0]["document"]["name"] == found[0]["name"]


def test_a_query_of_which_nothing_is_there_is_told(capsys: Captured) -> None:
    assert run("retrieve query", "отмени мой рейс", "-k", "1") == 0
    out, err = capsys.readouterr()
    assert out.startswith("  1  0.0000  ")
    assert err.endswith("function of own matches the text; its first functions follow\n")


def test_figures_as_a_table_and_as_json(capsys: Captured) -> None:
    assert run("retrieve evaluate", "--queries", "exec", "--by", "bm25,default") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["queries", "corpus", "ranked"]
    assert len(lines) == 4
    assert run("retrieve evaluate", "--queries", "exec", "--by", "bm25", "--json") == 0
    [found] = json.loads(capsys.readouterr().out)
    assert found["queries"] >= 98
    assert found["all_in_5"] > 0.7


def test_several_sets_of_queries_have_a_row_of_means(capsys: Captured) -> None:
    assert run("retrieve evaluate", "--queries", "own,exec", "--by", "bm25,chars") == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[2:]]
    own, exec_, mean = rows[0::2]
    assert mean[:5] == ["mean", "of", "2", "sets", "bm25"]
    for one, other, both in zip(own[-5:], exec_[-5:], mean[-5:], strict=True):
        assert float(both) == pytest.approx((float(one) + float(other)) / 2, abs=0.11)


def test_a_split_is_a_part(capsys: Captured) -> None:
    sizes = []
    for fold in range(2):
        words = (
            "--queries",
            "exec",
            "--split",
            "instruction",
            "--folds",
            2,
            "--fold",
            fold,
            "--json",
        )
        assert run("retrieve evaluate", *words, "--by", "bm25") == 0
        sizes += [each["queries"] for each in json.loads(capsys.readouterr().out)]
    assert sum(sizes) >= 98
    assert all(sizes)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("query", "x", "-k", "0"), "is not a whole number from 1 to 1e18"),
        (("query", "x", "--by", "bm26"), "did you mean bm25"),
        (("query", "x", "--corpus", "owm"), "did you mean own"),
        (("evaluate", "--by", "bm25,"), "has an empty name; remove"),
        (("evaluate", "--queries", "nobody"), "use a run folder, a file or one of own, exec"),
        (("evaluate", "--queries", "exec", "--split", "tool", "--fold", "9"), "is too large"),
        (("evaluate", "--queries", "own", "--corpus", "bfcl-single:"), "existing file"),
        (("evaluate", "--split", "nothing"), "invalid choice"),
    ],
)
def test_bad_input_is_one_line(words: tuple[str, ...], why: str, capsys: Captured) -> None:
    status = 2
    with suppress(SystemExit):
        status = main(["retrieve", *words])
    assert status == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert why in said.err
    assert said.err.count("\n") == 1


def test_a_corpus_that_lacks_what_queries_need_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([{"name": "a", "description": "b"}]), encoding="utf-8")
    with pytest.raises(DataError, match="no query of exec fits the corpus"):
        run("retrieve evaluate", "--queries", "exec", "--corpus", path)
