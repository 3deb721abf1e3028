"""HTML page that compares the statistics of data sets in tables and plots, without scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from math import ceil
from pathlib import Path
from typing import NamedTuple

from extensions.authoring.statistics import Statistics, ranked, select_figures, shares
from runner.analysis.report.pages import still_page

_WIDTH, _HEIGHT, _BASE, _LEFT = 480, 190, 160, 34
"""Size of a plot, baseline of the bars and left edge of the first bar, in SVG units."""
_LABELS = 16
"""Maximum number of labels below the bars."""
_LETTER = 7
"""Width of a letter, in SVG units."""
_FUNCTIONS = 20
"""Maximum number of functions per data set."""
_NAMES, _ROW = 170, 18
"""Width of the column of names, and height of a row, in SVG units."""
_NAME_LETTERS = 26
"""Maximum number of letters of a name beside a horizontal bar."""


class DistributionPlot(NamedTuple):
    """Bar chart that shows a distribution for each data set."""

    title: str
    of: Callable[[Statistics], Mapping[str, float]]
    """Share by label."""
    lies: bool = False
    """Whether the bars are horizontal. Horizontal bars have room for long names."""


PLOTS = (
    DistributionPlot("Share of entries by number of turns", lambda s: shares(s.turns_per_entry)),
    DistributionPlot("Share of turns by number of calls", lambda s: shares(s.calls_per_turn)),
    DistributionPlot(
        "Share of entries by number of steps (calls)", lambda s: shares(s.calls_per_entry, 5)
    ),
    DistributionPlot("Share of entries by number of hops", lambda s: shares(s.hops)),
    DistributionPlot(
        "Share of entries by number of backends",
        lambda s: shares(entry.environments for entry in s.entries),
    ),
    DistributionPlot("Share of turns by number of words", lambda s: shares(s.words_per_turn, 10)),
    DistributionPlot(
        "Share of calls of the most frequent functions",
        lambda s: ranked(s.functions, _FUNCTIONS),
        lies=True,
    ),
    DistributionPlot(
        "Share of messages by their first two words",
        lambda s: ranked(s.openings, _FUNCTIONS),
        lies=True,
    ),
    DistributionPlot(
        "Share of distinct word pairs in user messages, by backend",
        lambda s: s.distinct_pairs,
        lies=True,
    ),
)

_WORDS, _LETTERS = 6, 10
"""Maximum number of labels below the bars, and maximum number of letters of a label."""

_SINGLE_TURN = (
    DistributionPlot(
        "Share of entries by number of described functions",
        lambda s: shares(s.offered_where_described),
    ),
    DistributionPlot("Share of entries by language", lambda s: ranked(s.languages, _WORDS)),
    DistributionPlot("Share of parameters by type", lambda s: ranked(s.types, _WORDS)),
    DistributionPlot("Share of functions by domain", lambda s: ranked(s.domains, _WORDS)),
)


_STYLE = Path(__file__).parent / "assets" / "statistics.css"


def statistics_page(sets: Sequence[Statistics]) -> str:
    """Return the HTML page on one data set, or on two side by side."""
    names = " and ".join(found.name for found in sets)
    body = "\n".join([*_heading(sets), *_figures(sets), *_plots(sets)])
    return still_page(f"Turnwise: {names}", names, body, ("scores.css", _STYLE))


def _heading(sets: Sequence[Statistics]) -> Iterator[str]:
    yield "<h1>Data set statistics</h1>"
    yield '<p class="sets">'
    for number, found in enumerate(sets, start=1):
        out = f", {found.unplayable} unplayable entries omitted" if found.unplayable else ""
        name = escape(f"{found.name}: {len(found.entries)} entries{out}")
        yield f'<span class="set-{number}"><span class="sample"></span>{name}</span>'
    yield "</p>"


def _figures(sets: Sequence[Statistics]) -> Iterator[str]:
    yield '<section class="card figures"><table><thead><tr><th scope="col"></th>'
    yield from (f'<th scope="col">{escape(found.name)}</th>' for found in sets)
    yield '<th scope="col">definition</th></tr></thead><tbody>'
    for figure in select_figures(sets):
        cells = "".join(f"<td>{escape(figure.text(found))}</td>" for found in sets)
        head = f'<th scope="row">{escape(figure.name)}</th>'
        yield f"<tr>{head}{cells}<td>{escape(figure.meaning)}</td></tr>"
    yield "</tbody></table></section>"


def _plots(sets: Sequence[Statistics]) -> Iterator[str]:
    yield '<div class="plots">'
    single = _SINGLE_TURN if any(found.languages for found in sets) else ()
    for plot in (*PLOTS, *single):
        draw = _draw_lying if plot.lies else _draw_plot
        drawn = draw(plot.title, [plot.of(found) for found in sets])
        yield f'<section class="card"><h2>{escape(plot.title)}</h2>{drawn}</section>'
    yield "</div>"


def _draw_plot(title: str, series: Sequence[Mapping[str, float]]) -> str:
    labels = list(dict.fromkeys(label for shown in series for label in shown))
    highest = max((share for shown in series for share in shown.values()), default=0) or 1
    room = (_WIDTH - _LEFT) / max(1, len(labels))
    bar = room * 0.8 / len(series)
    parts = [*_axis(highest)]
    for at, label in enumerate(labels):
        left = _LEFT + at * room + room * 0.1
        for number, shown in enumerate(series, start=1):
            share = shown.get(label, 0.0)
            height = share / highest * (_BASE - 14)
            x, y = left + (number - 1) * bar, _BASE - height
            size = f'x="{x:.1f}" y="{y:.1f}" width="{bar:.1f}" height="{height:.1f}"'
            said = f"<title>{escape(label)}: {100 * share:.1f}%</title>"
            parts.append(f'<rect class="set-{number}" {size}>{said}</rect>')
    parts += _labels(labels, room)
    box = f'viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    return f'<svg class="plot" {box} role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>'


def _draw_lying(title: str, series: Sequence[Mapping[str, float]]) -> str:
    labels = list(dict.fromkeys(label for shown in series for label in shown))
    highest = max((share for shown in series for share in shown.values()), default=0) or 1
    bar = _ROW * 0.8 / len(series)
    parts = []
    for at, label in enumerate(labels):
        name = label if len(label) <= _NAME_LETTERS else f"{label[: _NAME_LETTERS - 1]}\u2026"
        place = f'x="{_NAMES - 6}" y="{(at + 0.7) * _ROW:.1f}" text-anchor="end"'
        parts.append(f"<text {place}>{escape(name)}</text>")
        for number, shown in enumerate(series, start=1):
            share = shown.get(label, 0.0)
            y = (at + 0.1) * _ROW + (number - 1) * bar
            width = share / highest * (_WIDTH - _NAMES - 40)
            size = f'x="{_NAMES}" y="{y:.1f}" width="{width:.1f}" height="{bar:.1f}"'
            said = f"<title>{escape(label)}: {100 * share:.1f}%</title>"
            parts.append(f'<rect class="set-{number}" {size}>{said}</rect>')
        most = max(shown.get(label, 0.0) for shown in series)
        x = _NAMES + most / highest * (_WIDTH - _NAMES - 40) + 4
        parts.append(f'<text x="{x:.1f}" y="{(at + 0.7) * _ROW:.1f}">{100 * most:.1f}%</text>')
    box = f'viewBox="0 0 {_WIDTH} {len(labels) * _ROW}"'
    return f'<svg class="plot" {box} role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>'


def _axis(highest: float) -> Iterator[str]:
    yield f'<line x1="{_LEFT}" y1="{_BASE}" x2="{_WIDTH}" y2="{_BASE}"/>'
    yield f'<text x="0" y="18">{100 * highest:.0f}%</text><text x="0" y="{_BASE}">0%</text>'


def _labels(labels: Sequence[str], room: float) -> Iterable[str]:
    longest = max((len(label[:_LETTERS]) for label in labels), default=0)
    every = max(-(-len(labels) // _LABELS), ceil((longest + 1) * _LETTER / room))
    for at, label in enumerate(labels):
        if at % every == 0:
            x = _LEFT + (at + 0.5) * room
            text = escape(label[:_LETTERS])
            yield f'<text x="{x:.1f}" y="{_BASE + 16}" text-anchor="middle">{text}</text>'
