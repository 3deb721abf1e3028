"""The table of variants: scores, paired differences; of formats spread and deviation."""

from __future__ import annotations

import pytest

from extensions.formats.tables import format_lines
from runner.analysis.figures import RunFigures
from runner.analysis.variant_table import VariantScore, compare_with_first, variant_lines
from runner.models.prompting import ALL
from tests.runner.records.made import episode


def score(number, results, planned=None, category="multiple", *, allow_errors=False):
    """Return how the run in a format ended; p passed, f failed, e is an error."""
    names = {"p": "passed", "f": "failed", "e": "error"}
    found = [episode(f"{i}", 0, category, names[r], 1, 0) for i, r in enumerate(results)]
    figures = RunFigures(found, allow_errors=allow_errors)
    return VariantScore(ALL[number].name, figures, planned or len(found))


@pytest.mark.parametrize(
    ("results", "planned", "value"),
    [
        ("ppff", None, 0.5),
        ("p" * 98 + "e", None, 1.0),
        ("ppe", None, None),
        ("pp", 3, None),
        ("", 3, None),
    ],
)
def test_a_score_is_given_where_it_is_fair(results, planned, value):
    assert score(0, results, planned).score == value


def test_errors_may_be_allowed():
    assert score(0, "pfe", allow_errors=True).score == 0.5


def test_the_spread_and_the_deviation_of_all_formats_are_told():
    # ALL[0] and ALL[1] differ in the prompt, ALL[0] and ALL[12] in what calls are in.
    text = "\n".join(format_lines([score(0, "pppp"), score(1, "pppf"), score(12, "ppff")]))
    assert "spread 50.0% (50.0% to 100.0%), population standard deviation 20.4%, mean 75.0%" in text
    assert "3 formats: spread" in text
    assert "mean by calls: python 87.5%, json 50.0%" in text
    assert "mean by prompt: plain 75.0%, markdown 75.0%" in text
    assert "mean by marks" not in text
    cells = ["python-bare-json-plain", "4", "0", "0", "0", "100.0%", *"----"]
    assert text.splitlines()[2].split() == cells


def test_each_category_has_a_column_where_there_are_several():
    both = score(0, "pp")
    other = score(0, "pf", category="chat")
    figures = RunFigures([*both.figures.outcomes, *other.figures.outcomes])
    both = both._replace(figures=figures, planned=4)
    heading, _, row = "\n".join(format_lines([both])).splitlines()
    assert heading.split()[-3:] == ["multiple", "chat", "score"]
    assert row.split()[-3:] == ["100.0%", "50.0%", "75.0%"]


def test_a_format_without_a_score_is_left_out_of_the_spread_and_said_to_be():
    text = "\n".join(format_lines([score(0, "pp"), score(1, "pf"), score(2, "p", planned=2)]))
    assert "2 formats: spread" in text
    assert text.endswith("1 of 3 formats have no score (unfinished, or too many errors)")


def test_one_format_has_no_spread():
    assert "spread" not in "\n".join(format_lines([score(0, "pp")]))


def variant(name, results, planned=None):
    """Return how the run of a variant ended, over entries that are called by their place."""
    return score(0, results, planned)._replace(name=name)


def test_every_variant_is_compared_with_the_first_entry_by_entry():
    first, worse = variant("a", "p" * 20), variant("b", "p" * 10 + "f" * 10)
    same = variant("c", "p" * 20)
    found = compare_with_first([first, worse, same])
    assert found.keys() == {"b", "c"}
    assert (found["b"].difference.worse, found["b"].difference.difference) == (10, -0.5)
    assert found["b"].corrected == 2 * found["b"].difference.p_value == 4 / 2**10
    assert (found["c"].difference.difference, found["c"].corrected) == (0.0, 1.0)


def test_errors_are_left_out_of_pairs():
    first, second = variant("a", "p" * 99 + "e"), variant("b", "p" * 98 + "ef")
    assert compare_with_first([first, second])["b"].difference.entries == 98


def test_a_variant_without_a_fair_score_is_not_compared():
    found = [variant("a", "pp"), variant("b", "pf", planned=3), variant("c", "")]
    assert compare_with_first(found) == {}
    rows = "\n".join(variant_lines("way", found)).splitlines()
    assert rows[3].split()[-4:] == [*"----"]
    assert rows[-1] == "2 of 3 ways have no score (unfinished, or too many errors)"


def test_the_table_says_what_differs_and_how_sure_that_is():
    rows = [*variant_lines("way", [variant("a", "p" * 20), variant("b", "p" * 10 + "f" * 10)])]
    heading, _, _, row = rows[0].splitlines()
    assert heading.split()[-6:] == ["score", "difference", "95%", "p", "p,", "Holm"]
    assert " ".join(row.split()) == "b 10 10 0 0 50.0% -50.0 -69.8 to -21.1 0.0020 0.0020"
    assert rows[1].startswith('differences from a cover the same entries; the column "p, Holm" is')
