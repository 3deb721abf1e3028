"""The page on data sets: whole without a script, and with texts as texts."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from functools import cache

from extensions.authoring.statistics import FIGURES, EntryCounts, Statistics, statistics
from extensions.authoring.statistics_page import PLOTS, statistics_page
from trajectories.dataset import load_embedded
from trajectories.schema import Category


@cache
def found() -> Statistics:
    return statistics(load_embedded([Category.BASE]))


def test_the_page_has_every_figure_and_plot_of_both_sets_and_no_script() -> None:
    page = statistics_page([found(), replace(found(), name="mine", entries=found().entries[:9])])
    assert "<script" not in page
    assert "script-src" not in page
    assert "default-src 'none'" in page
    assert page.count("<svg") == len(PLOTS)
    assert all(f">{figure.name}<" in page for figure in FIGURES)
    assert f">{len(found().entries)}<" in page
    assert ">9<" in page
    assert {"set-1", "set-2"} <= set(re.findall(r'<rect class="(set-\d)"', page))


def test_single_turns_have_plots_of_their_own() -> None:
    mine = statistics(load_embedded([Category.MULTIPLE, Category.SIMPLE_JAVA]))
    page = statistics_page([found(), mine])
    assert page.count("<svg") > len(PLOTS)
    assert "<title>java: " in page
    assert "<title>string: " in page


def standing(page: str) -> str:
    """Return a page without the plots whose bars lie."""
    lying = "|".join(re.escape(html.escape(plot.title)) for plot in PLOTS if plot.lies)
    return re.sub(rf'<svg[^>]*aria-label="(?:{lying}).*?</svg>', "", page)


def test_functions_have_their_names_beside_the_bars() -> None:
    page, *_ = re.findall(
        r'aria-label="Share of calls of the most.*?</svg>', statistics_page([found()])
    )
    first, *_ = found().functions.most_common(1)
    assert f">{first[0]}</text>" in page
    assert f"<title>{first[0]}: " in page
    widths = re.findall(r'x="170" y="[\d.]+" width="([\d.]+)"', page)
    assert [float(w) for w in widths] == sorted(map(float, widths), reverse=True)
    assert 0 < float(widths[-1]) <= float(widths[0]) <= 480 - 170


def test_bars_stand_on_the_line_and_none_is_higher_than_the_plot() -> None:
    for y, height in re.findall(
        r'y="([\d.]+)" width="[\d.]+" height="([\d.]+)"', standing(statistics_page([found()]))
    ):
        assert 0 <= float(y) <= 160
        assert abs(float(y) + float(height) - 160) < 0.2


def test_names_are_shown_as_texts() -> None:
    page = statistics_page([replace(found(), name="<b>x</b>\ud800")])
    assert "<b>x" not in page
    assert "&lt;b&gt;x" in page
    page.encode("utf-8")


def test_the_same_data_gives_the_same_bytes() -> None:
    assert statistics_page([found()]) == statistics_page([found()])


def test_the_plots_show_how_diverse_the_messages_are() -> None:
    mine = replace(found(), entries=[replace_words(each) for each in found().entries])
    assert len(mine.openings) == 1
    assert max(mine.distinct_pairs.values()) < 0.01 < min(found().distinct_pairs.values())
    page = statistics_page([found(), mine])
    assert "<title>please look: 100.0%</title>" in page


def replace_words(entry: EntryCounts) -> EntryCounts:
    """Return an entry whose messages are all the same."""
    return entry._replace(words=[["Please", "look", "again"] for _ in entry.words])
