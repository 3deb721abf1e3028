"""Drawings of the function graph as DOT and SVG.

The SVG shows the functions on a circle with a sector for each backend. One curve shows all edges
from a source function to a target function, in the colour of the source's backend.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape
from itertools import groupby
from math import cos, degrees, pi, sin

from envs.registry import BACKENDS
from extensions.authoring.graph.graph import TOOLS, Graph

_COLOURS = ("#3b6fb6", "#c2571a", "#3f8f4f", "#8a4fa3", "#b0303c", "#7a6a1c", "#16858c", "#5a5a5a")
_SIZE = 1240
_CENTRE = _SIZE / 2
_RADIUS = 370
_GAP = 2
"""Number of empty positions between two backends on the circle."""
_NAME_RADIUS = 600
"""Maximum distance of a backend's name from the centre."""
_LETTER = 6
"""Approximate width of a letter in a function's name."""


def to_dot(graph: Graph) -> str:
    """Return the graph in the DOT language: one cluster per backend, one line per edge."""
    lines = ["digraph functions {", "  rankdir=LR;", "  node [shape=box, fontname=Helvetica];"]
    for backend, colour in _colours().items():
        lines += [f"  subgraph cluster_{backend} {{", f'    label="{backend}"; color="{colour}";']
        lines += [f'    "{name}";' for name in BACKENDS[backend].TOOLS]
        lines.append("  }")
    for edge in graph.edges:
        style = f'label="{edge.field} -> {edge.parameter}", color="{_colours()[edge.backends[0]]}"'
        lines.append(f'  "{edge.source}" -> "{edge.target}" [{style}];')
    return "\n".join([*lines, "}", ""])


def to_svg(graph: Graph) -> str:
    """Return the graph as an SVG document; a tooltip on each curve shows the values."""
    angles = _angles()
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_SIZE} {_SIZE}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="10">',
        "<title>Function graph</title>",
        f'<rect width="{_SIZE}" height="{_SIZE}" fill="white"/>',
        '<g fill="none" stroke-opacity="0.35">',
        *_curves(graph, angles),
        "</g>",
        *_labels(graph, angles),
        *_sectors(angles),
        "</svg>",
    ]
    return "\n".join([*lines, ""])


def _colours() -> Mapping[str, str]:
    return dict(zip(BACKENDS, _COLOURS, strict=True))


def _angles() -> dict[str, float]:
    places = len(TOOLS) + _GAP * len(BACKENDS)
    angles: dict[str, float] = {}
    place = 0
    for backend in BACKENDS.values():
        for name in backend.TOOLS:
            angles[name] = 2 * pi * place / places - pi / 2
            place += 1
        place += _GAP
    return angles


def _point(angle: float, radius: float) -> str:
    return f"{_CENTRE + radius * cos(angle):.1f} {_CENTRE + radius * sin(angle):.1f}"


def _curves(graph: Graph, angles: Mapping[str, float]) -> Iterator[str]:
    order = list(TOOLS)
    edges = sorted(graph.edges, key=lambda e: (order.index(e.source), order.index(e.target)))
    for (source, target), several in groupby(edges, key=lambda e: (e.source, e.target)):
        texts = [edge.name for edge in several]
        start, end = angles[source], angles[target]
        apart = min(abs(start - end), 2 * pi - abs(start - end))
        # Curves between neighbours stay near the rim, away from those that cross the centre.
        depth = _RADIUS * max(0.0, 0.9 - apart)
        control = f"{_point(start, depth)} {_point(end, depth)}"
        if source == target:
            control = f"{_point(start - 0.12, 0.8 * _RADIUS)} {_point(start + 0.12, 0.8 * _RADIUS)}"
        yield (
            f'<path d="M{_point(start, _RADIUS)} C{control} {_point(end, _RADIUS)}" '
            f'stroke="{_colours()[TOOLS[source].backend]}" '
            f'stroke-width="{0.6 + 0.4 * len(texts):.1f}">'
            f"<title>{escape(chr(10).join(texts))}</title></path>"
        )


def _labels(graph: Graph, angles: Mapping[str, float]) -> Iterator[str]:
    taken = Counter(edge.target for edge in graph.edges)
    given = Counter(edge.source for edge in graph.edges)
    for name, angle in angles.items():
        turned = cos(angle) < -1e-9
        rotation = degrees(angle) + (180 if turned else 0)
        x, y = _point(angle, _RADIUS + 8).split()
        colour = _colours()[TOOLS[name].backend] if name not in graph.alone else "#999999"
        yield (
            f'<text x="{x}" y="{y}" transform="rotate({rotation:.1f} {x} {y})" '
            f'text-anchor="{"end" if turned else "start"}" dominant-baseline="middle" '
            f'fill="{colour}">{escape(name)}'
            f"<title>{given[name]} edges out, {taken[name]} edges in</title></text>"
        )


def _sectors(angles: Mapping[str, float]) -> Iterator[str]:
    for backend, colour in _colours().items():
        names = list(BACKENDS[backend].TOOLS)
        first, last = angles[names[0]], angles[names[-1]]
        large = 1 if last - first > pi else 0
        yield (
            f'<path d="M{_point(first, _RADIUS)} A{_RADIUS} {_RADIUS} 0 {large} 1 '
            f'{_point(last, _RADIUS)}" fill="none" stroke="{colour}" stroke-width="4"/>'
        )
        middle = (first + last) / 2
        radius = min(_RADIUS + 30 + _LETTER * max(map(len, names)), _NAME_RADIUS)
        x, y = _point(middle, radius).split()
        rotation = degrees(middle) + (90 if sin(middle) < 0 else -90)
        yield (
            f'<text x="{x}" y="{y}" transform="rotate({rotation:.1f} {x} {y})" '
            f'text-anchor="middle" font-size="16" font-weight="bold" fill="{colour}">'
            f"{backend}</text>"
        )
