"""What a notebook shows."""

from __future__ import annotations

from html.parser import HTMLParser

from checkers.evidence import StateEvidence
from checkers.reasons import Reason
from checkers.verdict import Failure, Verdict
from envs.notebook_html import table
from envs.state import ABSENT, Difference
from runner.records.episode_record import EpisodeRecord
from tests.runner.records.made import step

HOSTILE = "<script>alert('&')</script>\ud800"


class Cells(HTMLParser):
    """Collects what stands in the cells of a table, and its tags."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.tags: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.cells.append(data)


def test_texts_are_escaped_and_long_ones_cut():
    found = Cells(table(["what"], [[HOSTILE], ["x" * 1000]], "a title"))
    assert found.tags == {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert found.cells[:2] == ["a title", "what"]
    assert found.cells[2] == "<script>alert('&')</script>\\ud800"
    assert len(found.cells[3]) == 300


def test_characters_that_hide_or_turn_text_can_be_seen():
    found = Cells(table(["what"], [["a\u202eb\x1b[31m\x00\u200bé\n\t😀"]]))
    assert found.cells[1] == "a\\u202eb\\x1b[31m\\x00\\u200bé\n\t😀"


def test_of_many_rows_the_first_are_shown_and_the_others_counted():
    found = Cells(table(["n"], [[str(number)] for number in range(80)]))
    assert found.cells[-2:] == ["49", "and 30 more"]


def test_a_difference_is_a_row():
    found = Cells(Difference("TicketAPI.tickets[1]", ABSENT, HOSTILE)._repr_html_())
    assert found.cells[3:] == ["TicketAPI.tickets[1]", "nothing", repr(HOSTILE)]
    assert "script" not in found.tags
    short, long = "x" * 298, "y" * 299
    for values in ((short, long), (long, short)):
        shown = Cells(Difference("A.b", *values)._repr_html_()).cells[4:]
        assert [cell == repr(value) for cell, value in zip(shown, values, strict=True)] == [
            value == short for value in values
        ]
        assert {*map(len, shown)} == {300}


def test_a_verdict_says_where_it_failed_and_how_the_state_differs():
    evidence = StateEvidence(lambda: [Difference("A.b", 1, 2)])
    verdict = Verdict(False, Failure(Reason.STATE_MISMATCH, evidence), 1, 3, 1)
    found = Cells(verdict._repr_html_())
    assert "Verdict(failed in turn 2 of 3: multi_turn:instance_state_mismatch)" in found.cells
    assert found.cells[-2:] == ["A.b", "expected 1, got 2"]
    assert "3 of 3 turns" in Cells(Verdict(True, None, None, 3, 3)._repr_html_()).cells


def test_an_episode_is_its_calls_and_short_in_one_line():
    verdict = Verdict(True, None, None, 1, 1)
    steps = [step(0, ["ls()"], [HOSTILE])]
    record = EpisodeRecord("a_0", 2, "base", "passed", verdict, None, steps=steps)
    assert repr(record) == "EpisodeRecord(a_0, trial 2, Verdict(passed: 1 turns))"
    found = Cells(record._repr_html_())
    assert found.cells[-3:-1] == ["turn 1", "ls()"]
    assert "script" not in found.tags
