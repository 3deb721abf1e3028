from __future__ import annotations

import pytest

from checkers.profile import BFCL
from runner.analysis.comparison import compare_each
from runner.analysis.report.pages import comparison_page
from tests.runner.analysis.report.making import call, source_of, unpacked

RIGHT = [
    [call("mv", source="notes.txt", destination="old")],
    [call("cd", folder="old"), call("wc", file_name="notes.txt")],
]
HOSTILE = "</script><img src=x onerror=alert(1)>\u202e"


@pytest.fixture
def page(dataset_of, folders):
    """Return the page that compares a right run with another one."""

    def write(turns):
        runs = source_of({folders.id: RIGHT}), source_of({folders.id: turns})
        return comparison_page(compare_each(runs, dataset_of(folders), BFCL, (20, 20))[0])

    return write


def test_it_holds_the_comparison_and_what_it_comes_to(page):
    [shown] = unpacked(page([RIGHT[0], []]))
    assert shown["lost"][0]["diagnosis"]["cause"] == "missing_call"
    assert shown["conclusion"][0].startswith(
        "Within noise: B minus A is \N{MINUS SIGN}100.0 points"
    )


def test_no_text_of_a_model_is_in_the_page_itself(page):
    text = page([[call(HOSTILE, a=1)], []])
    assert "onerror" not in text
    [shown] = unpacked(text)
    assert HOSTILE in shown["lost"][0]["diagnosis"]["detail"]
