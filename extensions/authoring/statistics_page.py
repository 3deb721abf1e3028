"""The page on what data sets are like: figures side by side, and plots that need no script."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

from extensions.authoring.statistics import Statistics, figures_of, ranked, shares
from runner.analysis.report.pages import still_page

_WIDTH, _HEIGHT, _BASE, _LEFT = 480, 190, 160, 34
"""Of a plot, in its own units: all of it, where the bars stand, and where they begin."""
_LABELS = 16
"""How many labels there is room for below the bars."""
_RANKS = 30
"""How many functions are shown, the most frequent first."""


class Plot(NamedTuple):
    """A distribution that is drawn of each data set."""

    title: str
    of: Callable[[Statistics], Mapping[str, float]]
    """Label to share."""


def _by_rank(found: Statistics) -> Mapping[str, float]:
    total = max(1, found.functions.total())
    most = found.functions.most_common(_RANKS)
    return {str(rank): count / total for rank, (_, count) in enumerate(most, start=1)}


def _by_backend(found: Statistics) -> Mapping[str, float]:
    return shares(entry.environments for entry in found.entries)


PLOTS = (
    Plot("Turns an entry, share of entries", lambda s: shares(s.turns_per_entry)),
    Plot("Calls a turn, share of turns", lambda s: shares(s.calls_per_turn)),
    Plot("Hops an entry, share of entries", lambda s: shares(s.hops)),
    Plot("Backends an entry, share of entries", _by_backend),
    Plot("Words a turn, share of turns", lambda s: shares(s.words_per_turn, 10)),
    Plot("Functions by frequency, share of calls", _by_rank),
)


_WORDS, _LETTERS = 6, 10
"""How many words there is room for below the bars, and how much of one."""

_SINGLE_TURN = (
    Plot(
        "Functions described, share of entries",
        lambda s: shares(s.offered_where_described),
    ),
    Plot("Languages, share of entries", lambda s: ranked(s.languages, _WORDS)),
    Plot("Types, share of parameters", lambda s: ranked(s.types, _WORDS)),
    Plot("Domains, share of functions", lambda s: ranked(s.domains, _WORDS)),
)


def statistics_page(sets: Sequence[Statistics]) -> str:
    """Return the page on one data set, or on two side by side."""
    names = " and ".join(found.name for found in sets)
    body = "\n".join([*_heading(sets), *_figures(sets), *_plots(sets)])
    return still_page(f"Turnwise: {names}", names, body, ("scores.css", "statistics.css"))


def _heading(sets: Sequence[Statistics]) -> Iterator[str]:
    yield "<h1>What the data is like</h1>"
    yield '<p class="sets">'
    for number, found in enumerate(sets, start=1):
        out = f", {found.unplayable} that cannot be played left out" if found.unplayable else ""
        name = escape(f"{found.name}: {len(found.entries)} entries{out}")
        yield f'<span class="set-{number}"><span class="sample"></span>{name}</span>'
    yield "</p>"


def _figures(sets: Sequence[Statistics]) -> Iterator[str]:
    yield '<section class="card figures"><table><thead><tr><th scope="col"></th>'
    yield from (f'<th scope="col">{escape(found.name)}</th>' for found in sets)
    yield '<th scope="col">how it is counted</th></tr></thead><tbody>'
    for figure in figures_of(sets):
        cells = "".join(f"<td>{escape(figure.text(found))}</td>" for found in sets)
        head = f'<th scope="row">{escape(figure.name)}</th>'
        yield f"<tr>{head}{cells}<td>{escape(figure.meaning)}</td></tr>"
    yield "</tbody></table></section>"


def _plots(sets: Sequence[Statistics]) -> Iterator[str]:
    yield '<div class="plots">'
    single = _SINGLE_TURN if any(found.languages for found in sets) else ()
    for plot in (*PLOTS, *single):
        drawn = _drawn(plot.title, [plot.of(found) for found in sets])
        yield f'<section class="card"><h2>{escape(plot.title)}</h2>{drawn}</section>'
    yield "</div>"


def _drawn(title: str, series: Sequence[Mapping[str, float]]) -> str:
    """Return bars of each series beside each other."""
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


def _axis(highest: float) -> Iterator[str]:
    yield f'<line x1="{_LEFT}" y1="{_BASE}" x2="{_WIDTH}" y2="{_BASE}"/>'
    yield f'<text x="0" y="18">{100 * highest:.0f}%</text><text x="0" y="{_BASE}">0%</text>'


def _labels(labels: Sequence[str], room: float) -> Iterable[str]:
    every = -(-len(labels) // _LABELS)
    for at, label in enumerate(labels):
        if at % every == 0:
            x = _LEFT + (at + 0.5) * room
            text = escape(label[:_LETTERS])
            yield f'<text x="{x:.1f}" y="{_BASE + 16}" text-anchor="middle">{text}</text>'
